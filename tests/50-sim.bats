#!/usr/bin/env bats
# stint sim and stint policies, from the outside.

bats_require_minimum_version 1.5.0
load build

setup() {
	shared=${STINT_SHARED:-$BATS_TEST_DIRNAME/../../shared}
	dir=$BATS_TEST_TMPDIR
}

need_traces() {
	[ -d "$shared/traces" ] || skip "no ../shared/traces here"
}

# A trace of three jobs on four processors, written to $dir/t.swf.
small() {
	printf '; MaxProcs: 4\n' >"$dir/t.swf"
	printf '%s\n' \
		'1 0 -1 100 3 -1 -1 3 100 -1 1 7 1 -1 1 -1 -1 -1' \
		'2 10 -1 50 4 -1 -1 4 60 -1 1 7 1 -1 1 -1 -1 -1' \
		'3 20 -1 30 1 -1 -1 1 30 -1 1 8 1 -1 1 -1 -1 -1' >>"$dir/t.swf"
}

# golden POLICY TRACE REFERENCE: every start and end is as computed by other programs.
golden() {
	"$stint" sim -p "$1" --swf "$shared/traces/$2" -o "$dir/jobs.csv" --json >"$dir/s.json"
	cut -d, -f2-5 "$dir/jobs.csv" >"$dir/ours"
	gzip -dc "$shared/golden/$3" | cut -d, -f2-5 | tr -d '\r' >"$dir/theirs"
	cmp "$dir/ours" "$dir/theirs"
}

# fails TEXT COMMAND...: the command exits nonzero, with one line on stderr that has TEXT.
fails() {
	local text=$1
	shift
	run --separate-stderr "$@"
	[ "$status" -ne 0 ]
	[ "$status" -lt 126 ]
	[ "${#stderr_lines[@]}" -eq 1 ] || { echo "$stderr"; false; }
	[[ "$stderr" == *"$text"* ]] || { echo "$stderr"; false; }
}

@test "golden: FCFS on KTH and NASA, every start time" {
	need_traces
	golden fcfs KTH-SP2-1996-reconstructed.swf.gz ref_fcfs_kth.csv.gz
	golden fcfs NASA-iPSC-1993-3.1-cln.swf.gz ref_fcfs_nasa.csv.gz
}

@test "golden: EASY on KTH and NASA, every start time" {
	need_traces
	golden easy KTH-SP2-1996-reconstructed.swf.gz ref_easy_kth.csv.gz
	golden easy NASA-iPSC-1993-3.1-cln.swf.gz ref_easy_nasa.csv.gz
}

@test "golden: EASY in the event order of pyss" {
	need_traces
	golden easy:order=pyss KTH-SP2-1996-reconstructed.swf.gz pyss_easy_kth.csv.gz
}

@test "golden: one reservation is EASY, by another way" {
	need_traces
	golden backfill:depth=1 KTH-SP2-1996-reconstructed.swf.gz ref_easy_kth.csv.gz
	golden backfill:depth=1 NASA-iPSC-1993-3.1-cln.swf.gz ref_easy_nasa.csv.gz
}

@test "golden: conservative on KTH and HPC2N, every start time" {
	need_traces
	for trace in kth:KTH-SP2-1996-reconstructed hpc2n:HPC2N-2002-excerpt; do
		"$stint" sim -p conservative --swf "$shared/traces/${trace#*:}.swf.gz" -o "$dir/jobs.csv" >/dev/null
		cut -d, -f3 "$dir/jobs.csv" >"$dir/ours"
		gzip -dc "$shared/golden/ref_cons_${trace%:*}.csv.gz" | cut -d, -f2 | tr -d '\r' >"$dir/theirs"
		cmp "$dir/ours" "$dir/theirs"
	done
}

@test "a small trace, by hand" {
	small
	"$stint" sim -p fcfs --swf "$dir/t.swf" -o "$dir/f.csv" >/dev/null
	"$stint" sim -p easy --swf "$dir/t.swf" -o "$dir/e.csv" >/dev/null
	[ "$(cut -d, -f1,3,4 "$dir/f.csv" | tail -3 | tr '\n' ' ')" = "1,0,100 2,100,150 3,150,180 " ]
	# Job 3 ends at 50, before job 2 can start at 100.
	[ "$(cut -d, -f1,3,4 "$dir/e.csv" | tail -3 | tr '\n' ' ')" = "1,0,100 2,100,150 3,20,50 " ]
}

