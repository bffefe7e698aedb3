# What a rank may take of its host, and a user of the controller.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	cat >"$BATS_TEST_TMPDIR/forks.c" <<-'E'
		#include <errno.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		/* So many children; exits with the second argument when refused. */
		int main(int argc, char **argv)
		{
			int n = 0;

			for (; n < atoi(argv[1]); n++) {
				pid_t pid = fork();

				if (!pid)
					for (;;)
						pause();
				if (pid > 0)
					continue;
				printf("%d: %s\n", n, strerror(errno));
				return atoi(argv[2]);
			}
			printf("%d forked\n", n);
		}
	E
	cc -o "$BATS_TEST_TMPDIR/forks" "$BATS_TEST_TMPDIR/forks.c"
	# Takes so many MiB when it is told to, one byte after the other.
	cat >"$BATS_TEST_TMPDIR/eat.py" <<-'E'
		import signal, sys, time
		def eat(*_):
		    x = bytearray(int(sys.argv[2]) << 20)
		    for i in range(0, len(x), 4096): x[i] = 1
		    print("ate", flush=True)
		    sys.exit(0)
		held = bytearray(int(sys.argv[1]) << 20)
		for i in range(0, len(held), 4096): held[i] = 1
		if len(sys.argv) > 3:
		    for _ in range(2):
		        with open(sys.argv[3], "rb") as f:
		            while f.read(1 << 20): pass
		    signal.signal(signal.SIGUSR1, eat)
		    print("holds", flush=True)
		    while True: time.sleep(0.05)
		eat()
	E
}

teardown() { jobs_teardown; }

can_limit() { # CONTROLLER...
	local c
	for c in "${@:-memory}" pids; do
		grep -q "cgroup .*\b$c\b" /proc/self/mountinfo ||
			grep -qw "$c" /sys/fs/cgroup/cgroup.controllers ||
			skip "no $c controller"
	done
}

# As a user with a key of her own: USER COMMAND...
as_user() {
	limit=1000 st "$2" --controller "unix:$bed/controller.sock" --key "$bed/$1.key" "${@:3}"
}

run_as() { # USER: in the background, until it is killed
	timeout -k 10 1000 "$stint" run --controller "unix:$bed/controller.sock" \
		--key "$bed/$1.key" sleep 1000 >>"$bed/out" 2>&1 3>&- &
	background="${background:+$background }$!"
}

restart_agent() { # HOST OPTIONS...
	kill "$(service_pid "$1")"
	eventually hosts_up 1
	start_agent "$@"
	eventually hosts_up 2
}

@test "5000 forks are refused, and whoever tried is told why" {
	can_limit
	serve 1
	run -7 st run "$BATS_TEST_TMPDIR/forks" 5000 7
	[[ "$output" == *"2047: Resource temporarily unavailable"* ]]
	[[ "$output" == *"rank 0 exited with code 7; it met its limit of 2048 processes and threads (what its host gives; --pids-limit asks for more), 1 time"* ]]
	# The rank is told as well if it takes no notice of the failures.
	run -0 st run -n 2 --pids-limit 20 "$BATS_TEST_TMPDIR/forks" 30 0
	[[ "$output" == *"19: Resource temporarily unavailable"* ]]
	[[ "$output" == *"ended well; it met its limit of 20 processes and threads (--pids-limit), 1 time"* ]]
	[[ "$(st ps --all)" == *"(rank 0 exited with code 7; it met its limit of 2048"* ]]
	[[ "$(st why 2)" == *"ended well; it met its limit of 20 "* ]]
	run -0 st run --pids-limit 31 "$BATS_TEST_TMPDIR/forks" 30 7
	[ "$output" = "30 forked" ]
}

