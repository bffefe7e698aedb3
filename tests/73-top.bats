#!/usr/bin/env bats
# What is seen of hosts and ranks while they run, by people and programs.

bats_require_minimum_version 1.5.0
load jobs

setup() { jobs_setup; }
teardown() { jobs_teardown; }

# The line of `stint top` about that rank, its columns separated by blanks.
row() { # JOB.RANK
	st top --once | grep "^$1 "
}

computes() { # JOB.RANK
	row "$1" | awk '{ exit !($5 + $6 > 0.5) }'
}

sleeps() { # JOB.RANK HOST
	row "$1" | awk '{ exit !($4 == "'"$2"'" && $5 + $6 < 0.5) }'
}

@test "top shows hosts and what each rank gets, once and again, to people and programs" {
	serve 2
	begin run -n 1 --hosts h1 sh -c 'while :; do :; done'
	eventually is "'yes' if 1 in j else 'no'" yes
	begin run -n 1 --hosts h2 sleep 1000
	eventually computes 1.0
	# A rank that sleeps gets nothing, and wants nothing.
	eventually is 'j[2]["ranks"][0]["memory"] > 0' True
	eventually sleeps 2.0 h2
	[[ "$(st top --once)" == *"2 of 2 hosts up"*"2 ranks; 0 jobs wait; by job"*h1*up*h2*up*1.0*2.0* ]]
	[[ "$(st top --once --sort cpu)" == *"by cpu"*$'\n'1.0*$'\n'2.0* ]]
	# In JSON, one frame per line; the CPU time that was got grows.
	st top --json -n 2 -d 1500ms | python3 -c '
import json, sys
a, b = map(json.loads, sys.stdin)
assert [h["host"] for h in a["hosts"]] == ["h1", "h2"], a
assert {"cpu_pressure", "io_pressure", "major_faults", "refaults", "runnable"} <= set(a["hosts"][0])
assert b["at_us"] > a["at_us"]
rank = [f["jobs"][0]["ranks"][0] for f in (a, b)]
assert rank[1]["cpu_us"] >= rank[0]["cpu_us"] > 0, rank'
	# In a pipe frames are whole, with an empty line between them.
	[ "$(st top -n 2 -d 10ms | grep -c '^$')" = 5 ]
	# A reader that ends also ends the command.
	st top -d 10ms | head -n 1
}

@test "on a terminal top fits its size, obeys keys, and goes on with another controller" {
	serve 2
	begin run -n 2 --hosts h1,h2 sleep 1000
	eventually is '[r["state"] for r in j[1]["ranks"]]' "['running', 'running']"
	coproc top { "$BATS_TEST_DIRNAME/screen.py" 30 120 "$stint" top -d 100ms 3>&-; }
	background="${background:+$background }$top_PID"
	printf '%s\n' 'wait 1.1 ' 'wait by job' 'key s' 'wait by share' 'show' >&"${top[1]}"
	read -r -u "${top[0]}" line
	[[ "$line" == "stint top "* ]]
	# Each line is cut to the width of the terminal, the last one too.
	printf '%s\n' 'size 5 40' 'gone 1.1 ' 'wait ...' 'size 30 120' 'wait 1.1 ' >&"${top[1]}"
	slay "$(service_pid controller)"
	start_controller
	eventually hosts_up 2
	begin run --hosts h1 sleep 1000
	printf '%s\n' 'wait 2.0 ' 'key q' end >&"${top[1]}"
	until [ "$line" = 0 ]; do
		read -r -t 100 -u "${top[0]}" line
	done
}

@test "hosts --watch shows them again" {
	serve 1
	coproc watch { "$BATS_TEST_DIRNAME/screen.py" 10 80 "$stint" hosts --watch 3>&-; }
	background="${background:+$background }$watch_PID"
	printf '%s\n' 'wait h1 ' >&"${watch[1]}"
	st drain h1
	printf '%s\n' 'wait drained' 'key q' end >&"${watch[1]}"
	read -r -t 100 -u "${watch[0]}" line
	[ "$line" = 0 ]
}