@test "the same seed gives the same bytes, another seed does not" {
	for i in 1 2; do
		"$stint" sim -p easy -w poisson:overestimate=3 -P 16 --load 0.9 -n 3000 --seed 7 \
			-o "$dir/$i.csv" --json >"$dir/$i.json"
	done
	cmp "$dir/1.csv" "$dir/2.csv"
	cmp "$dir/1.json" "$dir/2.json"
	"$stint" sim -p easy -w poisson -P 16 --load 0.9 -n 3000 --seed 8 -o "$dir/3.csv" >/dev/null
	grep -q '^1,.*,done,8,[0-9.]*$' "$dir/3.csv"
	run ! cmp -s <(cut -d, -f1-10 "$dir/1.csv") <(cut -d, -f1-10 "$dir/3.csv")
}

@test "the schedule written as SWF is read again and says the same" {
	small
	"$stint" sim -p fcfs --swf "$dir/t.swf" --out-swf "$dir/o.swf" -o "$dir/1.csv" >/dev/null
	grep -q '^2 10 90 50 4 -1 -1 4 60 -1 1 7 1 -1 1 -1 -1 -1$' "$dir/o.swf"
	"$stint" sim -p fcfs --swf "$dir/o.swf" -o "$dir/2.csv" >/dev/null
	cmp "$dir/1.csv" "$dir/2.csv"
}

@test "JSON has what it promises" {
	small
	"$stint" sim -p fcfs --swf "$dir/t.swf" --json | python3 -c '
import json, sys
s = json.load(sys.stdin)
assert s["jobs"] == s["ended"] == 3, s
assert abs(s["wait"]["mean"] - (0 + 90 + 130) / 3) < 1e-9, s["wait"]
assert abs(s["utilization"] - (300 + 200 + 30) / 4 / 180) < 1e-9
assert s["makespan"] == 180 and s["policy"] == "fcfs"'
}

@test "JSON says how it was made" {
	"$stint" sim -p sed2:upgrade=no -w schnor:kind=proof,system=2 --load 0.5 -n 50 -H 4x1,4x2 \
		--speedup linear --seed 7 --replication 3 --migrate-cost 10s --rank-cost 12.7s --resize-cost 1s \
		--pool --json | python3 -c '
import json, sys
s = json.load(sys.stdin)
want = dict(policy="sed2:upgrade=no", workload="schnor:kind=proof,system=2", load=0.5, first_jobs=50,
            hosts="4x1,4x2", speedup="linear", seed=7, replication=3, migrate_cost=10, rank_cost=12.7,
            resize_cost=1, pool=True, kill_at_estimate=False, exact_estimates=False, drop_cancelled=False)
for k, v in want.items():
    assert s[k] == v, (k, s.get(k), v)
assert s["version"]'
}

@test "gzip, CRLF, unsorted submits and a pipe are read" {
	small
	"$stint" sim -p fcfs --swf "$dir/t.swf" -o "$dir/1.csv" >/dev/null
	(head -1 "$dir/t.swf"; tail -3 "$dir/t.swf" | tac) | sed 's/$/\r/' | gzip |
		"$stint" sim -p fcfs --swf - -o "$dir/2.csv" >/dev/null 2>&1
	cmp "$dir/1.csv" "$dir/2.csv"
}