@test "more memory than --memory ends a rank, which is told so by name" {
	can_limit
	serve 2
	run -137 st run -n 2 --memory 256M sh -c \
		'test "$PMI_RANK" = 0 && exec sleep 1000; exec python3 "$1" 0 1024' - "$BATS_TEST_TMPDIR/eat.py"
	[ "$output" = "stint run: job 1: rank 1 used more than its 256 MiB of memory (--memory)" ]
	[[ "$(st ps --all)" == *"(rank 1 used more than its 256 MiB of memory (--memory))"* ]]
	[[ "$(st why 1)" == *"rank 1 used more than its 256 MiB of memory (--memory)"* ]]
	# A child of the rank, not the rank itself.
	run -3 st run --memory 64M sh -c 'python3 "$1" 0 128; exit 3' - "$BATS_TEST_TMPDIR/eat.py"
	[[ "$output" == *"rank 0 exited with code 3; a process of it used more than its 64 MiB of memory (--memory)"* ]]
	run -0 st run --memory 256M python3 "$BATS_TEST_TMPDIR/eat.py" 0 128
	[ "$output" = ate ]
	run -137 st run sh -c 'kill -9 $$'
	[[ "$output" == *"was ended by signal 9"* ]]
}

@test "who fills a host's memory with files in /dev/shm is who goes, and no other guest" {
	can_limit
	# Slowly enough for the agent, which looks each second.
	cat >"$BATS_TEST_TMPDIR/fill.py" <<-'E'
		import time
		with open("/dev/shm/x", "wb") as f:
		    while True:
		        f.write(bytes(8 << 20)); f.flush()
		        time.sleep(0.05)
	E
	serve --memory=768M 1
	begin run --memory 400M python3 "$BATS_TEST_TMPDIR/eat.py" 200 1 "$BATS_TEST_TMPDIR/eat.py" >"$bed/out" 2>&1
	eventually grep -q holds "$bed/out"
	run -137 st run --hosts h1 python3 "$BATS_TEST_TMPDIR/fill.py"
	echo "$output"
	[ "$output" = "stint run: job 2: rank 0 was killed because memory ran out on h1" ]
	is 'j[1]["state"]' running
	st kill 1
}

@test "a limit of memory that no host could come to is refused" {
	can_limit
	serve 2
	run -1 st run --memory 1000T true
	[[ "$output" == *"--memory: no host for it has 1000 TiB: h"*" has the most, "*"; ask for less" ]]
	run -1 st run --hosts h2 --memory 1000T true
	[[ "$output" == *"1000 TiB: h2 has the most"* ]]
	st run --memory 1G true
}

@test "what the host's owner gives is all there is, whatever is asked for" {
	can_limit
	serve 2
	restart_agent h1 --memory-default=32M --memory-max=64M --pids-max=50
	run -1 st run --hosts h1 --memory 65M true
	[[ "$output" == *"host h1 gives a rank 64 MiB of memory at most (memory-max), and this one has 65 MiB (--memory)"* ]]
	run -1 st run --pids-limit 51 true
	[[ "$output" == *"host h1 gives a rank 50 processes and threads at most (pids-max), and this one has 51 (--pids-limit)"* ]]
	st run --hosts h2 --memory 65M --pids-limit 51 true
	run -137 st run --hosts h1 python3 "$BATS_TEST_TMPDIR/eat.py" 0 128
	[[ "$output" == *"rank 0 used more than its 32 MiB of memory (what its host gives; --memory asks for more)"* ]]
	run -0 st run --hosts h1 "$BATS_TEST_TMPDIR/forks" 60 0
	[[ "$output" == *"limit of 50 processes and threads (what its host gives"* ]]
	run -2 st agent --controller=unix:/x --key="$bed/h1/key" --run-dir="$bed/x" --memory-default=2G --memory-max=1G
	[[ "$output" == *"memory-default is more than memory-max"* ]]
}

