# build.bash - where what is tested is; load it at the top of a .bats file
STINT_BUILD=$(realpath "${STINT_BUILD:-$BATS_TEST_DIRNAME/../build}")
export STINT_BUILD
stint=$STINT_BUILD/src/cmd/stint
