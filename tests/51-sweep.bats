#!/usr/bin/env bats
# stint sweep, from the outside.

bats_require_minimum_version 1.5.0
load build

setup() {
	dir=$BATS_TEST_TMPDIR/sweep
	mkdir "$dir"
	some=(-p ff -p deqp -w ismail:speedup=misp -L "0.3,0.7" -n 700 --max 6 --min 3)
}

# fails TEXT COMMAND...: exits nonzero with one line on stderr that has TEXT.
fails() {
	local text=$1
	shift
	run --separate-stderr "$@"
	[ "$status" -ne 0 ]
	[ "$status" -lt 126 ]
	[[ "${stderr_lines[0]}" == *"$text"* ]] || { echo "$stderr"; false; }
}

@test "the same bytes whatever the number of workers" {
	for j in 1 2 5; do
		"$stint" sweep "${some[@]}" -j $j --json -o "$dir/$j.json" --svg "$dir/$j.svg"
	done
	cmp "$dir/1.json" "$dir/2.json"
	cmp "$dir/1.json" "$dir/5.json"
	cmp "$dir/1.svg" "$dir/5.svg"
	python3 - "$dir/1.json" "$dir/1.svg" <<-'E'
		import json, sys, xml.dom.minidom
		cells = [json.loads(line) for line in open(sys.argv[1])]
		assert len(cells) == 4
		for c in cells:
		    assert c["seed"] == 1 and c["targets"]["response"] == 0.05
		    m = c["metrics"]["response"]
		    assert m["low"] <= m["mean"] <= m["high"]
		    assert 3 <= c["replications"] <= 6
		    if c["policy"] == "deqp":
		        assert abs(c["metrics"]["effectiveness"]["mean"] - 1) < 1e-9
		xml.dom.minidom.parse(sys.argv[2])
	E
}

@test "another seed gives other numbers" {
	"$stint" sweep "${some[@]}" --tsv -o "$dir/a"
	"$stint" sweep "${some[@]}" --tsv --seed 2 -o "$dir/b"
	run ! cmp -s <(cut -f1-9,11- "$dir/a") <(cut -f1-9,11- "$dir/b")
}

@test "killed at any instant, it goes on from its results" {
	"$stint" sweep "${some[@]}" --json -o "$dir/whole"
	for after in 0.01 0.03 0.06 0.1; do
		timeout -s KILL $after "$stint" sweep "${some[@]}" -r "$dir/runs" -o "$dir/cut" --json || true
	done
	"$stint" sweep "${some[@]}" -r "$dir/runs" --json -o "$dir/rest"
	cmp "$dir/whole" "$dir/rest"
	# All runs are there: nothing is appended any more.
	cp "$dir/runs" "$dir/before"
	"$stint" sweep "${some[@]}" -r "$dir/runs" --json -o "$dir/again"
	cmp "$dir/before" "$dir/runs"
	cmp "$dir/whole" "$dir/again"
}

@test "more policies use what a results file holds" {
	"$stint" sweep -p ff -L 0.5 -n 700 --min 3 --max 3 -r "$dir/runs" --csv >"$dir/one"
	"$stint" sweep -p ff -p fff -L 0.5 -n 700 --min 3 --max 3 -r "$dir/runs" --csv >"$dir/two"
	[ "$(grep -c '^[0-9]' "$dir/runs")" -eq 6 ]
	[ "$(sed -n 2p "$dir/one")" = "$(sed -n 2p "$dir/two")" ]
}

@test "paired: every policy has as many replications at a load" {
	"$stint" sweep "${some[@]}" --paired --precision 3 --max 20 --tsv >"$dir/t"
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ l = $c["load"]; r = $c["replications"]; if (l in n && n[l] != r) exit 1; n[l] = r }' "$dir/t"
}

@test "a trace with a speedup attached" {
	printf '; MaxProcs: 4\n' >"$dir/t.swf"
	for i in 1 2 3 4 5 6; do
		echo "$i $((i * 10)) -1 100 3 -1 -1 3 100 -1 1 7 1 -1 1 -1 -1 -1"
	done >>"$dir/t.swf"
	"$stint" sweep -p fcfs -p dfcfs --swf "$dir/t.swf" --speedup linear --min 2 --max 2 --tsv >"$dir/out"
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { rt[$1] = $c["response"] }
		END { exit !(rt["dfcfs"] < rt["fcfs"]) }' "$dir/out"
}

@test "under mpiexec the ranks share the work" {
	mpi=$(command -v mpiexec.mpich || command -v mpiexec.hydra) || skip "no MPICH here"
	"$stint" sweep "${some[@]}" --json -o "$dir/alone"
	timeout 300 "$mpi" -n 3 "$stint" sweep "${some[@]}" -r "$dir/runs" --json >"$dir/together"
	cmp "$dir/alone" "$dir/together"
	# Rank 0 has all results; nothing is left to compute.
	cp "$dir/runs" "$dir/before"
	"$stint" sweep "${some[@]}" -r "$dir/runs" -o "$dir/again" --json
	cmp "$dir/before" "$dir/runs"
	fails "need --results" timeout 300 "$mpi" -n 2 "$stint" sweep -p ff
}

@test "what is wrong is said in a line" {
	fails "name a --policy" "$stint" sweep
	fails "no policy 'nope'" "$stint" sweep -p nope
	fails "ffmax" "$stint" sweep -p fff:ffmax=0
	fails "nowhere" "$stint" sweep -p ff -w nowhere
	fails "missing.swf" "$stint" sweep -p ff --swf "$dir/missing.swf"
	fails "--load" "$stint" sweep -p ff -L 0.1,x
	fails "--load" "$stint" sweep -p ff -L 0.9:0.1:0.1
	fails "--load" "$stint" sweep -p ff -L -1
	fails "--max" "$stint" sweep -p ff --min 9 --max 3
	fails "--precision" "$stint" sweep -p ff --precision nan
	fails "--metric" "$stint" sweep -p ff --metric joy
	echo "precious" >"$dir/mine"
	fails "another file" "$stint" sweep -p ff -r "$dir/mine" -n 700
	[ "$(cat "$dir/mine")" = precious ]
	fails "$dir/no/out" "$stint" sweep -p ff -n 700 -o "$dir/no/out"
}

@test "a full disk is an error, and leaves no file" {
	fails "No space" bash -c "'$stint' sweep -p ff -n 600 --min 2 --max 2 --json >/dev/full"
	# No file may grow beyond 8 KiB: the runs that fit are kept and used.
	"$stint" sweep "${some[@]}" --json -o "$dir/whole"
	run bash -c "trap '' XFSZ; ulimit -f 8; exec '$stint' sweep ${some[*]} --max 40 --precision 0.1 -r '$dir/runs' -o '$dir/cut'"
	[ "$status" -eq 1 ]
	[[ "$output" == *"'$dir/runs'"* ]]
	[ ! -e "$dir/cut" ]
	[ "$(ls "$dir")" = "$(printf 'runs\nwhole')" ]
	"$stint" sweep "${some[@]}" -r "$dir/runs" --json -o "$dir/rest"
	cmp "$dir/whole" "$dir/rest"
}
