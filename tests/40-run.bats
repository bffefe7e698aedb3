# Jobs on a testbed: what `stint run` and its kind promise, whoever is killed.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	serve "${hosts:-3}"
}

teardown() { jobs_teardown; }

job_count_is() {
	json_is 'len(j)' "$1" ps
}

host_count_is() { # N
	json_is 'len(j)' "$1" hosts
}

all_running() {
	json_is 'all(r["state"] == "running" for i in j for r in i["ranks"]) and (len(j), j[0]["state"])' \
		"${1:-1} running" ps
}

host_of() { # JOB.RANK
	json "j[0]['ranks'][${1#*.}]['host']" ps "${1%.*}"
}

count=$BATS_TEST_DIRNAME/counter.py

counted_whole() { # FILE
	local n
	n=$(sed -n 's/^PASS //p' "$1")
	[ "$n" -gt 1 ] && cmp "$1" <(seq -f 'round %.0f' 0 $((n - 1)); echo "PASS $n")
}

@test "exit codes: the program's own, 128 + signal, 127, 126" {
	run st run true
	[ "$status" = 0 ]
	[ -z "$output" ]
	run st run -n 2 sh -c 'exit 7'
	[ "$status" = 7 ]
	[[ "$output" == *"exited with code 7"* ]]
	run st run sh -c 'kill -SEGV $$'
	[ "$status" = 139 ]
	run -127 st run /nonexistent/program
	[ "$status" = 127 ]
	[[ "$output" == *"/nonexistent/program"* ]]
	# More than 128 by itself is no signal.
	run st run sh -c 'exit 255'
	[ "$status" = 255 ]
	[[ "$output" == *"exited with code 255"* ]]
	mkdir "$bed/bin"
	echo "echo no first line" >"$bed/bin/script"
	printf '#!/no/such/interpreter\n' >"$bed/bin/orphan"
	run st run "$bed/bin/script"
	[ "$status" = 126 ]
	chmod +x "$bed/bin/script" "$bed/bin/orphan"
	run st run "$bed/bin/script"
	[ "$status" = 126 ]
	[[ "$output" == *"#!"* ]]
	run st run -x PATH="$bed/bin:$PATH" --wdir "$bed/bin" orphan
	[ "$status" = 126 ]
	[[ "$output" == *"$bed/bin/orphan: the interpreter that its first line"* ]]
	run st run /etc/passwd/program
	[ "$status" = 126 ]
	echo true >"$bed/bin/plain"
	run -126 st run "$bed/bin/plain"
	[[ "$output" == *"$bed/bin/plain: it is not executable (chmod +x"* ]]
	run -126 st run "$bed/bin"
	[[ "$output" == *"$bed/bin: it is a directory"* ]]
	# A host that does not exist is told, also where no rank would go there.
	run -1 st run --hosts h1,nosuch true
	[[ "$output" == *"no host nosuch; "* ]]
	# A directory that it may not look into holds nothing, as far as PATH goes; a
	# rank has no capabilities, even of root.
	mkdir "$bed/bin/true"
	install -d -o 1 -m 700 "$bed/locked"
	cp /bin/true "$bed/locked/hidden"
	run -127 st run -x PATH="$bed/locked" hidden
	[[ "$output" == *"cannot run hidden: no such program in PATH"* ]]
	run -126 st run --wdir "$bed" "$bed/locked/hidden"
	[[ "$output" == *"Permission denied"* ]]
	run -0 st run -x PATH="$bed/locked:$bed/bin:/bin" true
	eventually job_count_is 0
}

@test "other people's words cannot do anything to a terminal, nor to JSON" {
	run -127 st run $'no\xff\e[31m\nsuch'
	run st ps --all
	[[ "$output" != *$'\e'* ]]
	[ "${#lines[@]}" = 2 ]
	[ "$(json 'ascii(j[0]["argv"])' ps 1)" = "['no\ufffd\\x1b[31m\\nsuch']" ]
	[ "$(json 'j["state"]' why 1)" = "done" ]
}

@test "the first rank that fails ends the job" {
	run st run -n 3 -l sh -c 'case $(hostname) in *-1) exit 3;; *) sleep 1000;; esac'
	[ "$status" = 3 ]
	[[ "$output" == *"rank 1 exited with code 3"* ]]
}

# Whose peer has gone hears it at once, and its MPI library aborts; who went first is
# told nevertheless.
@test "a rank that goes is the cause, not the aborts of others that follow" {
	cat >"$bed/go.c" <<-'END'
		#include <mpi.h>
		#include <signal.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			int rank;

			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			if (rank == 1 && *argv[1] == 'e')
				_exit(3);
			if (rank == 1 && *argv[1] == 's')
				raise(SIGSEGV);
			if (rank == 1)
				MPI_Abort(MPI_COMM_WORLD, 42);
			for (;;)
				MPI_Barrier(MPI_COMM_WORLD);
		}
	END
	mpicc.mpich -o "$bed/go" "$bed/go.c"
	# By no SIGABRT: the others may end by one, too, and their init may see it first.
	for how in "exit 3 exited with code 3" "signal 139 was ended by signal 11" \
		"abort 42 called MPI_Abort with code 42"; do
		for _ in 1 2 3; do
			run --separate-stderr st run -n 4 "$bed/go" ${how%% *}
			[ "$status" = "$(cut -d' ' -f2 <<<"$how")" ] || { echo "$how: $status: $stderr"; false; }
			[[ "$stderr" == *"rank 1 $(cut -d' ' -f3- <<<"$how")"* ]] || { echo "$how: $stderr"; false; }
		done
	done
}

