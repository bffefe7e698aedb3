#!/usr/bin/env bats
# stint trace: what traces are like, and traces from generators.

bats_require_minimum_version 1.5.0
load build

setup() {
	dir=$BATS_TEST_TMPDIR
}

@test "stats of jobs, by hand" {
	cat >"$dir/t.swf" <<-'END'
		; MaxProcs: 10
		1 0 -1 100 1 -1 -1 1 200 -1 1 -1 -1 -1 -1 -1 -1 -1
		2 100 -1 300 4 -1 -1 4 300 -1 1 -1 -1 -1 -1 -1 -1 -1
		3 1000 -1 6000 2 -1 -1 2 12000 -1 1 -1 -1 -1 -1 -1 -1 -1
	END
	"$stint" trace stats -j "$dir/t.swf" >"$dir/json"
	python3 - "$dir/json" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		assert d.pop("version")
		work = 100 + 1200 + 12000
		want = dict(jobs=3, span_s=1000, load=work / 10000, gap_s=500, run_median_s=300, size=7 / 3,
		            serial=1 / 3, short=1 / 3, long_work=12000 / work, overestimate=5 / 3, run_s=6400 / 3)
		for k, v in want.items():
		    assert abs(d[k] - v) < 1e-6, (k, d[k], v)
	END
	"$stint" trace stats "$dir/t.swf" >"$dir/text"
	grep -qx '3 jobs submitted in 1000 s, offered load 1.3300' "$dir/text"
	grep -q '^run time  *2133.33 s, median 300.00 s,' "$dir/text"
	grep -qx 'processors  *2.33, of one 33.3 % of jobs' "$dir/text"
	grep -qx 'up to 3 min  *33.3 % of jobs' "$dir/text"
	grep -qx 'from 90 min on  *90.2 % of the work' "$dir/text"
	grep -qx 'estimate / run time  *1.67' "$dir/text"
}

# A job of just 3 minutes is a short one, one of just 90 a long one; and the median of two.
@test "stats of jobs at the edges" {
	cat >"$dir/t.swf" <<-'END'
		; MaxProcs: 10
		1 0 -1 180 1 -1 -1 1 180 -1 1 -1 -1 -1 -1 -1 -1 -1
		2 100 -1 5400 2 -1 -1 2 5400 -1 1 -1 -1 -1 -1 -1 -1 -1
	END
	"$stint" trace stats -j "$dir/t.swf" >"$dir/json"
	python3 - "$dir/json" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		want = dict(jobs=2, short=1 / 2, long_work=10800 / 10980, run_median_s=2790, overestimate=1,
		            gap_cv=0, run_cv=2610 * 2**.5 / 2790)
		for k, v in want.items():
		    assert abs(d[k] - v) < 1e-6, (k, d[k], v)
	END
}

@test "stats say what is left out, know jobs without an estimate, and read extended formats by an option" {
	cat >"$dir/t.swf" <<-'END'
		; MaxProcs: 10
		1 0 -1 100 1 -1 -1 1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1
		2 100 -1 300 4 -1 -1 4 0 -1 1 -1 -1 -1 -1 -1 -1 -1
		3 200 -1 0 4 -1 -1 4 0 -1 1 -1 -1 -1 -1 -1 -1 -1
		4 300 -1 50 40 -1 -1 40 -1 -1 1 -1 -1 -1 -1 -1 -1 -1
	END
	"$stint" trace stats "$dir/t.swf" >"$dir/text" 2>"$dir/err"
	grep -q '^2 jobs submitted in 100 s' "$dir/text"
	grep -qx 'estimate / run time  no job has an estimate' "$dir/text"
	grep -q 'left out 2 jobs (1 without a run time, 0 without a size, 1 larger than 10 processors' "$dir/err"
	echo "5 400 -1 50 1 -1 -1 1 150 -1 1 -1 -1 -1 -1 -1 -1 -1 7 7 7" >>"$dir/t.swf"
	run ! "$stint" trace stats "$dir/t.swf"
	[[ $output == *"--extra-columns=ignore"* ]]
	"$stint" trace stats --extra-columns=ignore -j "$dir/t.swf" 2>/dev/null >"$dir/json"
	python3 -c 'import json, sys; d = json.load(sys.stdin); assert (d["jobs"], d["overestimate"]) == (3, 3), d' <"$dir/json"
	run -2 "$stint" trace stats --extra-columns=ignore --activity "$dir/t.swf"
	run -2 "$stint" trace stats "$dir/t.swf" "$dir/t.swf"
	[[ $output == *"one FILE at a time"* ]]
	echo "time,host,what,value" >"$dir/none.csv"
	run -1 "$stint" trace stats --activity "$dir/none.csv"
	[[ $output == "stint trace: $dir/none.csv: no host in it" ]]
}