@test "the first N jobs are those submitted first, wherever they stand; those behind are not read" {
	small
	"$stint" sim -p fcfs --swf "$dir/t.swf" -n 2 -o "$dir/1.csv" >/dev/null
	[ "$(tail -n +2 "$dir/1.csv" | cut -d, -f1 | tr '\n' ' ')" = "1 2 " ]
	(head -1 "$dir/t.swf"; tail -3 "$dir/t.swf" | tac) >"$dir/back.swf"
	"$stint" sim -p fcfs --swf "$dir/back.swf" -n 2 -o "$dir/2.csv" >/dev/null 2>&1
	cmp "$dir/1.csv" "$dir/2.csv"
	sed '$a4 18447744073710 -1 5' "$dir/t.swf" >"$dir/far.swf"
	fails "far.swf:5: 4 fields" "$stint" sim -p fcfs --swf "$dir/far.swf" -n 2 -o "$dir/2.csv"
	echo '4 30 -1 x' >>"$dir/t.swf"
	"$stint" sim -p fcfs --swf "$dir/t.swf" -n 2 -o "$dir/2.csv" >/dev/null
	cmp "$dir/1.csv" "$dir/2.csv"
	fails "t.swf:5: field 4" "$stint" sim -p fcfs --swf "$dir/t.swf" -n 4 -o "$dir/2.csv"
	# The trace does not say how large the machine is: all jobs are read.
	sed -i '/MaxProcs/d' "$dir/t.swf"
	fails "t.swf:4: field 4" "$stint" sim -p fcfs --swf "$dir/t.swf" -n 2 -o "$dir/2.csv"
}

@test "what is left out of a trace is counted and said" {
	small
	printf '%s\n' '4 30 -1 0 1 -1 -1 1 30 -1 5 8 1 -1 1 -1 -1 -1' \
		'5 31 -1 9 -1 -1 -1 0 30 -1 1 8 1 -1 1 -1 -1 -1' \
		'6 32 -1 9 9 -1 -1 9 30 -1 1 8 1 -1 1 -1 -1 -1' >>"$dir/t.swf"
	run --separate-stderr "$stint" sim -p fcfs --swf "$dir/t.swf"
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"left out 3 jobs (1 without a run time, 1 without a size, 1 larger than 4"* ]]
}

@test "a machine of no number is an error, job numbers that come twice are said" {
	small
	sed 's/MaxProcs: 4/MaxProcs: banana/' "$dir/t.swf" >"$dir/bad.swf"
	fails "bad.swf:1: no number in 'MaxProcs: banana'; --procs" "$stint" sim -p fcfs --swf "$dir/bad.swf"
	for n in 99999999999 99999999999999999999; do
		sed "s/MaxProcs: 4/MaxProcs: $n/" "$dir/t.swf" >"$dir/large.swf"
		fails "large.swf:1: no number in 'MaxProcs: $n'" "$stint" sim -p fcfs --swf "$dir/large.swf"
	done
	sed '$s/^3 20/3 20000000000000000000/' "$dir/t.swf" >"$dir/large.swf"
	fails "field 2 (submit time) is too large: '20000000000000000000'" "$stint" sim -p fcfs --swf "$dir/large.swf"
	sed '$s/-1 -1$/2 60/' "$dir/t.swf" >"$dir/after.swf"
	run --separate-stderr "$stint" sim -p fcfs --swf "$dir/after.swf"
	[[ "$stderr" == *"after.swf: 1 jobs say which job they come after (fields 17 and 18)"* ]]
	for args in "--swf $dir/bad.swf --procs 4" "--swf $dir/good.swf"; do
		{ echo "; UnixStartTime: banana" && echo "; MaxNodes: 4" && cat "$dir/bad.swf"; } >"$dir/good.swf"
		run --separate-stderr "$stint" sim -p fcfs $args
		[ "$status" = 0 ]
		[ -z "$stderr" ]
		[[ "$output" == *"3 ended on 4 processors"* ]]
	done
	tail -1 "$dir/t.swf" >>"$dir/t.swf"
	run --separate-stderr "$stint" sim -p fcfs --swf "$dir/t.swf"
	[ "$status" = 0 ]
	[[ "$stderr" == *"t.swf: 1 jobs have the number of another (the first is 3)"* ]]
}