both_up() {
	[ "$(grep -cx up "$bed/out")" = 2 ]
}

first_of_two() { # JOB SIGNAL CODE WORDS
	local keeper rank code=0
	begin run -n 2 --hosts h1,h2 sh -c 'case $(hostname) in *-0) trap "exit 3" USR1;; *) trap "exit 5" USR1;; esac; echo up; while :; do sleep 0.1; done' >"$bed/out" 2>&1
	eventually both_up
	eventually all_running
	rank=$(jobs "j[$1]['ranks'][0]['pid']")
	keeper=$(pgrep -oxf -- "stint keeper $1[.]0 --run-dir=$bed/.*")
	# Its capsule's init, which sees it end, is not stopped.
	kill -STOP "$keeper"
	kill -s "$2" "$rank"
	eventually ended "$rank"
	kill -USR1 "$(jobs "j[$1]['ranks'][1]['pid']")"
	eventually is "j[$1]['ranks'][1]['state']" 'done'
	kill -CONT "$keeper"
	wait "${background##* }" || code=$?
	[ "$code" = "$3" ]
	grep -q "rank 0 $4" "$bed/out"
}

# Killed, it was not so by the controller, who asks for that later.
@test "of two ranks that die the first is the cause, though it is heard of last" {
	first_of_two 1 USR1 3 "exited with code 3"
	first_of_two 2 KILL 137 "was ended by signal 9"
}

@test "output comes whole, in order, labelled, stdout and stderr apart" {
	st run -n 3 -l sh -c 'seq 1000; echo bad >&2' >"$bed/out" 2>"$bed/err"
	for r in 0 1 2; do
		sed -n "s/^\[$r\] //p" "$bed/out" | cmp - <(seq 1000)
	done
	[ "$(wc -l <"$bed/out")" = 3000 ]
	[ "$(sort "$bed/err")" = $'[0] bad\n[1] bad\n[2] bad' ]
	[ "$(st run -n 2 printf x)" = xx ]
	[ "$(st run -n 2 -l printf x | sort)" = $'[0] x\n[1] x' ]
	[ "$(st run seq 300000 | md5sum)" = "$(seq 300000 | md5sum)" ]
}

@test "stdin goes to rank 0, from pipes, files and nowhere" {
	[ "$(seq 100000 | st run -n 2 sh -c 'md5sum')" != "" ]
	[ "$(seq 100000 | st run cat | md5sum)" = "$(seq 100000 | md5sum)" ]
	seq 1000 >"$bed/in"
	[ "$(st run sh -c 'sleep 0.2; exec md5sum' <"$bed/in")" = "$(md5sum <"$bed/in")" ]
	run st run cat </dev/null
	[ "$status" = 0 ]
	[ -z "$output" ]
}

# An end of stdin that is told again and again once took a fifth of a core.
@test "nothing goes to and fro once stdin has ended" {
	local c before
	c=$(service_pid controller)
	begin run sleep 1000 </dev/null
	eventually all_running
	# As many as 200 a second, of those that have really passed.
	before=$(switches "$c") from=${EPOCHREALTIME/[.,]/}
	sleep 1
	n=$(($(switches "$c") - before)) to=${EPOCHREALTIME/[.,]/}
	[ $((n * 1000000)) -lt $((200 * (to - from))) ]
	st kill "$(json 'j[0]["job"]' ps)"
}

switches() { # PID
	awk '/^voluntary/ { print $2 }' "/proc/$1/status"
}

@test "environment, working directory and groups are the submitter's" {
	run env PMIX_MCA_gds=hash PMI_MINE=1 HYDRA_MINE=2 PMI_PORT=there:1 "$stint" run \
		sh -c 'echo $PMIX_MCA_gds $PMI_MINE $HYDRA_MINE $PMI_PORT'
	[ "$output" = "hash 1 2" ]
	run st run -x STINT_TEST_A=x=y --wdir /usr sh -c 'echo "$STINT_TEST_A $PWD $(id -u)"'
	[ "$output" = "x=y /usr $(id -u)" ]
	run st run --wdir /nonexistent true
	[ "$status" = 2 ]
	run st run -x NO_SUCH_VARIABLE_HERE true
	[ "$status" = 2 ]
}

@test "placement: spread by the policy, or where the user says" {
	run st run -n 3 --hosts h2 -l sleep 0
	echo "$output"
	[ "$status" = 0 ]
	begin run -n 3 sleep 1000
	eventually all_running
	[ "$(json 'sorted(r["host"] for r in j[0]["ranks"])' ps)" = "['h1', 'h2', 'h3']" ]
	st kill "$(json 'j[0]["job"]' ps)"
	eventually job_count_is 0
	run st run --hosts h9 true
	[ "$status" = 1 ]
	[[ "$output" == *"no host h9"* ]]
}

