#!/usr/bin/env bats
# Owners come and go on all hosts under jobs that check every byte, while daemons and
# keepers are killed; `make soak PART=owners` does it for longer
bats_require_minimum_version 1.5.0

@test "owners come and go under three jobs that check every byte, and services are killed" {
	timeout 900 "$BATS_TEST_DIRNAME/mpi/owners.py" --seconds 8 --strike 2 --seed $$ >"$BATS_TEST_TMPDIR/owners" || {
		cat "$BATS_TEST_TMPDIR/owners"
		false
	}
}

@test "two copies of a rank that compute would be seen, and one that stays" {
	timeout 300 "$BATS_TEST_DIRNAME/mpi/copies.py"
}
