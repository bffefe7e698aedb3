# A move is struck at named points (src/move/wire/fault.h), at both ends, by death, failure
# and a cut link: there are never two copies and never none, and the result is right.  The
# parties of a move within a job on a testbed are struck as well.  STINT_LONG=1, and make
# soak, strike at every point with every action.

load build

setup() {
	[ "$(id -u)" = 0 ] || skip "makes network namespaces, as root"
}

strike() { # OPTION...
	timeout "${limit:-900}" "$BATS_TEST_DIRNAME/move/faults.py" "$@" -- \
		"$STINT_BUILD/tests/move/check-steps" 3>&-
}

@test "an engine that is killed at a named point leaves exactly one copy" {
	local points=source-hello,dest-spawned,source-frozen,dest-state,source-held,source-recorded,dest-commit,source-running
	[ -z "${STINT_LONG:-}" ] || points=all
	strike --action kill --points $points
}

@test "a step that fails at a named point leaves exactly one copy" {
	local points=source-round,source-captured,dest-landed,source-ready,source-committed
	[ -z "${STINT_LONG:-}" ] || points=all
	strike --action error --points $points
}

@test "a link that is cut at a named point leaves exactly one copy" {
	local points=source-sent
	[ -z "${STINT_LONG:-}" ] || points=all limit=1200
	strike --action cut --points $points
}

@test "an engine that hangs keeps its process still for seconds, and then for no longer" {
	local points=source-frozen,source-sent,dest-threads,dest-ready,source-held,source-recorded,dest-commit
	[ -z "${STINT_LONG:-}" ] || points=all
	strike --action stop --points $points
}

@test "an engine that hangs in a job's move keeps its rank still for seconds" {
	timeout 900 "$BATS_TEST_DIRNAME/mpi/faults.py" --job count \
		source-captured:source-engine:stop dest-state:dest-engine:stop \
		source-recorded:source-engine:stop dest-commit:dest-engine:stop 3>&-
}

@test "parties of an MPI job's move are struck: one copy, or a reason, and ps knows" {
	local cases="source-unplugged:source-engine:kill
		dest-commit:dest-engine:kill dest-state:new-keeper:kill
		source-recorded:old-keeper:kill source-frozen:source-agent:kill
		source-recorded:controller:kill source-captured:source-engine:error"
	[ -z "${STINT_LONG:-}" ] || cases=all limit=20000
	timeout "${limit:-900}" "$BATS_TEST_DIRNAME/mpi/faults.py" $cases 3>&-
}

@test "parties are struck while Open MPI's ranks wait in MPI_Init and MPI_Finalize" {
	local init="waiting:controller:kill source-frozen:source-engine:kill" limit=900
	local finalize="dest-commit:controller:kill"
	[ -z "${STINT_LONG:-}" ] || init=all finalize=all limit=40000
	for way in "init $init" "finalize $finalize"; do
		timeout $limit "$BATS_TEST_DIRNAME/mpi/wireup.py" $way 3>&-
	done
}

@test "several ranks move at once, somebody is struck at a random moment: all is as it is said" {
	local rounds=3
	[ -z "${STINT_LONG:-}" ] || rounds=100
	timeout $((300 + 30 * rounds)) "$BATS_TEST_DIRNAME/mpi/strikes.py" --rounds $rounds \
		--seed "$RANDOM" 3>&-
}

@test "a spoilt stream of a peer that authenticated is refused in a line, or lands" {
	timeout 600 "$BATS_TEST_DIRNAME/move/hostile.py" --runs 12 \
		"$STINT_BUILD/tests/move/check-threads" 3>&-
}

@test "a signal that comes while its rank changes hosts is taken where it runs then" {
	timeout 600 "$BATS_TEST_DIRNAME/mpi/signals.py" 3>&-
}
