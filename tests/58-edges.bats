#!/usr/bin/env bats
# What the simulator is asked for at the edges: late times, loads, sizes and files that hold nothing.

bats_require_minimum_version 1.5.0
load build

setup() {
	dir=$BATS_TEST_TMPDIR
	printf '; MaxProcs: 4\n' >"$dir/t.swf"
	printf '%s\n' \
		'1 0 -1 100 3 -1 -1 3 100 -1 1 7 1 -1 1 -1 -1 -1' \
		'2 10 -1 50 4 -1 -1 4 60 -1 1 7 1 -1 1 -1 -1 -1' >>"$dir/t.swf"
}

# fails WORDS COMMAND...: it fails, and says so in one line
fails() {
	local text=$1
	shift
	run --separate-stderr "$@"
	[ "$status" -ne 0 ]
	[ "$status" -lt 126 ]
	[ "${#stderr_lines[@]}" -eq 1 ] || { echo "$stderr"; false; }
	[[ "$stderr" == *"$text"* ]] || { echo "$stderr"; false; }
}

@test "late times are told to the second, and bars by what their job has" {
	printf '; MaxProcs: 3\n' >"$dir/t.swf"
	printf '%s -1 -1 -1 -1 -1 -1 -1 -1 -1\n' '1 0 -1 10 1 -1 -1 1 -1' '2 8640760 -1 10 1 -1 -1 1 -1' \
		'3 8640760 -1 100 1 -1 -1 1 -1' '4 8640760 -1 10 1 -1 -1 1 -1' '5 8640761 -1 30 2 -1 -1 2 -1' \
		>>"$dir/t.swf"
	"$stint" sim -p fcfs --swf "$dir/t.swf" --gantt "$dir/g.svg" --series "$dir/s.tsv" --window 8640758: >/dev/null
	grep -o 'job [35],.* s<' "$dir/g.svg" | sort -u | tr '\n' '|' >"$dir/bars"
	echo >>"$dir/bars"
	grep -qxF 'job 3, 1 processor, 8640760 s to 8640860 s<|job 5, 1 of 2 processors, 8640770 s to 8640800 s<|' "$dir/bars"
	sed -n 2p "$dir/s.tsv" | grep -q '^8640758.5	'
}

@test "loads that no time can hold, halves of processors, links that carry nothing, scripts of no host" {
	fails "'1e-300' is not a load" "$stint" sim -p fcfs -w ismail -n 600 -L 1e-300
	fails "'1e-300' is not" "$stint" sim -p fcfs --swf "$dir/t.swf" -L 1e-300
	fails "'1e-7' is not L," "$stint" sweep -p fcfs -w ismail -L 1e-7
	fails "arrives in more than 70000 years" "$stint" sim -p fcfs -w poisson:mean=1000000000 -n 5 -L 1e-6
	sed 's/ 3 -1 -1 3 / 2.5 -1 -1 -1 /' "$dir/t.swf" >"$dir/half.swf"
	fails "half.swf:2: field 5 (processors) is not a whole number" "$stint" sim -p fcfs --swf "$dir/half.swf"
	sed 's/ 3 -1 -1 3 / 3.0 -1 -1 3.0 /' "$dir/t.swf" >"$dir/whole.swf"
	"$stint" sim -p fcfs --swf "$dir/whole.swf" >/dev/null
	fails "--link: over one of no bytes" "$stint" sim -p fcfs --swf "$dir/t.swf" --link 0
	echo time,host,what,value >"$dir/none.csv"
	fails "none.csv: no host in it" "$stint" sim -p fcfs --swf "$dir/t.swf" --activity "$dir/none.csv"
}

@test "exact estimates are those of a generator's jobs as well" {
	w="poisson:overestimate=20 -n 500 -L 0.9"
	# shellcheck disable=SC2086 # words
	{
		"$stint" trace generate -w $w -o "$dir/made.swf"
		"$stint" sim -p sjf -w $w -o "$dir/estimated.csv" >/dev/null
		"$stint" sim -p sjf -w $w --exact-estimates -o "$dir/exact.csv" >/dev/null
	}
	"$stint" sim -p sjf --swf "$dir/made.swf" --exact-estimates -o "$dir/trace.csv" >/dev/null
	cmp "$dir/exact.csv" "$dir/trace.csv"
	run ! cmp -s "$dir/estimated.csv" "$dir/exact.csv"
}

@test "where hosts stay down the policy is not blamed" {
	printf '1 down 0\n1 down 1\n' >"$dir/events"
	run --separate-stderr "$stint" sim -p fcfs -w ismail -n 600 -L 0.5 --events "$dir/events"
	echo "$stderr"
	[ "$status" = 1 ]
	[[ $stderr == *"2 of 64 hosts stay down"*"waiting for ever"* ]]
	run ! grep -q leaves <<<"$stderr"
}

@test "standard output holds one file, and nothing beside it" {
	for o in --series --plot --gantt --out --out-swf; do
		"$stint" sim -p fcfs --swf "$dir/t.swf" $o - >"$dir/out"
		run ! grep -q 'ended on' "$dir/out"
		[ -s "$dir/out" ]
	done
	fails "only one of the files" "$stint" sim -p fcfs --swf "$dir/t.swf" -o - --series -
	fails "are for --swf" "$stint" sim -p fcfs -w ismail -n 600 --drop-cancelled
	fails "are for --swf" "$stint" sim -p fcfs -w ismail -n 600 --extra-columns=ignore
	fails "is for traces (--swf)" "$stint" sweep -p fcfs -w ismail -n 600 --extra-columns=ignore
}
