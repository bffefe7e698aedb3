# Jobs that begin after others, as these have ended.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	serve "${hosts:-2}"
	cd "$bed" || exit # which is what a rank sees of /tmp
}

teardown() { jobs_teardown; }

restart() { # OPTIONS...
	slay "${controller:-$(service_pid controller)}"
	start_controller "$@"
	eventually hosts_up "${hosts:-2}"
}

# Ends well or ill when it is told to, by a file.
waits() { # FILE EXIT
	echo "until [ -e $1 ]; do sleep 0.05; done; exit $2"
}

why_is() { # JOB TEXT
	[ "$(json 'j["now"]' why "$1")" = "$2" ]
}

# Of one that may be forgotten.
over() { # JOB EXIT
	json_is 'j["exit"]' "$2" history "$1" 2>/dev/null
}

of() { # JOB: how it ended
	json 'j["exit"], j["reason"], j["start_us"] > 0' history "$1"
}

@test "jobs begin when others have ended well, are over, or have failed; what can never be ends" {
	a=$(st submit sh -c "$(waits a 0)")
	b=$(st submit sh -c "$(waits b 3)")
	well=$(st submit --after "$a" env)
	after_well=$(st submit --after "ok:$well" true)
	never=$(st submit --after "ok:$a:$b" true)
	after_never=$(st submit --after "$never" true)
	failed=$(st submit --after "failed:$b,any:$a" env)
	not_failed=$(st submit --after "failed:$a" true)
	at_last=$(st submit --after "any:$after_never:$not_failed" env)
	why_is "$never" "begins when job $a has ended well, and job $b has ended well"
	why_is "$failed" "begins when job $b has failed, and job $a is over"
	[[ "$(st jobs)" == *"(begins when job $well has ended well)"* ]]
	[ "$(jobs "j[$failed]['after']")" = "[{'job': $b, 'kind': 'failed', 'over': False, 'failed': False}, {'job': $a, 'kind': 'any', 'over': False, 'failed': False}]" ]
	[ "$(jobs '{i["state"] for i in j.values()} <= {"running", "starting"} or sorted(n for n in j if j[n]["state"] == "waiting")')" = \
		"[$well, $after_well, $never, $after_never, $failed, $not_failed, $at_last]" ]
	touch "$bed/a"
	st wait "$after_well"
	[ "$(jobs "j[$well]['start_us'] >= j[$a]['end_us'] and j[$after_well]['start_us'] >= j[$well]['end_us']")" = True ]
	run -1 --separate-stderr st wait "$not_failed"
	[[ "$stderr" == *"job $a ended well, and this was to begin if it failed (--after)"* ]]
	why_is "$never" "begins when job $b has ended well"
	[ "$(jobs "j[$failed]['state'], j[$failed]['after'][1]['over']")" = "waiting True" ]
	touch "$bed/b"
	run -1 --separate-stderr st wait "$after_never"
	[[ "$stderr" == *"job $never ended with exit status 1, and this was to begin after it ended well (--after)"* ]]
	st wait "$failed" "$at_last"
	[ "$(of "$never")" = "1 dependency False" ]
	[ "$(of "$after_never")" = "1 dependency False" ]
	[ "$(st output "$well" | grep ^STINT_AFTER | sort | tr '\n' ' ')" = "STINT_AFTER_END=ok STINT_AFTER_EXIT=0 STINT_AFTER_JOB=$a " ]
	[ "$(st output "$failed" | grep ^STINT_AFTER | sort | tr '\n' ' ')" = "STINT_AFTER_END=exit-code,ok STINT_AFTER_EXIT=3,0 STINT_AFTER_JOB=$b,$a " ]
	[ "$(st output "$at_last" | grep ^STINT_AFTER_END)" = "STINT_AFTER_END=dependency,dependency" ]
	# Of those that are over it is the same, whether or not they are still remembered.
	restart --history 0
	eventually eval '! st ps --all --json | grep -q .'
	well=$(st submit --after "any:$b,$a" env)
	never=$(st submit --after "$b" true)
	eventually over "$never" 1
	eventually over "$well" 0
	run -1 st submit --after 4711 true
	[[ "$output" == *"no job 4711, or nothing is known of it any more"* ]]
	run -1 st submit --after "$((never + 1))" true # itself
	st run --after "failed:$b" true
	run -1 st run --after "failed:$a" true
	[[ "$output" == *"job $a ended well, and this was to begin if it failed (--after)"* ]]
}

