#!/usr/bin/env bats
# Machines described by files: stint-platform(5).

bats_require_minimum_version 1.5.0
load build

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	cat >lab.csv <<-'END'
		# speeds in GHz
		name, count, cores, speed, memory
		big,1,2,3,64G
		lab,4,1,1.5,8G
	END
}

failed() { # WORDS LINE...
	local words=$1 c
	shift
	printf '%s\n' "$@" >wrong.csv
	for c in sim sweep mapstates; do
		case $c in mapstates) set -- ;; *) set -- -p spread -w ismail ;; esac
		run --separate-stderr "$stint" $c "$@" -H ./wrong.csv
		echo "$stderr"
		[ "$status" -ge 1 ]
		[ "${#stderr_lines[@]}" = 1 ]
		[[ $stderr == *"$words"* ]]
	done
}

@test "a file is the same machine as its short form" {
	short=1x1x2x64G,4x2x1x8G
	for h in lab.csv $short; do
		"$stint" sim -p spread -w ismail:sizes=E -n 800 -P 5 -H $h -o - >"out-$h"
		"$stint" sweep -p spread -w ismail:sizes=E -n 800 -P 5 --max 5 --csv -H $h >"sweep-$h"
		"$stint" mapstates -H "${h/$short/1x1,4x2}" >"states-$h"
	done
	cmp out-lab.csv "out-$short"
	cmp states-lab.csv "states-$short"
	# A results file notes what the platform file said, so its runs are used for no
	# other machine.
	"$stint" sweep -p spread -w ismail:sizes=E -n 800 -P 5 --max 5 -H lab.csv --results r.tsv >/dev/null
	grep -q '1x1x2x68719476736,4x2x1x8589934592' r.tsv
	run ! grep -q lab.csv r.tsv
	cut -d, -f5- sweep-lab.csv >a
	cut -d, -f5- "sweep-$short" >b
	[ "$(wc -l <a)" = "$(wc -l <b)" ]
	# Columns in another order, count, cores and memory left out.
	printf 'speed,name\n2,a\n1,b\n' >two.csv
	"$stint" sim -p spread -w ismail:sizes=E -n 600 -P 2 -H two.csv -o a >/dev/null
	"$stint" sim -p spread -w ismail:sizes=E -n 600 -P 2 -H 1x1,1x2 -o b >/dev/null
	cmp a b
}

@test "hosts are called as the file says, and numbered where there are several" {
	printf '%s\n' time,host,what,value 0,big,users,1 0,lab1,users,1 0,lab4,users,1 >a.csv
	run -0 "$stint" sim -p fcfs -w ismail:sizes=E -n 10 -P 5 -H lab.csv --activity a.csv
	for name in big1 lab lab5; do
		printf '%s\n' time,host,what,value 0,$name,users,1 >a.csv
		run --separate-stderr "$stint" sim -p fcfs -w ismail:sizes=E -n 10 -P 5 -H lab.csv --activity a.csv
		[ "$status" -ne 0 ]
		[[ $stderr == *"'$name'"* ]]
	done
}

@test "what is wrong in it is told by its line" {
	head=name,count,cores,speed,memory
	failed "wrong.csv:2: count is '0'" $head a,0,1,1,
	failed "wrong.csv:2: name is 'a b'" $head "a b,1,1,1,"
	failed "wrong.csv:2: name is ''" $head ,1,1,1,
	failed "wrong.csv:3: cores is 'x'" $head a,1,1,1, b,1,x,1,
	failed "wrong.csv:2: speed is '-1'" $head a,1,1,-1,
	failed "wrong.csv:2: speed is 'nan'" $head a,1,1,nan,
	failed "wrong.csv:2: memory is 'much'" $head a,1,1,1,much
	failed "wrong.csv:2: memory is '0'" $head a,1,1,1,0
	failed "wrong.csv:2: fewer fields" $head a,1
	failed "wrong.csv:2: more fields" $head a,1,1,1,1G,x
	failed "wrong.csv:1: column 'kind'" name,kind
	failed "wrong.csv:1: 'name' is there twice" name,speed,name
	failed "name and speed must be among them" name,count
	failed "no host in it" $head
	failed "more than 1000000 hosts" $head a,1000000,1,1, b,1,1,1,
	failed "b is more than a thousand times slower" $head a,1,1,2000, b,1,1,1,
	run --separate-stderr "$stint" sim -p spread -w ismail -H none.csv
	[ "$status" = 1 ]
	[[ $stderr == *"none.csv"* ]]
}
