# Ranks of a running MPI job that checks every byte are moved; make soak does
# it a thousand times.

load build

setup() {
	[ "$(id -u)" = 0 ] || skip "a testbed needs root"
}

@test "ranks of a 4-rank job that checks every byte move, and none is wrong" {
	timeout 900 "$BATS_TEST_DIRNAME/mpi/soak.py" --moves 6
}

@test "ranks move while they are blocked in MPI_Recv and MPI_Finalize" {
	local mpi
	for mpi in mpich openmpi; do
		timeout 900 "$BATS_TEST_DIRNAME/mpi/soak.py" --how waiting --mpi $mpi --moves 4
	done
}