@test "an array is over with its last task, also where some are forgotten; its tasks may wait like any job" {
	array=$(st submit --array 1-3 sh -c 'until [ -e $STINT_ARRAY_TASK_ID ]; do sleep 0.05; done')
	ill=$(st submit --array 1-3 sh -c 'until [ -e x$STINT_ARRAY_TASK_ID ]; do sleep 0.05; done; [ $STINT_ARRAY_TASK_ID != 1 ]')
	st submit --after "$array" --array 0-3%2 sh -c "echo \$STINT_AFTER_JOB >done.\$STINT_ARRAY_TASK_ID" >"$bed/then"
	failed=$(st submit --after "failed:$ill" sh -c "echo \$STINT_AFTER_END >failed")
	never=$(st submit --after "$ill" true)
	any=$(st submit --after "any:$ill:$array" true)
	second=$(st submit --after "$((array + 1))" true)
	why_is "$failed" "begins when array $ill has failed"
	restart --history 0
	touch "$bed"/{1,2,x1}
	eventually over "$second" 0
	eventually over "$never" 1 # no task that is left can mend it
	eventually is "$ill in j" False # it is forgotten
	why_is "$any" "begins when array $ill is over, and array $array is over"
	restart --history 0
	why_is "$any" "begins when array $ill is over, and array $array is over"
	late=$(st submit --after "$ill" true)
	eventually over "$late" 1
	late=$(st submit --hold --after "failed:$ill" true)
	touch "$bed"/{3,x2,x3}
	eventually over "$any" 0
	eventually over "$failed" 0
	eventually eval '[ "$(cat done.* | sort | uniq -c | xargs)" = "4 $array" ]'
	[ "$(cat "$bed/failed")" = exit-code ]
	why_is "$late" "held since it was submitted"
	st release "$late"
	eventually over "$late" 0
	eventually over "$(st submit --after "$array" true)" 0
	late=$(st submit --after "$ill" true)
	eventually over "$late" 1
	[ "$(of "$late")" = "1 dependency False" ]
}

@test "a chain goes on wherever its controller is killed, and each link runs once" {
	last=$(st submit sh -c "$(waits go 0)")
	for n in $(seq 30); do
		last=$(st submit --requeue --after "$last" sh -c "echo $n >>ran")
	done
	other=$(st submit --after "any:$last" --hosts h2 sh -c "echo end >>ran")
	touch "$bed/go"
	for _ in 1 2 3 4; do
		sleep "0.$((RANDOM % 5))"
		restart
	done
	st wait "$other"
	[ "$(cat "$bed/ran")" = "$(seq 30; echo end)" ]
}

@test "many that follow one end, or begin, once each, wherever the controller is killed" {
	a=$(st submit sh -c "$(waits go 0)")
	never=$(st submit --array 1-700 --after "failed:$a" sh -c "echo >>never")
	then=$(st submit --array 1-20 --after "$a" sh -c "echo \$STINT_ARRAY_TASK_ID >>ran")
	last=$(st submit --after "$then" --after "any:$never" true)
	touch "$bed/go"
	for _ in 1 2 3; do
		sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
		restart
	done
	st wait "$last"
	[ "$(sort -n "$bed/ran")" = "$(seq 20)" ]
	[ ! -e "$bed/never" ]
	[ "$(st history --json "$never" | grep -c '"dependency"')" = 700 ]
}

