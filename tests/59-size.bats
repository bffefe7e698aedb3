#!/usr/bin/env bats
# stint size: how many hosts with owners a workload needs.

bats_require_minimum_version 1.5.0
load build

setup() {
	dir=$BATS_TEST_TMPDIR
	small=(-w 'lanl:size=4,longest=60' -L 0.05 --runs 2 --max 40)
}

# With owners who never come, as many hosts are needed as the dedicated machine has, and all
# figures are equal to the last bit.
@test "where nobody ever comes the answer is the dedicated machine" {
	printf 'time,host,what,value\n0,h1,keyboard,busy\n1,h1,keyboard,idle\n' >"$dir/a.csv"
	"$stint" size "${small[@]}" --slowdown 1 --quiet 0 --activity "$dir/a.csv" --json >"$dir/json"
	python3 - "$dir/json" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		assert (d["answer"], d["low"], d["high"], d["dedicated"]) == (4, 4, 4, 4), d
		assert d["tried"][0]["slowdown"] == 1 and d["tried"][0]["moves"] == 0, d
	END
}

@test "the answer is the least that is enough, and the same again" {
	"$stint" size "${small[@]}" --slowdown 1.5 --delays-a-day 30 --json >"$dir/json"
	"$stint" size "${small[@]}" --slowdown 1.5 --delays-a-day 30 --json -j 1 >"$dir/again"
	cmp "$dir/json" "$dir/again"
	python3 - "$dir/json" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		at = {p["hosts"]: p for p in d["tried"]}
		assert 4 <= d["low"] <= d["answer"] <= d["high"] <= 40, d
		assert at[d["answer"]]["slowdown"] <= 1.5 < at[d["answer"] - 1]["slowdown"], d
		assert at[d["high"]]["interval"][1] <= 1.5 and at[d["low"]]["interval"][0] <= 1.5, d
		for n, edge in ("low", 0), ("high", 1):
		    assert d[n] == 4 or at[d[n] - 1]["interval"][edge] > 1.5, (n, d)
		assert d["low"] < d["answer"] < d["high"], d
		assert all(p["delays_most"] <= 30 for p in d["tried"] if p["hosts"] > 5), d
	END
	"$stint" size "${small[@]}" --slowdown 1.5 --delays-a-day 30 | head -1 |
		grep -q 'hosts (95 %: .* dedicated processors'
}

@test "what cannot be is said" {
	run --separate-stderr "$stint" size "${small[@]}" --slowdown 1 --delays-a-day 1 --max 6
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"6 hosts"* ]]
	# Two runs of a day are too few: the interval contains the value that is asked
	# about.
	run --separate-stderr "$stint" size "${small[@]}" --slowdown 1.3 --delays-a-day 30 --max 8
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"2 runs do not tell whether 8 hosts are enough"*"--runs"* ]] || { echo "$stderr"; false; }
	run --separate-stderr "$stint" size "${small[@]}" --max 3
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"4 processors"* ]]
	run --separate-stderr "$stint" size --owners idle=1 --activity x
	[ "$status" -eq 2 ]
	run --separate-stderr "$stint" size --confidence 2
	[ "$status" -eq 2 ]
	run --separate-stderr "$stint" size --by mouse
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"neither cpu nor keyboard"* ]]
	run --separate-stderr "$stint" size --activity "$dir/none"
	[ "$status" -eq 1 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
}
