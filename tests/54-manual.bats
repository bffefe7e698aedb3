#!/usr/bin/env bats
# The manual and the commands say the same.

bats_require_minimum_version 1.5.0
load build

setup() {
	man=$BATS_TEST_DIRNAME/../man
	dir=$BATS_TEST_TMPDIR
}

commands() {
	"$stint" help | sed -n 's/^  \([a-z]*\) .*/\1/p'
}

page() {
	ls "$man/stint-$1".[18]
}

@test "every command has a page that mandoc finds nothing wrong with, and the other way round" {
	for c in $(commands); do
		mandoc -T lint -W warning "$(page "$c")"
		grep -q "^\.It Xr stint-$c [18]\$" "$man/stint.1" || { echo "stint.1 misses $c"; false; }
	done
	for p in "$man"/stint-*.[18]; do
		c=${p##*/stint-}
		commands | grep -qx "${c%.[18]}" || { echo "no command for $p"; false; }
	done
	for p in "$man"/stint*.5; do
		p=${p##*/}
		grep -q "^\.It Xr ${p%.5} 5\$" "$man/stint.1" || { echo "stint.1 misses $p"; false; }
	done
}

# Long options are compared by name, short ones by their letter.
@test "a page has the options that --help shows, and no others" {
	for c in $(commands); do
		"$stint" "$c" --help | sed -n '/^Usage:/,$!d; s/^ \{2,6\}\(\(-., \)\?--[a-z-]*\).*/\1/p' |
			grep -v -e '--help' -e '--usage' | sed 's/, / /' | sort >"$dir/help"
		sed -n 's/^\.It Fl \(.\) , Fl \(-[a-z-]*\).*/-\1 -\2/p; s/^\.It Fl \(-[a-z-]*\).*/-\1/p' \
			"$(page "$c")" | sort >"$dir/page"
		diff -u "$dir/help" "$dir/page" || { echo "in $(page "$c")"; false; }
	done
}

@test "pages that are named exist" {
	for p in "$man"/*.[158]; do
		for x in $(sed -n 's/^\.\(It \)\?Xr \(stint[a-z.-]*\) \([158]\).*/\2.\3/p' "$p"); do
			[ -e "$man/$x" ] || { echo "$p names $x"; false; }
		done
	done
}

# The simulator's commands in sections EXAMPLES are run, line by line, in one directory.
@test "the simulator's examples work" {
	export PATH=$STINT_BUILD/src/cmd:$PATH
	cd "$dir"
	for c in sim compare policies sweep reproduce mapstates size; do
		sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$(page "$c")" |
			sed -n '/^\.Bd/,/^\.Ed/{/^\./d; s/\\e/\\/g; p}' >"script-$c"
		grep -q stint "script-$c"
		bash -euo pipefail "script-$c" >"out-$c" 2>&1 || { cat "script-$c" "out-$c"; false; }
	done
	[ -s queue.svg ]
	[ -s fcfs.swf ]
	[ -s curve.svg ]
	[ -s curve.tsv ]
	[ -s states.dot ]
	[ -s figures/I-3b-response.svg ]
	grep -q '"utilization"' out-sim
}

# The cluster's commands are tested by 40-run.bats.
@test "--json prints one object a line, with the fields that the page names" {
	fields() { # COMMAND [OPTION]
		python3 "$BATS_TEST_DIRNAME/fields.py" "$(page "$1")" ${2:-} <"$dir/json"
	}
	"$stint" policies --json >"$dir/json"
	[ "$(wc -l <"$dir/json")" = "$("$stint" policies | grep -c '^[a-z]')" ]
	"$stint" policies --test --json fcfs >>"$dir/json"
	fields policies --all
	"$stint" policies easy --json >"$dir/json"
	fields policies
	for p in fcfs easy; do "$stint" sim -p $p -w ismail -n 600 -o "$dir/$p.csv" >/dev/null; done
	"$stint" compare -j "$dir/"{fcfs,easy}.csv >"$dir/json"
	fields compare --all
	"$stint" mapstates --json >"$dir/json"
	fields mapstates --all
	"$stint" trace generate -w ismail -n 50 -o "$dir/t.swf"
	"$stint" trace generate --activity -P 4 --days 1 -o "$dir/act.csv"
	{
		"$stint" trace stats --json "$dir/t.swf"
		"$stint" trace stats --json --activity "$dir/act.csv"
	} >"$dir/json"
	fields trace --all
	{
		"$stint" sim -p g-loadsharing -w chen --paging=sweep=20 -n 100 --json
		"$stint" sim -p stint -w lanl:size=2 -n 20 --activity "$dir/act.csv" --link 10M --rank-memory 10M --json
	} >"$dir/json"
	fields sim
	"$stint" size -w lanl:size=2,longest=60 -L 0.1 --slowdown 2 --runs 2 --json >"$dir/json"
	fields size --all
	"$stint" reproduce --list --json >"$dir/json"
	[ "$(wc -l <"$dir/json")" = "$("$stint" reproduce --list | wc -l)" ]
	"$stint" reproduce schnor:S-4b --quick --json >>"$dir/json"
	fields reproduce --all
	"$stint" sweep -p fcfs -p ff -w ismail -L 0.3,0.5 -n 520 --max 5 --json >"$dir/json"
	[ "$(wc -l <"$dir/json")" = 4 ]
	fields sweep --all
}

# Who reads a table by the names of its columns would lose one of two.
@test "no table has two columns of one name" {
	"$stint" trace generate --activity -P 4 --days 1 -o "$dir/act.csv"
	"$stint" sim -p stint -w lanl:size=2 -n 20 --activity "$dir/act.csv" -o "$dir/a.csv" \
		--out-owners "$dir/owners.csv" --series "$dir/series.tsv" >/dev/null
	"$stint" compare --csv "$dir/a.csv" "$dir/a.csv" >"$dir/compare.csv"
	"$stint" sweep -p g-loadsharing -w chen --paging=sweep=20 -n 60 --min 2 --max 2 --csv -o "$dir/sweep.csv"
	"$stint" sweep -p g-loadsharing -w chen --paging=sweep=20 -n 60 --min 2 --max 2 --tsv -o "$dir/sweep.tsv" \
		-r "$dir/results"
	# Under a heading of metrics, which is no row of columns.
	sed -n '1s/.*: //p' "$dir/results" | tr ' ' '\t' >"$dir/results.tsv"
	for table in "$dir"/*.csv "$dir"/*.tsv; do
		head -1 "$table" | tr ',\t' '\n' | sort | uniq -d >"$dir/twice"
		[ "$(head -1 "$table" | tr ',\t' '\n' | wc -l)" -gt 3 ]
		[ ! -s "$dir/twice" ] || { echo "$table:"; cat "$dir/twice"; false; }
	done
	[ "$(ls "$dir"/*.csv "$dir"/*.tsv | wc -l)" = 8 ]
}

# Jobs of an empty class have no means; a trace's name may have any bytes.
@test "stint sim --json is one object on one line, whatever the trace is called" {
	"$stint" sim -p fcfs -w ismail -n 5 --out-swf "$dir/"$'a\xff\nb.swf' >/dev/null
	touch "$dir/ev"
	"$stint" sim -p fcfs --swf "$dir/"$'a\xff\nb.swf' -n 5 --events "$dir/ev" -H 64x1 --speedup linear --json >"$dir/json"
	[ "$(wc -l <"$dir/json")" = 1 ]
	python3 "$BATS_TEST_DIRNAME/fields.py" "$(page sim)" <"$dir/json"
	python3 -c 'import json, sys; assert json.load(sys.stdin)["swf"].endswith("a\ufffd\nb.swf")' <"$dir/json"
	"$stint" sweep -p fcfs --swf "$dir/"$'a\xff\nb.swf' --max 5 --json >"$dir/json"
	python3 "$BATS_TEST_DIRNAME/fields.py" "$(page sweep)" <"$dir/json"
}

# `ssh`, `scp` and `runuser` are replaced by scripts that stay on this machine. A key is
# made as a whole or not at all, and other files that come to be belong to the user.
@test "the README's commands for keys, also where they fail" {
	[ "$(id -u)" = 0 ] || skip "takes root"
	mkdir -p "$dir/bin" "$dir/b/etc/stint" "$dir/home"
	printf '#!/bin/sh\nshift; cp "$1" "%s/${2#b:}"\n' "$dir/b" >"$dir/bin/scp"
	printf '#!/bin/sh\nshift; "$1" "%s/$2" "%s/$3"\n' "$dir/b" "$dir/b" >"$dir/bin/ssh"
	printf '#!/bin/sh\nHOME=%s; export HOME; exec setpriv --reuid 1 --regid 1 --clear-groups sh -c "$4"\n' "$dir/home" >"$dir/bin/runuser"
	chmod +x "$dir/bin/"*
	chown 1 "$dir/home"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$dir" 2>/dev/null || true
	export PATH=$dir/bin:$STINT_BUILD/src/cmd:$PATH
	sed -n '/^    a# stint controller.*--enrol/,/rm [a-z.]*key$/{s/^    a# //; p}' \
		"$BATS_TEST_DIRNAME/../README.md" >"$dir/commands"
	[ "$(grep -c enrol "$dir/commands")" = 2 ]
	sed -i "s|/var/lib/stint|$dir/state|; s/user.ann/user\/root/" "$dir/commands"
	cd "$dir"
	run bash "$dir/commands"
	[ "$status" = 0 ]
	[ "$(stat -c '%a %u' home/.config home/.config/stint home/.config/stint/key | tr '\n' ' ')" = "700 1 700 1 600 1 " ]
	[ "$(stat -c %a b/etc/stint/key)" = 600 ]
	"$stint" controller --state-dir state --keys >keys
	grep -q host/b keys
	[ ! -e b.key ]
	[ ! -e ann.key ]
	# The state directory is a file: nobody gets a key, and what was there before stays.
	sha256sum b/etc/stint/key home/.config/stint/key >sums
	rm -r state
	touch state
	run bash "$dir/commands"
	[ "$status" != 0 ]
	sha256sum -c sums
}

@test "stint-record(1) names the version that is written" {
	header=$BATS_TEST_DIRNAME/../src/model/record.h
	version=$(sed -n 's/^#define RECORD_HEADER[[:blank:]]*"stint-record \([0-9]*\)"$/\1/p' "$header")
	[ -n "$version" ]
	grep -q "names the version, which is $version;" "$man/stint-record.1"
}

@test "the manual is installed" {
	meson introspect --installed "$STINT_BUILD" >"$dir/installed"
	for p in "$man"/*.[158]; do
		grep -q "/man${p##*.}/${p##*/}\"" "$dir/installed" || { echo "not installed: $p"; false; }
	done
}