@test "jobs too large for the hosts are rejected, said and counted" {
	small
	for policy in fcfs easy dqs lst sed1 deqp; do
		run --separate-stderr "$stint" sim -p $policy --swf "$dir/t.swf" --hosts 3x1 -o "$dir/j.csv"
		[ "$status" -eq 0 ]
		[ "$stderr" = "stint sim: rejected 1 jobs that could never start, first job 2: 4 processors are asked for, and under policy '$policy' a job can have 3 here at most" ]
		[[ "$output" == *"1 rejected"* ]]
		[ "$(cut -d, -f1,3,4,10 "$dir/j.csv" | tail -n +2 | tr '\n' ' ')" = "1,0,100,done 2,,,rejected 3,100,130,done " ]
	done
	"$stint" sim -p pvm --swf "$dir/t.swf" --hosts 3x1 --json | grep -q '"ended":3.*"rejected":0'
	# If all jobs are rejected nothing was simulated, and nothing is written.
	rm "$dir/j.csv"
	printf '; MaxProcs: 9\n1 0 -1 9 9 -1 -1 9 9 -1 1 -1 -1 -1 -1 -1 -1 -1\n' >"$dir/large.swf"
	fails "none of the 1 jobs could ever start: job 1: 9 processors are asked for" "$stint" sim -p easy \
		--swf "$dir/large.swf" --hosts 3x1 -o "$dir/j.csv"
	[ ! -e "$dir/j.csv" ]
	fails "job 2: 4 processors" "$stint" sweep -p fcfs --swf "$dir/t.swf" --hosts 3x1
}

@test "sed uses hosts whose speed factors are no whole numbers" {
	printf '; MaxProcs: 30\n1 0 -1 100 4 -1 -1 4 100 -1 1 7 1 -1 1 -1 -1 -1\n' >"$dir/f.swf"
	sed 's/ 4 / 30 /g' "$dir/f.swf" >"$dir/all.swf"
	for p in sed1 sed2; do
		"$stint" sim -p $p --swf "$dir/f.swf" --hosts 4x1.2 -o "$dir/j.csv" >/dev/null
		[ "$(cut -d, -f3,4 "$dir/j.csv" | tail -1)" = 0,120 ]
		"$stint" sim -p $p --swf "$dir/all.swf" --hosts 5x1,25x1.5 -o "$dir/j.csv" >/dev/null
		[ "$(cut -d, -f3,4 "$dir/j.csv" | tail -1)" = 0,150 ]
	done
}

@test "bad traces: one line with file and line, no output" {
	out=$dir/jobs.csv
	small; sed -i '3s/ 4 60/ x 60/' "$dir/t.swf"
	fails "t.swf:3: field 8" "$stint" sim -p fcfs --swf "$dir/t.swf" -o "$out"
	small; printf '4 30 -1 5' >>"$dir/t.swf"
	fails "t.swf:5: 4 fields instead of 18" "$stint" sim -p fcfs --swf "$dir/t.swf" -o "$out"
	small; sed -i '2s/$/ 19/' "$dir/t.swf"
	fails "t.swf:2: more than 18 fields" "$stint" sim -p fcfs --swf "$dir/t.swf" -o "$out"
	small; sed -i '2s/^1 0/1 -5/' "$dir/t.swf"
	fails "t.swf:2: the submit time is not known" "$stint" sim -p fcfs --swf "$dir/t.swf" -o "$out"
	small; sed -i '2s/^1 0/1 99999999999999999999/' "$dir/t.swf"
	fails "t.swf:2: field 2" "$stint" sim -p fcfs --swf "$dir/t.swf" -o "$out"
	head -c 3000 /dev/urandom >"$dir/t.swf"
	fails "t.swf:" "$stint" sim -p fcfs --swf "$dir/t.swf" -o "$out"
	yes 1 | head -n 1000000 | tr '\n' ' ' >"$dir/t.swf"
	fails "t.swf:1: more than 18" "$stint" sim -p fcfs --swf "$dir/t.swf" -o "$out"
	: >"$dir/t.swf"
	fails "no job in it" "$stint" sim -p fcfs --swf "$dir/t.swf" -o "$out"
	small; gzip "$dir/t.swf"
	head -c 60 "$dir/t.swf.gz" >"$dir/cut.gz"
	fails "cut.gz: the gzip data is damaged or cut off" "$stint" sim -p fcfs --swf "$dir/cut.gz" -o "$out"
	(head -c 60 "$dir/t.swf.gz"; head -c 60 /dev/zero) >"$dir/bad.gz"
	fails "bad.gz: the gzip data is damaged" "$stint" sim -p fcfs --swf "$dir/bad.gz" -o "$out"
	fails "No such file" "$stint" sim -p fcfs --swf "$dir/none.swf" -o "$out"
	small; printf '1 0 \0 3\n' >>"$dir/t.swf"
	fails "t.swf:5: field 3 (wait time) begins with byte 0x00" "$stint" sim -p fcfs --swf "$dir/t.swf" -o "$out"
	printf 'BZh91AY' >"$dir/t.swf"
	fails "packed by bzip2; unpack it first" "$stint" sim -p fcfs --swf "$dir/t.swf" -o "$out"
	echo '1 0 -1 -100 3 -1 -1 3 100 -1 1 1 1 1 1 1 -1 -1' >"$dir/t.swf"
	fails "no job in it can be simulated: 1 without a run time, 0" "$stint" sim -p fcfs --swf "$dir/t.swf" -o "$out"
	small
	fails "'$out' is to be written twice" "$stint" sim -p fcfs --swf "$dir/t.swf" -o "$out" --gantt "$out"
	fails "is to be read and written over" "$stint" sim -p fcfs --swf "$dir/t.swf" -o "$dir/t.swf"
	[ ! -e "$out" ]
}

