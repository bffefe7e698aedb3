#!/usr/bin/env bats
# Output of ranks goes to files of their user: all of it, once, and nowhere else.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	serve 2
	out=$BATS_TEST_TMPDIR/out
	mkdir "$out"
}

teardown() { jobs_teardown; }

@test "a file for each rank, by a pattern; or one for all; error apart or along" {
	job=$(st submit -n 2 --hosts h1,h2 -J two -o "$out/%x-%j.%r.%N" sh -c 'echo out; echo err >&2')
	st wait "$job"
	for r in 0 1; do
		diff "$out/two-$job.$r.h$((r + 1))" <(printf 'out\nerr\n')
	done
	st run -n 2 -o "$out/all" -e "$out/err%%" sh -c 'echo out; echo err >&2' >"$bed/none"
	[ ! -s "$bed/none" ]
	diff "$out/all" <(printf 'out\nout\n')
	diff "$out/err%" <(printf 'err\nerr\n')
	(cd "$out" && st run -e all sh -c 'echo shown; echo more >&2') >"$bed/shown"
	diff "$bed/shown" <(echo shown)
	diff "$out/all" <(printf 'out\nout\nmore\n') # appended to
	st run -o /dev/null seq 10000
	run -0 st output "$job"
	[[ "$output" == *"job $job prints to $out/two-$job.%r.%N"* ]]
}

@test "each byte is there once, through moves, deaths of daemons, and the rank's own" {
	job=$(st submit --hosts h1 -o "$out/%j" python3 -u -c 'import time
i = 0
while True: print("line", i); i += 1; time.sleep(0.002)')
	eventually [ -s "$out/$job" ]
	eventually st migrate "$job.0" h2 # who prints may run before the controller knows
	slay "$(service_pid controller)"
	slay "$(service_pid h1)"
	start_controller
	start_agent h1
	eventually hosts_up 2
	migrate "$job.0" h1
	migrate "$job.0" h2
	st kill -9 "$job"
	run st wait "$job"
	n=$(wc -l <"$out/$job")
	[ "$n" -gt 100 ]
	diff <(head -n "$n" "$out/$job") <(seq -f 'line %.0f' 0 $((n - 1)))
	[ "$(stat -c %s "$out/$job")" -le $((n * 20)) ]
}

@test "no link in a folder is followed, and nothing but a file is written" {
	mkdir "$out/there" "$BATS_TEST_TMPDIR/other"
	echo mine >"$BATS_TEST_TMPDIR/precious"
	ln -s "$BATS_TEST_TMPDIR/precious" "$out/link"
	ln -s "$BATS_TEST_TMPDIR/other" "$out/dir-1"
	mkfifo "$out/pipe"
	refused() { # PATTERN WHY
		run -1 st run -o "$1" echo x
		[[ "$output" == *"cannot print to "*" in "*": $2"* ]] || { echo "$output"; false; }
	}
	refused "$out/link" "a link on the way is not followed"
	refused "$out/dir-%a1/x" "No such file or directory"
	ln -s "$BATS_TEST_TMPDIR/other" "$out/d0"
	refused "$out/d%a/x" "a link on the way is not followed"
	refused "$out/%r/../../precious" "No such file or directory"
	mkdir "$out/0"
	refused "$out/%a/../../precious" "it is outside of that folder"
	refused "$out/pipe" "it is no file"
	refused "$out/there" "Is a directory"
	refused "$out/nowhere/x" "No such file or directory"
	[ "$(cat "$BATS_TEST_TMPDIR/precious")" = mine ]
	[ -z "$(ls "$BATS_TEST_TMPDIR/other")" ]
	# The folder itself may be reached through a link.
	ln -s "$out/there" "$BATS_TEST_TMPDIR/here"
	st run -o "$BATS_TEST_TMPDIR/here/x" echo x
	[ "$(cat "$out/there/x")" = x ]
	# A host's or rank's name in a pattern is a word, and leads nowhere else.
	run -2 st run -J "../x" -o "$out/%x" true
	cp /bin/echo "$out/there/"$'a\nb'
	st run -o "$out/%x" "$out/there/"$'a\nb' x
	[ "$(cat "$out/a_b")" = x ]
}

@test "a folder is shown whole to a program that is in it" {
	mkdir "$out/bin"
	cp /bin/ls "$out/bin/ls"
	echo x >"$out/file"
	(cd "$out/bin" && st run "$out/bin/ls" "$out") >"$bed/shown"
	diff "$bed/shown" <(printf 'bin\nfile\n')
}

@test "umask and limits are those of the command" {
	(umask 027 && ulimit -Sn 123 && ulimit -c 0 &&
		st run -o "$out/f" sh -c 'umask; ulimit -n; ulimit -c')
	diff "$out/f" <(printf '0027\n123\n0\n')
	[ "$(stat -c %a "$out/f")" = 640 ]
}
