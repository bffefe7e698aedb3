# Jobs on a testbed: what `stint run` promises of codes, output, input and signals.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	serve "${hosts:-3}"
}

teardown() { jobs_teardown; }

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
	# A code above 128 alone is not a signal.
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
	# A host that does not exist is reported, even if no rank would go there.
	run -1 st run --hosts h1,nosuch true
	[[ "$output" == *"no host nosuch; "* ]]
	# In a directory that the rank may not read, PATH finds nothing; a rank has no
	# capabilities, even as root.
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

# Rank 1's peer has gone, which it hears at once, so its MPI library aborts; the first rank
# is named nevertheless.
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
	# Not by SIGABRT: the others may end by that as well, and their init may notice it
	# first.
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
	# The keeper is stopped, but not its capsule's init, which sees the rank end.
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

# In the second case the test kills the rank; the controller asks for that only later.
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

# An end of stdin that was reported again and again once took a fifth of a core.
@test "nothing goes to and fro once stdin has ended" {
	local c before
	c=$(service_pid controller)
	begin run sleep 1000 </dev/null
	eventually all_running
	# At most 200 a second, by the time that has really passed.
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
	[ "$(st run -n 2 sh -c 'echo $STINT_JOB_ID $STINT_RANK of $STINT_RANKS' | sort | xargs)" = "2 0 of 2 2 1 of 2" ]
	run -1 st output 1 # understood: it is that job that has none
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

keepers_of_job_2_are_two() {
	[ "$(pgrep -xf -- "stint keeper 2[.][01] --run-dir=$bed/.*" | xargs -I% cat /proc/%/comm | grep -cx stint-keeper)" = 2 ]
}

@test "several jobs at a time, and one rank: what fails is told, the rest done" {
	sleeper
	sleeper -n 2
	sleeper
	# Find a process of that job, as one sees it on a host.
	[ "$(cat "/proc/$(service_pid h1)/comm")" = stint-agent ]
	[ "$(tr '\0' ' ' <"/proc/$(service_pid h1)/cmdline" | cut -d' ' -f1-3)" = "stint agent h1" ]
	eventually keepers_of_job_2_are_two
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

@test "a pager that waits keeps no signal from the job" {
	mkfifo "$bed/pager"
	"$stint" run -n 3 yes >"$bed/pager" 2>"$bed/err" 3>&- &
	background=$!
	exec 4<"$bed/pager"
	eventually all_running
	# The pager reads nothing any more.  Two Ctrl-C are sent as ever, and then the rest
	# of the output comes.
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

# MPICH itself says "other error".
@test "ranks of MPICH cannot start others, and those that ask for errors go on" {
	local late=$STINT_BUILD/tests/mpi/late
	run -0 st run -n 2 "$late" spawn
	[ "$(grep -c "^spawn refused: .*spawn" <<<"$output")" = 2 ]
	[ "$(grep -cx "several refused" <<<"$output")" = 2 ]
	run ! st run -n 2 "$late" spawn-fatal
	[[ $output == *spawn* ]]
	[[ $output != *"several"* ]]
}

@test "below a launcher of its own in a rank, MPICH is asked itself whether it can start others" {
	run -0 st run mpiexec.hydra -n 2 "$STINT_BUILD/tests/mpi/late" spawn
	[ "$(grep -c "^spawn " <<<"$output")" = 2 ]
	[[ $output != *refused* ]]
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