@test "a schedule that ends later than can be counted is an error" {
	for i in {1..12}; do
		echo "$i 0 -1 1000000000000 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1"
	done >"$dir/t.swf"
	for p in fcfs easy conservative; do
		fails "for ever" "$stint" sim -p $p --swf "$dir/t.swf" -o "$dir/j.csv"
	done
	head -1 "$dir/t.swf" >"$dir/slow.swf"
	fails "for ever" "$stint" sim -p spread --swf "$dir/slow.swf" --hosts 1x1000 -o "$dir/j.csv"
	[ ! -e "$dir/j.csv" ]
}

@test "the extended format is refused with a reason, or read if asked" {
	need_traces
	fails "more than 18 fields" "$stint" sim -p fcfs --swf "$shared/traces/wagap-2013.swf.gz"
	"$stint" sim -p easy --extra-columns=ignore --swf "$shared/traces/wagap-2013.swf.gz" \
		--json 2>/dev/null | grep -q '"ended":178'
}

@test "bad options: one line, exit 2 or 1" {
	small
	fails "no policy 'eazy'" "$stint" sim -p eazy --swf "$dir/t.swf"
	fails "has no parameter 'depth'" "$stint" sim -p fcfs:depth=1 --swf "$dir/t.swf"
	fails "should be one of pass, pyss, each" "$stint" sim -p easy:order=x --swf "$dir/t.swf"
	fails "no workload 'posson'" "$stint" sim -p fcfs -w posson
	fails "give either --swf" "$stint" sim -p fcfs
	fails "give --policy" "$stint" sim --swf "$dir/t.swf"
	fails "needs 3 processors" "$stint" sim -p fcfs -w poisson:min-size=3,max-size=3 -P 2 ||
		fails "do not fit 2 processors" "$stint" sim -p fcfs -w poisson:min-size=3,max-size=3 -P 2
}

@test "a full disk is an error and leaves nothing behind" {
	small
	fails "No space left" "$stint" sim -p fcfs --swf "$dir/t.swf" -o /dev/full
	echo before >"$dir/jobs.csv"
	mkdir "$dir/ro" && chmod 555 "$dir/ro"
	fails "cannot create" "$stint" sim -p fcfs --swf "$dir/t.swf" -o "$dir/none/jobs.csv"
	# A limit of file sizes takes the place of the full disk: the old file stays.
	run bash -c "ulimit -f 8; trap '' XFSZ; '$stint' sim -p fcfs -w poisson -n 20000 -o '$dir/jobs.csv'"
	[ "$status" -ne 0 ]
	[ "$(cat "$dir/jobs.csv")" = before ]
	run ! compgen -G "$dir/jobs.csv.*"
}

