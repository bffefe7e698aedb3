#!/usr/bin/env bats
# stint compare: runs of the same jobs are compared.

bats_require_minimum_version 1.5.0
load build

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	head=id,submit,start,end,procs,size,run,resizes,moves,outcome
}

failed() { # STATUS WORDS COMMAND...
	local want=$1 words=$2
	shift 2
	run --separate-stderr "$stint" compare "$@"
	echo "$stderr"
	[ "$status" = "$want" ] && [ "${#stderr_lines[@]}" = 1 ] && [[ $stderr == *"$words"* ]]
}

@test "by hand: pairs, classes, differences" {
	# Job 3 ended in the first run alone; the second file has another order, and a
	# column more.
	cat >a.csv <<-END
		$head
		1,0,0,100,1,1,100,0,0,done
		2,0,100,1100,4,4,1000,0,0,done
		3,10,20,30,1,1,10,0,0,done
		4,20,,20,0,4,5000,0,0,cancelled
	END
	cat >b.csv <<-END
		id,x,submit,start,end,procs,size,run,outcome
		2,-,0,0,1000,4,4,1000,done
		1,-,0,30,130,1,1,100,done
		3,-,10,,,0,1,10,rejected
	END
	"$stint" compare a.csv b.csv --json -P 8 >rows
	python3 - <<-'END'
		import json
		rows = {(r["class"], r["metric"], r["run"]): r for r in map(json.loads, open("rows"))}
		assert {k[0] for k in rows} == {"all", "1", "3-4"}
		def near(x, y): assert abs(x - y) < 1e-9, (x, y)
		a, b = rows["all", "wait", "a.csv"], rows["all", "wait", "b.csv"]
		assert (a["jobs"], a["pairs"], a["difference"]) == (3, 0, None)
		near(a["mean"], 110 / 3)
		assert (b["jobs"], b["pairs"], b["difference_half95"]) == (2, 2, None)
		near(b["difference"], (30 - 100) / 2)
		near(rows["1", "wait", "b.csv"]["difference"], 30)
		near(rows["3-4", "response", "b.csv"]["difference"], -100)
		near(rows["3-4", "bounded_slowdown", "a.csv"]["mean"], 1.1)
		near(a["busy"], (100 + 4000 + 10) / 1100)
		near(b["utilization"], 4100 / 1000 / 8)
	END
	"$stint" compare a.csv b.csv --by run --csv >table.csv
	python3 - <<-'END'
		import csv
		rows = list(csv.DictReader(open("table.csv")))
		assert {r["class"] for r in rows} == {"all", "up to 1 min", "up to 10 min", "up to 1 h"}, rows
		assert [r["difference"] for r in rows if r["class"] == "up to 1 h" and r["metric"] == "wait"] == ["", "-100"]
	END
	"$stint" compare a.csv b.csv | grep -q '^3-4 processors'
	"$stint" compare a.csv a.csv --skip 1 --csv | grep -q '^all,wait,"a.csv",2,.*,2,0,'
}

# The mean of the differences is the difference of the means, where all are paired.
@test "two policies on one workload" {
	for p in fcfs easy; do "$stint" sim -p $p -w ismail -n 3000 -o $p.csv >/dev/null; done
	"$stint" compare fcfs.csv easy.csv --json --svg curve.svg --metric bounded_slowdown >rows
	python3 - <<-'END'
		import json
		rows = {(r["class"], r["metric"], r["run"]): r for r in map(json.loads, open("rows"))}
		for metric in "wait", "response", "bounded_slowdown":
		    f, e = rows["all", metric, "fcfs.csv"], rows["all", metric, "easy.csv"]
		    assert e["pairs"] == 3000
		    assert abs(e["difference"] - (e["mean"] - f["mean"])) < 1e-6
		    # The interval of paired differences is narrower than two intervals
		    # show.
		    assert 0 < e["difference_half95"] < f["half95"] + e["half95"]
	END
	python3 -c 'import xml.dom.minidom as m; m.parse("curve.svg")'
	grep -q 'easy.csv' curve.svg
}

# Half of the jobs wait 10 s, and half 1000: the curve leaps behind 50 %.
@test "the curve has what so many percent do not exceed" {
	for i in {1..4}; do echo "$i,0,10,20,1,1,10,0,0,done"; done >half
	for i in {5..8}; do echo "$i,0,1000,1010,1,1,10,0,0,done"; done >>half
	for f in a b; do { echo $head; cat half; } >$f.csv; done
	"$stint" compare a.csv b.csv --svg c.svg --metric wait >/dev/null
	python3 - <<-'END'
		import re
		lines = [p for p in re.findall(r' d="([^"]*)"', open("c.svg").read()) if p.count("L") > 100]
		assert len(lines) == 2
		for line in lines:
		    y = [float(point.split()[1]) for point in re.split("[ML]", line)[1:]]
		    assert len(y) == 200 and len(set(y)) == 2 and y.count(y[0]) == 100, y
	END
}

