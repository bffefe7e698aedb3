#!/usr/bin/env bats
# Agents and keepers of two versions: STINT_OTHER is a build of another one (make
# check-versions OTHER=TREE).  Without it this one is tried beside itself.

bats_require_minimum_version 1.5.0
load jobs

ours=$stint
other=${STINT_OTHER:-$STINT_BUILD}/src/cmd/stint

setup() { jobs_setup; }
teardown() {
	stint=$ours
	jobs_teardown
}

# What it prints is whole only if no keeper, agent or controller has lost any of it.
count() { # HOST
	job=$("$ours" submit --hosts "$1" python3 -c 'import signal, time
go = [True]
signal.signal(signal.SIGUSR1, lambda *_: go.clear())
i = 0
while go:
    print(i, flush=True)
    i += 1
    time.sleep(0.02)')
	eventually counts
}

counts() {
	local n
	n=$("$ours" output "$job" | wc -l)
	eventually more_than "$n"
}

more_than() { [ "$("$ours" output "$job" | wc -l)" -gt "$1" ]; }

ends_well() {
	st kill -s USR1 "$job"
	st wait "$job"
	"$ours" output "$job" >"$bed/printed"
	seq 0 $(($(wc -l <"$bed/printed") - 1)) | cmp "$bed/printed" -
}

# The agent of a host is of that version from now on, its keepers stay.
agent_becomes() { # HOST PROGRAM
	slay "$(service_pid "$1")"
	eventually hosts_up 1
	stint=$2 start_agent "$1"
	eventually hosts_up 2
	counts
}

there_and_back() {
	migrate "$job.0" h2
	counts
	migrate "$job.0" h1
	counts
}

@test "a cluster becomes another version step by step, and its ranks go on and move" {
	stint=$other serve 2
	count h1
	there_and_back
	slay "$(service_pid controller)"
	start_controller
	eventually hosts_up 2
	counts
	there_and_back
	st run --hosts h2 true
	agent_becomes h1 "$ours" # beside a keeper of the other version
	there_and_back           # and from now on there is one of ours at h1
	agent_becomes h2 "$ours"
	there_and_back
	ends_well
}

@test "an agent of the version before finds keepers of this one, and they each other" {
	serve 2
	count h1
	agent_becomes h1 "$other"
	there_and_back
	st run --hosts h1 true
	agent_becomes h2 "$other"
	there_and_back
	ends_well
}

@test "what a host of the version before cannot keep is not started there" {
	stint=$other serve 2
	slay "$(service_pid controller)"
	start_controller
	eventually hosts_up 2
	run st run --hosts h1 --cpus 0.5 true
	[ "$status" = 0 ] || [[ "$output" == *"host h1 cannot limit processors (--cpus)"* ]]
	[ "$status" != 0 ] || cmp "$ours" "$other"
}

@test "what a controller of the version before would drop is not asked of it, and clients of that version go on" {
	stint=$other serve 1
	"$ours" run --hosts h1 true
	run -1 "$ours" submit --after 4711 true
	[ "${#lines[@]}" = 1 ]
	[[ "$output" == *"is older than you, and may not know --after: "* ]] ||
		[[ "$output" == *"--after: no job 4711"* ]] # it knows
	run -1 "$ours" run --after 4711 true
	[[ "$output" == *"is older than you, and may not know --after: "* ]] ||
		[[ "$output" == *"--after: no job 4711"* ]]
	slay "$(service_pid controller)"
	start_controller
	eventually hosts_up 1
	"$other" run --hosts h1 true
	job=$("$other" submit --hosts h1 true)
	"$other" wait "$job"
}
