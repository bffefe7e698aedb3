#!/usr/bin/env bats
# stint trace import: files of other programs are read into Stint's formats.

bats_require_minimum_version 1.5.0
load build

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	version=$("$stint" --version | cut -d" " -f2)
}

failed() { # STATUS WORDS ARGUMENT...
	local want=$1 words=$2
	shift 2
	rm -f out
	run --separate-stderr "$stint" trace import "$@" -o out
	echo "$stderr"
	[ "$status" = "$want" ] && [ "${#stderr_lines[@]}" = 1 ] && [[ $stderr == *"$words"* ]] && [ ! -e out ]
}

@test "jobs of sacct, by hand" {
	cat >s.txt <<-'END'
		JobIDRaw|User|Account|Submit|Start|End|AllocCPUS|ReqCPUS|Timelimit|State|Partition
		12|ann|x|2026-01-01T10:00:10|2026-01-01T10:01:10|2026-01-02T10:01:10|8|4|1-00:10:00|COMPLETED|batch
		12.batch||x|2026-01-01T10:01:10|2026-01-01T10:01:10|2026-01-01T10:03:10|8|8||COMPLETED|
		11|bob|x|2026-01-01T10:00:00|2026-01-01T10:00:00|2026-01-01T10:00:30|1|1|UNLIMITED|TIMEOUT|batch
		13|ann|y|2026-01-01T11:00:00|Unknown|2026-01-01T11:10:00|0|2|01:00:00|CANCELLED by 7|long
		14|ann|y|2026-01-01T11:00:00|2026-01-01T11:00:01|Unknown|2|2|01:00:00|RUNNING|long
		15|ann|y|2026-01-01T11:00:00|2026-01-01T11:00:05|2026-01-01T11:00:45|2|2|01:00:00|CANCELLED by 7|long
	END
	run --separate-stderr "$stint" trace import --from sacct s.txt -o - -P 16
	[ "$status" = 0 ]
	[ "$stderr" = "s.txt: left out 1 steps of jobs, 1 jobs that never ran and 1 that still do" ]
	[ "$(grep -v '^;' <<<"$output")" = "11 0 0 30 1 -1 -1 1 -1 -1 0 2 1 -1 -1 1 -1 -1
12 10 60 86400 8 -1 -1 4 87000 -1 1 1 1 -1 -1 1 -1 -1
15 3600 5 40 2 -1 -1 2 3600 -1 5 1 2 -1 -1 2 -1 -1" ]
	grep -q '^; UnixStartTime: 1767261600$' <<<"$output"
	echo "$output" >t.swf
	"$stint" sim -p fcfs --swf t.swf | grep -q '3 ended on 16 processors'
	# Seconds since 1970 are taken, too, and TimelimitRaw is in minutes.
	printf '%s\n' 'JobID|Submit|Start|End|NCPUS|TimelimitRaw' '5|1000|1010|1040|2|3' >e.txt
	"$stint" trace import --from sacct - -o - <e.txt | grep -qx '5 0 10 30 2 -1 -1 -1 180 -1 1 -1 -1 -1 -1 -1 -1 -1'
}

@test "what is wrong in it is told by its line" {
	head='JobIDRaw|Submit|Start|End|AllocCPUS|Timelimit'
	good='1|2026-01-01T10:00:00|2026-01-01T10:00:00|2026-01-01T10:00:01|1|00:10:00'
	try() { # LINE WORDS
		printf '%s\n' "$head" "$good" "$1" >s.txt
		failed 1 "s.txt:3: $2" --from sacct s.txt
	}
	try "${good/1|/1_7|}" "the job's number is '1_7'"
	try "${good/01T10/01 10}" "Submit is '2026-01-01 10:00:00'"
	try "${good/00:01/00:0x}" "End is"
	try "${good/T10:00:01/T09:00:00}" "End is"
	try "${good/|1|/|-1|}" "AllocCPUS is '-1'"
	try "$good|x" "7 fields, and the first line names 6"
	try "${good/|1|/|one|}x" "Timelimit is '00:10:00x'"
	try "${good/00:10/99999999999999999:10}" "Timelimit is"
	try "${good/00:10/1-02:-5}" "Timelimit is"
	printf 'JobID|Submit|Start|End\n' >s.txt
	failed 1 "s.txt:1: no column 'AllocCPUS'" --from sacct s.txt
	printf '%s\n' "$head" >s.txt
	failed 1 "no job in it" --from sacct s.txt
	printf 'a\0b\n' >s.txt
	failed 1 "not a text file" --from sacct s.txt
}

@test "nodes of the Failure Trace Archive become owners" {
	cat >f.tab <<-'END'
		# event_id component_id node_id event_type event_start_time event_stop_time
		1	1	7	1	1000	1500
		2	1	7	0	1500	1600
		3	1	9	0	1200	1300
	END
	run --separate-stderr "$stint" trace import --from fta f.tab -o -
	[ "$status" = 0 ]
	[ "$(tail -n +2 <<<"$output")" = "200,h2,owner,here
300,h2,owner,away
500,h1,owner,here
600,h1,owner,away
# stint $version (imported), of fta" ]
	echo "10 down 1" >own
	failed 1 "own:1: no header of an event_trace" --from fta own
	echo "hello world" >own
	failed 1 "own:1: no header of an event_trace" --from fta own
	head -1 f.tab >own
	failed 1 "own: no event in it" --from fta own
	printf '1 1 7 1 1500 1000\n' >>own
	failed 1 "own:2: it stops before it starts" --from fta own
	sed -i 's/1200/x/' f.tab
	failed 1 "f.tab:4" --from fta f.tab
}

@test "percentages of PlanetLab become loads" {
	printf '10\n10\n50\n' >host.a
	printf '0\r\n100\r\n' >'b c'
	"$stint" trace import --from planetlab host.a 'b c' -o a.csv
	[ "$(tail -n +2 a.csv)" = "0,host.a,load,0.1
300,b_c,load,1
600,host.a,load,0.5
# stint $version (imported), of planetlab" ]
	"$stint" trace import --from planetlab host.a --every 10s -o - | grep -qx '20,host.a,load,0.5'
	"$stint" trace stats --activity a.csv | grep -q '^2 hosts'
	echo 101 >>host.a
	failed 1 "host.a:4: '101' is no percentage" --from planetlab host.a
	printf '1\n2\n3\n4\n' >far
	failed 1 "far: 4 percentages" --from planetlab far --every 4000000000000
	mkdir d && cp 'b c' d
	failed 1 "there is a host b_c already" --from planetlab 'b c' 'd/b c'
	: >empty
	failed 1 "no sample" --from planetlab empty
}

# Thursday, 1970-01-01, 10:00 and on, where the clock is ahead by an hour.
@test "what live agents saw becomes an activity script, without names if asked" {
	cat >r <<-'END'
		stint-record 6
		begin 32400000000 2 1 fcfs
		define 0 name=x.lab speed=1 cores=2 slots=2 memory=1000 free=400 load=0.5 users=0 owner=0 idle=5 up=1 drain=0 own=1000 closed=open by=0 until=0 freeze=0 faults=0 link=0 open=0
		define 1 name=y.lab speed=1 cores=1 slots=1 memory=0 free=0 load=0 users=0 owner=1 idle=9223372036854775807 up=1 drain=0 own= closed=open by=0 until=0 freeze=0 faults=0 link=0 open=0
		host 32401500000 0 users=1 idle=9223372036854775807
		host 32402000000 1 load=2 idle=32402000000
	END
	tail="# stint $version (imported), of record"
	TZ=XYZ-1 "$stint" trace import --from record r -o - >script
	diff -u - script <<-END
		time,host,what,value
		295200,x.lab,load,0.5
		295200,x.lab,memory,600
		295200,x.lab,own,1000
		295200,y.lab,owner,here
		295200,y.lab,keyboard,busy
		295201.500000,x.lab,owner,here
		295201.500000,x.lab,keyboard,busy
		295201.500000,x.lab,users,1
		295202,y.lab,owner,away
		295202,y.lab,keyboard,idle
		295202,y.lab,load,2
		$tail
	END
	"$stint" trace stats --activity script | grep -q '^2 hosts'
	TZ=XYZ-1 "$stint" trace import --from record r -o - --anonymous >script
	grep -qx 295202,h2,load,2 script
	run ! grep -e lab -e own, script
	echo "host 1 9 load=1" >>r
	failed 1 "r:7" --from record r
	failed 2 "--anonymous is for import --from record" --from fta r --anonymous
}

@test "what does not go together is said" {
	failed 2 "--from sacct" x
	failed 2 "--from sacct" --from pbs x
	failed 2 "one FILE" --from sacct x y
	failed 2 "--every is for" --from sacct x --every 5s
	failed 2 "--procs is for" --from fta x -P 5
	failed 2 "import: give FILE" --from fta
	failed 2 "makes no jobs" --from fta x -w ismail
	run --separate-stderr "$stint" trace stats --from fta x
	[ "$status" = 2 ]
	[[ $stderr == *"are for import"* ]]
}
