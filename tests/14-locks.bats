# Exclusive locks by fcntl(F_SETLK) go along: SQLite in the middle of one long
# transaction, in a folder that both hosts see.  Nobody gets in between.

load build

setup() {
	[ "$(id -u)" = 0 ] || skip "makes network namespaces"
	export BULK_DIR=$BATS_TEST_TMPDIR
	dir=$BATS_TEST_DIRNAME/move
}

teardown() {
	local n
	for n in ${contender:-} ${victim:-} ${receiver:-} ${engine:-}; do
		kill -9 "$n" && wait "$n"
	done 2>/dev/null || true
}

bulk() { # [OPTION OF drive.py...]
	timeout 200 "$dir/drive.py" "$@" -- "$dir/bulk.py"
}

@test "SQLite in a bulk insert is moved; who opens the database meanwhile never gets in" {
	: >"$BULK_DIR/bulk.db"
	"$dir/bulk.py" contend "$BULK_DIR" >"$BULK_DIR/got" 2>&1 3>&- &
	contender=$!
	eventually test -e "$BULK_DIR/contending"
	bulk --moves 4
	touch "$BULK_DIR/over"
	wait "$contender"
	contender=
	run cat "$BULK_DIR/got"
	[ -z "$output" ]
}

@test "a move that fails after the locks were handed over gives them back" {
	local point
	for point in source-injected source-ready source-held; do
		rm -f "$BULK_DIR"/bulk.db* "$BULK_DIR/locked"
		bulk --moves 3 --fail $point
	done
}

is_waiting() { # PID
	grep -q -- "-> POSIX .* $1 .* 1073741824 " /proc/locks
}

has_lock() { # PID
	grep -q "[0-9]: POSIX .*WRITE $1 .* 1073741824 1073742335" /proc/locks
}

has_no_lock() { # PID
	! has_lock "$1"
}

@test "both engines are killed with the locks handed over: the process waits for them" {
	cd "$BATS_TEST_TMPDIR"
	export CHECK_STOP=$BATS_TEST_TMPDIR/stop
	"$dir/bulk.py" >out 2>&1 </dev/null 3>&- &
	victim=$!
	eventually grep -q READY out
	has_lock "$victim"
	STINT_FAULT=dest-landed:stop "$stint" move receive \
		--listen 127.0.0.1:0 >listen 2>err </dev/null 3>&- &
	receiver=$!
	eventually grep -q listening listen
	"$stint" move "$victim" --to "$(sed -n 's/^listening //p' listen)" \
		>moved 2>&1 </dev/null 3>&- &
	engine=$!
	eventually has_no_lock "$victim"
	kill -9 "$engine"
	eventually is_waiting "$victim"
	kill -9 "$receiver"
	eventually has_lock "$victim"
	touch "$CHECK_STOP"
	wait "$victim"
	victim=
	grep -q PASS out
}
