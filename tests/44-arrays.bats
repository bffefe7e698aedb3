#!/usr/bin/env bats
# Arrays of jobs: many jobs by one submit; they are shown, waited for and ended together or
# one by one.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	serve "${hosts:-2}"
}

teardown() { jobs_teardown; }

# Print the values of an expression over the listed jobs j, in the order of their numbers.
tasks_are() { # JOB EXPRESSION VALUE
	[ "$(st jobs --json "$1" | python3 -c '
import json, sys
t = {j["task"]: j for j in map(json.loads, sys.stdin)}
print(eval(sys.argv[1]))' "$2")" = "$3" ]
}

@test "an array is a job for each number, with it in its environment and its files' names" {
	cd "$bed"
	mkdir out
	# shellcheck disable=SC2016 # the job's variables
	array=$(st submit --array 3-7:2,1 -J many -o 'out/%A.%a' sh -c \
		'echo $STINT_ARRAY_JOB_ID $STINT_ARRAY_TASK_ID $STINT_ARRAY_TASK_COUNT $STINT_ARRAY_TASK_MIN-$STINT_ARRAY_TASK_MAX
		 [ $STINT_ARRAY_TASK_ID != 5 ]')
	run -1 --separate-stderr st wait "$array"
	[[ "$stderr" == *"job ${array}[5]: rank 0 exited with code 1"* ]]
	for i in 1 3 5 7; do
		[ "$(cat "out/$array.$i")" = "$array $i 4 1-7" ]
	done
	run -0 st wait "${array}[1,3]" "${array}[7]"
	run -1 st wait "${array}[5]"
	tasks_are "$array" 'sorted(t)' "[1, 3, 5, 7]"
	tasks_are "${array}[3-5]" 'sorted(t)' "[3, 5]"
	[[ "$(st history)" == *"${array}[7] "*many* ]]
	[ "$(st history "$array" | sed 1d | wc -l)" = "$(st history | grep -c "^${array}\[")" ]
	[[ "$(st history "${array}[7]" | sed 1d)" == "${array}[7] "*many* ]]
	[ "$(st history --json "${array}[7]" | wc -l)" = 1 ]
	run ! st history 4711
	[[ "$output" == *"no account of job 4711"* ]]
	st history --json | python3 "$BATS_TEST_DIRNAME/fields.py" "$BATS_TEST_DIRNAME/../man/stint-history.1"
	run -1 st jobs "${array}[2]"
	[[ "$output" == *"$array is no array with such tasks, or they are forgotten" ]]
	run -1 st output "$array"
	[[ "$output" == *"is an array of jobs: say which task of it, such as ${array}[1]" ]]
	last=$(st submit true)
	[ "$last" = $((array + 4)) ]
	run -1 st cancel "${last}[0]"
	[[ "$output" == *"job $last is no array" ]]
}

@test "no more than N run at a time, also where the controller is killed, some are held or ended" {
	array=$(st submit --hold --array "0-5%2" sleep 1000)
	st release "$array"
	eventually tasks_are "$array" '[i for i in t if t[i]["state"] == "running"]' "[0, 1]"
	tasks_are "$array" 't[5]["why"]' "array $array runs 2 at a time"
	[[ "$(st jobs)" == *"${array}[2-5] waiting "* ]]
	run -0 st why "$array"
	[ "${lines[0]}" = "array $array: 4 waiting, 2 running; of one of them:" ]
	[ "${lines[1]}" = "job $((array + 2)) is waiting: array $array runs 2 at a time" ]
	[[ "$(st why "$array" --json | tr -d " ")" == "{\"job\":$((array + 2)),"* ]]
	st hold "${array}[2]"
	st cancel "${array}[0]"
	eventually tasks_are "$array" '[i for i in t if t[i]["state"] == "running"]' "[1, 3]"
	slay "$(service_pid controller)"
	start_controller
	eventually hosts_up 2
	run -143 st wait "${array}[0]"
	st kill -s KILL "${array}[1]"
	eventually tasks_are "$array" '[i for i in t if t[i]["state"] == "running"]' "[3, 4]"
	tasks_are "$array" 't[2]["why"], t[5]["why"]' "('held by $(id -un)', 'array $array runs 2 at a time')"
	st release "${array}[2]"
	tasks_are "$array" 't[2]["why"]' "array $array runs 2 at a time"
	st cancel "${array}[3,4]"
	eventually tasks_are "$array" '[i for i in t if t[i]["state"] == "running"]' "[2, 5]"
	st cancel "$array"
	run -137 st wait "${array}[1]"
	limit=90 run -143 st wait "$array"
	run -1 st cancel "$array"
	[[ "$output" == *"has ended" ]]
}

@test "a thousand by one submit are one commit, and ended by one cancel" {
	array=$(st submit --hold --array 1-1000 true)
	slay "$(service_pid controller)"
	start_controller
	eventually hosts_up 2
	tasks_are "$array" 'len(t), t[1]["job"], t[1000]["job"]' "(1000, $array, $((array + 999)))"
	[[ "$(st jobs)" == *"${array}[1-1000] waiting "*"(held since it was submitted)"* ]]
	st cancel "$array"
	run -143 st wait "$array"
	run -0 --separate-stderr st jobs
	[ -z "$output" ]
}