@test "kill: TERM, then KILL for who does not hear; -s only signals" {
	begin run sh -c 'trap "" TERM; trap "echo usr1" USR1; echo up; while :; do sleep 0.1; done' >"$bed/out" 2>&1
	eventually grep -q up "$bed/out"
	local job
	job=$(json 'j[0]["job"]' ps)
	st kill -s USR1 "$job"
	eventually grep -q usr1 "$bed/out"
	st kill "$job"
	status=0
	wait "$background" || status=$?
	background=
	[ "$status" = 137 ]
	run st kill "$job"
	[ "$status" = 1 ]
	[[ "$output" == *"has ended"* ]]
}

@test "several jobs at a time, and one rank: what fails is told, the rest done" {
	sleeper
	sleeper -n 2
	sleeper
	# Who is who, for whoever looks at a host's processes.
	[ "$(cat "/proc/$(service_pid h1)/comm")" = stint-agent ]
	[ "$(tr '\0' ' ' <"/proc/$(service_pid h1)/cmdline" | cut -d' ' -f1-3)" = "stint agent h1" ]
	[ "$(pgrep -xf -- "stint keeper 2[.][01] --run-dir=$bed/.*" | xargs -I% cat /proc/%/comm | grep -cx stint-keeper)" = 2 ]
	run --separate-stderr st ps 1 7 3
	[ "$status" = 1 ]
	[ "$stderr" = "stint ps: no job 7; \`stint ps --all\` lists them" ]
	[ "${#lines[@]}" = 5 ] # a head, two jobs of a rank each
	[ "$(json '[i["job"] for i in j]' ps 2 1)" = "[2, 1]" ]
	run --separate-stderr st kill -s USR1 2.7 2.0
	[ "$status" = 1 ]
	[ "$stderr" = "stint kill: job 2 has ranks 0 to 1 and no 7" ]
	eventually is 'j[2]["state"]' 'done'
	is 'j[2]["why"]' "rank 0 was ended by signal 10 (User defined signal 1)"
	run --separate-stderr st kill 3.0 1
	[ "$status" = 2 ]
	[ "${#stderr_lines[@]}" = 1 ]
	[[ "$stderr" == *"a rank cannot be ended alone"* ]]
	eventually is 'j[1]["state"]' running
	run --separate-stderr st kill 3 2 9 1
	[ "$status" = 1 ]
	[ "$stderr" = $'stint kill: job 2 has ended\nstint kill: no job 9; `stint ps --all` lists them' ]
	eventually job_count_is 0
}

@test "Ctrl-C is passed on, a second one kills" {
	"$stint" run sh -c 'trap "echo got it" INT; echo up; while :; do sleep 0.1; done' >"$bed/out" 2>&1 3>&- &
	background=$!
	eventually grep -q up "$bed/out"
	kill -INT "$background"
	eventually grep -q "got it" "$bed/out"
	kill -INT "$background"
	status=0
	wait "$background" || status=$?
	background=
	[ "$status" = 137 ]
	eventually job_count_is 0
}

@test "what a rank prints comes in order and whole, though it moves while nobody reads" {
	mkfifo "$bed/pager"
	"$stint" run -n 1 --hosts h1 seq 1 400000 >"$bed/pager" 2>"$bed/err" 3>&- &
	background=$!
	exec 4<"$bed/pager"
	read -r first <&4
	migrate 1.0 h2
	migrate 1.0 h3
	{ echo "$first"; timeout 300 cat <&4; } | cmp - <(seq 1 400000)
	wait "$background"
	background=
}

@test "a rank goes on printing though what it printed before is lost with the host it left" {
	mkfifo "$bed/pager"
	"$stint" run -n 1 --hosts h1 seq 1 400000 >"$bed/pager" 2>"$bed/err" 3>&- &
	background=$!
	exec 4<"$bed/pager"
	read -r first <&4
	migrate 1.0 h2
	kill -9 "$(pgrep -of "keeper [^ ]* --run-dir=$bed/h1/run ")"
	eventually grep -q keeper=gone "$bed/h1/agent.log"
	timeout 300 cat <&4 | tail -n 1 | grep -qx 400000
	wait "$background"
	background=
	grep -q "some of what rank 0 printed is lost" "$bed/err"
}

# It waits for somebody to read, and has written no more for a while.
stuck() { # PID
	local n
	n=$(grep wchar "/proc/$1/io")
	grep -q pipe_write "/proc/$1/wchan" && sleep 1 &&
		[ "$n" = "$(grep wchar "/proc/$1/io")" ]
}

says() { # WORDS COMMAND...
	run st "${@:2}"
	[[ $output == *"$1"* ]]
}

