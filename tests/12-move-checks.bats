# Programs that check themselves are moved while they run, each there and back, between two
# network namespaces; programs that cannot be moved are refused and left alone.  tools/soak
# does the same for longer.

bats_require_minimum_version 1.5.0
load build

setup() {
	. "$BATS_TEST_DIRNAME/move/programs.bash"
	drive=$BATS_TEST_DIRNAME/move/drive.py
	[ "$(id -u)" = 0 ] || skip "makes network namespaces, as root"
}

# Three at a time; all output is shown before the test fails, that of failures first.
drive_all() { # MOVES, PROGRAM[, TAB, WORDS OF THE REFUSAL] a line
	local line words n=0 moves=$1
	shift
	while IFS=$'\t' read -r line words; do
		[ -n "$line" ] || continue
		drive_one "$line" "$words" >"$BATS_TEST_TMPDIR/out.$n" 2>&1 3>&- &
		n=$((n + 1))
		[ $n -lt 3 ] || wait -n || true
	done <<<"$1"
	wait
	grep -LE '^(ok|skipped) ' "$BATS_TEST_TMPDIR"/out.* | xargs -r cat
	grep -hE '^(ok|skipped) ' "$BATS_TEST_TMPDIR"/out.*
	[ "$(cat "$BATS_TEST_TMPDIR"/out.* | grep -cE '^(ok|skipped) ')" = $n ]
}

drive_one() {
	local argv status=0 check=
	move_argv "$1"
	case $1 in check-unsupported*) check=--check ;; esac
	timeout 300 "$drive" --moves "$moves" $check ${2:+--refuse "$2"} -- "${argv[@]}" ||
		status=$?
	case $status in
	0) echo "ok $1" ;;
	77) echo "skipped $1" ;;
	*) echo "FAILED $1: $status" ;;
	esac
}

@test "every self-checking program passes through moves" {
	drive_all 2 "$move_programs"
}

# If the freeze is reached, the refusal came too late: drive.py makes the move fail there.
@test "what cannot be moved is refused with the reason, and goes on unharmed" {
	local list
	list=$("$STINT_BUILD/tests/move/check-unsupported" --list)
	[ "$(wc -l <<<"$list")" -ge 11 ]
	drive_all 1 "$(sed 's/^/check-unsupported /' <<<"$list")"
}

refuse_file() { # MODE, what the second host does to its copy, the reason
	timeout 300 "$drive" --moves 1 --there "$2" --refuse "$3" -- \
		"$STINT_BUILD/tests/move/check-late" "$1"
}

@test "files that are missing or others at the destination are refused before the freeze" {
	refuse_file early 'rm late' 'late.*No such file'
	refuse_file file 'rm late' 'late.*No such file'
	refuse_file private 'truncate -s 4096 late' \
		'late has 4096 bytes here and 32768'
	refuse_file open 'rm late' 'late cannot be opened'
	refuse_file open 'touch late; truncate -s 4096 late' 'late is another file'
	refuse_file file 'touch late; printf x | dd of=late conv=notrunc' \
		'late has other content'
}

@test "memory that is shared only when the move has begun is refused before the freeze" {
	refuse_file shared true 'shares memory'
}

@test "megabytes in a connection's queues count where the pause has a limit" {
	timeout 300 "$drive" --moves 1 --option=--budget=20ms \
		--refuse 'over the budget' -- \
		"$STINT_BUILD/tests/move/check-queues"
}

# Each of its threads gets a signal; they sleep in as many kinds of calls.
@test "a signal that comes while nothing runs ends the calls that it would end" {
	local program=$STINT_BUILD/tests/move/check-interrupts
	timeout 300 "$drive" --moves 1 --interrupt 36-53 -- "$program" outside
	# with SIGSTOP and SIGCONT before the signals
	timeout 300 "$drive" --moves 1 --interrupt 19,18,36-53 -- "$program" outside
	timeout 300 "$drive" --moves 1 --fail source-sent --interrupt 36-53 -- "$program" outside
}

@test "waits go on for what is left, too, where a move is given up" {
	local point
	for point in source-round source-sent; do
		timeout 300 "$drive" --moves 2 --fail $point -- \
			"$STINT_BUILD/tests/move/check-sleeps"
	done
}

@test "clocks and timers go on where the other host's clocks began elsewhere" {
	local kind program
	for kind in same other; do
		for program in clocks sleeps timers; do
			timeout 300 "$drive" --moves 2 --clocks $kind -- \
				"$STINT_BUILD/tests/move/check-$program"
		done
	done
	timeout 300 "$drive" --moves 2 --clocks other --late-answer -- \
		"$STINT_BUILD/tests/move/check-clocks"
}

@test "where the other kernel lends another vdso, its calls become system calls" {
	local program
	cat >"$BATS_TEST_TMPDIR/lost.py" <<-'END'
		import os, time
		print("READY", flush=True)
		while not os.path.exists(os.environ["CHECK_STOP"]):
		    time.sleep(0.01)
		assert "[vdso]" not in open("/proc/self/maps").read()
		print("PASS")
	END
	STINT_OTHER_VDSO=1 timeout 300 "$drive" --moves 2 -- \
		/usr/bin/python3 "$BATS_TEST_TMPDIR/lost.py"
	for program in clocks cputime sleeps threads threadstorm; do
		STINT_OTHER_VDSO=1 timeout 300 "$drive" --moves 2 -- \
			"$STINT_BUILD/tests/move/check-$program"
	done
}

# The notes (20 and 21) name check-unkept at each item; whoever makes a move keep one of
# them sees it here.
@test "what no call can set is not kept, and all of that is listed" {
	local program=$STINT_BUILD/tests/move/check-unkept
	timeout 300 "$drive" --moves 1 -- "$program" moved
	cd "$BATS_TEST_TMPDIR"
	timeout 300 "$program"
	run ! timeout 300 "$program" moved
}

@test "POSIX timers keep their ids on kernels that cannot be asked for them" {
	STINT_OLD_TIMERS=1 timeout 300 "$drive" --moves 2 -- \
		"$STINT_BUILD/tests/move/check-timers"
}
