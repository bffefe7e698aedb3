# Debian's Open MPI, unmodified: it finds its job by a PMIx server in each rank, and its
# ranks move like MPICH's.  The programs are those of tests/mpi, built with Open MPI.

bats_require_minimum_version 1.5.0

load jobs

setup() {
	jobs_setup
	late=$STINT_BUILD/tests/mpi/late-openmpi
	cd "$BATS_TEST_TMPDIR" || exit # which a rank has in its /tmp
}

teardown() {
	jobs_teardown
}

prints() { # COUNT LINE
	[ "$(grep -cx "$2" "$bed/out")" = "$1" ]
}

@test "ranks of a 4-rank job that checks every byte move, and none is wrong" {
	timeout 900 "$BATS_TEST_DIRNAME/mpi/soak.py" --mpi openmpi --moves 6
}

@test "ranks move while they wait in MPI_Init and in MPI_Finalize" {
	timeout 900 "$BATS_TEST_DIRNAME/mpi/soak.py" --how fences --mpi openmpi --moves 4
}

@test "one rank alone, behind a shell, beside programs that are not MPI" {
	serve 2
	touch init finalize
	run -0 st run sh -c "true; ls >/dev/null; $late init finalize"
	[[ $output == *"in 0"*"sum 0"* ]]
	# If Open MPI were left alone, it would start a daemon of its own.
	run -0 st run -n 2 sh -c "$late init finalize | cat; ps ax"
	[[ $output == *"in 0"*"sum 1"* ]]
	[[ $output != *orted* ]]
}