@test "a rank that has ended, whose last words nobody has read yet, is said to have ended" {
	local pid
	mkfifo "$bed/pager"
	"$stint" run -n 1 --hosts h1 yes >"$bed/pager" 2>"$bed/err" 3>&- &
	background=$!
	exec 4<"$bed/pager"
	read -r first <&4
	pid=$(jobs 'j[1]["ranks"][0]["pid"]')
	eventually stuck "$pid"
	slay "$pid"
	eventually says "the rank has ended; what it printed last is still to be read" \
		migrate 1.0 h2
	is 'j[1]["ranks"][0]["state"]' running
	exec 4<&-
	wait "$background" || true
	background=
}

@test "a pager that waits keeps no signal from the job" {
	mkfifo "$bed/pager"
	"$stint" run -n 3 yes >"$bed/pager" 2>"$bed/err" 3>&- &
	background=$!
	exec 4<"$bed/pager"
	eventually all_running
	# It reads nothing any more.  Two Ctrl-C, as ever, and who cares for the rest.
	kill -INT "$background"
	eventually grep -q "^ShdPnd:	0*$" "/proc/$background/status"
	kill -INT "$background"
	status=0
	wait "$background" || status=$?
	background=
	exec 4<&-
	grep -q "killing the job" "$bed/err"
	[ "$status" = 137 ] || [ "$status" = 130 ]
	eventually job_count_is 0
}

@test "a question is seen by who sits at the terminal, whoever asks" {
	local ask='import os, signal
urg = [signal.SIGURG]
signal.pthread_sigmask(signal.SIG_BLOCK, urg)
if os.environ["PMI_RANK"] == "1":
    print("number", end="? ", flush=True)
    signal.sigwait(urg)
    print("thanks")'
	script -qfec "'$stint' run -n 2 -l python3 -c '$ask'" "$bed/seen" >/dev/null 3>&- &
	background=$!
	eventually grep -q "^\[1\] number? $" "$bed/seen"
	st kill -s URG 1 # which does no harm to rank 0, be it there or not
	wait "$background"
	background=
	grep -q "^\[1\] number? thanks" "$bed/seen"
}

@test "an MPI program runs, and each rank is moved meanwhile" {
	local heat=$STINT_BUILD/examples/heat job moves=0 n=500
	[ -x "$heat" ] || skip "no MPICH here"
	# More iterations, until there are enough for a move, however fast this
	# machine makes them.
	while [ "$moves" -lt 1 ]; do
		n=$((n * 4))
		limit=600 begin run -n 3 "$heat" -n 64 -i $n >"$bed/out" 2>&1
		eventually grep -q iteration "$bed/out"
		job=$((${job:-0} + 1))
		for rank in 0 1 2; do
			st migrate "$job.$rank" h1 || true
		done
		wait "$background"
		background=
		moves=$(json "sum(r['moves'] for r in j[0]['ranks'])" ps "$job")
		echo "$n iterations: $moves moves"
	done
	st run -n 3 "$heat" -n 64 -i $n >"$bed/right" 2>&1
	[ "$(grep ^result "$bed/out")" = "$(grep ^result "$bed/right")" ]
}

@test "ranks of MPICH cannot start others, and those that ask for errors go on" {
	run -0 st run -n 2 "$STINT_BUILD/tests/mpi/late" spawn
	[ "$(grep -c "^spawn failed: " <<<"$output")" = 2 ]
	[ "$(grep -cx "several failed" <<<"$output")" = 2 ]
}

@test "a program that is not MPI moves, and no line is lost" {
	begin run "$count" >"$bed/out" 2>"$bed/err"
	eventually grep -q 9 "$bed/out"
	local job from
	job=$(json 'j[0]["job"]' ps)
	from=$(host_of "$job.0")
	run st migrate "$job.0" "$from"
	[ "$status" = 1 ]
	[[ "$output" == *"already"* ]]
	run st migrate "$job.0" "$([ "$from" = h2 ] && echo h3 || echo h2)" --json
	echo "$output"
	[ "$status" = 0 ]
	echo "$output" | python3 -c 'import json,sys; j=json.load(sys.stdin); assert j["moved"] and j["downtime_us"] > 0'
	[ "$(host_of "$job.0")" != "$from" ]
	st kill -s USR1 "$job"
	wait "$background"
	background=
	[ ! -s "$bed/err" ]
	counted_whole "$bed/out"
}

@test "--json prints one object a line, with the fields that the page names" {
	fields() { # PAGE ARGUMENTS...: how many there are
		local page=$BATS_TEST_DIRNAME/../man/$1
		shift
		st "$@" --json >"$BATS_TEST_TMPDIR/json"
		python3 "$BATS_TEST_DIRNAME/fields.py" "$page" <"$BATS_TEST_TMPDIR/json" || return
		wc -l <"$BATS_TEST_TMPDIR/json"
	}
	sleeper
	sleeper -n 2
	eventually is 'j[1]["state"] == j[2]["state"] == "running"' True
	migrate 1.0 "$([ "$(host_of 1.0)" = h2 ] && echo h3 || echo h2)"
	st kill 2
	eventually is 'j[2]["state"]' 'done'
	[ "$(fields stint-hosts.1 hosts)" = 3 ]
	[ "$(fields stint-ps.1 ps -a)" = 2 ]
	[ "$(fields stint-ps.1 ps 2)" = 1 ]
	[ "$(fields stint-why.1 why 1)" = 1 ]
	[ "$(fields stint-migrate.1 migrate 1.0 h1)" = 1 ]
	[ "$(fields stint-migrate.1 drain h1)" = 1 ]
	[ "$(fields stint-testbed.1 testbed list)" = 1 ]
}