@test "stats of owners, by hand" {
	cat >"$dir/a.csv" <<-'END'
		time,host,what,value
		0,h1,load,0.1
		0,h2,load,1
		100,h1,keyboard,busy
		200,h1,keyboard,idle
		250,h2,load,0
		1000,h1,load,0.5
		1000,h2,load,0.5
	END
	"$stint" trace stats --activity -j "$dir/a.csv" >"$dir/json"
	python3 - "$dir/json" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		# h1 is idle 0-100 and 200-1000, h2 250-1000.
		want = dict(hosts=2, span_s=1000, idle=1650 / 2000, idle_for_1_min=(40 + 740 + 690) / 2000,
		            idle_for_15_min=0, idle_periods=3, idle_median_s=750,
		            idle_brief=1 / 3, idle_time_in_long=1550 / 1650)
		for k, v in want.items():
		    assert abs(d[k] - v) < 1e-6, (k, d[k], v)
	END
}

# Edges: a period of 3 minutes is a short one, one of 10 a long one; and what is idle at the end.
@test "stats of owners who are idle to the end" {
	cat >"$dir/a.csv" <<-'END'
		time,host,what,value
		0,h2,load,1
		180,h1,keyboard,busy
		200,h1,keyboard,idle
		400,h2,load,0
		1000,h2,load,0.1
	END
	"$stint" trace stats --activity -j "$dir/a.csv" >"$dir/json"
	python3 - "$dir/json" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		# h1 is idle 0-180 and 200-1000, h2 400-1000.
		want = dict(idle=1580 / 2000, idle_periods=3, idle_median_s=600, idle_brief=1 / 3,
		            idle_time_in_long=1400 / 1580)
		for k, v in want.items():
		    assert abs(d[k] - v) < 1e-6, (k, d[k], v)
	END
}

# The law of stint size as a script, which the simulator takes.
@test "a generator's owners" {
	"$stint" trace generate --activity -P 60 --days 5 -o "$dir/a.csv"
	"$stint" trace generate --activity -P 60 --days 5 -o "$dir/b.csv"
	cmp "$dir/a.csv" "$dir/b.csv"
	"$stint" trace generate --activity -P 60 --days 5 --seed 2 -o "$dir/b.csv"
	run ! cmp -s "$dir/a.csv" "$dir/b.csv"
	tail -1 "$dir/a.csv" | grep -q '^# stint .* seed 1, replication 0$'
	# As Arpaci 1995 has it: about half of the periods up to 3 minutes, fewer by night, and 95 %
	# of the time in those of 10 on.
	"$stint" trace stats --activity -j "$dir/a.csv" >"$dir/json"
	python3 - "$dir/json" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		assert d["hosts"] == 60 and 4.9 * 86400 < d["span_s"] <= 5 * 86400, d
		assert 0.4 < d["idle_brief"] < 0.6 and d["idle_time_in_long"] > 0.9, d
	END
	# Whose idle periods are ten times as long are idle for more of the time.
	"$stint" trace generate --activity -P 20 --days 2 --owners idle=1800 -o "$dir/b.csv"
	"$stint" trace stats --activity -j "$dir/b.csv" >"$dir/json2"
	python3 - "$dir/json" "$dir/json2" <<-'END'
		import json, sys
		a, b = (json.load(open(f)) for f in sys.argv[1:])
		assert b["idle"] > a["idle"] + 0.05, (a, b)
	END
	"$stint" sim -p stint -w poisson:max-size=4 -L 0.3 -n 2000 --activity "$dir/a.csv" --json |
		python3 -c 'import json, sys; d = json.load(sys.stdin); assert d["processors"] == 60 and d["owners"]["returns"] > 100'
	# Each owner's own figures, a line a host; together they are those of all.
	"$stint" sim -p stint -w poisson:max-size=4 -L 0.3 -n 2000 --activity "$dir/a.csv" --rank-memory 8M \
		--seed 5 --out-owners "$dir/o.csv" --json >"$dir/sim"
	python3 - "$dir/sim" "$dir/o.csv" "$("$stint" --version | grep -o '[0-9][0-9.]*')" <<-'END'
		import csv, json, sys
		all, rows = json.load(open(sys.argv[1]))["owners"], list(csv.DictReader(open(sys.argv[2])))
		assert {r["host"] for r in rows} == {f"h{i}" for i in range(1, 61)} and len(rows) == 60
		assert {(r["seed"], r["version"]) for r in rows} == {("5", sys.argv[3])}
		assert set(all) == set(rows[0]) - {"host", "seed", "version"}
		for k in all:
		    of = max if k.endswith("most") else sum
		    assert abs(of(float(r[k]) for r in rows) - all[k]) <= 1e-6 * (60 + all[k]), k
		assert all["refill"] > 0 and all["disturbed"] > 0
		assert len({r["returns"] for r in rows}) > 10
	END
	run -2 --separate-stderr "$stint" sim -p stint -w poisson -L 0.3 -n 5 --out-owners "$dir/x"
	[[ "$stderr" == *"--out-owners is for --activity"* ]]
	for wrong in "-P 60" "-o $dir/c" "-P 60 -o $dir/c -w lanl" "-P 60 -o $dir/c --owners=idle=x" "-P 99999 -o $dir/c"; do
		run "$stint" trace generate --activity $wrong
		[ "$status" -eq 2 ]
	done
	run "$stint" trace stats --days 3 "$dir/a.csv"
	[ "$status" -eq 2 ]
	[ ! -e "$dir/c" ]
}

