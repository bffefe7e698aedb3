# Keepers without an agent (keeper.bash): how a rank starts, what passes between it and the
# outside, and how it ends.

bats_require_minimum_version 1.5.0
load keeper

@test "exit statuses and signals come through" {
	run job sh -c 'exit 7'
	[ "$status" = 7 ]
	run job sh -c 'kill -TERM $$'
	[ "$status" = 143 ]
	run job true
	[ "$status" = 0 ]
	nothing_left
}

@test "stdout and stderr are apart, whole and in order" {
	job sh -c 'seq 1 200000; echo oops >&2' >"$dir/out" 2>"$dir/err"
	seq 1 200000 | cmp - "$dir/out"
	[ "$(cat "$dir/err")" = oops ]
	nothing_left
}

@test "stdin reaches rank 0 whole, however slowly it reads" {
	seq 1 100000 >"$dir/in"
	run job -i sh -c 'sleep 0.3; exec md5sum' <"$dir/in"
	[ "$output" = "$(md5sum <"$dir/in")" ]
	run job sh -c 'cat; echo end'
	[ "$output" = end ]
}

@test "a program that is not there is refused with the reason" {
	run job /nonexistent/program
	[ "$status" = 125 ]
	[[ "$output" == *"No such file"* ]]
}

@test "agents come and go, and no output is lost or doubled" {
	yes 'sleep 0.02
reconnect' | head -40 >"$dir/script"
	job -s "$dir/script" sh -c \
		'for i in $(seq 40); do seq 1 2000; sleep 0.02; done' \
		>"$dir/out"
	for _ in $(seq 40); do seq 1 2000; done | cmp - "$dir/out"
	nothing_left
}

@test "signals are forwarded, a rank can be suspended and killed" {
	printf 'await 3\nsuspend 0\nsleep 0.2\nresume 0\nsignal 0 10\n' \
		>"$dir/script"
	run job -s "$dir/script" sh -c \
		'trap "exit 9" USR1; echo up; while :; do sleep 0.05; done'
	[ "$status" = 9 ]
	printf 'await 3\nkill 0\n' >"$dir/script"
	run job -s "$dir/script" sh -c 'echo up; exec sleep 1000'
	[ "$status" = 137 ]
	nothing_left
}

@test "an MPICH job of several ranks runs and ends" {
	for _ in 1 2 3; do
		run job_net 4 "$mpi/chkmpi" --rounds 10
		echo "$output"
		[ "$status" = 0 ]
		[[ "$output" == *PASS* ]]
	done
	nothing_left
}

@test "MPI_Abort ends the job with its code" {
	cat >"$dir/abort.c" <<-'END'
		#include <mpi.h>
		int main(int argc, char **argv)
		{
			int rank;

			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			if (rank == 1)
				MPI_Abort(MPI_COMM_WORLD, 42);
			for (;;)
				MPI_Barrier(MPI_COMM_WORLD);
		}
	END
	mpicc.mpich -o "$dir/abort" "$dir/abort.c"
	run job_net 3 "$dir/abort"
	echo "$output"
	[ "$status" = 42 ]
	nothing_left
}

@test "a rank that leaves its job in the lurch fails it" {
	cat >"$dir/leave.c" <<-'END'
		#include <mpi.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			int rank;

			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			if (rank == 1)
				_exit(0);
			for (;;)
				MPI_Barrier(MPI_COMM_WORLD);
		}
	END
	mpicc.mpich -o "$dir/leave" "$dir/leave.c"
	run job_net 3 "$dir/leave"
	echo "$output"
	[ "$status" != 0 ]
	nothing_left
}

@test "of a rank that asks PMI on and reads no answer no more is taken" {
	cat >"$dir/ask.py" <<-'END'
		import os, select, socket
		s = socket.socket(fileno=int(os.environ["PMI_FD"]))
		s.sendall(b"cmd=init pmi_version=1 pmi_subversion=1\n")
		lines = s.makefile("r")
		lines.readline()
		ask = 1000 * b"cmd=get_appnum\n"
		asked = 0
		try:
		    while select.select([], [s], [], 2)[1]:
		        asked += s.send(ask[asked % 15:], socket.MSG_DONTWAIT)
		        assert asked < 16 << 20, "never full"
		except OSError:
		    pass # the keeper has hung up
	END
	run job_net 1 $py "$dir/ask.py"
	echo "$output"
	[[ "$output" == *"PMI: the rank keeps asking without reading the answers"* ]]
	[[ "$output" != *"never full"* ]]
	nothing_left
}

@test "a second keeper of a rank is refused, a dead one's place is taken" {
	local k=("$STINT_BUILD/src/cmd/stint" keeper x.0 --run-dir="$dir/a")
	"${k[@]}" 3>&- 2>"$dir/err" &
	local first=$!
	eventually test -S "$dir/a/keepers/x.0.0.sock"
	run timeout 300 "${k[@]}"
	[ "$status" = 1 ]
	[[ "$output" == *"another keeper"* ]]
	kill -KILL $first
	wait $first || true
	[ -S "$dir/a/keepers/x.0.0.sock" ]
	"${k[@]}" --ready-fd=4 4>"$dir/ready" 3>&- &
	local second=$!
	eventually test -s "$dir/ready"
	kill -TERM $second
	wait $second
	[ ! -e "$dir/a/keepers/x.0.0.sock" ]
}

@test "bad options of stint keeper are refused" {
	run "$stint" keeper
	[ "$status" = 2 ]
	run "$stint" keeper ../evil.0 --run-dir="$dir/a"
	[ "$status" = 1 ]
	run "$stint" keeper x.-1 --run-dir="$dir/a"
	[ "$status" = 2 ]
	run "$stint" keeper x.0 --run-dir="$dir/nonexistent/x"
	[ "$status" = 1 ]
	run "$stint" keeper x.0 --run-dir="$dir/$(printf %0200d 0)"
	[ "$status" = 1 ]
	[[ "$output" == *"too long"* ]]
}