@test "System V objects keep a rank where it is, and it is told why" {
	begin run --hosts h1 sh -c 'ipcmk -S 1; exec sleep 1000' >"$bed/out" 2>"$bed/err"
	eventually grep -q "Semaphore id" "$bed/out"
	run st migrate 1.0 h2
	[ "$status" = 1 ]
	[[ "$output" == *"System V semaphores"* ]]
	st kill 1
}

@test "drain moves ranks off and keeps new ones away; --undo" {
	begin run -n 2 "$count" >"$bed/out" 2>&1
	eventually all_running
	local job host
	job=$(json 'j[0]["job"]' ps)
	host=$(host_of "$job.0")
	st drain "$host"
	[ "$(host_of "$job.0")" != "$host" ]
	[ "$(json "[h['state'] for h in j if h['host'] == '$host'][0]" hosts)" = drained ]
	run st run --hosts "$host" true
	[ "$status" = 1 ]
	[[ "$output" == *"drained"* ]]
	st drain "$host" --undo
	st run --hosts "$host" true
	st kill "$job"
	wait "$background" || true
	background=
	run st drain h9
	[ "$status" = 1 ]
}

@test "several hosts are drained at a time: no rank goes from one to the other" {
	begin run -n 2 --hosts h1,h2 "$count" >"$bed/out" 2>&1
	eventually all_running
	run --separate-stderr st drain h1 h9 h2
	[ "$status" = 1 ]
	[[ "$stderr" == "stint drain: no host h9;"* ]]
	[ "$(json '[h["state"] for h in j]' hosts)" = "['up', 'up', 'up']" ]
	st drain h1 h2 >"$bed/moves"
	[ "$(jobs 'hosts(1)')" = "['h3', 'h3']" ]
	[ "$(jobs '[r["moves"] for r in j[1]["ranks"]]')" = "[1, 1]" ]
	[ "$(grep -c '^rank 1.. moved from h[12] to h3' "$bed/moves")" = 2 ]
	[ "$(json '[h["state"] for h in j]' hosts)" = "['drained', 'drained', 'up']" ]
	run --separate-stderr st drain h1 h3
	[ "$status" = 1 ]
	[[ "$stderr" == "stint drain: h3 takes nothing new, but not all could leave: "* ]]
	[ "${#stderr_lines[@]}" = 1 ]
	st undrain h1 h2 h3
	[ "$(json '[h["state"] for h in j]' hosts)" = "['up', 'up', 'up']" ]
	st kill 1
}

@test "agents and the controller are killed, and the job runs on" {
	begin run -n 2 -l "$count" >"$bed/out" 2>"$bed/err"
	eventually all_running
	slay "$(service_pid h1)"
	start_agent h1
	slay "$(service_pid controller)"
	start_controller
	eventually all_running || { st ps; cat "$bed"/*.log "$bed"/*/*.log; false; }
	eventually all_running
	# An orderly stop, as for an update, is no end of anything either.
	kill "$controller"
	wait "$controller" || true
	start_controller
	eventually all_running
	st kill -s USR1 "$(json 'j[0]["job"]' ps)"
	wait "$background"
	background=
	for r in 0 1; do
		sed -n "s/^\[$r\] //p" "$bed/out" >"$bed/out.$r"
		counted_whole "$bed/out.$r"
	done
	kill "$controller"
	# The agent started here is in the testbed, which ends what is in it.
}

@test "a controller without hosts serves, and takes the first ones as they come" {
	local agent enrol=("$stint" controller --state-dir="$bed/s2")
	"${enrol[@]}" --enrol=admin/root >"$bed/me.key"
	begin controller --state-dir="$bed/s2" --min-uid=0 --pool=10.99.0.0/16 --listen="unix:$bed/c2" 2>"$bed/c2.log"
	export STINT_CONTROLLER=unix:$bed/c2 STINT_KEY=$bed/me.key
	eventually grep -q serving "$bed/c2.log"
	[ "$(json j hosts) $(json j ps)" = "[] []" ]
	run --separate-stderr st run true
	[ "$status" = 1 ]
	[ "${#stderr_lines[@]}" = 1 ]
	[[ "$stderr" == *"no host yet"*"--enrol=host/NAME"* ]]
	run --separate-stderr st record
	[ "$status" = 1 ]
	[ -z "$output" ]
	for h in h1 h2; do
		"${enrol[@]}" --enrol="host/$h" >"$bed/$h.key2"
		on "$h" timeout 300 "$stint" agent --controller="unix:$bed/c2" --key="$bed/$h.key2" \
			--run-dir="$bed/$h/run2" --config="$bed/$h/stint.conf" --uplink=eth0 --score=1000 --min-uid=0 2>>"$bed/c2.log" 3>&- &
		background="$background $!"
	done
	eventually hosts_up 2
	[ "$(st run -n 2 --hosts h1,h2 hostname | wc -l)" = 2 ]
	st run true
	st record >"$bed/record"
	st sim --replay "$bed/record"
}

