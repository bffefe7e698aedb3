# Programs written by others are fed until they have moved, and behave as they do unmoved.
# `make victims` runs more of them, and those of a folder.

bats_require_minimum_version 1.5.0
load build

setup() {
	[ "$(id -u)" = 0 ] || skip "a testbed needs root"
	victims=$BATS_TEST_DIRNAME/victims/victims.py
}

teardown() { rm -rf "${folder:-}"; }

@test "fifteen programs of Debian's do as they do unmoved" {
	run -0 timeout 900 "$victims" --moves 2 --parallel 3 \
		"$BATS_TEST_DIRNAME/victims/small.list"
	echo "$output"
	[ "${lines[-1]}" = "15 as unmoved" ]
}

# Another job that begins at the same time may have the higher number.
@test "the job that is moved is the one that was started" {
	run -0 python3 - "$BATS_TEST_DIRNAME/mpi" <<-'END'
		import os, sys
		sys.path.append(sys.argv[1])
		from bed import Bed

		class Busy(Bed):
		    stranger = None

		    def ask(self, *args):
		        told = super().ask(*args)
		        if args == ("ps",) and told and self.stranger is None:
		            self.stranger = 0
		            self.stranger = super().start(1, "sleep", "1001")
		            told = super().ask(*args)
		        return told

		with Busy(os.environ["STINT_BUILD"], 2) as bed:
		    job = bed.start(1, "sleep", "1000")
		    argv = {j["job"]: j["argv"] for j in bed.ask("ps")}
		    for number in argv:
		        bed.stint("kill", str(number))
		    assert argv[job.number] == ["sleep", "1000"], (job.number, argv)
		    assert argv[bed.stranger.number] == ["sleep", "1001"], argv
	END
}

@test "what does otherwise when it has moved is noticed, what is not here is skipped" {
	printf 'late\t3\tlate\t^{"(seconds)"\t%s allreduce 100 20000\n' \
		"$(realpath "$STINT_BUILD")/tests/mpi/waits" >"$BATS_TEST_TMPDIR/some.list"
	cat >>"$BATS_TEST_TMPDIR/some.list" <<-'END'
		differs	1	words	-	bash -c "while read -r; do :; done; date +%s%N"
		same	1	words	^[0-9]* lines	bash -c "while read -r; do ((++n)); done; echo $n lines; date +%N"
		none	1	words	-	no-such-program
	END
	run -1 timeout 900 "$victims" --moves 1 "$BATS_TEST_TMPDIR/some.list"
	echo "$output"
	[[ $output == *"no no-such-program here"* ]]
	[[ $output =~ late\ +as\ unmoved ]]
	[ "${lines[-1]}" = "1 WRONG, 2 as unmoved, 1 skipped" ]
}

# MPICH's own tests are named by their testlists; here scripts take their place.
@test "a folder's programs run with its lists, and its testlists name more" {
	local name
	folder=$(mktemp -d /var/tmp/stint-victims.XXXXXX) # ranks have a /tmp of their own
	mkdir -p "$folder/suite/coll"
	for name in right wrong alone known; do
		cat >"$folder/suite/coll/$name" <<-'END'
			#!/bin/bash
			sleep 2
			[ "${0##*/} $* $WORD" = "right one two three" ] && echo " No Errors"
		END
	done
	printf '#!/bin/sh\necho "$X"; exec sort\n' >"$folder/suite/word"
	chmod +x "$folder"/suite/coll/* "$folder/suite/word"
	cat >"$folder/suite/coll/testlist" <<-'END'
		# NAME N
		right 2 arg=one arg=two env=WORD=three timeLimit=300
		right 12
		wrong 2 # it is
		alone 1
		known 2 xfail=ticket2266
		known 2 arg=status resultTest=TestStatus
		missing 2
	END
	printf 'below\t1\twords\t-\tenv X=%%suite %%suite/word\n' >"$folder/own.list"
	VICTIMS=$folder run -0 timeout 600 "$victims" --moves 1 --only '^(below|suite/)'
	echo "$output"
	[[ $output =~ below\ +as\ unmoved ]]
	[[ $output =~ suite/coll/right/2/one/two\ +(as\ unmoved|skipped) ]]
	[[ $output =~ suite/coll/wrong/2\ +skipped ]]
	run ! grep -E "right.*ends with|right/12|alone|known|missing" <<<"$output"
	VICTIMS=$folder run -1 timeout 600 "$victims" --minutes 0 --only '^below'
	[ "${lines[-1]}" = "1 skipped" ]
}

@test "what never ends is not moved for ever" {
	printf 'stays\t1\t-\t-\tsleep 1000\n' >"$BATS_TEST_TMPDIR/some.list"
	run -1 timeout 300 "$victims" --longest 2 "$BATS_TEST_TMPDIR/some.list"
	echo "$output"
	[[ $output =~ stays\ +WRONG ]]
}