# Only the owner's word counts: this test speaks as agent and controller.
@test "a keeper refuses what is more than its host gives, and who comes with more" {
	local d
	can_limit
	d=$(mktemp -d /tmp/sk.XXXXXX)
	mkdir "$d/a" "$d/b"
	job() { timeout 300 "$STINT_BUILD/tests/keeper/keeper-job" -r "$d/a" -r "$d/b" "$@"; }
	run job -l 0,0,1048576,0 -m 1048577 true
	[ "$status" != 0 ]
	[[ "$output" == *"1 MiB of memory at most here (memory-max"* ]]
	run job -l 0,0,1048576,0 -m 1048576 true
	[ "$status" = 0 ]
	printf 'await 1\nmove 0\nsignal 0 10\n' >"$d/script"
	for m in 0 67108864; do
		run job -l 0,0,0,0 -l 0,0,33554432,0 -m "$m" -s "$d/script" \
			python3 -c 'import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
print("here", flush=True)
signal.sigwait({signal.SIGUSR1})
print("still")'
		echo "$output"
		[[ "$output" == *"stayed"*"32 MiB of memory at most here"* ]]
		[[ "$output" == *"still"* ]]
	done
	rm -rf "$d"
}

memory_limit() { # HOST: of the capsule there
	find /sys/fs/cgroup -path "*stint-testbed.$STINT_TESTBED/$1/*1.0*/memory.limit_in_bytes" -exec cat {} + 2>/dev/null ||
		find /sys/fs/cgroup -path "*stint-testbed.$STINT_TESTBED/$1/*1.0*/memory.max" -exec cat {} +
}

limit_is() { [ "$(memory_limit "$1")" = "$2" ]; }

# The rank's page cache fills what its limit leaves; the move has its room beside that, and
# does not take it from the rank.
@test "a rank with its memory full of files moves, and keeps its limit" {
	can_limit
	serve 2
	truncate -s 200M "$bed/file"
	begin run --hosts h1 --memory 96M --wdir "$bed" python3 "$BATS_TEST_TMPDIR/eat.py" 60 128 "$bed/file" >"$bed/out" 2>&1
	eventually grep -q holds "$bed/out"
	limit_is h1 $((104 << 20)) # with what is the capsule's own
	migrate 1.0 h2
	limit_is h2 $((104 << 20))
	migrate 1.0 h1
	limit_is h1 $((104 << 20))
	migrate 1.0 h2
	st kill -s USR1 1
	code=0
	wait "$background" || code=$?
	background=
	[ "$code" = 137 ]
	grep -q "rank 0 used more than its 96 MiB of memory (--memory)" "$bed/out"
}

@test "a rank does not go where less is given; it stays as it was" {
	can_limit
	serve 2
	restart_agent h2 --memory-max=64M
	sleeper --hosts h1 --memory 96M # they have the numbers 1 and 2
	sleeper --hosts h1
	eventually is 'j[1]["state"] + j[2]["state"]' runningrunning
	run -1 st migrate 1.0 h2
	echo "$output"
	[[ "$output" == *"host h2 gives a rank 64 MiB of memory at most (memory-max), and this one has 96 MiB"* ]]
	run -1 st migrate 2.0 h2
	[[ "$output" == *"64 MiB of memory at most here"*"no limit (--memory)"* ]]
	is '[r["host"] + str(r["moves"]) + r["state"] for n in j for r in j[n]["ranks"]]' "['h10running', 'h10running']"
}

quota() { # HOST JOB: of the capsule there, in thousandths of a processor
	local file at="*stint-testbed.$STINT_TESTBED/$1/*$2.0*"
	file=$(find /sys/fs/cgroup -path "$at/cpu.cfs_quota_us" -o -path "$at/cpu.max" | grep -v '/run/\|/init/')
	[ -n "$file" ] && sed 's/^max.*/-1/; s/ .*//; s/00$//' "$file"
}

quota_is() { # HOST JOB N
	[ "$(quota "$1" "$2")" = "$3" ]
}

