# Keepers without an agent (keeper.bash): ranks move between them, while any of the parties
# is killed.

bats_require_minimum_version 1.5.0
load keeper

count=$BATS_TEST_DIRNAME/counter.py

# All numbers that it counted came, once and in order; then its last line is $1.
counted_whole() { # LINE...
	local n
	n=$(sed -n 's/^PASS //p' "$dir/out")
	[ "$n" -gt 1 ]
	{
		seq -f 'round %.0f' 0 $((n - 1))
		printf '%s\n' "PASS $n" "$@"
	} | cmp - "$dir/out"
}

moves() { # RANK... once rank 0 has said something
	echo await 1
	for r; do printf 'move %s\nsleep 0.2\n' "$r"; done
}

enough() { # RANK... are told by USR1
	for r; do echo "signal $r 10"; done
}

@test "a rank moves to and fro, its stdio follows" {
	seq 1 50000 >"$dir/in"
	{ moves 0 0 0; enough 0; } >"$dir/script"
	job -r "$dir/b" -i -s "$dir/script" "$count" --sum \
		<"$dir/in" >"$dir/out" 2>"$dir/err"
	cat "$dir/err"
	[ "$(grep -c outcome=landed "$dir/err")" = 3 ]
	[ "$(grep -c outcome=gone "$dir/err")" = 3 ]
	counted_whole 1250025000
	nothing_left
}

@test "strangers at the door keep no rank out" {
	{ echo strangers 40; moves 0 0; enough 0; } >"$dir/script"
	job -r "$dir/b" -s "$dir/script" "$count" >"$dir/out" 2>"$dir/err"
	cat "$dir/err"
	[ "$(grep -c outcome=landed "$dir/err")" = 2 ]
	counted_whole
	nothing_left
}

@test "a move under way outlives its agents" {
	{
		printf 'await 1\nbegin 0\n'
		for _ in {1..30}; do printf 'reconnect\nsleep 0.02\n'; done
		echo settle
		enough 0
	} >"$dir/script"
	job -r "$dir/b" -s "$dir/script" "$count" \
		>"$dir/out" 2>"$dir/err" || { cat "$dir/err"; false; }
	cat "$dir/err"
	grep -q outcome=landed "$dir/err"
	counted_whole
	nothing_left
}

# Files of the host's /tmp are found in what the new capsule shows of it. What the rank made
# in its own /tmp moves with it, even where the host has a file of that name.
@test "open files are those of the new capsule" {
	cat >"$dir/hold.py" <<-'END'
		import signal, sys
		signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
		name = sys.argv[1]
		if len(sys.argv) > 2:
		    with open(name, "w") as f:
		        f.write(sys.argv[2])
		f = open(name)
		print("holds", flush=True)
		signal.sigwait({signal.SIGUSR1})
		print(f.read())
	END
	{ moves 0; enough 0; } >"$dir/script"
	printf kept >"$dir/file"
	job -r "$dir/b" -s "$dir/script" $py "$dir/hold.py" "$dir/file" \
		>"$dir/out" 2>"$dir/err"
	cat "$dir/err"
	grep -q outcome=landed "$dir/err"
	[ "$(cat "$dir/out")" = $'holds\nkept' ]

	# The path is put together inside the capsule, which else would show the host's
	# folder.
	local own
	own=$(mktemp /tmp/sk-own.XXXXXX)
	printf host >"$own"
	job -r "$dir/b" -s "$dir/script" sh -c 'exec "$@" "/tmp/$0" own' \
		"${own#/tmp/}" $py "$dir/hold.py" >"$dir/out" 2>"$dir/err"
	[ "$(cat "$own")" = host ]
	rm "$own"
	cat "$dir/err"
	grep -q outcome=landed "$dir/err"
	[ "$(cat "$dir/out")" = $'holds\nown' ]
	nothing_left
}

@test "what a rank has in its own /tmp and /dev/shm moves with it" {
	cp "$BATS_TEST_DIRNAME/move/scratch.py" "$dir"
	{ moves 0 0 0; enough 0; } >"$dir/script"
	job -r "$dir/b" -s "$dir/script" $py "$dir/scratch.py" \
		>"$dir/out" 2>"$dir/err" || true
	cat "$dir/out" "$dir/err"
	[ "$(grep -c outcome=landed "$dir/err")" = 3 ]
	grep -qx PASS "$dir/out"
	# Nothing of it was on the host.
	[ ! -e /tmp/scratch ]
	nothing_left
}

