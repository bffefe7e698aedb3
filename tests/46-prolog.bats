# What an administrator has run on a host before a job's first rank there, and after its last.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	serve 2
	told=$BATS_TEST_TMPDIR/told
	mkdir "$told"
	ran=$(mktemp /var/tmp/stint-ran.XXXXXX) # a rank's /tmp is its own
	program prolog "echo prolog \$STINT_JOB_ID >>$told/\$STINT_HOST"
	program epilog "echo epilog \$STINT_JOB_ID >>$told/\$STINT_HOST"
}

teardown() {
	rm -f "$ran"
	jobs_teardown
}

# It takes the place of the one that is there, which may be running.
program() { # NAME LINES
	printf '#!/bin/sh\n%s\n' "$2" >"$BATS_TEST_TMPDIR/$1.new"
	chmod 755 "$BATS_TEST_TMPDIR/$1.new"
	mv "$BATS_TEST_TMPDIR/$1.new" "$BATS_TEST_TMPDIR/$1"
}

slay_agent() { # HOST
	local p=${agents[$1]:-$(service_pid "$1")}
	ended "$p" || slay "$p"
}

agent_anew() { # HOST OPTION...
	slay_agent "$1"
	start_agent "$1" --prolog="$BATS_TEST_TMPDIR/prolog" --epilog="$BATS_TEST_TMPDIR/epilog" "${@:2}"
	eventually agent_works "$1"
	agents[$1]=$(fuser_of "$bed/$1/run/agent.lock")
}
declare -gA agents

agent_works() { # HOST
	[ -n "$(fuser_of "$bed/$1/run/agent.lock")" ] && hosts_up 2
}

# Which process holds that lock.
fuser_of() { # FILE
	local file major minor inode
	read -r major minor inode < <(stat -c '%Hd %Ld %i' "$1")
	printf -v file '%02x:%02x:%d' "$major" "$minor" "$inode"
	awk -v file="$file" '$6 == file { print $5; exit }' /proc/locks
}

told_is() { # HOST LINE...
	cmp -s "$told/$1" <(printf '%s\n' "${@:2}")
}

is_closed() { # HOST WHY
	st owner status --all | grep -Eq "^$1 .* $2( |$)"
}

nothing_owed() { # HOST
	! compgen -G "$bed/$1/run/jobs/*" >/dev/null
}