@test "what cannot be compared is said" {
	printf '%s\n' $head 1,0,0,10,1,1,10,0,0,done >a.csv
	failed 2 "two or more" a.csv
	failed 1 none.csv a.csv none.csv
	printf 'id,start\n1,2\n' >b.csv
	failed 1 "b.csv:1: no column 'submit'" a.csv b.csv
	printf '%s\n' $head 1,0,0,10,1,1,10,0,0,done 1,0,0,10,1 >b.csv
	failed 1 "b.csv:3: 5 fields" a.csv b.csv
	printf '%s\n' $head 1,0,x,10,1,1,10,0,0,done >b.csv
	failed 1 "b.csv:2: start is 'x'" a.csv b.csv
	printf '%s\n' $head 1,5,0,10,1,1,10,0,0,done >b.csv
	failed 1 "b.csv:2: start is '0'" a.csv b.csv
	printf '%s\n' $head 1,0,0,10,1,1,10,0,0,fine >b.csv
	failed 1 "b.csv:2: outcome is 'fine'" a.csv b.csv
	printf '%s\n' $head 1,0,0,20,1,2,10,0,0,done >b.csv
	failed 1 "not runs of the same jobs" a.csv b.csv
	printf '%s\n' $head 2,0,0,10,1,1,10,0,0,done >b.csv
	failed 1 "no job in common" a.csv b.csv
	printf '%s\n' $head 1,0,0,10,1,1,10,0,0,done 1,0,0,10,1,1,10,0,0,done >b.csv
	failed 1 "two jobs have the number 1" a.csv b.csv
	printf '%s\n' $head >b.csv
	failed 1 "no job in it" a.csv b.csv
	failed 1 "leaves nothing" a.csv a.csv --skip 1
	failed 2 "neither size nor run" a.csv a.csv --by age
	failed 1 "nowhere" a.csv a.csv --svg nowhere/x.svg
	failed 2 "--json or --csv, not both" a.csv a.csv --json --csv
	failed 2 "only one of the files" - a.csv - <a.csv
	printf '%s\n' $head 1,0,0,10,4,4,10,0,0,done >b.csv
	failed 1 "--procs: 3, and job 1 of b.csv had 4" b.csv b.csv -P 3
	printf '%s\n' $head 1,0,0,10,1,1,10,0,0,done >b.csv
	head -c 100 /dev/zero >>b.csv
	failed 1 "b.csv: this is not a text file" a.csv b.csv
	printf '\xfd7zXZ\0\0' >b.csv
	failed 1 "b.csv: packed by xz" a.csv b.csv
}

@test "jobs that are in one of the files alone are told" {
	printf '%s\n' $head 1,0,0,10,1,1,10,0,0,done 2,0,0,10,1,1,10,0,0,done >a.csv
	printf '%s\n' $head 2,0,5,15,1,1,10,0,0,done 3,0,0,10,1,1,10,0,0,done 4,0,0,10,1,1,10,0,0,done >b.csv
	run --separate-stderr -0 "$stint" compare a.csv b.csv
	[ "$stderr" = "stint compare: a.csv has 2 jobs and b.csv 3, 1 of them in both: only the differences are of the same jobs" ]
	run --separate-stderr -0 "$stint" compare a.csv a.csv
	[ -z "$stderr" ]
}

@test "a table that begins with the mark of UTF-8, as spreadsheets write it" {
	printf '%s\n' $head 1,0,0,10,1,1,10,0,0,done >a.csv
	(printf '\xef\xbb\xbf'; cat a.csv) >b.csv
	"$stint" compare a.csv b.csv --csv | grep -q '^all,wait,"b.csv",1,0,'
	gzip -k b.csv
	"$stint" compare a.csv b.csv.gz --csv | grep -q '^all,wait,"b.csv.gz",1,0,'
}

# The notebook runs in jupyter if that is there, else cell by cell; its last cell checks the
# others.
@test "the notebook computes what stint compare does" {
	export PATH=$STINT_BUILD/src/cmd:$PATH
	cp "$BATS_TEST_DIRNAME/../doc/notebook/two-policies.ipynb" .
	if command -v jupyter >/dev/null && jupyter nbconvert --version >/dev/null 2>&1; then
		jupyter nbconvert --to notebook --execute --stdout two-policies.ipynb >out
	else
		python3 -c 'if True:
			import json
			for cell in json.load(open("two-policies.ipynb"))["cells"]:
			    if cell["cell_type"] == "code":
			        exec("".join(cell["source"]), globals())
		' >out
	fi
	grep -q "stint compare agrees" out
}
