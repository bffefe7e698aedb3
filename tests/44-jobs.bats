#!/usr/bin/env bats
# Jobs without a client: submitted, shown, held, requeued, whichever daemon is killed.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	serve "${hosts:-2}"
}

teardown() { jobs_teardown; }

state_is() { # JOB STATE
	is "j[$1]['state']" "$2"
}

keeper_gone() { # JOB
	! pgrep -f "keeper $1.0 --run-dir=$bed/"
}

@test "a job that is submitted needs nobody: its output, its end, its exit code" {
	# The first rank that fails ends the others: neither fails before both have printed.
	job=$(st submit -n 2 -J two --wdir "$bed" sh -c 'echo out; echo err >&2; : >"printed.$PMI_RANK"
		until [ -e printed.0 ] && [ -e printed.1 ]; do sleep 0.1; done; exit 3')
	run -3 st wait "$job"
	[[ "$output" == *"job $job: rank "*" exited with code 3" ]]
	st output "$job" >"$bed/out" 2>"$bed/err"
	diff "$bed/out" <(printf 'out\nout\n')
	diff "$bed/err" <(printf 'err\nerr\n')
	[ "$(st output -r 1 "$job" 2>&1 | sort)" = "$(printf 'err\nout')" ]
	[ "$(st output -l "$job" 2>/dev/null | sort)" = "$(printf '[0] out\n[1] out')" ]
	run -3 st attach "$job"
	[[ "$output" == *out* ]]
	[[ "$(st jobs --all)" == *" two: sh -c "* ]]
	run -1 st output --rank 2 "$job"
	[[ "$output" == *"has no rank 2" ]]
	st submit --json true | python3 -c 'import json,sys; assert json.load(sys.stdin) == {"job": 2}'
	st wait --json 2 >"$bed/json"
	python3 "$BATS_TEST_DIRNAME/fields.py" "$BATS_TEST_DIRNAME/../man/stint-wait.1" --all <"$bed/json"
}

@test "a rank whose output somebody outside holds ends all the same, and nobody prints on in its name" {
	dir=$BATS_TEST_TMPDIR
	cat >"$dir/hold.py" <<-'END'
		import array, os, socket, sys, time
		s = socket.socket(socket.AF_UNIX)
		s.bind(sys.argv[1])
		s.listen()
		while True:
		    c, _ = s.accept()
		    fds = array.array("i")
		    fds.frombytes(c.recvmsg(1, 100)[1][0][2])
		    c.send(b"k")
		    while os.write(fds[0], b"forged\n" * 100):
		        time.sleep(0.01)
	END
	cat >"$dir/give.py" <<-'END'
		import array, socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.connect(sys.argv[1])
		s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1, 2]))])
		s.recv(1)
	END
	python3 "$dir/hold.py" "$dir/sock" 3>&- &
	# shellcheck disable=SC2034 # for jobs_teardown
	background=$!
	eventually test -S "$dir/sock"
	job=$(st submit python3 "$dir/give.py" "$dir/sock")
	limit=90 st wait "$job"
	eventually keeper_gone "$job"
}