# Over a network it is TLS, for which clients load a library of their own; on one
# machine they need not.
@test "a controller elsewhere is reached by TLS, one here without" {
	local enrol=("$stint" controller --state-dir="$bed/s3") far=10.77.0.1:7077
	[ -e "$STINT_BUILD/src/core/stint-tls.so" ]
	run ! grep -qE 'gnutls|systemd' <(ldd "$STINT_BUILD/src/cmd/stint-client")
	run ! grep -qE 'gnutls|systemd|sqlite' <(ldd "$STINT_BUILD/src/cmd/stint-keeper")
	for who in host/x admin/root; do
		"${enrol[@]}" --enrol="$who" >"$bed/${who##*/}.key"
	done
	on h1 timeout 600 "${enrol[@]}" --min-uid=0 --pool=10.99.0.0/16 --listen="$far" \
		--listen="unix:$bed/c3" 2>"$bed/c3.log" 3>&- &
	controller=$!
	eventually grep -q serving "$bed/c3.log"
	on h2 timeout 600 "$stint" agent --controller="$far" --key="$bed/x.key" --run-dir="$bed/x" \
		--config="$bed/h2/stint.conf" --min-uid=0 2>"$bed/x.log" 3>&- &
	local agent=$!
	export STINT_CONTROLLER=unix:$bed/c3 STINT_KEY=$bed/root.key
	eventually host_count_is 1
	[ "$(st run echo near)" = near ]
	export STINT_CONTROLLER=$far
	[ "$(on h2 "$stint" run echo far)" = far ]
	sed -i 's/0$/1/; t; s/.$/0/' "$bed/root.key" # another secret
	run on h2 "$stint" ps
	[ "$status" = 1 ]
	[[ $output == *"the peer does not know our key"* ]]
	export STINT_CONTROLLER=unix:$bed/c3
	run st ps
	[ "$status" = 1 ]
	[[ $output == *"the peer does not know our key"* ]]
	kill "$agent"
}

@test "a client that goes away takes its job with it" {
	"$stint" controller --state-dir="$bed/s2" --enrol=host/x >"$bed/x.key"
	"$stint" controller --state-dir="$bed/s2" --enrol=admin/root >"$bed/me.key"
	timeout 600 "$stint" controller --state-dir="$bed/s2" --min-uid=0 --client-grace=1s --listen="unix:$bed/c2" 2>"$bed/c2.log" 3>&- &
	controller=$!
	on h1 "$stint" agent --controller="unix:$bed/c2" --key="$bed/x.key" --run-dir="$bed/x" --config="$bed/h1/stint.conf" --min-uid=0 2>"$bed/x.log" 3>&- &
	local agent=$!
	export STINT_CONTROLLER=unix:$bed/c2 STINT_KEY=$bed/me.key
	eventually host_count_is 1
	"$stint" run sleep 1000 3>&- &
	local client=$!
	eventually all_running
	kill -9 "$client"
	eventually job_count_is 0
	kill "$agent" "$controller"
	wait "$agent" "$controller" || true
	unset STINT_CONTROLLER STINT_KEY
}

@test "nohup holds; a client whose controller is away can still be told to end" {
	local c
	(
		trap "" HUP
		exec "$stint" run "$count"
	) >"$bed/out" 2>"$bed/err" 3>&- &
	background=$!
	eventually all_running
	[ "$(json 'sum(1 for i in j for r in i["ranks"])' ps)" = 1 ]
	[ "$(st ps | wc -l)" = 2 ] # no line for a rank that just runs
	[ "$(st ps 1 | wc -l)" = 3 ]
	kill -HUP "$background"
	eventually grep -q 9 "$bed/out"
	c=$(service_pid controller)
	kill -9 "$c"
	eventually grep -q "it is waited for" "$bed/err"
	kill -TERM "$background"
	status=0
	wait "$background" || status=$?
	background=
	[ "$status" = 143 ]
	grep -q "ends job 1" "$bed/err"
	start_controller --client-grace=1ms
	eventually job_count_is 0
	kill "$controller"
}

@test "a peer without a key gets nothing parsed, and keeps nobody out" {
	python3 - "$bed/controller.sock" <<-'END'
	import os, socket, sys
	idle = []
	for i in range(100):
	    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); idle.append(s)
	for data in (b"\0\0\0\2\x08\x01", b"GET / HTTP/1.0\r\n\r\n", os.urandom(4096), b"\x16\x03\x01\xff\xff" + b"A" * 65535):
	    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
	    s.settimeout(30)
	    try:
	        s.sendall(data); s.shutdown(socket.SHUT_WR)
	        answer = s.recv(65536)
	    except OSError:
	        answer = b""
	    assert b"stint" not in answer
	END
	printf 'admin/root %064d\n' 0 >"$bed/bad.key"
	run st ps --controller "unix:$bed/controller.sock" --key "$bed/bad.key"
	[ "$status" = 1 ]
	[[ "$output" == *"key"* ]]
	st ps
	kill -0 "$(service_pid controller)"
}