@test "an UTF-8 mark at the start of a trace is no part of it" {
	small
	"$stint" sim -p fcfs --swf "$dir/t.swf" -o "$dir/a.csv" >/dev/null
	(printf '\357\273\277'; cat "$dir/t.swf") >"$dir/b.swf"
	"$stint" sim -p fcfs --swf "$dir/b.swf" -o "$dir/b.csv" >/dev/null
	cmp "$dir/a.csv" "$dir/b.csv"
}

@test "what somebody killed while replacing a file has left is taken away" {
	small
	echo before >"$dir/jobs.csv"
	echo half >"$dir/jobs.csv.stint-new"
	"$stint" sim -p fcfs --swf "$dir/t.swf" -o "$dir/jobs.csv" >/dev/null
	grep -q '^id,submit' "$dir/jobs.csv"
	run ! ls "$dir/jobs.csv.stint-new"
	# A new file is written without a second name.
	echo mine >"$dir/new.csv.stint-new"
	"$stint" sim -p fcfs --swf "$dir/t.swf" -o "$dir/new.csv" >/dev/null
	cmp "$dir/jobs.csv" "$dir/new.csv"
	[ "$(cat "$dir/new.csv.stint-new")" = mine ]
}

starts() {
	"$stint" sim -p "$1" --swf "$dir/t.swf" --events "$dir/ev" -o "$dir/j.csv" >/dev/null
	cut -d, -f1,3,4,10 "$dir/j.csv" | tail -n +2 | tr '\n' ' '
}

@test "event files: failures, drains, cancellations, reservations" {
	small
	# Job 1 runs on hosts 0 to 2; host 1 fails at 40: it begins anew on the
	# other three, and job 2, which needs all four, follows.
	printf '40 down 1 # it fails\n60 up 1\n' >"$dir/ev"
	[ "$(starts fcfs)" = "1,0,140,done 2,140,190,done 3,190,220,done " ]
	echo '50 cancel 2' >"$dir/ev"
	[ "$(starts fcfs)" = "1,0,100,done 2,,50,cancelled 3,50,80,done " ]
	printf '20 drain 3\n500 undrain 3\n' >"$dir/ev"
	[ "$(starts fcfs)" = "1,0,100,done 2,500,550,done 3,550,580,done " ]
	# The reservation is known from the start, and job 2 would run into it.
	echo '0 reserve 4 120 300' >"$dir/ev"
	[ "$(starts conservative)" = "1,0,100,done 2,300,350,done 3,20,50,done " ]
	[ "$(starts easy)" = "1,0,100,done 2,300,350,done 3,20,50,done " ]
	[ "$(starts ff)" = "1,0,100,done 2,300,350,done 3,20,50,done " ]
	[ "$(starts fcfs)" = "1,0,100,done 2,300,350,done 3,350,380,done " ]
	# One processor of four: job 1 fits beside it.
	echo '0 reserve 1 50 300' >"$dir/ev"
	[ "$(starts fcfs)" = "1,0,100,done 2,300,350,done 3,350,380,done " ]
}

@test "event files: the Failure Trace Archive's table" {
	small
	printf '# event_id component_id node_id platform_id event_type event_start_time event_stop_time\n' >"$dir/ev"
	printf '%s\n' '1 0 a 0 1 1e9 1000000040' '2 0 a 0 0 1000000040 1000000060' >>"$dir/ev"
	[ "$(starts fcfs)" = "1,0,140,done 2,140,190,done 3,190,220,done " ]
}

@test "bad event files: one line with file and line" {
	small
	for bad in 'x' '5 explode 1' '5 down' '5 down x' '5 down 1 2' 'soon down 1' '5 down -1' \
		'5 reserve 2 3 9' '5 reserve 2 9 9' '5 reserve 0 6 9' '5 cancel x'; do
		printf '1 drain 0\n%s\n' "$bad" >"$dir/ev"
		fails "ev:2:" "$stint" sim -p fcfs --swf "$dir/t.swf" --events "$dir/ev"
	done
	echo '5 down 4' >"$dir/ev"
	fails "names host 4" "$stint" sim -p fcfs --swf "$dir/t.swf" --events "$dir/ev"
	echo '0 reserve 5 10 20' >"$dir/ev"
	fails "reserves 5 processors, and the machine has 4" "$stint" sim -p fcfs --swf "$dir/t.swf" --events "$dir/ev"
	printf '# node_id event_type event_start_time event_stop_time\nn 2 0 1\n' >"$dir/ev"
	fails "ev:2: event_type" "$stint" sim -p fcfs --swf "$dir/t.swf" --events "$dir/ev"
}

