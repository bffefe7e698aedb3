# Policies drive the live cluster by the same view and plan as the simulator.

bats_require_minimum_version 1.5.0
load jobs

setup() { jobs_setup; }
teardown() { jobs_teardown; }

@test "a policy that cannot be live is refused at the start" {
	for policy in deqp lst matrix dfcfs; do
		run "$stint" controller --state-dir="$BATS_TEST_TMPDIR/s" \
			--listen="unix:$BATS_TEST_TMPDIR/s.sock" --policy=$policy
		[ "$status" = 1 ]
		[ "${#lines[@]}" = 1 ]
		[[ "$output" == *"policy '$policy'"*"running programs"* || "$output" == *"policy '$policy' suspends programs"* ]]
		[ ! -e "$BATS_TEST_TMPDIR/s/state.db" ]
	done
	run "$stint" controller --state-dir="$BATS_TEST_TMPDIR/s" \
		--listen="unix:$BATS_TEST_TMPDIR/s.sock" --policy=easy:fill=what
	[ "$status" != 0 ]
	[[ "$output" == *"fill"* ]]
}

@test "fcfs counts processors: a core each, and the rest waits its turn" {
	serve 3 --policy fcfs
	sleeper -n 2
	sleeper -n 2
	sleeper -n 1
	eventually is 'j[1]["state"]' running
	is 'len(set(hosts(1)))' 2
	is 'j[2]["state"], j[3]["state"]' 'waiting waiting'
	[[ "$(jobs 'j[2]["why"]')" == *"first in the queue, and needs 2 processors of which 1 is free"* ]]
	# `stint why` has the same words, and history has them later.
	[[ "$(st why 2)" == "job 2 is waiting: it is first in the queue, and needs 2 processors of which 1 is free" ]]
	[[ "$(st why 2 --json)" == *'"now_numbers":{"size":2,"free":1}'* ]]
	[[ "$(st why 1)" == "job 1 is running"*$'\n'*" start job 1 with 2: it is first in the queue and needs 2 of 3 free processors" ]]
	st kill 1
	eventually is 'j[2]["state"], j[3]["state"]' 'running running'
	[[ "$(st why 2 --json)" == *'start job 2 with 2: it is first in the queue'* ]]
	# Reasons have their numbers by name.
	st why 3 --json | python3 -c 'import json, sys; w = json.load(sys.stdin)
assert w["now_numbers"] == {}, w
assert w["planned"][0]["numbers"] == {"size": 1, "free": 1}, w'
	# A job that could never start would block all others for ever.
	run st run -n 4 true
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 1 ]
	[[ "$output" == *"4 processors are asked for, and under policy 'fcfs' a job can have 3 here at most; \`stint hosts\`"* ]]
	run st why 99
	[ "$status" = 1 ]
	[[ "$output" == *"no job 99"* ]]
	run st why
	[ "$status" = 2 ]
	is 'len(set(hosts(2) + hosts(3)))' 3
	st kill 2
	st kill 3
}

@test "easy fills in what ends before the first can start" {
	serve 3 --policy easy
	sleeper -n 2 -t 1h
	sleeper -n 3 -t 1h
	sleeper -n 1 -t 2h
	sleeper -n 1 -t 10m
	eventually is 'j[4]["state"]' running
	is 'j[2]["state"], j[3]["state"]' 'waiting waiting'
	[[ "$(jobs 'j[3]["why"]')" == *"job 2, the first in the queue"* || "$(jobs 'j[3]["why"]')" == *"job 2 is first"* ]]
	# Job 2 starts when job 1 ends, and job 3 after it, as estimated.
	for i in 2 3; do
		st why $i --json
		st ps --json 1
	done | python3 -c 'import json, sys
two, one, three, _ = map(json.loads, sys.stdin)
for w, hours in (two, 1), (three, 2):
    assert abs(w["expected_us"] - one["start_us"] - hours * 3600e6) < 1e6, (w, one)'
	[[ "$(st why 3)" == *$'\n'"it would start "????-??-??" "??:??:??", if "* ]]
	[[ "$(st why 4)" != *"would start"* ]]
	# Instants, as people read them.
	[[ "$(st why 2)" == "job 2 is waiting: "*" can start at $(date -d '1 hour' +%Y-%m-%d) "??:??:??[,\ ]* ]]
	[[ "$(st ps)" == *" can start at $(date -d '1 hour' +%Y-%m-%d) "??:??:??[,\ ]* ]]
	for i in 2 3 4 1; do st kill $i; done
}

@test "fcfsuf folds a job that may have fewer ranks, and mpi sees them" {
	serve 3 --policy fcfsuf
	sleeper -n 1
	run st run -n 2-8 -l sh -c 'echo "$PMI_RANK of $PMI_SIZE"'
	echo "$output"
	[ "$status" = 0 ]
	[ "$(sort <<<"$output")" = $'[0] 0 of 2\n[1] 1 of 2' ]
	st kill 1
	run st run -n 3-2 true
	[ "$status" = 2 ]
}

@test "loadleveler's timers come" {
	serve 2 --policy loadleveler:reserve=1,defer=1
	sleeper -n 2
	eventually is 'j[1]["state"]' running
	sleeper -n 2
	# Its reservation runs out; then the job is deferred, and later is back in the
	# queue.
	eventually eval '[[ "$(jobs "j[2][\"why\"]")" == *"is deferred until"* ]]'
	st kill 1
	eventually is 'j[2]["state"]' running
	st kill 2
}

@test "sed, dqs, pvm, conservative, ff and multifactor start jobs too" {
	for policy in sed2 dqs pvm conservative ff multifactor; do
		serve 2 --policy $policy
		[ "$(st run -n 2 -t 1m -l echo hello | sort)" = $'[0] hello\n[1] hello' ]
		st testbed down
	done
}
