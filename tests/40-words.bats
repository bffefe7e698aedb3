#!/usr/bin/env bats
# What users call their jobs, programs, folders and files, in what every command prints.

bats_require_minimum_version 1.5.0
load jobs

setup() { jobs_setup; }
teardown() { jobs_teardown; }

@test "words that a terminal would obey, that are no text or lead out of a folder" {
	serve 2
	timeout 900 "$BATS_TEST_DIRNAME/words.py" --stint "$stint"
}