@test "an agent's key is no user's, and a user's is for that user" {
	"$stint" controller --state-dir="$bed/controller" --enrol=user/nobody >"$bed/nobody.key"
	run st ps --controller "unix:$bed/controller.sock" --key "$bed/h1/key"
	[ "$status" = 1 ]
	run st run --controller "unix:$bed/controller.sock" --key "$bed/nobody.key" true
	[ "$status" = 1 ]
	[[ "$output" == *"nobody"* ]]
	run st drain h1 --controller "unix:$bed/controller.sock" --key "$bed/nobody.key"
	[ "$status" = 1 ]
}

@test "bad input: one line that says what to do, nothing done" {
	for args in "run" "run -n 0 true" "run -n x true" "run -n -1 true" \
		"run -n 1- true" "migrate 1 h1" "migrate -b 0 1.0 h1" "migrate 1.0" \
		"kill" "kill x" "kill -s NOSUCH 1" "drain" "ps x" "hosts what" \
		"controller --listen=nowhere" "controller --pool=1.2.3" "agent --net=fast"; do
		run st $args
		echo "$args: $status: $output"
		[ "$status" = 2 ]
	done
	run st migrate 99.0 h1
	[ "$status" = 1 ]
	[[ "$output" == *"no job 99"* ]]
	[ "${#lines[@]}" = 1 ]
	printf '[controller]\nlisten = unix:/x\nnonsense = 1\n' >"$bed/bad.conf"
	run st controller --config "$bed/bad.conf"
	[ "$status" = 2 ]
	[[ "$output" == *"bad.conf:3: "* ]]
	for none in -uSTINT_TESTBED STINT_TESTBED=; do
		run env "$none" STINT_TESTBED_DIR=/nonexistent HOME=/nonexistent "$stint" ps
		[ "$status" = 1 ]
		[[ "$output" == *"--controller"* ]]
	done
}

# Nobody starts an agent again: what is there ends at a word.
@test "agent --clean-up: a host is left as if it had never been in a cluster" {
	run -1 on h1 "$stint" agent --clean-up --run-dir="$bed/h1/run"
	[[ $output == *"another agent works in"* ]]
	bare=$(host_things | grep -v stint-guests) # its agent has made these
	sleeper -n 1 --hosts h1
	sleeper -n 1 --hosts h1
	eventually is 'j[1]["state"] + j[2]["state"]' runningrunning
	[ "$(host_things)" != "$bare" ]
	kill -9 "$(service_pid h1)"
	# An orphan that is just being made, and a keeper that does not listen.
	on h1 sh -c '"$0" keeper 77.0 --run-dir="$1" >/dev/null 2>&1 &' "$stint" "$bed/h1/run" 3>&-
	eventually test -S "$bed/h1/run/keepers/77.0.0.sock"
	kill -STOP $(pgrep -f -- "keepe[r] 1.0 --run-dir=$bed/h1/run")
	on h1 "$stint" agent --clean-up --run-dir="$bed/h1/run"
	[ ! -e "$bed/h1/run" ]
	diff <(echo "$bare") <(host_things)
	run ! pgrep -f -- "[-]-run-dir=$bed/h1/run"
	run -1 on h1 "$stint" agent --clean-up --run-dir="$bed/h1/run"
	[ "${#lines[@]}" = 1 ]
	start_agent h1 # it may join again; what it had is lost, and told so
	eventually is 'j[1]["state"] + j[2]["state"]' donedone
}

host_things() { # links, routes, proxies, cgroups of h1
	on h1 sh -c 'ip -o link; ip -4 route show table all; ip neigh show proxy' |
		sed 's/qdisc.*//; s/ cache.*//'
	find /sys/fs/cgroup -path "*stint-testbed.$STINT_TESTBED/h1/*" -type d | sort
}

# A small disk for the controller's state, in a mount namespace that $holder holds open,
# so that the controller there can be killed and started again.
small_disk() { # SIZE
	unshare -m sh -c 'cp -a "$1" "$1.copy" && mount -t tmpfs -o size="$2",mode=700 none "$1" &&
		cp -a "$1.copy/." "$1" && touch "$1.mounted" || exit 99
		exec sleep 100000' sh "$bed/controller" "$1" 3>&- &
	holder=$!
	background="${background:+$background }$holder"
	eventually test -e "$bed/controller.mounted"
}

controller_on_small_disk() {
	nsenter -t "$holder" -m "$stint" controller --state-dir="$bed/controller" --min-uid=0 \
		--pool=10.77.128.0/17 --listen="unix:$bed/controller.sock" >>"$bed/controller.log" 2>&1 3>&- &
	controller=$!
	eventually hosts_up 3
}

at_disk() { # COMMAND...
	nsenter -t "$holder" -m sh -c "cd \"\$1\" && $*" sh "$bed/controller"
}

