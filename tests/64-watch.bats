#!/usr/bin/env bats
# Something cannot be watched (fs.epoll.max_user_watches): in client, controller, agent and
# keeper the first call of epoll_ctl() fails, then the second, ..., until none fails any
# more.  The program ends with a line that says so, or does its work all the same.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	command -v strace >/dev/null || skip "no strace"
	jobs_setup
}

teardown() { jobs_teardown; }

# Run a command whose process is the one that will be told to end.
injecting() { # N
	inject=(timeout -k 10 200 strace -qq -o "$bed/calls" -e trace=epoll_ctl
		-e "inject=epoll_ctl:error=ENOSPC:when=$1")
}

failed() {
	grep -q INJECTED "$bed/calls"
}

# The kernel never refuses to stop watching something.
failed_to_watch() {
	grep INJECTED "$bed/calls" | grep -qv EPOLL_CTL_DEL
}

# One line in words, which names the limit that is in the way.
says_so() { # FILE
	[ "$(grep -c 'No space left on device: .*fs.epoll.max_user_watches' "$1")" = 1 ] || {
		cat "$1"
		return 1
	}
}

@test "a client that cannot watch ends with a line, or goes on" {
	local n rc
	serve 1
	for ((n = 1; ; n++)); do
		rc=0
		injecting "$n"
		"${inject[@]}" "$stint-client" run echo "hi $n" >"$bed/out" 2>&1 || rc=$?
		if [ $rc = 0 ]; then
			[ "$(cat "$bed/out")" = "hi $n" ]
		else
			[ $rc = 1 ]
			says_so "$bed/out"
		fi
		failed || break
	done
	[ $n -gt 3 ]
}

@test "a controller that cannot watch ends with a line" {
	local n rc bed=$BATS_TEST_TMPDIR
	for ((n = 1; ; n++)); do
		rc=0
		injecting "$n"
		"${inject[@]}" "$stint" controller --state-dir="$bed/state.$n" --listen="unix:$bed/sock" \
			--pool=10.99.0.0/16 --min-uid=0 >"$bed/out.$n" 2>&1 3>&- &
		background=$!
		eventually watched_or_ended "$background" serving "$bed/out.$n"
		failed || break
		wait "$background" || rc=$?
		background=
		[ $rc = 1 ]
		says_so "$bed/out.$n"
	done
	[ $n -gt 3 ]
}

watched_or_ended() { # PID WORD FILE
	ended "$1" || grep -q "$2" "$3"
}

# At each failure the agent ends, or says so and does its work, or works on at once.
@test "an agent that cannot watch says so, and does its work" {
	local n rc log
	serve 1
	log=$bed/h1/agent.log
	slay "$(service_pid h1)"
	for ((n = 1; ; n++)); do
		rc=0
		: >"$log"
		injecting "$n"
		start_injected_agent
		eventually watched_or_ended "$background" connected "$log"
		if ended "$background"; then
			wait "$background" || rc=$?
			[ $rc = 1 ]
			says_so "$log"
			continue
		fi
		! failed_to_watch || grep 'No space left on device' "$log"
		st run echo "hi $n" </dev/null >"$bed/out" 2>&1 || rc=$?
		cat "$bed/out"
		if [ $rc = 0 ]; then
			[ "$(cat "$bed/out")" = "hi $n" ]
		else
			says_so "$bed/out"
		fi
		kill "$background"
		wait "$background" || true
		background=
		failed || break
	done
	[ $n -gt 10 ]
}

# As start_agent, but this agent can be told to end.
start_injected_agent() {
	timeout -k 10 300 "$stint" testbed exec h1 "${inject[@]}" "$stint" agent \
		--controller="unix:$bed/controller.sock" --key="$bed/h1/key" --run-dir="$bed/h1/run" \
		--config="$bed/h1/stint.conf" --uplink=eth0 --cores=1 --score=1000 --min-uid=0 \
		--min-gid=0 --log="$bed/h1/agent.log" >"$bed/h1/out" 2>&1 3>&- &
	background=$!
}

# Who was forked before is not traced.
nobody_rests() {
	pgrep -P "$(nursery_of h1)" -xf "stint keeper --at-rest" | xargs -r kill -9
	[ -z "$(pgrep -P "$(nursery_of h1)")" ]
}

@test "a keeper that cannot watch fails its job with the reason, or does its work" {
	local n rc
	serve 1
	st run true # the first one needs a nursery
	for ((n = 1; ; n++)); do
		rc=0
		injecting "$n"
		"${inject[@]}" -f -p "$(nursery_of h1)" 3>&- &
		background=$!
		eventually traced "$(nursery_of h1)"
		eventually nobody_rests
		st run sh -c "echo hi $n" </dev/null >"$bed/out" 2>&1 || rc=$?
		kill "$background"
		wait "$background" || true
		background=
		cat "$bed/out"
		if [ $rc = 0 ]; then
			[ "$(cat "$bed/out")" = "hi $n" ]
		else
			grep -q 'No space left on device' "$bed/out" "$bed/h1/agent.log"
		fi
		failed || break
	done
	[ $n -gt 3 ]
}

nursery_of() { # HOST
	pgrep -P "$(service_pid "$1")" -f -- "keeper --nursery"
}

traced() { # PID
	grep -q '^TracerPid:	[1-9]' "/proc/$1/status"
}