@test "a job follows single tasks of an array, and others than before" {
	array=$(st submit --array 1-4 sh -c 'until [ -e $STINT_ARRAY_TASK_ID ]; do sleep 0.05; done; [ $STINT_ARRAY_TASK_ID != 3 ]')
	one=$(st submit --after "${array}[2]" env)
	some=$(st submit --after "any:${array}[1-2,4],failed:${array}[3]" true)
	late=$(st submit --after "$array" true)
	free=$(st submit --after "$array" true)
	why_is "$one" "begins when job ${array}[2] has ended well"
	why_is "$some" "begins when job ${array}[1] is over, and job ${array}[2] is over, and job ${array}[4] is over, and job ${array}[3] has failed"
	[ "$(jobs "j[$one]['after']")" = "[{'job': $((array + 1)), 'array': $array, 'task': 2, 'kind': 'ok', 'over': False, 'failed': False}]" ]
	run -1 st submit --after "${array}[5]" true
	[[ "$output" == *"array $array has no task 5, or nothing is known of it any more" ]]
	run -2 st update --after "$free" "$late"
	[[ "$output" == *"job $late can only follow what was submitted before it, and $free was not" ]]
	run -1 st update --after "$array" "${array}[2]"
	run -2 st update --after "$array,$array" "$late"
	st update --after "$array" --after none --after "${array}[2]" "$late"
	st update --after none "$free"
	why_is "$late" "begins when job ${array}[2] has ended well"
	st wait "$free"
	touch "$bed/2"
	st wait "$one" "$late"
	[ "$(st output "$one" | grep ^STINT_AFTER_JOB)" = "STINT_AFTER_JOB=$((array + 1))" ]
	touch "$bed"/{1,3,4}
	st wait "$some"
	st wait "$(st submit --after "failed:${array}[3]" true)" # which is over
}

@test "held, cancelled, updated and others' jobs with --after" {
	"$stint" controller --state-dir="$bed/controller" --enrol=user/daemon >"$bed/dim.key"
	chown daemon "$bed/dim.key"
	a=$(st submit sh -c "$(waits a 0)")
	held=$(st submit --hold --after "$a" true)
	b=$(st submit --after "$a" true)
	named=$(st submit --after "$a" --hosts h2 true)
	c=$(st submit --after "failed:$b" true)
	st update --time 1h "$named"
	why_is "$named" "begins when job $a has ended well"
	st hold "$named"
	why_is "$named" "held by $(id -un)"
	st release "$named"
	why_is "$named" "begins when job $a has ended well"
	st cancel "$b"
	st wait "$c"
	[ "$(of "$b")" = "143 cancelled False" ]
	run -1 st submit --after "1$(printf ':%s' $(seq 2 65))" true
	[[ "$output" == *"--after: 65 jobs: 64 at most"* ]]
	# What everybody sees of another's job, and no more.
	dim() { setpriv --reuid daemon --regid daemon --clear-groups env "PATH=$PATH" "$stint" "$@" --controller="unix:$bed/controller.sock" --key="$bed/dim.key"; }
	if dim jobs >/dev/null 2>&1; then
		other=$(cd / && dim submit --after "any:$b" sh -c 'echo $STINT_AFTER_END')
		st wait "$other"
		[ "$(st output "$other")" = exit-code ]
		run ! dim jobs --json "$a"
	fi
	touch "$bed/a"
	st wait "$named"
	eventually is "j[$held]['after'][0]['over'], j[$held]['state']" "True waiting"
	st release "$held"
	st wait "$held"
}

@test "a command at the end of a job, and of an array, is run once, however that ended" {
	a=$(st submit --at-end 'echo "$STINT_AFTER_JOB $STINT_AFTER_END $STINT_AFTER_EXIT $STINT_JOB_ID" >>ended; echo told' sh -c "$(waits a 3)")
	[ "$(jobs "j[$((a + 1))]['name'], j[$((a + 1))]['limit_us'], j[$((a + 1))]['after'][0]['kind']")" = "at-end 600000000 any" ]
	why_is "$((a + 1))" "begins when job $a is over"
	array=$(st submit --hold --array 1-3 --at-end 'echo "$STINT_AFTER_JOB $STINT_AFTER_END" >>array' true)
	never=$(st submit --after "$a" --at-end 'echo "$STINT_AFTER_END" >>never' true)
	unwanted=$(st submit --at-end 'echo >>unwanted' sh -c "$(waits a 0)")
	st cancel "$((unwanted + 1))"
	restart
	st cancel "${array}[2]"
	touch a
	restart
	st wait "$((a + 1))" "$((never + 1))"
	[ "$(cat ended)" = "$a exit-code 3 $((a + 1))" ]
	[ "$(st output "$((a + 1))")" = told ]
	[ "$(cat never)" = dependency ]
	run -1 st wait "$never"
	[ ! -e array ]
	st release "$array"
	st wait "$((array + 3))"
	[ "$(cat array)" = "$array cancelled" ]
	st wait "$unwanted"
	[ ! -e unwanted ]
	st run --at-end 'echo "$STINT_AFTER_END" >>run' true
	eventually eval '[ "$(cat run)" = ok ]'
	sleep 0.3
	[ "$(cat ended array never run | wc -l)" = 4 ]
}
