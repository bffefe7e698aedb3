#!/usr/bin/env bats
# What each output of the simulator's commands says about how it was made.

bats_require_minimum_version 1.5.0
load build

setup() {
	dir=$BATS_TEST_TMPDIR
}

# Whoever finds such a file can make it again, as it has seed and version.
@test "every output tells the seed and the version" {
	cd "$dir"
	version=$("$stint" --version | grep -o '[0-9][0-9.]*')
	"$stint" sim -p easy -w poisson -P 16 -L 0.9 -n 50 --seed 7 -o a.csv --out-swf a.swf \
		--series a.tsv --plot a.svg --gantt g.svg >a.txt
	"$stint" compare a.csv a.csv --svg c.svg >c.txt
	"$stint" compare a.csv a.csv --csv >c.csv
	"$stint" compare a.csv a.csv --json >c.json
	"$stint" trace generate -w poisson -P 16 -n 50 --seed 7 -o t.swf
	"$stint" sweep -p easy -w poisson -L 0.5 -n 50 --min 2 --max 3 --seed 7 --svg s.svg >s.txt
	"$stint" sweep -p easy -w poisson -L 0.5 -n 50 --min 2 --max 3 --seed 7 --csv >s.csv
	"$stint" size -w lanl:size=4,longest=60 -L 0.05 --runs 2 --max 40 --seed 7 --slowdown 9 --delays-a-day 30 >z.txt
	for f in a.txt a.swf t.swf s.txt z.txt; do
		grep -qE "seed 7(,|;|\$)" $f && grep -qF "stint $version" $f || { echo $f; false; }
	done
	for f in a.svg g.svg s.svg c.svg; do
		grep -qE "^<desc>stint $version, .*seed 7[^0-9].*</desc>" <(sed 's,</desc>, &,' $f) || { echo $f; false; }
		python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' $f
	done
	grep -q ', seed 7$' c.txt
	grep -qx "stint $version" c.txt
	grep -q '"seed":7,' c.json
	grep -q "\"version\":\"$version\"" c.json
	for f in a.csv c.csv s.csv a.tsv; do
		python3 - $f "$version" <<-'END'
			import csv, sys
			rows = list(csv.DictReader(open(sys.argv[1]), delimiter="\t" if "tsv" in sys.argv[1] else ","))
			assert rows and {(r["seed"], r["version"]) for r in rows} == {("7", sys.argv[2])}, rows[:1]
		END
	done
}

# What no random number is in has no seed: the version alone.
@test "what is reckoned without random numbers tells the version" {
	cd "$dir"
	version=$("$stint" --version | grep -o '[0-9][0-9.]*')
	echo '1 0 -1 100 3 -1 -1 3 100 -1 1 1 1 1 1 1 -1 -1' >t.swf
	printf 'time,host,what,value\n0,h1,keyboard,busy\n9,h1,keyboard,idle\n' >a.csv
	printf '%s\n' 'stint-record 2' 'begin 1000000 1 1 fcfs' \
		'define 0 name=h1 speed=1 cores=2 slots=16 memory=100 free=50 load=0 users=0 owner=0 idle=0 up=1 drain=0' \
		>head.rec
	{ cat head.rec; echo 'pass 1000002 0'; } >same.rec
	{ cat head.rec; printf '%s\n' 'pass 1000002 1' 'plan wake at 5: why'; } >other.rec
	commands=("trace stats t.swf" "trace stats --activity a.csv" mapstates policies "policies easy"
		"policies --test fcfs" "sim --replay same.rec" "sim --replay other.rec" "reproduce schnor:S-4b --quick")
	for c in "${commands[@]}"; do
		# shellcheck disable=SC2086
		{ "$stint" $c || [ "$c" = "sim --replay other.rec" ]; } | tail -n 1 | grep -qE "(^| |\()stint ${version//./\\.}(\)|; shortened runs.*)?\$" || { echo "$c"; false; }
		# shellcheck disable=SC2086
		{ "$stint" $c --json || [ "$c" = "sim --replay other.rec" ]; } | grep -qF "\"$version\"" || { echo "$c --json"; false; }
	done
	"$stint" mapstates -f dot | grep -qF "stint $version"
}

@test "a picture is called .svg" {
	echo '1 0 -1 100 3 -1 -1 3 100 -1 1 1 1 1 1 1 -1 -1' >"$dir/t.swf"
	for o in --plot --gantt; do
		run --separate-stderr "$stint" sim -p fcfs --swf "$dir/t.swf" $o "$dir/x.png"
		[ "$status" -eq 2 ]
		[[ "$stderr" == *"$o: "*"call it .svg"* ]]
		[ "${#stderr_lines[@]}" = 1 ]
	done
	"$stint" sim -p fcfs --swf "$dir/t.swf" --plot - --gantt "$dir/up.SVG" | grep -q '^<desc>'
	run -2 --separate-stderr "$stint" compare a b --svg c.pdf
	run -2 --separate-stderr "$stint" sweep -p fcfs -w poisson --svg c.eps
}
