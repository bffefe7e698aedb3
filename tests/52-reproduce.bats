#!/usr/bin/env bats
# stint reproduce, in its shortened form.

bats_require_minimum_version 1.5.0

setup() {
	stint=$STINT_BUILD/src/cmd/stint
	dir=$(mktemp -d)
}

teardown() {
	rm -rf "$dir"
}

# Every id of a paper is there, and what has been met stays met.
@test "ismail: all ids, and those known to be met" {
	"$stint" reproduce ismail --quick --json -o "$dir/r.json"
	python3 - "$dir/r.json" <<-'E'
		import json, sys
		rows = json.load(open(sys.argv[1]))
		ids = {r["id"] for r in rows}
		want = {"I-2" + c for c in "abcde"} | {"I-3" + c for c in "abcdef"} | {"I-4" + c for c in "abcde"}
		assert ids == want, ids ^ want
		for r in rows:
		    assert set(r) == {"id", "what", "published", "ours", "interval", "met", "note"}
		    if r["interval"]:
		        assert r["interval"][0] is None or r["interval"][0] <= r["ours"]
		# Chapter 4's counts (I-4a) and one ratio of chapter 4 (I-4d) differ, and
		# differences below what the thesis could see come and go (I-2e, I-3e).
		differ = {r["id"] for r in rows if not r["met"]}
		assert differ <= {"I-4a", "I-4d", "I-2e", "I-3e"}, differ
		assert sum(r["met"] for r in rows) >= 105
	E
}

@test "one id, with its figure" {
	"$stint" reproduce ismail:I-3b --quick --figures "$dir/figures" >"$dir/text"
	grep -q '^I-3b *met *L=0.5, RT(ff+fifo)/RT(fff): published 1.6 ' "$dir/text"
	python3 -c "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])" \
		"$dir/figures/I-3b-response.svg"
}

@test "the same seed gives the same bytes, whatever the workers" {
	"$stint" reproduce ismail:I-4c --quick -j 1 --json -o "$dir/a"
	"$stint" reproduce ismail:I-4c --quick -j 4 --json -o "$dir/b"
	cmp "$dir/a" "$dir/b"
}

# The document is written by a long run; here its ids are compared, and a line
# that does not depend on the length of the run.
@test "doc/reproduction.md is its output, and has every id of its papers" {
	doc=$BATS_TEST_DIRNAME/../doc/reproduction.md
	"$stint" reproduce --list >"$dir/ids"
	grep -q '^## Ismail 1995' "$doc"
	while IFS=': ' read -r paper id claim; do
		[ "$paper" = ismail ] || grep -qi "^## $paper" "$doc" || continue
		grep -qF "### $id: $claim" "$doc" || { echo "no $id"; false; }
	done <"$dir/ids"
}

@test "wrong papers and ids are named" {
	run --separate-stderr "$stint" reproduce nobody
	[ "$status" -eq 2 ] && [[ "$stderr" == *"no paper 'nobody'"*ismail* ]]
	run --separate-stderr "$stint" reproduce ismail:I-9
	[ "$status" -eq 2 ] && [[ "$stderr" == *"I-9"* ]]
	run --separate-stderr "$stint" reproduce
	[ "$status" -eq 2 ] && [ -n "$stderr" ]
}