@test "prolog and epilog: once for a job and host, around its ranks, as root and outside of the capsule" {
	program prolog "sleep 0.3; { id -u; env | sort; } >$told/env; readlink /proc/self/ns/uts /proc/self/ns/pid >$told/ns; echo prolog >>$ran"
	program epilog "echo epilog >>$ran"
	agent_anew h1
	chmod 666 "$ran"
	SECRET=1 st run --hosts h1 -n 3 sh -c "echo rank >>$ran"
	eventually nothing_owed h1
	[ "$(tr '\n' ' ' <"$ran")" = "prolog rank rank rank epilog " ]
	[ "$(head -n 1 "$told/env")" = 0 ]
	[ "$(grep -v '^_=\|^PWD=\|^OLDPWD=\|^SHLVL=' "$told/env" | tail -n +2 | tr '\n' ' ')" = \
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin STINT_HOST=h1 STINT_JOB_ID=1 STINT_RANK=0 STINT_UID=$(id -u) STINT_USER=$(id -un) " ]
	cmp "$told/ns" <(readlink "/proc/${agents[h1]}/ns/uts" "/proc/${agents[h1]}/ns/pid")
}

@test "a prolog that fails: the job starts elsewhere, the host takes no more and says why, until it is told to look again" {
	program prolog "echo tried >>$told/tries; exit 3"
	agent_anew h1
	[ "$(st run --hosts h1,h2 -n 1 sh -c "echo ran >>$ran; echo out")" = out ]
	[ "$(cat "$ran")" = ran ]
	is '[r["host"] for r in j[1]["ranks"]]' "['h2']"
	st history --json | grep "rank 0 goes to h2: h1: the prolog of job 1 failed: .*prolog exited with 3"
	eventually is_closed h1 prolog
	# What it left half done is the epilog's.
	eventually told_is h1 "epilog 1"
	run -1 st run --hosts h1 true
	[[ "$output" == *"host h1 takes no guests: its prolog or epilog has failed"* ]]
	[ "$(wc -l <"$told/tries")" = 1 ]
	program prolog true
	kill -HUP "${agents[h1]}"
	eventually st run --hosts h1 true
}

@test "a prolog that does not end is killed, with what it started" {
	program prolog "sleep 1000 & echo \$! >$told/pid; sleep 1000"
	agent_anew h1 --prolog-limit=500ms
	[ "$(st run --hosts h1,h2 -n 1 echo out)" = out ]
	st history --json | grep "prolog was killed: it took too long"
	eventually ended "$(cat "$told/pid")"
}

@test "an epilog that fails closes its host, and its job is over all the same" {
	program epilog "exit 4"
	agent_anew h1
	st run --hosts h1 true
	eventually is_closed h1 prolog
	grep "job=1 rank=0 epilog=failed why=\".*epilog exited with 4\"" "$bed/h1/agent.log"
	nothing_owed h1
}

@test "a rank that moves: the prolog of its new host before, the epilog of the old one after" {
	agent_anew h1
	agent_anew h2
	sleeper --hosts h1 -n 1
	eventually all_running
	told_is h1 "prolog 1"
	migrate 1.0 h2
	told_is h2 "prolog 1"
	eventually told_is h1 "prolog 1" "epilog 1"
	st kill 1
	eventually told_is h2 "prolog 1" "epilog 1"
}

@test "a host whose prolog fails gets no rank that moves: it runs on where it is" {
	program prolog '[ "$STINT_HOST" = h1 ]'
	agent_anew h1
	agent_anew h2
	sleeper --hosts h1 -n 1
	eventually all_running
	run -1 st migrate 1.0 h2
	[[ "$output" == *"h2: the prolog of job 1 failed: "*"prolog exited with 1"* ]]
	[ "$(host_of 1.0)" = h1 ]
	all_running
	told_is h2 "epilog 1"
}

@test "an agent that dies owes the epilog still, also of a prolog that it cut off" {
	agent_anew h1
	sleeper --hosts h1 -n 1
	eventually all_running
	slay_agent h1
	st kill 1 || true
	agent_anew h1
	eventually told_is h1 "prolog 1" "epilog 1"
	# The next job waits for a prolog that does not end, and is killed with the agent.
	program prolog "echo cut \$STINT_JOB_ID >>$told/h1; sleep 1000 & echo \$! >$told/pid; wait"
	begin run --hosts h1 echo ran >"$bed/out" 2>&1
	eventually test -s "$told/pid"
	slay_agent h1
	kill -0 "$(cat "$told/pid")"
	program prolog "echo prolog \$STINT_JOB_ID >>$told/h1"
	agent_anew h1
	wait "${background##* }"
	grep -q ran "$bed/out"
	ended "$(cat "$told/pid")"
	eventually told_is h1 "prolog 1" "epilog 1" "cut 2" "epilog 2" "prolog 2" "epilog 2"
}

@test "what others than root may change is not run: one line at the start, and at SIGHUP" {
	chmod 777 "$BATS_TEST_TMPDIR/prolog"
	slay_agent h1
	run -1 on h1 "$stint" agent --controller="unix:$bed/controller.sock" --key="$bed/h1/key" \
		--run-dir="$bed/h1/run" --prolog="$BATS_TEST_TMPDIR/prolog"
	[[ "$output" == *"prolog: $BATS_TEST_TMPDIR/prolog: others than root may change it" ]]
	chmod 755 "$BATS_TEST_TMPDIR/prolog"
	start_agent h1 --prolog="$BATS_TEST_TMPDIR/prolog"
	eventually agent_works h1
	chown 12345 "$BATS_TEST_TMPDIR/prolog"
	kill -HUP "$(fuser_of "$bed/h1/run/agent.lock")"
	eventually grep "prolog=refused error=\"prolog: .*prolog: others than root may change it\"" "$bed/h1/agent.log"
	[ "$(st run --hosts h1,h2 -n 1 echo out)" = out ]
	[ ! -e "$told/h1" ]
}