fill_disk() { # until not even its journal finds room
	eventually at_disk 'cat /dev/zero >>fill 2>/dev/null; [ -s fill ] && ! echo x >more'
}

exits_0() { json 'sum(i["state"] == "done" and i["exit"] == 0 for i in j)' ps --all; }

@test "a full disk: filled at any moment, and its controller killed, all that was told is known" {
	local round job told=0
	begin run -n 1 sleep 1000 >"$bed/told" 2>&1
	job=${background##* }
	eventually is 'j[1]["state"]' running
	slay "$(service_pid controller)"
	small_disk 48m
	controller_on_small_disk
	for round in 1 2 3; do
		{ sleep "0.$((RANDOM % 10))" && at_disk 'cat /dev/zero >>fill 2>/dev/null' || true; } 3>&- &
		background="$background $!"
		while st run -n 1 true 2>"$bed/refused"; do
			told=$((told + 1))
		done
		grep -q "disk is full: jobs run on" "$bed/refused"
		fill_disk
		slay "$controller"
		controller_on_small_disk
		[ "$(jobs 'j[1]["state"]')" = running ]
		[ "$(exits_0)" = "$told" ]
		run -1 st run -n 1 true
		[[ "$output" == *"disk is full: jobs run on"* ]]
		# Killed once more, with a move behind it that found no room.
		migrate 1.0 "$(json '"h2" if j[0]["ranks"][0]["host"] == "h1" else "h1"' ps 1)" >/dev/null
		slay "$controller"
		controller_on_small_disk
		[ "$(jobs 'j[1]["ranks"][0]["moves"]')" = "$round" ]
		at_disk 'rm -f fill more'
		eventually st run -n 1 true
		told=$((told + 1))
	done
	st kill -s KILL 1
	wait "$job" || [ $? = 137 ]
	[ "$(jobs 'j[1]["exit"]')" = 137 ]
}

@test "a full disk: what runs goes on, new jobs are refused, and with room all is as before" {
	local i job
	begin run -n 1 python3 -c 'import signal, sys
signal.signal(signal.SIGUSR1, lambda *a: sys.exit(5))
while True: signal.pause()' >"$bed/told" 2>&1
	job=${background##* }
	eventually is 'j[1]["state"]' running
	slay "$(service_pid controller)"
	small_disk 48m
	controller_on_small_disk
	run --separate-stderr st ps
	[[ "$stderr" == *"nearly full"* ]]
	st run -n 1 true
	fill_disk
	# Nobody could take what it holds: it still starts, moves and ends ranks.
	run -1 st run -n 1 true
	[[ "$output" == *"disk is full: jobs run on"* ]]
	for i in 1 2 3 4 5 6; do
		migrate 1.0 "h$((i % 2 + 2))" >/dev/null
	done
	run --separate-stderr st hosts
	[[ "$stderr" == *"disk is full"* ]]
	# On the full disk it still knows all of that.
	[ "$(jobs 'j[1]["state"]')" = running ]
	st kill -s USR1 1
	wait "$job" || [ $? = 5 ]
	[ "$(jobs 'j[1]["state"], j[1]["exit"]')" = "done 5" ]
	kill -0 "$controller"
	at_disk 'rm fill'
	st run -n 1 true
	eventually grep -q "has room again\|nearly full" "$bed/controller.log"
}

@test "a destination that runs out of memory: the move is given up" {
	local group
	group=$(find /sys/fs/cgroup/memory -type d -path "*stint-testbed.$STINT_TESTBED/h2" 2>/dev/null)
	[ -n "$group" ] || skip "no cgroup v1 memory controller"
	limit=1000 st run -n 1 --hosts h1 python3 -c 'import sys, time
b = bytearray(64 << 20)
while True:
    for i in range(0, len(b), 4096): b[i] = b[i] + 1 & 255
    assert len(set(b[::4096])) == 1
    print("round", flush=True); time.sleep(0.05)' >"$bed/out" 2>&1 3>&- &
	background=$!
	eventually grep -q round "$bed/out"
	echo $((24 << 20)) >"$group/memory.limit_in_bytes"
	for _ in 1 2; do
		run -1 st migrate 1.0 h2
		echo "$output"
		[ "${#lines[@]}" = 1 ]
	done
	rounds=$(grep -c round "$bed/out")
	more_rounds() { [ "$(grep -c round "$bed/out")" -gt "$rounds" ]; }
	eventually more_rounds
	echo -1 >"$group/memory.limit_in_bytes"
	# Without CAP_SYS_RESOURCE the agent may have been killed in the helper's place.
	again() { hosts_up 3 || start_agent h2; st migrate 1.0 h2; }
	eventually again
	if sh -c 'echo -1 >/proc/self/oom_score_adj' 2>/dev/null; then
		[ "$(cat "/proc/$(service_pid h1)/oom_score_adj")" = -900 ]
		[ "$(cat "/proc/$(pgrep -f "[b] = bytearray.64" | tail -n 1)/oom_score_adj")" = 0 ]
	fi
	rounds=$(grep -c round "$bed/out")
	eventually more_rounds
}