@test "a rank has the processors of --cpus and no more, wherever it is" {
	can_limit cpu
	serve 2
	run -0 st run --cpus 0.05 sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done'
	[ -z "$output" ]
	st history --json >"$bed/history"
	python3 - "$bed/history" <<-'E'
		import json, sys
		j = json.loads(open(sys.argv[1]).readline())
		assert j["limits"]["cpus"] == 0.05, j
		assert j["ranks"][0]["held_us"] > 50000, j
	E
	[[ "$(st history --csv | tail -1)" =~ ,0,0,0\.05,0,[1-9][0-9]+,0,0,0$ ]]
	sleeper --hosts h1 --cpus 1.5
	eventually is 'j[2]["state"]' running
	eventually quota_is h1 2 1500
	is 'j[2]["limits"]["cpus"]' 1.5
	[[ "$(st why 2)" == *"each rank has at most 1.5 processors"* ]]
	migrate 2.0 h2
	eventually quota_is h2 2 1500
	migrate 2.0 h1
	eventually quota_is h1 2 1500
	sleeper --hosts h1 # has no limit
	eventually is 'j[3]["state"]' running
	quota_is h1 3 -1
}

@test "no rank has more processors than its host gives" {
	can_limit cpu
	serve 2
	restart_agent h1 --cpus-default=0.5 --cpus-max=1
	run -1 st run --cpus 1.5 true
	[[ "$output" == *"host h1 gives a rank 1 processors at most (cpus-max), and this one has 1.5 (--cpus): ask for less, or for other hosts (--hosts)" ]]
	sleeper --hosts h1 # 1 to 3
	sleeper --hosts h2
	sleeper --hosts h2 --cpus 1
	eventually is '[j[i]["state"] for i in j]' "['running', 'running', 'running']"
	eventually quota_is h1 1 500
	run -1 st migrate 2.0 h1
	[[ "$output" == *"a rank has 1 processors at most here (cpus-max of its agent), and this one has no limit (--cpus)"* ]]
	migrate 3.0 h1
	eventually quota_is h1 3 1000
	run -2 st agent --controller=unix:/x --key="$bed/h1/key" --run-dir="$bed/x" --cpus-default=2 --cpus-max=1
	[[ "$output" == *"cpus-default is more than cpus-max"* ]]
}

@test "more output than --output-limit ends a job, which is told so by name" {
	serve 2
	run -153 st run --output-limit 59999 seq 10000 19999
	[[ "$output" == *"job 1: rank 0 printed more than 58.6 KiB (--output-limit)" ]]
	run -0 st run --output-limit 60000 sh -c 'seq 10000 19999; exec seq 10000 19999 >&2'
	# Of a file too, wherever the rank is.
	run -153 st run -n 2 --output-limit 64K -o "$bed/o.%r" sh -c \
		'test "$PMI_RANK" = 0 && exec sleep 1000; exec head -c 65537 /dev/zero'
	[ "$output" = "stint run: job 3: rank 1 wrote more than 64 KiB into a file (--output-limit)" ]
	[ "$(stat -c %s "$bed/o.1")" = 65536 ]
	st submit --hosts h1 --output-limit 64K -o "$bed/moved" python3 -c 'import os, signal, sys, time
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
while not os.path.exists(sys.argv[1]): time.sleep(0.05)
while True: os.write(1, b"x" * 1000)' "$bed/go"
	eventually is 'j[4]["state"]' running
	migrate 4.0 h2
	touch "$bed/go"
	run -153 st wait 4
	[ "$(stat -c %s "$bed/moved")" = 65536 ]
	# Nobody's client needs be there.
	run -0 st submit --output-limit 1000 sh -c 'while :; do echo 123456789; done'
	run -153 st wait 5
	[[ "$(st ps --all)" == *"(rank 0 printed more than 1000 bytes (--output-limit))"* ]]
	[[ "$(st why 5)" == *"each rank has at most 1000 bytes in a file"* ]]
	[[ "$(st history --csv | tail -1)" == *',153,output-limit,'*',"rank 0 printed more than 1000 bytes (--output-limit)",0,0,0,0,0,1000,'* ]]
	[ "$(st history --json | tail -1 | python3 -c 'import json, sys; j = json.load(sys.stdin); print(j["reason"], j["limits"]["output"])')" = "output-limit 1000" ]
	run -153 bash -c 'ulimit -f 4; exec "$1" run -o "$2" head -c 10000 /dev/zero' - "$stint" "$bed/small"
	[[ "$output" == *"rank 0 wrote more into a file than its limit lets it (ulimit -f)" ]]
}

