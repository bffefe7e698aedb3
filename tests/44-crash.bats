#!/usr/bin/env bats
# Jobs are submitted while controller and agents are killed: each job that was acknowledged
# has run once, and ends once.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	serve 2
	out=$BATS_TEST_TMPDIR/out
	mkdir "$out"
}

teardown() { jobs_teardown; }

# Submits until it is told to end; the numbers that it was told go to a file.
submitter() { # NAME
	while [ ! -e "$bed/enough" ]; do
		st submit -o "$out/%j" sh -c 'echo ran' >>"$bed/taken.$1" 2>>"$bed/refused.$1" || true
	done
}

@test "each job that was acknowledged while daemons were killed runs once, and ends once" {
	local kills=${STINT_KILLS:-${STINT_LONG:+1000}} each=${STINT_LONG:+2}
	start_controller_anew() {
		slay "$controller"
		start_controller
	}
	slay "$(service_pid controller)"
	start_controller
	for n in 1 2; do
		submitter "$n" 3>&- &
		background="${background:+$background }$!"
	done
	submitters=$background
	for n in $(seq "${kills:-12}"); do
		sleep "0.$((RANDOM % 10))"
		start_controller_anew
		[ $((n % ${each:-10})) != 0 ] || slay_agent h1
	done
	touch "$bed/enough"
	for p in $submitters; do
		wait "$p"
	done
	background=
	sort -n "$bed"/taken.* >"$bed/taken"
	[ -s "$bed/taken" ]
	eventually hosts_up 2
	xargs "$stint" wait <"$bed/taken"
	[ "$(sort -u "$bed/taken" | wc -l)" = "$(wc -l <"$bed/taken")" ]
	while read -r job; do
		[ "$(cat "$out/$job")" = ran ] || { echo "job $job:"; cat "$out/$job"; false; }
	done <"$bed/taken"
	# And there is no job whose number nobody was told.
	st history --json | python3 -c 'import json, sys
jobs = [json.loads(line) for line in sys.stdin]
taken = sorted(int(line) for line in open(sys.argv[1]))
assert [j["job"] for j in jobs] == taken, (len(jobs), len(taken))
assert all(j["exit"] == 0 for j in jobs)' "$bed/taken"
}

# One that runs for a while, and may be begun anew.
submit_longer() {
	while [ ! -e "$bed/enough" ]; do
		st submit --requeue -o "$out/%j" python3 -S -c 'import time
print("begun", flush=True)
time.sleep(2)
print("done", flush=True)' >>"$bed/taken" 2>>"$bed/refused" || true
		sleep 0.3
	done
}

# The jobs that were taken last are moved and begun anew.
disturb() {
	local job
	while [ ! -e "$bed/enough" ]; do
		job=$(tail -n 4 "$bed/taken" | shuf -n 1)
		if [ $((RANDOM % 3)) = 0 ]; then
			st requeue "${job:-1}"
		else
			st migrate "${job:-1}.0" "h$((RANDOM % 2 + 1))"
		fi >>"$bed/disturbed" 2>&1 && echo did >>"$bed/disturbed"
		sleep 0.2
	done
}

@test "... and one that is moved and begun anew meanwhile ends once, with nothing run twice in a life" {
	local kills=${STINT_KILLS:-${STINT_LONG:+1000}} job submitters
	touch "$bed/taken"
	slay "$(service_pid controller)"
	start_controller
	for n in submit_longer disturb disturb; do
		$n 3>&- &
		background="${background:+$background }$!"
	done
	submitters=$background
	for n in $(seq "${kills:-12}"); do
		sleep "0.$((RANDOM % 10))"
		slay "$controller"
		start_controller
		[ $((n % 10)) != 0 ] || slay_agent h1
	done
	eventually grep -q did "$bed/disturbed"
	touch "$bed/enough"
	for p in $submitters; do
		wait "$p"
	done
	background=
	eventually hosts_up 2
	xargs "$stint" wait <"$bed/taken"
	st history --json >"$bed/history"
	echo "# $(wc -l <"$bed/taken") jobs, $(grep -c did "$bed/disturbed") moves and requeues" >&3
	python3 - "$bed/history" "$bed/taken" "$out" <<-'E'
		import json, sys
		jobs = [json.loads(line) for line in open(sys.argv[1])]
		taken = sorted(int(line) for line in open(sys.argv[2]))
		assert [j["job"] for j in jobs] == taken, (len(jobs), len(taken))
		for j in jobs:
		    said = open(f"{sys.argv[3]}/{j['job']}").read().split()
		    assert j["exit"] == 0 and said.count("done") == 1 and said[-1] == "done", (j, said)
		    assert 1 <= said.count("begun") <= j["requeues"] + 1, (j, said)
	E
}

slay_agent() { # HOST
	local pid
	for pid in $(pgrep -f "agent .*$bed/$1/"); do
		slay "$pid"
	done
	start_agent "$1"
}