# A link out of /tmp belongs to the capsule and moves with it, beside what is shown of the
# host's /tmp.
@test "a rank that was started through a link below /tmp moves" {
	mkdir "$dir/near" "$dir/far"
	ln -s "$(readlink -f "$py")" "$dir/far/python"
	cat >"$dir/near/own.py" <<-'END'
		import os, signal, sys
		signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
		print("begun", flush=True)
		signal.sigwait({signal.SIGUSR1})
		print(os.readlink(sys.argv[1]), os.path.exists(sys.argv[0]))
	END
	{ moves 0 0; enough 0; } >"$dir/script"
	job -r "$dir/b" -s "$dir/script" "$dir/far/python" "$dir/near/own.py" \
		"$dir/far/python" >"$dir/out" 2>"$dir/err"
	cat "$dir/out" "$dir/err"
	[ "$(grep -c outcome=landed "$dir/err")" = 2 ]
	[ "$(tail -n 1 "$dir/out")" = "$(readlink -f "$py") True" ]
	nothing_left
}

@test "a /tmp that is too large is refused before the freeze" {
	{ moves 0; enough 0; } >"$dir/script"
	job -r "$dir/b" -s "$dir/script" sh -c \
		'fallocate -l 1100M /tmp/huge; echo made; exec sleep 1000' \
		>"$dir/out" 2>"$dir/err" || status=$?
	[ "$status" = 138 ]
	cat "$dir/out" "$dir/err"
	grep "outcome=stayed why='files of 1100 MiB in /tmp" "$dir/err" |
		grep -q 'rounds=0 .* downtime=0'
	nothing_left
}

@test "ranks of an MPICH job move while it runs, and end well" {
	{ moves 1 2 0 3 1; enough 0 1 2 3; } >"$dir/script"
	run job_net 4 -s "$dir/script" "$mpi/chkmpi" --seconds 1000
	echo "$output"
	[ "$status" = 0 ]
	[[ "$output" == *PASS* ]]
	[ "$(grep -c outcome=landed <<<"$output")" -ge 3 ]
	nothing_left
}

# Puts 100 keys and asks for them; all answers together are larger than a pipe or a page. It
# reads no answer before it has moved, and then goes on asking while it moves.
@test "answers of PMI that a rank has not read yet move with it" {
	cat >"$dir/pmi.py" <<-'END'
		import os, signal, socket, sys, time
		told = 0
		def enough(*_):
		    global told
		    told += 1
		signal.signal(signal.SIGUSR1, enough)
		s = socket.socket(fileno=int(os.environ["PMI_FD"]))
		lines = s.makefile("r")
		def say(text):
		    s.sendall(text.encode() + b"\n")
		def ask(text, want):
		    say(text)
		    got = lines.readline()
		    assert got.startswith(want), got
		def value(i):
		    return str(i) * 200
		def get(i):
		    say(f"cmd=get kvsname={kvs} key=k{i}")
		def got(i):
		    line = lines.readline()
		    assert line.split("value=")[1].strip() == value(i), line
		ask("cmd=init pmi_version=1 pmi_subversion=1", "cmd=response")
		say("cmd=get_my_kvsname")
		kvs = lines.readline().split("kvsname=")[1].strip()
		for i in range(100):
		    ask(f"cmd=put kvsname={kvs} key=k{i} value={value(i)}",
		        "cmd=put_result")
		ask("cmd=barrier_in", "cmd=barrier_out")
		for i in range(100):
		    get(i)
		print("all asked", flush=True)
		while told < 1:
		    time.sleep(0.02)
		for i in range(100):
		    got(i)
		while told < 2:
		    for i in range(100):
		        get(i)
		    for i in range(100):
		        got(i)
		ask("cmd=finalize", "cmd=finalize_ack")
		print("all answered")
	END
	{ moves 0 0; enough 0; moves 0 0 0; enough 0; } >"$dir/script"
	run job_net 1 -s "$dir/script" $py "$dir/pmi.py"
	echo "$output"
	[ "$status" = 0 ]
	[[ "$output" == *"all answered"* ]]
	[ "$(grep -c outcome=landed <<<"$output")" = 5 ]
	nothing_left
}

@test "60 KB of stdin that a rank has not read yet move with it" {
	cat >"$dir/late.py" <<-'END'
		import fcntl, hashlib, signal, sys, termios, time
		on = True
		def enough(*_):
		    global on
		    on = False
		signal.signal(signal.SIGUSR1, enough)
		def unread():
		    n = fcntl.ioctl(0, termios.FIONREAD, b"0000")
		    return int.from_bytes(n, "little")
		while unread() < 60000:
		    time.sleep(0.01)
		while on:
		    print(unread() >= 60000, flush=True)
		    time.sleep(0.02)
		print(hashlib.md5(sys.stdin.buffer.read()).hexdigest())
	END
	head -c 300000 /dev/urandom >"$dir/in"
	{ moves 0 0 0; enough 0; } >"$dir/script"
	job -r "$dir/b" -i -s "$dir/script" $py "$dir/late.py" \
		<"$dir/in" >"$dir/out" 2>"$dir/err"
	cat "$dir/err"
	[ "$(grep -c outcome=landed "$dir/err")" = 3 ]
	run ! grep -q False "$dir/out"
	[ "$(tail -1 "$dir/out")" = "$(md5sum <"$dir/in" | cut -d" " -f1)" ]
	nothing_left
}