user_keys() {
	local u
	for u in root daemon; do
		"$stint" controller --state-dir="$bed/controller" --enrol="user/$u" >"$bed/$u.key"
	done
}

# The job's user must be the one who asks, and be able to reach the controller.
as_daemon() {
	local d=$bed
	until [ "$d" = /tmp ] || [ "$d" = / ]; do
		chmod o+x "$d"
		d=$(dirname "$d")
	done
	chmod 666 "$bed/controller.sock"
	chown daemon "$bed/daemon.key"
	timeout 300 setpriv --reuid=daemon --regid="$(id -g daemon)" --clear-groups "$stint" "$1" \
		--controller "unix:$bed/controller.sock" --key "$bed/daemon.key" "${@:2}"
}

@test "a user's jobs and connections are limited, and nobody else's" {
	serve 1
	user_keys
	slay "$(service_pid controller)"
	start_controller --user-jobs=3 --user-connections=4
	eventually hosts_up 1
	for _ in 1 2 3; do
		run_as root
	done
	eventually is 'len(j)' 3
	run as_user root run true
	[ "$status" = 1 ]
	[[ "$output" == *"root has 3 jobs that are not over, as many as one user may have (user-jobs of the controller): wait for some, or ask its administrator for more"* ]]
	as_user root ps
	st run true # an administrator
	# Each job of an array counts, and an array is accepted as a whole or not at all.
	run -1 as_daemon submit --wdir / --array 1-4 true
	[[ "$output" == *"with these 4 daemon would have 4 jobs that are not over, more than the 3 that one user may have"* ]]
	is 'max(j)' 4
	# Not those of other users either; and jobs that are over do not count.
	for _ in 1 2 3 4; do
		as_daemon run --wdir / true
	done
	slay "$controller"
	start_controller --user-jobs=3 --user-connections=3
	eventually hosts_up 1
	full() {
		run as_user root ps
		[ "$status" = 1 ]
		[[ "$output" == *"root has 3 connections already, as many as one user may have (user-connections of the controller): end some, or ask its administrator for more"* ]]
	}
	eventually full
	as_user daemon ps
	st ps
	kill ${background%% *}
	back() { as_user root ps; }
	eventually back
}

@test "who finds all connections taken when the controller is back waits for one" {
	serve 1
	user_keys
	run_as root
	run_as root
	eventually is 'sum(x["state"] == "running" for x in j.values())' 2
	slay "$(service_pid controller)"
	start_controller --user-connections=1
	eventually hosts_up 1
	eventually grep -q 'error="too many connections"' "$bed/controller.log"
	sleep 2
	both_are_there() { kill -0 ${background%% *} && kill -0 ${background##* }; }
	# shellcheck disable=SC2086
	both_are_there
	slay "$controller"
	start_controller
	eventually hosts_up 1
	both_are_there
	kill ${background%% *}
	eventually is 'sorted(x["state"] for x in j.values())' "['done', 'running']"
}

# Several small arguments and then a large one once became a packet that a keeper dropped,
# so that the job never started.
@test "a program gets as large arguments as it can have" {
	serve 1
	cat >"$BATS_TEST_TMPDIR/large.py" <<-'E'
		import subprocess, sys
		small, most = ["s" * 999] * 95, "l" * (131072 - 1)
		def run(*args):
		    p = subprocess.run([sys.argv[1], "run", "python3", "-c",
		        "import sys; print(len(sys.argv), sum(map(len, sys.argv[1:])))", *args],
		        stdin=subprocess.DEVNULL, capture_output=True, text=True)
		    return p.returncode, p.stdout.strip() or p.stderr.strip()
		print(run(*small, most, most))
	E
	run -0 timeout 300 python3 "$BATS_TEST_TMPDIR/large.py" "$stint"
	echo "$output"
	[ "$output" = "(0, '98 357047')" ]
}