@test "what it prints is followed, also by several, and comes whole over restarts of all daemons" {
	job=$(st submit --hosts h1 python3 -u -c 'import time
for i in range(600): print("line", i); time.sleep(0.01)')
	begin output -f "$job" >"$bed/one"
	begin attach "$job" >"$bed/two" 2>/dev/null
	# Both clients have found the job: one that asks for the first time does not wait
	# for a controller.
	eventually [ -s "$bed/one" ]
	eventually [ -s "$bed/two" ]
	for _ in 1 2 3; do
		slay "$(service_pid controller)"
		start_controller
		echo "$controller x" >"$bed/controller.service"
		eventually hosts_up 2
	done
	slay "$(service_pid h1)"
	start_agent h1
	st wait "$job"
	seq -f 'line %.0f' 0 599 >"$bed/all"
	diff "$bed/all" <(st output "$job")
	eventually cmp "$bed/all" "$bed/one"
	eventually cmp "$bed/all" "$bed/two"
}

@test "of much output the end is kept, and that the beginning is not is told" {
	job=$(st submit sh -c 'seq 1000000; echo last >&2')
	st wait "$job"
	st output "$job" >"$bed/out" 2>"$bed/err"
	[ "$(tail -n 1 "$bed/out")" = 1000000 ]
	[ "$(wc -c <"$bed/out")" -le $((1 << 20)) ]
	[ "$(wc -c <"$bed/out")" -ge $((1 << 18)) ]
	grep -q "the beginning was not kept" "$bed/err"
	grep -qx last "$bed/err"
}

@test "held jobs wait, also for a controller that is started anew" {
	job=$(st submit --hold echo now)
	other=$(st submit true)
	st wait "$other"
	never=$(st submit --hold true)
	st cancel "$never"
	state_is "$job" waiting
	[[ "$(st ps "$job")" == *"(held since it was submitted)"* ]]
	slay "$(service_pid controller)"
	start_controller
	eventually hosts_up 2
	last=$(st submit true)
	st wait "$last"
	is "[(r['state'], r['exit']) for r in j[$never]['ranks']]" "[('done', 143)]"
	state_is "$job" waiting
	st release "$job"
	st wait "$job"
	[ "$(st output "$job")" = now ]
	run -1 st hold "$job"
	[[ "$output" == *"job $job has ended" ]]
	job=$(st submit sleep 1000)
	eventually state_is "$job" running
	run -1 st hold "$job"
	[[ "$output" == *"job $job has started" ]]
	run -1 st requeue "$job"
	[[ "$output" == *"was submitted without --requeue" ]]
	st update -J named "$job"
	is "j[$job]['name']" named
	st cancel "$job"
	run -143 st wait "$job"
}

@test "a requeued job begins anew under its number, and both lives' output is there once" {
	job=$(st submit --requeue sh -c 'echo begun; exec sleep 1000')
	printed() { st output "$job" | grep -qx begun; }
	eventually printed
	st requeue "$job"
	eventually is "j[$job]['requeues'], j[$job]['state']" "1 running"
	twice() { diff <(st output "$job") <(printf 'begun\nbegun\n'); }
	eventually twice
	# The rank's keeper dies: the host is not lost, but the rank is. The init that the first life's has
	# kept is still called as that keeper was.
	slay "$(pgrep -o -P "$(nursery_of h1)" -f "keeper ${job}[.]0 .*$bed/")"
	eventually is "j[$job]['requeues'], j[$job]['state']" "2 running"
	st cancel "$job"
	run -143 st wait "$job"
}

nursery_of() { # HOST
	pgrep -P "$(service_pid "$1")" -f -- "keeper --nursery"
}

@test "keepers outlive the nursery that they were forked from, and the next one is forked by another" {
	begin run --hosts h1 sh -c 'echo up; trap "exit 7" USR1; while :; do sleep 0.05; done' >"$bed/out"
	eventually grep -q up "$bed/out"
	nursery=$(nursery_of h1)
	slay "$nursery"
	st run --hosts h1 true
	next=$(nursery_of h1)
	[ "$next" != "$nursery" ]
	# The nursery ends with its agent.
	slay "$(service_pid h1)"
	eventually ended "$next"
	start_agent h1
	st kill -s USR1 1
	r=0
	wait "$background" || r=$?
	[ "$r" = 7 ]
}

@test "a client that stays or attaches may go, and the job goes on; of another one it takes the place" {
	begin run --stay sh -c 'echo first; until [ -e /tmp/x ]; do sleep 0.05; done; exit 5' >"$bed/out"
	eventually grep -q first "$bed/out"
	eventually state_is 1 running
	kill "$!"
	wait "$!" || [ $? = 143 ]
	begin attach 1 >"$bed/again"
	eventually grep -q first "$bed/again"
	kill -INT "$!"
	wait "$!" || true
	state_is 1 running
	st kill -9 1
	run -137 st wait 1

	begin run sh -c 'echo one; trap "echo two; exit 6" USR1; while :; do sleep 0.05; done' >"$bed/out" 2>&1
	first=$!
	eventually grep -q one "$bed/out"
	begin attach 2 >"$bed/again"
	second=$!
	r=0
	wait "$first" || r=$?
	[ "$r" = 1 ]
	grep -q "another client has taken job 2 over" "$bed/out"
	st kill -s USR1 2
	r=0
	wait "$second" || r=$?
	[ "$r" = 6 ]
	grep -qx two "$bed/again"
}

# Output that never ends meets a reader that stopped after one line.
@test "a reader that has read enough ends attach, output and run --stay, not the job" {
	prints='while :; do echo line; sleep 0.05; done'
	job=$(st submit sh -c "$prints")
	for c in "attach $job" "output -f $job" "run --stay"; do
		set -- $c
		[ "$1" != run ] || set -- "$@" sh -c "$prints"
		st "$@" 2>"$bed/err" | head -n 1 >"$bed/line"
		[ "${PIPESTATUS[0]}" = 141 ]
		grep -qx line "$bed/line"
		state_is "$job" running
	done
	grep -q "^stint run: job 2 goes on; .stint attach 2. comes back to it" "$bed/err"
	state_is 2 running
	run -1 bash -c '"$@" >/dev/full' - "$stint" attach "$job"
	[[ "$output" == *"No space left on device"*"job $job goes on"* ]]
	state_is "$job" running
}

@test "a job whose number nobody could be told was taken, and that is said" {
	run -1 bash -c '"$@" >/dev/full' - "$stint" submit true
	[ "$output" = "stint submit: job 1 was taken, but its number cannot be written to standard output: No space left on device" ]
	st wait 1
}

@test "a signal that asks ranks for something does not end a job that waits; one that ends does" {
	job=$(st submit --hold true)
	run -1 st kill -s USR1 "$job"
	[ "$output" = "stint kill: job $job has not started" ]
	run -1 st kill -s CONT "$job"
	state_is "$job" waiting
	st kill -s INT "$job"
	run -130 st wait "$job"
	[ "$output" = "stint wait: job $job: root killed it with signal 2 (Interrupt)" ]
}

@test "jobs wait for a host that they name and that is not there" {
	kill -STOP "$(service_pid controller)"
	slay "$(service_pid h2)"
	kill -CONT "$(service_pid controller)"
	eventually hosts_up 1
	run -1 st run --hosts h2 true
	job=$(st submit --hosts h2 true)
	[[ "$(st ps "$job")" == *"host h2 does not answer"* ]]
	state_is "$job" waiting
	start_agent h2
	st wait "$job"
}

@test "what was asked for a job that waits is changed: its hosts and limits, all or nothing" {
	kill -STOP "$(service_pid controller)"
	slay "$(service_pid h2)"
	kill -CONT "$(service_pid controller)"
	eventually hosts_up 1
	job=$(st submit --hosts h2 -n 2 --memory 64M sh -c 'echo $STINT_HOST; sleep 1000')
	run -1 st update --memory 128M --hosts h3 "$job"
	[ "$output" = "stint update: no host h3; \`stint hosts\` lists them" ]
	is "j[$job]['limits']['memory']" 67108864
	run -1 st update --cpus 0.5 --hosts "$(seq -s, 17 | sed 's/[0-9][0-9]*/h1/g')" "$job"
	[[ "$output" == *"17 hosts: 16 at most" ]]
	run -1 st update --memory 1000T "$job"
	[[ "$output" == *"no host for it has 1000 TiB"* ]]
	is "j[$job]['limits']" "{'memory': 67108864, 'pids': 0, 'cpus': 0.0, 'output': 0}"
	run -2 st update --hosts h1 --any-host "$job"
	[[ "$output" == "stint update: --hosts and --any-host: one of them"* ]]
	st update --memory none --cpus 0.5 --pids-limit 77 --output-limit 1M --limit 2h --time 1h "$job"
	state_is "$job" waiting
	is "j[$job]['limits'], j[$job]['limit_us']" "{'memory': 0, 'pids': 77, 'cpus': 0.5, 'output': 1048576} 7200000000"
	[[ "$(st why "$job")" == *"each rank has at most 77 processes and threads, 0.5 processors, 1 MiB in a file"*"it is ended when it has run for "* ]]
	st update --limit none "$job"
	is "j[$job]['limit_us']" 0
	slay "$(service_pid controller)"
	start_controller
	eventually hosts_up 1
	is "j[$job]['limits']['pids'], j[$job]['state']" "77 waiting"
	st update --hosts h1 "$job"
	eventually state_is "$job" running
	is "[r['host'] for r in j[$job]['ranks']]" "['h1', 'h1']"
	run -1 st update --cpus 1 "$job"
	[[ "$output" == *"job $job has started" ]]
	st update --limit 3h "$job"
	st cancel "$job"
	run st wait "$job"
	run -1 st update --limit 3h "$job"
	[[ "$output" == *"job $job has ended" ]]
	job=$(st submit --hosts h2 true)
	st update --any-host "$job"
	st wait "$job"
	is "j[$job]['ranks'][0]['host']" h1
	# A job that is held stays so; tasks of an array each.
	job=$(st submit --hold --array 1-3 true)
	st update --hosts h1 --cpus 1 "${job}[2]"
	is "[j[$job + i]['limits']['cpus'] for i in range(3)], j[$job + 1]['held']" "[0.0, 1.0, 0.0] True"
	st release "$job"
	st wait "$job"
}

@test "what others submitted is theirs" {
	run -1 st output 77
	[[ "$output" == *"no job 77"* ]]
	run -1 st wait 77
	run -2 st attach x
	run -2 st submit
	run -2 st update 1
}

@test "a time limit warns, ends, and counts on over a new controller; why a job ended is kept" {
	# The warning comes a quarter of a minute after the start: by then the rank has
	# begun.
	job=$(st submit --limit 1h --warn USR1@3585s python3 -u -c 'import signal, time
signal.signal(signal.SIGUSR1, lambda *_: print("warned"))
signal.signal(signal.SIGTERM, lambda *_: (print("told"), exit(9)))
print("begun")
while True: time.sleep(1000)')
	slay "$(service_pid controller)"
	start_controller
	warned() { st output "$job" | grep -qx warned; }
	eventually warned
	st update --limit 1ms "$job"
	run -9 st wait "$job"
	[[ "$output" == *"job $job: it reached its time limit of 0.001 s (--limit)" ]]
	diff <(st output "$job") <(printf 'begun\nwarned\ntold\n')
	is "j[$job]['reason'], j[$job]['limit_us']" "time-limit 1000"
	job=$(st submit sleep 1000)
	eventually state_is "$job" running
	st update --limit 1ms "$job"
	run -143 st wait "$job"
	is "j[$job]['reason']" time-limit
	job=$(st submit --hold sleep 1000)
	st cancel "$job"
	run -143 st wait "$job"
	is "j[$job]['reason'], j[$job]['by']" "cancelled root"
	job=$(st submit sh -c 'exit 3')
	run -3 st wait "$job"
	is "j[$job]['reason'], j[$job]['by']" "exit-code "
	job=$(st submit /nonexistent)
	run -127 st wait "$job"
	is "j[$job]['reason'] in ('not-started',) and j[$job]['by'][0]" h
	st ps --all --json >"$bed/json"
	python3 "$BATS_TEST_DIRNAME/fields.py" "$BATS_TEST_DIRNAME/../man/stint-ps.1" <"$bed/json"
}

@test "accounts outlive their jobs: what was asked for and had, and who did what" {
	job=$(st submit -J burn --hosts h1 -t 10min python3 -c 'import time
end = time.process_time() + 0.5
while time.process_time() < end: pass
print("burnt", flush=True)
while True: time.sleep(1000)')
	burnt() { st output "$job" | grep -qx burnt; }
	eventually burnt
	migrate "$job.0" h2
	st cancel "$job"
	run st wait "$job"
	last=$(st submit true)
	st wait "$last"
	slay "$(service_pid controller)"
	start_controller --history=0 --client-grace=0s
	forgotten() { st submit true >"$bed/n" && st wait "$(cat "$bed/n")" && ! st ps "$job" 2>"$bed/none"; }
	eventually forgotten
	st history --json >"$bed/json"
	python3 "$BATS_TEST_DIRNAME/fields.py" "$BATS_TEST_DIRNAME/../man/stint-history.1" --all <"$bed/json"
	python3 - "$bed/json" "$job" <<-'END'
		import json, sys
		all = {j["job"]: j for j in map(json.loads, open(sys.argv[1]))}
		j = all[int(sys.argv[2])]
		assert (j["name"], j["nr_ranks"], j["reason"], j["by"], j["exit"]) == ("burn", 1, "cancelled", "root", 143), j
		assert j["estimate_us"] == 600_000_000 and j["submit_us"] <= j["start_us"] < j["end_us"], j
		r, = j["ranks"]
		assert r["host"] == "h2" and r["moves"] == 1 and r["stood_us"] > 0 and r["moved_bytes"] > 0, r
		assert 400_000 < r["cpu_us"] < 60_000_000 and r["max_rss"] > 1 << 20, r
		assert [(a["who"], a["what"]) for a in j["acts"]] == [("root", "rank 0 sent to h2"), ("root", "cancelled")], j
		assert len(all) == max(all), "one for each"
	END
	[ "$(st history --csv | sed -n '1s/,.*//p; 2s/,.*//p' | xargs)" = "job $job" ]
	# A job that never began has no times; a text that a spreadsheet would take for a
	# formula stays text.
	never=$(st submit --hold --name='=1+1' -n 3 true)
	st cancel "$never"
	st history --csv --from "$never" | grep -qF "\"'=1+1\""
	st history --json --from "$never" | grep -qF '"what":"cancelled"'
	st history --swf --from "$never" | grep -qx "$never [0-9.]* -1 -1 -1 -1 -1 3 -1 -1 5 0\( -1\)\{6\}"
	st history --swf --from "$job" >"$bed/trace.swf"
	[[ "$(st sim -p fcfs --swf "$bed/trace.swf" -H 4x1)" == *" jobs "* ]]
	[[ "$(st history)" == *" cancelled "*" burn"* ]]
	# By time and by user.
	count() { st history --csv "$@" | grep -c '^[0-9]' || true; }
	all=$(count)
	[ "$(count --since 1h)" = "$all" ]
	[ "$(count --until 1h)" = 0 ]
	[ "$(count --user root --since 1h)" = "$all" ]
	[ "$(count --user nobody)" = 0 ]
	sleep 1.1
	now=$(date '+%F %T')
	last=$(st submit true)
	st wait "$last"
	[ "$(st history --csv --since "$now" | sed -n '2s/,.*//p')" = "$last" ]
	[ "$(count --until "$now")" = "$all" ]
}
