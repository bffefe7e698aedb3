# Exclusive locks by fcntl(F_SETLK) move with the process: SQLite in the middle of one long
# transaction, in a folder that both hosts see.  No other process gets the lock in between.

bats_require_minimum_version 1.5.0
load build

setup() {
	[ "$(id -u)" = 0 ] || skip "makes network namespaces"
	export BULK_DIR=$BATS_TEST_TMPDIR
	dir=$BATS_TEST_DIRNAME/move
}

teardown() {
	local n
	# end the engine first: a process that a stopped engine traces cannot be waited for
	for n in ${contender:-} ${engine:-} ${victim:-} ${receiver:-}; do
		kill -9 "$n" && wait "$n"
	done 2>/dev/null || true
	end_nests
}

bulk() { # [OPTION OF drive.py...]
	timeout 300 "$dir/drive.py" "$@" -- "$dir/bulk.py"
}

@test "SQLite in a bulk insert is moved; who opens the database meanwhile never gets in" {
	: >"$BULK_DIR/bulk.db"
	"$dir/bulk.py" contend "$BULK_DIR" >"$BULK_DIR/got" 2>&1 3>&- &
	contender=$!
	eventually test -e "$BULK_DIR/contending"
	bulk --moves 2
	touch "$BULK_DIR/over"
	wait "$contender"
	contender=
	run cat "$BULK_DIR/got"
	[ -z "$output" ]
}

@test "a move that fails after the locks were handed over gives them back" {
	local point
	for point in source-injected source-locks-first-gone source-locks-rest-gone \
		source-ready source-held; do
		rm -f "$BULK_DIR"/bulk.db* "$BULK_DIR/locked"
		bulk --moves 1 --fail $point
	done
}

is_waiting() { # PID
	grep -q -- "-> POSIX .* $1 .* 107374182[45] " /proc/locks
}

has_lock() { # PID
	grep -q "[0-9]: POSIX .*WRITE $1 .* 1073741824 1073742335" /proc/locks
}

has_no_lock() { # PID
	! has_lock "$1"
}

is_stopped() { # PID
	grep -q '^State:.T' "/proc/$1/status"
}

# $engine moves $victim to $receiver; these options say where the two engines are struck.
begin_move() { # FAULT OF THE SOURCE, FAULT OF THE DESTINATION
	cd "$BATS_TEST_TMPDIR" || return
	rm -f bulk.db* locked stop out listen moved
	export CHECK_STOP=$BATS_TEST_TMPDIR/stop
	"$dir/bulk.py" >out 2>&1 </dev/null 3>&- &
	victim=$!
	eventually grep -q READY out
	has_lock "$victim"
	export STINT_STANDSTILL=1000 # nobody ends what we stop
	STINT_FAULT=$2 "$stint" move receive \
		--listen 127.0.0.1:0 >listen 2>err </dev/null 3>&- &
	receiver=$!
	eventually grep -q listening listen
	STINT_FAULT=$1 "$stint" move "$victim" \
		--to "$(sed -n 's/^listening //p' listen)" >moved 2>&1 </dev/null 3>&- &
	engine=$!
}

engine_fails() {
	local status=0
	wait "$engine" || status=$?
	[ "$status" != 0 ]
}

passes_here() {
	eventually has_lock "$victim"
	touch "$CHECK_STOP"
	wait "$victim"
	grep -q PASS out
}

turns="first-shared first-gone rest-shared rest-gone"

@test "both engines are killed with the locks handed over: the process waits for them" {
	begin_move "" dest-landed:stop
	eventually has_no_lock "$victim"
	kill -9 "$engine"
	eventually is_waiting "$victim"
	kill -9 "$receiver"
	passes_here
}

@test "who opens the database between any two turns of the handover does not get in" {
	local turn
	for turn in $turns; do
		begin_move "source-locks-$turn:stop" ""
		eventually is_stopped "$engine"
		run -0 "$dir/bulk.py" probe "$BULK_DIR"
		echo "$turn: $output"
		[ -z "$output" ]
		kill -CONT "$engine"
		wait "$engine"
		touch "$CHECK_STOP"
		wait "$receiver"
		grep -q PASS out
		wait "$victim" || true
	done
}

@test "a reader that has come between two turns ends the move: the lock is had again once it goes" {
	begin_move source-locks-first-gone:stop ""
	eventually is_stopped "$engine"
	"$dir/bulk.py" hold "$BULK_DIR" >holds 3>&- &
	contender=$!
	eventually grep -q HOLDS holds
	kill -CONT "$engine"
	engine_fails
	cat moved
	grep -q 'somebody has just taken a shared one beside it' moved
	eventually is_waiting "$victim"
	kill "$contender"
	passes_here
}

# A reader that has that byte waits for the rest, which the process has: a deadlock.
waits_between() {
	begin_move source-locks-first-gone:stop ""
	eventually is_stopped "$engine"
	"$dir/bulk.py" wait "$BULK_DIR" >holds 3>&- &
	contender=$!
	eventually grep -q -- "-> POSIX .* $contender " /proc/locks
	has_no_lock "$victim"
}

# For a fifth of a second, in which the process would have ended if it ran.
does_not_run() {
	local n
	for n in 1 2 3 4 5 6 7 8 9 10; do
		has_no_lock "$victim"
		[ "$(tail -n 1 out)" = READY ]
		sleep 0.02
	done
}

@test "a reader that waits there for the rest keeps the process from running, not its lock" {
	local end
	for end in undone killed; do
		waits_between
		if [ $end = killed ]; then
			kill -9 "$engine"
		else
			kill -CONT "$engine"
		fi
		engine_fails
		touch "$CHECK_STOP" # it would end now, its lock lost
		does_not_run
		kill "$contender"
		eventually grep -q PASS out
		wait "$victim"
		run ! grep -q 'GOT IN' holds
	done
}

@test "that reader is told of the deadlock once its wait is interrupted" {
	waits_between
	kill -CONT "$engine"
	engine_fails
	kill -STOP "$contender"
	eventually is_waiting "$victim"
	kill -CONT "$contender"
	wait "$contender"
	contender=
	grep -q DEADLOCK holds
	passes_here
}

@test "either engine is killed between two turns: the process has its locks again" {
	local turn
	for turn in $turns; do
		begin_move "source-locks-$turn:kill" ""
		engine_fails
		passes_here
		begin_move "source-locks-$turn:stop" ""
		eventually is_stopped "$engine"
		kill -9 "$receiver"
		kill -CONT "$engine"
		engine_fails
		passes_here
	done
}

# tests/12 moves a process with 200 locks.
@test "more locks than can be handed over are known before the process stands still" {
	timeout 300 "$dir/drive.py" --moves 1 --check --refuse 'more than 200' -- \
		"$STINT_BUILD/tests/move/check-handed" 201
}
