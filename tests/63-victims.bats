# Programs that nobody here wrote, fed until they have moved, do as they do unmoved.
# `make victims` runs more of them, and those of a folder.

bats_require_minimum_version 1.5.0
load build

setup() {
	[ "$(id -u)" = 0 ] || skip "a testbed needs root"
	victims=$BATS_TEST_DIRNAME/victims/victims.py
}

@test "fifteen programs of Debian's do as they do unmoved" {
	# Now and then a move right after a start is refused ("no rank here that could
	# move now"), and why is not known; nothing may be wrong.
	run timeout 900 "$victims" --moves 2 --parallel 3 \
		"$BATS_TEST_DIRNAME/victims/small.list"
	echo "$output"
	[[ $output != *WRONG* ]]
	[ "$(grep -c ' as unmoved ' <<<"$output")" -ge 12 ]
}

@test "what does otherwise when it has moved is noticed, what is not here is skipped" {
	cat >"$BATS_TEST_TMPDIR/some.list" <<-'END'
		differs	1	words	-	bash -c "while read -r; do :; done; date +%s%N"
		same	1	words	^[0-9]* lines	bash -c "while read -r; do ((++n)); done; echo $n lines; date +%N"
		none	1	words	-	no-such-program
	END
	run -1 timeout 900 "$victims" --moves 1 "$BATS_TEST_TMPDIR/some.list"
	echo "$output"
	[[ $output == *"no no-such-program here"* ]]
	grep -E '^differs +WRONG' <<<"$output"
	run ! grep -E '^same +WRONG' <<<"$output"
}