@test "an interpreter that opens the library finds its job as well" {
	serve 2
	run -0 st run -n 2 python3 -c 'import ctypes
mpi, n = ctypes.CDLL("libmpi.so.40"), ctypes.c_int()
mpi.MPI_Init(None, None)
mpi.MPI_Comm_size(ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world")), ctypes.byref(n))
print(n.value, "ranks")
mpi.MPI_Finalize()'
	[ "$(grep -cx '2 ranks' <<<"$output")" = 2 ]
}

@test "what cannot be had is an error: starting others" {
	serve 2
	run -0 st run -n 2 "$late" spawn
	[ "$(grep -c 'spawn refused: MPI_ERR_SPAWN' <<<"$output")" = 2 ]
	[ "$(grep -c 'several refused' <<<"$output")" = 2 ]
}

# Only the root was told, for which the others waited.
@test "what cannot be had is an error: joining other jobs" {
	serve 2
	run -0 timeout 120 "$stint" run -n 2 "$late" join
	[ "$(grep -cx 'connect 1' <<<"$output")" = 2 ]
	[ "$(grep -cx 'accept 1' <<<"$output")" = 2 ]
}

@test "a fence of others, what joins jobs, groups and watches are errors at once" {
	local line
	serve 2
	run -0 st run -n 2 "$STINT_BUILD/tests/mpi/fences"
	for line in "foreign: not supported" "in part foreign: not supported" \
		"twice: bad parameter" "others: bad parameter" "nobody: bad parameter" \
		"alone: done" "twice, later: bad parameter" "connect: not supported" \
		"connect, later: not supported" "disconnect: not supported" \
		"disconnect, later: not supported" \
		{construct,invite,join,leave,destruct}{,", later"}": not supported" \
		monitor{,", later"}": not supported" "pull: not supported" \
		"push: not supported" \
		"both: done" "all: done" "end: done"; do
		[ "$(grep -cx "$line" <<<"$output")" = 2 ]
	done
}

@test "ranks that put into each other's memory move, and nothing is wrong" {
	serve 4
	begin run -n 3 --hosts=h1,h2,h3 "$STINT_BUILD/tests/mpi/windows-openmpi" over >"$bed/out" 2>&1
	for rank in 0 1 2; do
		eventually prints 1 "window of $rank"
	done
	for rank in 0 1 2; do
		migrate 1.$rank h4
		migrate 1.$rank h$((rank + 1))
	done
	touch over
	eventually prints 3 right
}

@test "MPI_Abort ends the job with its code, and says whose" {
	serve 2
	run -7 st run -n 2 "$late" abort 7
	[[ $output == *"rank 1 called MPI_Abort with code 7"* ]]
}

@test "a rank that is gone before it has come to MPI_Init ends the others" {
	serve 2
	run -3 st run -n 2 sh -c "[ \$PMI_RANK = 0 ] || exit 3; exec $late init finalize"
	[[ $output == *"rank 1 exited with code 3"* ]]
}

# The others used to wait for ever.
@test "a rank that ends well while others wait for it, or in their fence, ends the job" {
	serve 3
	touch init finalize
	for program in "$late" "$STINT_BUILD/tests/mpi/late"; do
		run -1 timeout 120 "$stint" run -n 3 sh -c "[ \$PMI_RANK != 2 ] || exit 0; exec $program init finalize"
		[[ $output == *"rank 2 has ended, and others wait for it in MPI_Init"* ]]
	done
	run -1 timeout 120 "$stint" run -n 2 "$STINT_BUILD/tests/mpi/fences" finish
	[[ $output == *"rank 1 has ended, and others wait for it in MPI_Init"* ]]
	run -1 timeout 120 "$stint" run -n 2 "$STINT_BUILD/tests/mpi/fences" leave
	[[ $output == *"rank 1 ended without MPI_Finalize"* ]]
}

@test "a rank that is killed in the fence of MPI_Init ends the others" {
	local status=0
	serve 3
	begin run -n 3 --hosts=h1,h2,h3 "$late" init finalize >"$bed/out" 2>&1
	eventually is '[r["state"] for r in j[1]["ranks"]].count("running") if 1 in j else 0' 3
	st kill -s KILL 1.1
	wait "$background" || status=$?
	background=
	[ "$status" = 137 ]
	grep -F "rank 1 was ended by signal 9" "$bed/out"
}

@test "what the user has set of Open MPI and PMIx stays" {
	serve 1
	touch init finalize
	OMPI_MCA_btl=self PMIX_MCA_gds=hash run -0 st run \
		sh -c "env | grep -E '^(OMPI|PMIX)_MCA_(btl|gds)=' | sort; exec $late init finalize"
	[ "${lines[0]}" = OMPI_MCA_btl=self ]
	[ "${lines[1]}" = PMIX_MCA_gds=hash ]
	touch over
	run ! st run -n 2 -x OMPI_MCA_osc=^ucx,pt2pt "$STINT_BUILD/tests/mpi/windows-openmpi" over
	[[ $output == *MPI_ERR_WIN* ]]
	run ! st run -x OMPI_MCA_btl=nonsense,self "$late" init finalize
	[[ $output == *nonsense* ]]
}

# The two copies of libpmix use two C libraries, each with its own memory. With a single
# heap for all threads, or with another allocator, it is noticed if one of them frees what
# the other has allocated.
@test "what the server hands over goes back to the heap that it is of" {
	serve 2
	touch init finalize
	run -0 st run -n 2 -x MALLOC_ARENA_MAX=1 "$late" init finalize
	[ "$(grep -c '^sum 1$' <<<"$output")" = 2 ]
}

@test "without libpmix it is refused by name, not run as jobs of one rank" {
	serve 2
	touch init finalize
	mkdir lib
	echo nothing >lib/libpmix.so.2
	run -1 st run -n 2 -x LD_LIBRARY_PATH="$PWD/lib" "$late" init finalize
	[[ $output == *"stint: Open MPI finds its job by libpmix, which cannot be loaded: $PWD/lib/libpmix.so.2: "* ]]
	run ! grep -q "in 0" <<<"$output"
}

@test "ranks that lie to their keepers grow nobody, and get nothing of another job" {
	timeout 900 "$BATS_TEST_DIRNAME/mpi/hostile.py" 3>&-
}

# Debian has no static libmpi, so this program only has its marks: the function to which
# MPI_Init leads or, when stripped, the text that it prints if it fails.
linked() { # NAME [OPTION...]
	local name=$1
	shift
	cc "$@" -xc -o "$name" - <<-'EOF'
		#include <stdio.h>
		#ifdef MARK
		int ompi_mpi_init(void) { return 0; }
		#endif
		int main(void)
		{
		#ifdef TEXT
			if (getchar() == 'x')
				puts("help-mpi-runtime.txt");
		#endif
		#ifdef MARK
			ompi_mpi_init();
		#endif
			puts("it did");
		}
	EOF
}

@test "a program that Open MPI is linked into is refused, not run as jobs of one rank" {
	local how
	serve 2
	linked symbol -static -DMARK
	linked text -static -s -DTEXT
	linked static -static
	linked shared -DTEXT
	for how in symbol text; do
		run -126 st run -n 2 "./$how"
		[[ $output == *"cannot run ./$how: Open MPI is linked into it statically, "*"-n 1"* ]]
		[[ $output != *"it did"* ]]
		run -0 st run "./$how"
		[ "$output" = "it did" ]
	done
	for how in "sh -c" "env bash -c" "nice"; do
		run -126 st run -n 2 $how ./symbol
		[[ $output == *"stint: cannot run ./symbol: Open MPI is linked into it statically, "* ]]
		[[ $output != *"it did"* ]]
	done
	PATH=$PWD:$PATH run -126 st run -n 2 env symbol
	[[ $output == *"cannot run $PWD/symbol: Open MPI is linked"* ]]
	for how in static shared; do
		run -0 st run -n 2 sh -c "./$how; exec ./$how"
		[ "$(grep -cx "it did" <<<"$output")" = 4 ]
	done
}
