#!/usr/bin/env bats
# Schedules of a second, tiny implementation (second.py), start by start.
bats_require_minimum_version 1.5.0
load build

setup() {
	dir=$BATS_TEST_TMPDIR
	second=$BATS_TEST_DIRNAME/second.py
	# In seconds, and with times beyond NQS's limits of 1 and 4 hours.
	for scale in 1 50; do
		python3 "$second" trace 7 150 16 $scale >"$dir/$scale.swf"
	done
}

# same POLICY...: each start and end, on both traces.
same() {
	local policy scale
	for policy; do
		for scale in 1 50; do
			"$stint" sim -p "$policy" --swf "$dir/$scale.swf" -o "$dir/jobs.csv" >/dev/null
			cut -d, -f1,3,4 "$dir/jobs.csv" | tail -n +2 | sort -n >"$dir/ours"
			python3 "$second" "$policy" "$dir/$scale.swf" 16 | sort -n >"$dir/theirs"
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
