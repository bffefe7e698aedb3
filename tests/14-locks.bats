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
	for n in ${contender:-}; do
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
