# build.bash - where what is tested is; load it at the top of a .bats file
STINT_BUILD=$(realpath "${STINT_BUILD:-$BATS_TEST_DIRNAME/../build}")
export STINT_BUILD
# shellcheck disable=SC2034 # for who loads this
stint=$STINT_BUILD/src/cmd/stint

# The programs that packages.txt installs, before others of their names: a python3 that
# is a script which looks for the right one takes ten times as long to start.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH

# Try again until it holds, for five minutes, since the machine may be busy: a test ends as
# soon as it is true, and no speed is tested.
eventually() {
	# shellcheck disable=SC2034 # patience is for what asks by itself (jobs.bash)
	local end=$((SECONDS + 300)) nap=1 patience=5
	until "$@"; do
		if [ $SECONDS -ge $end ]; then
			echo "never came true: $*"
			return 1
		fi
		sleep "0.$((nap / 10))$((nap % 10))"
		nap=$((nap < 16 ? nap * 2 : 25))
	done
}

# The process has ended, and its parent may not have reaped it yet.
ended() { # PID
	! grep -qs '^State:	[^ZX]' "/proc/$1/status"
}

# The inits of nests that `stint move receive` made here; their parents may have died.
find_nests() {
	local p
	for p in $(pgrep -x stint-nest); do
		[ "$(readlink "/proc/$p/cwd")" = "$PWD" ] && echo "$p"
	done
	return 0
}

# What these kept running outlives its receiver, but not this test.
end_nests() {
	local p
	for p in $(find_nests); do
		kill -9 "$p" || true
		eventually ended "$p"
	done
}