# Half of the jobs from 9 to 17 h, the others alike over the other sixteen hours.
@test "a partition's jobs are submitted by day and by night" {
	"$stint" trace generate -w lanl -n 4000 --seed 3 -o "$dir/l.swf"
	python3 - "$dir/l.swf" <<-'END'
		import sys
		hours = [float(l.split()[1]) / 3600 for l in open(sys.argv[1]) if l[0] != ";"]
		for a, b, share in (0, 9, 9 / 32), (9, 17, 1 / 2), (17, 24, 7 / 32):
		    got = sum(a <= h < b for h in hours) / len(hours)
		    assert abs(got - share) < 0.03, (a, b, got, share)
	END
}

# The last job is cut so that they fill the load, not more.
@test "a partition's jobs have just the work that was asked for" {
	for seed in 1 2 3; do
		"$stint" trace generate -w lanl -L 0.6 --seed $seed -o "$dir/l.swf"
		awk '$1 !~ /;/ { sum += $4 * $5 } END { print sum; exit !(sum > 0.599 * 86400 * 32 && sum < 0.601 * 86400 * 32) }' "$dir/l.swf"
	done
}

# Formula (1) as printed is a lognormal density with mu + sigma^2 in the place of mu: half of the
# jobs within exp(3.75) s, or exp(1.5) s where it is a lognormal density.
@test "submissions of memory's jobs, by both readings of their rate" {
	for want in printed:42.5 lognormal:4.48; do
		"$stint" trace generate -w "chen:trace=5,rate=${want%:*}" -o "$dir/c.swf"
		python3 - "$dir/c.swf" "${want#*:}" <<-'END'
			import statistics, sys
			at = [float(l.split()[1]) for l in open(sys.argv[1]) if l[0] != ";"]
			assert len(at) == 777 and max(at) < 3582
			assert 0.75 < statistics.median(at) / float(sys.argv[2]) < 1.3, statistics.median(at)
		END
	done
}

@test "a generated trace is simulated as its generator is" {
	"$stint" trace generate -w poisson:max-size=8 -L 0.8 -n 500 --seed 7 -o "$dir/p.swf"
	"$stint" sim -p easy -w poisson:max-size=8 -L 0.8 -n 500 --seed 7 -o "$dir/a" >/dev/null
	"$stint" sim -p easy --swf "$dir/p.swf" --seed 7 -o "$dir/b" >/dev/null
	cmp "$dir/a" "$dir/b"
}

@test "what does not go together is said" {
	run --separate-stderr "$stint" trace
	[ "$status" -eq 2 ]
	[ -n "$stderr" ]
	run --separate-stderr "$stint" trace stats
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"which FILE"* ]]
	run --separate-stderr "$stint" trace generate -w poisson
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"--output"* ]]
	run --separate-stderr "$stint" trace stats "$dir/none"
	[ "$status" -eq 1 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	run --separate-stderr "$stint" trace generate -w nobody -o "$dir/x"
	[ "$status" -eq 2 ]
	[ ! -e "$dir/x" ]
}

# Schnor 1997, Table 5.1 and Figure 5.2: by day there are more users who compute; sessions stay.
@test "generate --activity knows the people of the institute" {
	"$stint" trace generate --activity --owners institute --days 5 -o "$dir/a.csv"
	python3 - "$dir/a.csv" <<-'END'
		import csv, sys
		rows = [r for r in csv.DictReader(open(sys.argv[1])) if not r["time"].startswith("#")]
		assert len({r["host"] for r in rows}) == 28 and {"achill", "venus"} <= {r["host"] for r in rows}
		def computing(hours):
		    now, seen, at = {}, [], 0
		    for t in (d * 86400 + h * 3600 for d in range(5) for h in hours):
		        while at < len(rows) and float(rows[at]["time"]) <= t:
		            if rows[at]["what"] == "load":
		                now[rows[at]["host"]] = float(rows[at]["value"])
		            at += 1
		        seen.append(sum(now.values()))
		    return sum(seen) / len(seen)
		assert computing(range(12, 18)) > 2 * computing(range(1, 7)), (computing(range(12, 18)), computing(range(1, 7)))
	END
	"$stint" trace stats --activity "$dir/a.csv" | grep -q '^28 hosts'
	tail -n 1 "$dir/a.csv" | grep -q 'owners institute, seed 1'
	run -2 "$stint" trace generate --activity --owners institute -P 5 -o "$dir/b.csv"
	[[ $output == *"--owners institute: give --output FILE, and no --procs" ]]
}