@test "a rank that waits in a PMI barrier moves" {
	cat >"$dir/late.c" <<-'END'
		#include <mpi.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		int main(int argc, char **argv)
		{
			int rank, sum, sig;
			sigset_t set;

			sigemptyset(&set);
			sigaddset(&set, SIGUSR1);
			sigprocmask(SIG_BLOCK, &set, NULL);
			puts("up");
			fflush(stdout);
			if (!strcmp(getenv("PMI_RANK"), "1"))
				sigwait(&set, &sig);
			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM,
				      MPI_COMM_WORLD);
			if (rank == 0)
				printf("sum %d\n", sum);
			MPI_Finalize();
			return 0;
		}
	END
	mpicc.mpich -o "$dir/late" "$dir/late.c"
	{ echo sleep 0.5; moves 0 2; enough 1; } >"$dir/script"
	run job_net 3 -s "$dir/script" "$dir/late"
	echo "$output"
	[ "$status" = 0 ]
	[[ "$output" == *"sum 3"* ]]
	[ "$(grep -c outcome=landed <<<"$output")" = 2 ]
	nothing_left
}

# An engine is killed at each named point: the rank runs on, here or there, and no byte of
# its output is lost or doubled.
@test "engines killed anywhere leave exactly one copy" {
	{ moves 0; echo settle; enough 0; } >"$dir/script"
	for point in source-hello dest-spawned source-round source-frozen \
		source-unplugged source-captured source-sent dest-state \
		dest-threads dest-ready source-held source-recorded \
		source-committed dest-commit dest-running source-running; do
		echo "$point"
		STINT_FAULT=$point job -r "$dir/b" -s "$dir/script" \
			"$count" >"$dir/out" 2>"$dir/err" ||
			{ cat "$dir/err"; false; }
		cat "$dir/err"
		counted_whole
		[ "$(grep -cE 'outcome=(landed|stayed)' "$dir/err")" = 1 ]
		nothing_left
	done
}

# murdered POINT old|new: prints the exit status of a job whose engine stops at POINT, and
# whose keeper is killed then.
murdered() {
	{
		printf 'await 1\nbegin 0\nstopped\nmurder 0 %s\nsettle\n' "$2"
		enough 0
	} >"$dir/script"
	run env STINT_FAULT="$1:stop" timeout 300 \
		"$STINT_BUILD/tests/keeper/keeper-job" -r "$dir/a" \
		-r "$dir/b" -s "$dir/script" "$count"
	echo "$1 $2: $status"
	grep -v '^round' <<<"$output"
}

@test "keepers killed in a move leave at most one copy" {
	# The new keeper, before the commit: the rank stays.
	murdered dest-state new
	[ "$status" = 0 ]
	[[ "$output" == *outcome=stayed* ]]
	# The old keeper before the commit: its rank ends with it, and nothing lands.
	murdered source-sent old
	[ "$status" = 137 ]
	[[ "$output" != *outcome=landed* ]]
	# The old keeper after the commit: the record says where the rank is.
	murdered source-recorded old
	[ "$status" = 0 ]
	[[ "$output" == *outcome=landed* ]]
	# The new keeper after the commit: the rank is lost, and the job is told so.
	murdered dest-commit new
	[ "$status" = 137 ]
	[[ "$output" == *outcome=lost* ]]
	# What keepers left on their hosts is removed by the next agents there.
	for host in a b; do
		"$STINT_BUILD/tests/keeper/keeper-job" -r "$dir/$host" true
		[ -z "$(ls "$dir/$host/capsules")" ]
	done
}

# If the link is lost after READY, the copy's connections come alive only once the outcome
# is known; its peers must not notice that.
@test "an MPICH rank in doubt runs on with its connections" {
	{ moves 1; echo settle; enough 0 1 2; } >"$dir/script"
	for point in source-captured dest-ready source-recorded dest-commit; do
		echo "$point"
		export STINT_FAULT=$point
		run job_net 3 -s "$dir/script" "$mpi/chkmpi" --seconds 1000
		unset STINT_FAULT
		echo "$output"
		[ "$status" = 0 ]
		[[ "$output" == *PASS* ]]
		[ "$(grep -cE 'outcome=(landed|stayed)' <<<"$output")" = 1 ]
		nothing_left
	done
}
