#!/usr/bin/env bats
# make demo, shortened: both acts take place, and nothing is left behind
bats_require_minimum_version 1.5.0
load build

setup() {
	[ "$(id -u)" = 0 ] || skip "a testbed needs root"
}

told() { # REGULAR-EXPRESSION
	grep -qE "$1" <<<"$output" || { echo "missing: $1"; echo "$output"; false; }
}

@test "the demo: a rank is moved, one leaves an owner by itself, the bits are the same" {
	mkdir "$BATS_TEST_TMPDIR/tmp"
	TMPDIR=$BATS_TEST_TMPDIR/tmp run -0 timeout 1500 \
		"$BATS_TEST_DIRNAME/../tools/demo" "$STINT_BUILD" 4
	told '  rank [0-9]+\.1 from h2 to h5$'
	told "h3's owner waited [0-9]+\.[0-9]+ s until the last guest was gone"
	told 'nobody typed `stint migrate`: rank 2 on h[124] now'
	told 'migrate job [0-9]+ rank 2 to h[124] within [0-9.]+ s: the owner of h3 needs it'
	told 'h3 is used again'
	told 'migrate job [0-9]+ rank [0-3] to h3: its slowest rank takes'
	told 'the result is the same, to the last bit'
	told 'the result is the same again, to the last bit'
	[ -z "$(ls "$BATS_TEST_TMPDIR/tmp")" ]
}

@test "the demo: what it does not understand" {
	run "$BATS_TEST_DIRNAME/../tools/demo"
	[ "$status" = 1 ]
	[ "$output" = "usage: demo BUILD [SECONDS]" ]
}
