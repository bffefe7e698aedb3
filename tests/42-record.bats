# A live run is recorded; replayed, the same policy code makes the same plans.

bats_require_minimum_version 1.5.0
load jobs

setup() { jobs_setup; }
teardown() { jobs_teardown; }

restart_controller() { # OPTIONS...
	[ -n "${controller:-}" ] || controller=$(service_pid controller)
	slay "$controller"
	start_controller "$@"
	eventually st ps >/dev/null 2>&1
}

# Jobs run, wait and move; a host is drained, one is killed, and the controller is killed.
busy_day() {
	sleeper -n 2 -t 1h
	eventually is 'j[1]["state"]' running
	sleeper -n 1 -t 10m
	sleeper -n 4 -t 1h
	migrate 1.0 "$(jobs 'next(h for h in ("h1","h2","h3","h4") if h not in [r["host"] for r in j[1]["ranks"]])')"
	local victim
	victim=$(jobs 'j[1]["ranks"][1]["host"]')
	st drain --no-wait "$victim"
	restart_controller "$@"
	eventually hosts_up 4
	st drain --undo "$victim"
	eventually is 'j[2]["state"]' running
	st kill 2
	victim=$(st hosts --json | python3 -c 'import json,sys
print(next(h["host"] for h in map(json.loads, sys.stdin) if not h["ranks"]))')
	slay "$(service_pid "$victim")"
	eventually hosts_up 3
	st kill 3
	st run -n 1 sh -c 'exit 3' || true
	st kill 1
	eventually is 'all(i["state"] == "done" for i in j.values())' True
}

@test "recorded and replayed: the same plans, byte for byte, under spread" {
	serve 4 --policy spread:oversubscribe=no
	busy_day --policy spread:oversubscribe=no
	st record -o "$BATS_TEST_TMPDIR/rec"
	run st sim --replay "$BATS_TEST_TMPDIR/rec"
	echo "$output"
	[ "$status" = 0 ]
	[[ "$output" == *" plans, all equal ("*" events, "*" entries); stint "[0-9]* ]]
	[ "$(grep -c ^begin "$BATS_TEST_TMPDIR/rec")" = 2 ]
	for word in arrive start migrate end host 'plan start' 'plan migrate'; do
		grep -q "^$word" "$BATS_TEST_TMPDIR/rec"
	done
	# What another policy would have done with these jobs.
	st sim --replay "$BATS_TEST_TMPDIR/rec" --policy easy --json >"$BATS_TEST_TMPDIR/easy.json"
	python3 - "$BATS_TEST_TMPDIR/easy.json" <<-'E'
	import json, sys
	s = json.load(open(sys.argv[1]))
	assert s["policy"] == "easy" and s["ended"] == s["jobs"] >= 3, s
	E
}

@test "under easy, with segments so short that the policy starts anew" {
	serve 4 --policy easy
	restart_controller --policy easy --record 400
	busy_day --policy easy --record 400
	# This is more than the record holds: its beginning is dropped.
	for i in $(seq 8); do st drain --no-wait h1; st drain --undo h1; st run true; done
	st record >"$BATS_TEST_TMPDIR/rec"
	run st sim --replay "$BATS_TEST_TMPDIR/rec"
	echo "$output"
	[ "$status" = 0 ]
	[ "$(grep -c ^begin "$BATS_TEST_TMPDIR/rec")" -ge 3 ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/rec")" -le 650 ]
}

# More jobs wait than a segment has lines. The beginning of a segment alone must not fill
# it, or the next one would begin at once, and the controller would do nothing else. While
# nothing happens the record does not grow.
unchanged() {
	st record >"$BATS_TEST_TMPDIR/before"
	for i in $(seq 5); do st ps >/dev/null; done
	st record >"$BATS_TEST_TMPDIR/after"
	cmp -s "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
}

@test "many jobs that wait do not have the policy start anew all the time" {
	serve 1 --policy fcfs
	restart_controller --policy fcfs --record 400
	eventually hosts_up 1
	sleeper -t 1h
	eventually is 'j[1]["state"]' running
	st submit --array 1-300 true
	eventually unchanged
	[ "$(grep -c ^arrive "$BATS_TEST_TMPDIR/before")" -ge 300 ]
	st cancel 2
	st kill 1
}

priority() { # JOB
	st why "$1" | sed -n 's/.*its priority is \([0-9]*\) of .*/\1/p'
}

@test "what a policy remembers outlives its controller, and segments" {
	local before how="--policy ls:maxprio=100000 --record 400"
	serve 2
	restart_controller $how
	eventually hosts_up 2
	sleeper -n 2
	eventually is 'j[1]["state"]' running
	sleeper -n 2
	# Each pass makes the jobs older.
	for i in 1 2 3 4; do st drain --no-wait h1; st drain --undo h1; done
	before=$(priority 2)
	[ "$before" -gt 4 ]
	sleeper -n 2 # what is acknowledged is stored, and all before it
	restart_controller $how
	eventually hosts_up 2
	[ "$(priority 2)" -ge "$before" ]
	st record >"$BATS_TEST_TMPDIR/rec"
	[ "$(grep -c '^state ' "$BATS_TEST_TMPDIR/rec")" = 1 ]
	for i in $(seq 30); do st drain --no-wait h1; st drain --undo h1; done
	[ "$(priority 2)" -gt "$((before + 30))" ]
	st record >"$BATS_TEST_TMPDIR/rec"
	[ "$(grep -c '^state ' "$BATS_TEST_TMPDIR/rec")" -ge 2 ]
	run st sim --replay "$BATS_TEST_TMPDIR/rec"
	echo "$output"
	[ "$status" = 0 ]
	for i in 3 2 1; do st kill $i; done
}

@test "a record that was changed is reported at its line" {
	serve 2 --policy fcfs
	st run -n 2 true
	st run true
	st record -o "$BATS_TEST_TMPDIR/rec"
	st sim --replay "$BATS_TEST_TMPDIR/rec" --json | grep -q '"equal": *true'
	# A record from before reasons had their numbers by name, some of which are worded
	# otherwise.
	grep -qP '^plan start job 2 with 1: .*\t\{"size":1,"free":2\}$' "$BATS_TEST_TMPDIR/rec"
	sed '1s/6$/1/; s/\t.*//; /^plan/s/ needs 1 / needs but 1 /' "$BATS_TEST_TMPDIR/rec" >"$BATS_TEST_TMPDIR/old"
	[ "$(head -1 "$BATS_TEST_TMPDIR/old")" = "stint-record 1" ]
	run ! cmp -s "$BATS_TEST_TMPDIR/rec" "$BATS_TEST_TMPDIR/old"
	st sim --replay "$BATS_TEST_TMPDIR/old" --json | grep -q '"equal": *true'
	# A record from before it was noted what is seen of ranks that move.
	sed '1s/6$/5/' "$BATS_TEST_TMPDIR/rec" >"$BATS_TEST_TMPDIR/old5"
	st sim --replay "$BATS_TEST_TMPDIR/old5" --json | grep -q '"equal": *true'
	# A record from before it was noted whose own hosts are.
	sed '1s/6$/4/; s/ own=[0-9,]*//' "$BATS_TEST_TMPDIR/rec" >"$BATS_TEST_TMPDIR/old4"
	run ! grep -q own= "$BATS_TEST_TMPDIR/old4"
	st sim --replay "$BATS_TEST_TMPDIR/old4" --json | grep -q '"equal": *true'
	# A record from before page faults were noted.
	sed '1s/6$/3/; s/ faults=[0-9.]* own=[0-9,]*//' "$BATS_TEST_TMPDIR/rec" >"$BATS_TEST_TMPDIR/old3"
	[ "$(head -1 "$BATS_TEST_TMPDIR/old3")" = "stint-record 3" ]
	run ! grep -q faults= "$BATS_TEST_TMPDIR/old3"
	st sim --replay "$BATS_TEST_TMPDIR/old3" --json | grep -q '"equal": *true'
	# A record from before owners' terms could close hosts.
	sed '1s/6$/2/; s/ closed=[a-z]* .*//' "$BATS_TEST_TMPDIR/rec" >"$BATS_TEST_TMPDIR/old2"
	run ! grep -q closed= "$BATS_TEST_TMPDIR/old2"
	st sim --replay "$BATS_TEST_TMPDIR/old2" --json | grep -q '"equal": *true'
	sed -i '/^plan start job 2/s/with 1:/with 2:/' "$BATS_TEST_TMPDIR/old"
	run st sim --replay "$BATS_TEST_TMPDIR/old"
	[ "$status" = 1 ]
	# Another reason, an event that is missing, another size, an invented start.
	line=$(grep -n '^plan start job 2' "$BATS_TEST_TMPDIR/rec" | cut -d: -f1)
	sed "${line}s/free processors/freed processors/" "$BATS_TEST_TMPDIR/rec" >"$BATS_TEST_TMPDIR/changed"
	run st sim --replay "$BATS_TEST_TMPDIR/changed"
	[ "$status" = 1 ]
	[[ "$output" == *"changed:$((line - 1)): the plans differ"*"live:"*"freed processors"*"replayed:"*"free processors"* ]]
	sed '/^end .*job=1 /d' "$BATS_TEST_TMPDIR/rec" >"$BATS_TEST_TMPDIR/changed"
	run st sim --replay "$BATS_TEST_TMPDIR/changed"
	[ "$status" = 1 ]
	line=$(grep -n '^arrive .*job=2 ' "$BATS_TEST_TMPDIR/rec" | cut -d: -f1)
	sed "${line}s/size=1 min=1/size=2 min=2/" "$BATS_TEST_TMPDIR/rec" >"$BATS_TEST_TMPDIR/changed"
	run st sim --replay "$BATS_TEST_TMPDIR/changed"
	[ "$status" = 1 ]
	[[ "$output" == *"the plans differ"*"job=2 size=2"*"start job 2 with 1"*"start job 2 with 2"* ]]
	line=$(grep -n '^start .*job=2 ' "$BATS_TEST_TMPDIR/rec" | cut -d: -f1)
	sed "${line}d" "$BATS_TEST_TMPDIR/rec" >"$BATS_TEST_TMPDIR/changed"
	run st sim --replay "$BATS_TEST_TMPDIR/changed"
	[ "$status" = 1 ]
	[[ "$output" == *"changed:"*"job 2 "* ]]
	sed "${line}s/start/strat/" "$BATS_TEST_TMPDIR/rec" >"$BATS_TEST_TMPDIR/changed"
	run st sim --replay "$BATS_TEST_TMPDIR/changed"
	[ "$status" = 1 ]
	[[ "$output" == *"changed:$line: unknown event 'strat'"* ]]
	head -c -1 "$BATS_TEST_TMPDIR/rec" | sed '1d' >"$BATS_TEST_TMPDIR/changed"
	run st sim --replay "$BATS_TEST_TMPDIR/changed"
	[ "$status" = 1 ]
	[[ "$output" == *"changed:1: this is not a record"* ]]
	run st sim --replay "$BATS_TEST_TMPDIR/rec" --policy fcfs --hosts 4
	[ "$status" = 2 ]
}

# Count the rows of a table of the store, once nobody has it open.
rows() { # WHAT
	python3 -c "import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute('SELECT ' + sys.argv[2]).fetchone()[0])" \
		"$bed/controller/state.db" "$1"
}

# Everything a job had has gone: only then is it over; so jobs may be over in another order
# than they ran.
no_keepers() { ! ls "$bed"/h*/run/keepers/*.sock >/dev/null 2>&1; }

@test "of the jobs that are over the last are remembered, without their environment" {
	serve 2
	restart_controller --history=2 --client-grace=0
	eventually hosts_up 2
	for i in 1 2 3 4 5; do
		SECRET=sesame$i st run -n 2 true "$i"
		eventually no_keepers
	done
	begin run -n 1 sleep 1000 # goes on meanwhile, and is no history
	eventually is 'j[6]["state"]' running
	eventually is 'sorted(j)' '[4, 5, 6]'
	[[ "$(st ps -a 4)" == *"true 4"* ]]
	st kill 6
	eventually is 'sorted(j)' '[5, 6]'
	kill "$controller"
	eventually ended "$controller"
	[ "$(rows 'group_concat(id) FROM job')" = 5,6 ]
	[ "$(rows 'group_concat(DISTINCT job) FROM rank')" = 5,6 ]
	run ! grep -q sesame "$bed/controller/state.db"
	controller=
	start_controller --history=1 --client-grace=0
	eventually is 'sorted(j)' '[6]'
	eventually hosts_up 2
	st run true
	eventually is 'sorted(j)' '[7]'
}