@test "policies are listed and explained" {
	"$stint" policies | grep -q '^easy '
	"$stint" policies easy | grep -q 'order=pass'
	"$stint" policies --json | python3 -c '
import json, sys
p = [json.loads(line) for line in sys.stdin]
assert len({x["name"] for x in p}) == len(p) > 2
assert all(x["source"] and x["details"] for x in p)'
	fails "no policy 'nonesuch'" "$stint" policies nonesuch
}

# In a record all hosts are down at first, as in a controller that has just started.
@test "a machine that is down at first has its processors all the same" {
	cat >"$dir/rec" <<-'END'
		stint-record 2
		begin 1000000 2 1 fcfs
		define 0 name=h1 speed=1 cores=2 slots=16 memory=100 free=50 load=0 users=0 owner=0 idle=0 up=0 drain=0
		define 1 name=h2 speed=1 cores=2 slots=16 memory=100 free=50 load=0 users=0 owner=0 idle=0 up=0 drain=0
		host 1000001 0 up=1
		host 1000002 1 up=1
		arrive 2000000 job=1 size=4 min=4 submit=2000000 estimate=0 user=0
		start 2000000 job=1 on=0,0,1,1
		arrive 2000001 job=2 size=2 min=2 submit=2000001 estimate=0 user=0
		arrive 2000002 job=3 size=4 min=4 submit=2000002 estimate=0 user=0
		end 5000000 job=1 outcome=done
		start 5000000 job=2 on=0,0
		end 8000000 job=2 outcome=done
		start 8000000 job=3 on=0,0,1,1
		end 11000000 job=3 outcome=done
	END
	run -0 "$stint" sim --replay "$dir/rec" --policy fcfs
	echo "$output"
	[[ "$output" == "3 jobs"*" 3 ended on 4 processors in "* ]]
	run -0 "$stint" sim --replay "$dir/rec" --policy fcfs --json
	python3 -c 'import json, sys; s = json.loads(sys.argv[1])
assert s["processors"] == 4 and 0.7 < s["utilization"] < 1, s' "$output"
	# ls computes its highest priority from the processors: job 3, the largest, goes
	# before job 2.
	run -0 "$stint" sim --replay "$dir/rec" --policy ls -o "$dir/ls.csv"
	python3 -c 'import csv, sys
end = {r["id"]: float(r["start"]) for r in csv.DictReader(open(sys.argv[1]))}
assert end["1"] < end["3"] < end["2"], end' "$dir/ls.csv"
}

@test "a replay that differs is told as JSON whatever bytes are in the record" {
	printf '%s\n' 'stint-record 2' 'begin 1000000 1 1 fcfs' \
		'define 0 name=h1 speed=1 cores=2 slots=16 memory=100 free=50 load=0 users=0 owner=0 idle=0 up=1 drain=0' \
		'pass 1000002 1' $'plan wake at \xff: why' >"$dir/rec"
	run -1 "$stint" sim --replay "$dir/rec" --json
	python3 -c 'import json, sys; r = json.loads(sys.argv[1])
assert not r["equal"] and "wake at \ufffd: why" in r["difference"], r' "$output"
}

