#!/usr/bin/env bats
# Schedules of a second, tiny implementation (second.py), start by start.
bats_require_minimum_version 1.5.0
load build

setup() {
	how=
	dir=$BATS_TEST_TMPDIR
	second=$BATS_TEST_DIRNAME/second.py
	# In seconds, with times beyond NQS's limits of 1 and 4 hours.
	for scale in 1 50; do
		python3 "$second" trace 7 150 16 $scale >"$dir/$scale.swf"
	done
}

# in hundredths of a second: a job whose speed changes does not end at a whole second
rounded() {
	awk -F, '{ printf "%d,%.2f,%.2f\n", $1, $2, $3 }' | sort -n
}

# same POLICY...: each start and end is equal, on both traces; $how has options of sim.
same() {
	local policy scale
	for policy; do
		for scale in 1 50; do
			"$stint" sim -p "$policy" --swf "$dir/$scale.swf" ${how:+$how} -o "$dir/jobs.csv" >/dev/null
			cut -d, -f1,3,4 "$dir/jobs.csv" | tail -n +2 | rounded >"$dir/ours"
			python3 "$second" "$policy" "$dir/$scale.swf" 16 | rounded >"$dir/theirs"
			[ "$(wc -l <"$dir/theirs")" -eq 150 ]
			cmp "$dir/ours" "$dir/theirs" || { echo "$policy, times of $scale s"; false; }
		done
	done
}

@test "EASY, in every order of filling" {
	same easy easy:fill=sjf easy:fill=smallest easy:fill=largest
}

@test "scores: sjf, lxf, wfp, with all that may follow the first that does not fit" {
	for policy in sjf lxf wfp; do
		same $policy:fit=block $policy:fit=skip $policy:fit=easy
	done
}

@test "multifactor: age, users' shares, size" {
	same multifactor multifactor:fit=block,half-life=3000 multifactor:fit=skip,age=0 \
		multifactor:fair=0,max-age=500
}

@test "NQS: FIFO in each queue, aging, a priority that blocks" {
	same nqs nqs:age=2,block=13 nqs:short=100,medium=1000,age=1
}

@test "conservative: job by job, and by kinds; any number of reservations" {
	same conservative conservative:slots=kinds backfill:depth=0 backfill:depth=1 \
		backfill:depth=3 backfill:depth=2,slots=kinds
}

# Bursts of equal jobs, with some of another kind in between, that end early in random
# order.
@test "conservative: equal jobs in a row" {
	python3 - >"$dir/rows.swf" <<-'EOF'
		import random
		r, t, i = random.Random(5), 0, 0
		print("; MaxProcs: 16")
		while i < 140:
		    size, estimate = r.choice([1, 2, 3, 5, 9]), r.choice([60, 200, 450])
		    for _ in range(r.choice([1, 2, 8, 20])):
		        i += 1
		        t += r.choice([0, 0, 1, 7])
		        run = r.choice([1, estimate, r.randint(1, estimate)])
		        print(i, t, -1, run, size, -1, -1, size, estimate, "-1 1 1 1 -1 1 -1 -1 -1")
		    t += r.choice([0, 50, 900])
	EOF
	for policy in conservative backfill:depth=7 conservative:slots=kinds; do
		"$stint" sim -p "$policy" --swf "$dir/rows.swf" -o "$dir/jobs.csv" >/dev/null
		cut -d, -f1,3,4 "$dir/jobs.csv" | tail -n +2 | rounded >"$dir/ours"
		python3 "$second" "$policy" "$dir/rows.swf" 16 | rounded >"$dir/theirs"
		[ "$(wc -l <"$dir/theirs")" -ge 140 ]
		cmp "$dir/ours" "$dir/theirs"
	done
}

@test "dynamic policies: who gets how many processors, and the left-overs" {
	how="--speedup=linear"
	same deqp dprop
}

@test "percentiles and the interval of the mean, from the jobs themselves" {
	"$stint" sim -p easy --swf "$dir/50.swf" -o "$dir/jobs.csv" --json >"$dir/s.json"
	python3 - "$dir" <<-'EOF'
		import csv, json, math, sys
		got = json.load(open(sys.argv[1] + "/s.json"))
		rows = list(csv.DictReader(open(sys.argv[1] + "/jobs.csv")))
		for what, begin in ("wait", "start"), ("response", "end"):
		    x = [float(r[begin]) - float(r["submit"]) for r in rows]
		    for q in 50, 90, 95, 99:
		        # Nearest rank: the least value that at least q % of all do not
		        # exceed.
		        want = min(v for v in x if sum(w <= v for w in x) * 100 >= q * len(x))
		        assert got[what]["p%d" % q] == want, (what, q, got[what], want)
		    # 30 means of equal runs of jobs; Student's t, 29 degrees, 97.5 %: 2.045.
		    b = [sum(x[i:i + 5]) / 5 for i in range(0, 150, 5)]
		    m = sum(b) / 30
		    half = 2.0452 * math.sqrt(sum((v - m) ** 2 for v in b) / 29 / 30)
		    assert abs(got[what]["half95"] / half - 1) < 1e-4, (got[what], half)
	EOF
}

@test "rigid jobs are never folded, also where hosts fail under them" {
	for i in $(seq 1 40); do
		echo "$((i * 90)) down $((i % 16))"
		echo "$((i * 90 + 60)) up $((i % 16))"
	done | sort -n >"$dir/events"
	"$stint" sim -p easy --swf "$dir/1.swf" --hosts 16x1 --events "$dir/events" \
		-o "$dir/jobs.csv" --json >"$dir/s.json"
	python3 -c '
import json, sys
s = json.load(open(sys.argv[1]))
assert s["fragmentation"] == 0 and s["ended"] == 150, s
' "$dir/s.json"
}

@test "DQS takes the least loaded host, its own processes counted" {
	printf '%s\n' '; MaxProcs: 4' '1 0 -1 100 1 -1 -1 1 100 -1 1 1 1 -1 1 -1 -1 -1' \
		'2 1 -1 100 1 -1 -1 1 100 -1 1 1 1 -1 1 -1 -1 -1' >"$dir/t.swf"
	"$stint" sim -p dqs:slots=2 --swf "$dir/t.swf" --hosts 2x1 -o "$dir/jobs.csv" >/dev/null
	[ "$(cut -d, -f1,3,4 "$dir/jobs.csv" | tail -n +2 | tr '\n' ' ')" = "1,0,100 2,1,101 " ]
	# In the hosts' order both processes go to the first host, where each runs at half
	# speed.
	"$stint" sim -p dqs:slots=2,by=sequence --swf "$dir/t.swf" --hosts 2x1 -o "$dir/jobs.csv" >/dev/null
	[ "$(cut -d, -f1,3,4 "$dir/jobs.csv" | tail -n +2 | tr '\n' ' ')" = "1,0,199 2,1,200 " ]
}
