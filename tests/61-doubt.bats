# How it is decided where a rank is when its two keepers cannot decide: links lost between
# READY and RUNNING, hosts and services that die and come back (tests/mpi/doubt.py,
# crash.py).

load build

setup() {
	[ "$(id -u)" = 0 ] || skip "makes network namespaces, as root"
}

scenarios() {
	timeout 600 "$BATS_TEST_DIRNAME/mpi/doubt.py" "$@" 3>&-
}

@test "a link lost before or after the record: undecided, then one copy" {
	scenarios link_lost_after_the_record link_lost_before_the_record
}

@test "controller and agents restarted meanwhile: still one copy, at the right host" {
	scenarios controller_restarted everything_restarted stale_copy_of_an_older_move
}

@test "the source's host crashes: its record decides, or the rank is lost and said so" {
	scenarios source_host_comes_back_with_its_record \
		source_host_comes_back_without_a_record source_host_never_comes_back
}

@test "the source's host dies after the copy ran, or an agent is away: ps says where it runs" {
	scenarios source_host_dies_when_the_copy_runs \
		source_host_is_given_up_when_the_copy_runs agent_away
}

@test "the source's host is gone when the copy runs: it moves on, and nobody waits for the host" {
	scenarios source_host_is_gone_and_the_rank_moves_on \
		source_agent_is_away_and_the_rank_moves_on
}

@test "the destination died before anybody knew, or the job is killed: no copy is left" {
	scenarios destination_died_before_anybody_knew killed_while_undecided
}

@test "a host dies: its ranks are lost and said so, others run on, and it comes back clean" {
	timeout 600 "$BATS_TEST_DIRNAME/mpi/crash.py" host 3>&-
}

@test "the controller is killed at its word: every job it acknowledged is known" {
	timeout 600 "$BATS_TEST_DIRNAME/mpi/crash.py" word 3>&-
}
