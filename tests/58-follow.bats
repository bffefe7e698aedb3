#!/usr/bin/env bats
# stint sim|sweep --follow: jobs that come after others (SWF fields 17 and 18).

bats_require_minimum_version 1.5.0
load build

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# Two processors.  FCFS runs job 1 from 0 to 100, job 3 from 100 to 1100.  Job 2 arrives 50
# s after job 1 has ended, and waits for job 3; job 4 arrives 5 s after job 2, although the
# trace says 300.
trace() {
	echo '; MaxProcs: 2'
	while read -r id submit run size after think; do
		echo "$id $submit -1 $run $size -1 -1 $size $run -1 1 $((id + 100)) -1 -1 -1 -1 $after $think"
	done
}

@test "by hand: who waits longer comes back later" {
	trace >t.swf <<-END
		1 0 100 2 -1 -1
		2 20 100 1 1 50
		3 10 1000 2 -1 -1
		4 300 10 1 2 5
	END
	"$stint" sim -p fcfs --swf t.swf --follow -o out.csv 2>err >/dev/null
	[ "$(cut -d, -f1-4 out.csv)" = "id,submit,start,end
1,0,0,100
3,10,100,1100
2,150,1100,1200
4,1205,1205,1215" ]
	run ! grep -q 'come after' err
	"$stint" sim -p fcfs --swf t.swf -o out.csv 2>err >/dev/null
	grep -q '^4,300,' out.csv
	grep -q 'say which job they come after.*--follow' err
	# Each user stays with the job, although the order of jobs is another one.
	"$stint" sim -p fcfs --swf t.swf --follow --out-swf - 2>/dev/null >s.swf
	[ "$(grep -v '^;' s.swf | cut -d' ' -f1,2,12)" = "1 0 101
3 10 103
2 150 102
4 1205 104" ]
	# A job that is cancelled is over as well.
	echo '30 cancel 1' >events
	"$stint" sim -p fcfs --swf t.swf --follow --events events -o out.csv >/dev/null
	grep -q '^2,80,' out.csv
	# Who thinks for no time comes at once.
	trace >at-once.swf <<-END
		1 0 100 2 -1 -1
		2 20 100 1 1 0
	END
	"$stint" sim -p fcfs --swf at-once.swf --follow -o out.csv >/dev/null
	grep -q '^2,100,100,200,' out.csv
	# Of two who come back at the same time the first one is the first.
	trace >both.swf <<-END
		1 0 100 2 -1 -1
		2 20 100 2 1 50
		3 30 100 2 1 50
	END
	"$stint" sim -p fcfs --swf both.swf --follow -o out.csv >/dev/null
	[ "$(cut -d, -f1-4 out.csv)" = "id,submit,start,end
1,0,0,100
2,150,150,250
3,150,250,350" ]
	"$stint" sweep -p fcfs --swf t.swf --follow --max 5 --csv >sweep.csv
	grep -q 'swf+follow:t.swf' sweep.csv
	"$stint" sim -p fcfs --swf t.swf --follow --json | grep -q '"follow":true'
}

@test "jobs that cannot follow are told in a line, and come when they did" {
	trace >t.swf <<-END
		1 0 100 2 -1 -1
		2 20 100 1 99 50
		3 30 100 1 3 50
		4 40 100 1 5 50
		5 50 100 1 -1 -1
		6 60 100 1 1 -1
		7 70 100 1 1 30
		8 80 100 4 -1 -1
		9 90 100 1 8 10
	END
	run --separate-stderr "$stint" sim -p fcfs --swf t.swf --follow -o -
	[ "$status" = 0 ]
	[ "${stderr_lines[1]}" = "t.swf: 5 of 6 jobs that come after another come when they did: that one is not there (2), comes later (1) or is the job itself (1), or the think time is not known (1)" ]
	[ "$(sed '1d; s/,[^,]*//2g' <<<"$output" | sort | tr '\n' ' ')" = "1,0 2,20 3,30 4,40 5,50 6,60 7,130 9,90 " ]
}

@test "what does not go together with it is said" {
	trace >t.swf <<<"1 0 100 2 -1 -1"
	for options in "-w ismail" "--swf t.swf -L 0.5" "--swf t.swf --speedup linear"; do
		for c in sim sweep; do
			# shellcheck disable=SC2086
			run --separate-stderr "$stint" $c -p fcfs $options --follow
			[ "$status" = 2 ]
			[[ $stderr == *"--follow is for the jobs of --swf as they are"* ]]
		done
	done
	trace >t.swf < <(printf '%s\n' "1 0 100 2 -1 -1" "1 5 100 2 -1 -1" "2 6 1 1 1 1")
	run --separate-stderr "$stint" sim -p fcfs --swf t.swf --follow
	[ "$status" = 1 ]
	[[ $stderr == *"two jobs have the number 1"* ]]
}

@test "users who think for longer than can be counted are an error" {
	for i in {1..12}; do
		echo "$i 0 5 1 $((i - 1)) 1000000000000"
	done | trace >t.swf
	run --separate-stderr "$stint" sim -p fcfs --swf t.swf --follow -o out.csv
	[ "$status" = 1 ] && [ "${#stderr_lines[@]}" = 1 ] && [[ $stderr == *"for ever"* ]] && [ ! -e out.csv ]
}
