#!/usr/bin/env bats
# Policies that move ranks by themselves, on live hosts
bats_require_minimum_version 1.5.0
load jobs

setup() { jobs_setup; }
teardown() { jobs_teardown; }

# How often the ranks of job 1 have moved, in all.
moves() {
	jobs 'sum(r["moves"] for r in j[1]["ranks"])'
}

moved() { # TIMES
	[ "$(moves)" = "$1" ]
}

passes() {
	st record | grep -c '^pass'
}

has_passed() { # COUNT
	[ "$(passes)" -ge "$1" ]
}

# What computes on a host and is no guest, until the test ends.
burn() { # HOST
	begin testbed exec "$1" sh -c 'while :; do :; done'
}

burns() { # HOST
	[ "$(json "[h['load'] > 0.7 for h in j if h['host'] == '$1'][0]" hosts)" = True ]
}

left() { # HOST
	[ "$(jobs 'hosts(1)[0]')" != "$1" ]
}

# The owner of $first, where it was.
owner_moves_it() {
	first=$(jobs 'hosts(1)[0]')
	st testbed owner "$first" here --for 1h
	eventually left "$first"
	st why 1 | tail -n 3 | tee "$bed/why"
	grep -q "the owner of $first needs it" "$bed/why" || ! st testbed owner "$first" away
}

@test "stint: a rank leaves a host whose owner comes, and one that gets slow" {
	serve 3 --policy stint
	sleeper -n 1
	eventually is 'j[1]["state"]' running
	# Others' work on this machine may move it at any time, also just now.
	for _ in 1 2 3 4 5; do
		! owner_moves_it || break
	done
	grep "to h[123] within .*: the owner of $first needs it" "$bed/why"
	second=$(jobs 'hosts(1)[0]')
	# Of the other two hosts one is its owner's.
	burn "$second"
	burn "$second"
	eventually left "$second"
	run jobs 'hosts(1)[0]'
	[ "$output" != "$first" ]
	[[ "$(st why 1)" == *"to $output: its slowest rank takes "* ]]
	st kill 1
}

@test "stint: where nothing is to be gained nothing moves, however often it is asked" {
	serve 3 --policy stint
	sleeper -n 1
	eventually is 'j[1]["state"]' running
	here=$(jobs 'hosts(1)[0]')
	# The others first, so that here is never the worst.
	for host in h1 h2 h3; do
		[ "$host" = "$here" ] || burn "$host"
	done
	for host in h1 h2 h3; do
		[ "$host" = "$here" ] || eventually burns "$host"
	done
	burn "$here"
	eventually burns "$here"
	so_far=$(moves)
	eventually has_passed $(($(passes) + 20))
	moved "$so_far"
	st kill 1
}