# Three jobs, one after the other, on two hosts that have names.
@test "figures of a stretch of time" {
	printf 'name,count,speed\nws,2,1\n' >"$dir/two.csv"
	printf '%s\n' '; MaxProcs: 2' >"$dir/t.swf"
	for i in 1 2 3; do
		echo "$i $((i * 100)) -1 100 2 -1 -1 2 100 -1 1 -1 -1 -1 -1 -1 -1 -1" >>"$dir/t.swf"
	done
	"$stint" sim -p fcfs --swf "$dir/t.swf" -H "$dir/two.csv" --window 50:150 --gantt "$dir/g.svg" \
		--series "$dir/s.tsv" --plot "$dir/p.svg" >/dev/null
	# Half of job 1, half of job 2, nothing of job 3.
	grep -q '>job 1,.*x="90.00" y="40.00" width="550.00"' "$dir/g.svg"
	grep -q '>job 2, 2 processors, 100 s to 200 s<.*x="640.00" y="40.00" width="550.00"' "$dir/g.svg"
	run ! grep -q '>job 3,' "$dir/g.svg"
	# What ends as the window begins, or begins as it ends, is not in it.
	"$stint" sim -p fcfs --swf "$dir/t.swf" --window 100:200 --gantt "$dir/h.svg" >/dev/null
	[ "$(grep -o '<title>job [0-9]*' "$dir/h.svg")" = '<title>job 2' ]
	grep -q '>ws1</text>' "$dir/g.svg"
	grep -q '>ws2</text>' "$dir/g.svg"
	[ "$(sed -n '2s/\t.*//p' "$dir/s.tsv")" = 50.5 ]
	[ "$(sed -n '$s/\t.*//p' "$dir/s.tsv")" = 149.5 ]
	"$stint" sim -p fcfs --swf "$dir/t.swf" --window :1min --series "$dir/s.tsv" >/dev/null
	[ "$(sed -n '$s/\t.*//p' "$dir/s.tsv")" = 59.5 ]
	# If there are more bars than a picture can show, they are shown in pieces.
	"$stint" sim -p fcfs -w poisson:max-size=1 -L 0.9 -P 4 -n 110000 --window 0:10000 --gantt "$dir/g.svg" >/dev/null
	grep -c '<title>job' "$dir/g.svg"
	fails "take less of the time" "$stint" sim -p fcfs -w poisson:max-size=1 -L 0.9 -P 4 -n 110000 --gantt "$dir/none.svg"
	fails "the run is over at 300 s" "$stint" sim -p fcfs --swf "$dir/t.swf" --window 1h: --plot "$dir/none.svg"
	[ ! -e "$dir/none.svg" ]
	fails "--window is for" "$stint" sim -p fcfs --swf "$dir/t.swf" --window 1:2
}

@test "exit statuses are those of stint-sim(1)" {
	is() { # STATUS WORDS OF stint sim...
		local want=$1
		shift
		run --separate-stderr "$stint" sim "$@"
		[ "$status" = "$want" ] || { echo "$status: stint sim $*: $stderr"; false; }
		[ "$want" = 0 ] || [ -z "$output" ] || { echo "stint sim $*: $output"; false; }
		[ "$want" = 0 ] || [ "${#stderr_lines[@]}" = 1 ] || { echo "stint sim $*: $stderr"; false; }
	}
	small
	is 0 -p fcfs --swf "$dir/t.swf"
	is 0 --list
	# This is checked before anything is read: the input file does not exist.
	no=(--swf "$dir/none.swf")
	is 2 -p nope "${no[@]}"
	is 2 -p fcfs:nope=1 "${no[@]}"
	is 2 -p easy:fill=nope "${no[@]}"
	is 2 -p fcfs -w nope
	is 2 -p fcfs -w ismail:nope=1
	is 2 -p fcfs -H nope "${no[@]}"
	is 2 -p fcfs -P 0 "${no[@]}"
	is 2 -p fcfs --speedup nope "${no[@]}"
	is 2 -p fcfs --nope "${no[@]}"
	is 2 -p fcfs "${no[@]}" word
	is 2 "${no[@]}"
	# Input that is wrong or cannot be read, output that cannot be written, and input
	# without jobs.
	is 1 -p fcfs "${no[@]}"
	is 1 -p fcfs --swf "$dir/t.swf" --events "$dir/none"
	is 1 -p fcfs --swf /etc/passwd
	is 1 -p fcfs --swf "$dir/t.swf" -o "$dir/none/jobs"
	is 1 -p fcfs --swf "$dir/t.swf" -o /dev/full
	sed -i 3d "$dir/t.swf" # leaves a job of three, and one of one
	sed -i 3d "$dir/t.swf"
	is 1 -p fcfs --swf "$dir/t.swf" -P 2 -o "$dir/jobs"
	[ ! -e "$dir/jobs" ]
}
