#!/usr/bin/env bats
# Policies that move ranks by themselves, on live hosts
bats_require_minimum_version 1.5.0
load jobs

setup() { jobs_setup; }
teardown() { jobs_teardown; }

# How often the ranks of job 1 have moved, all together.
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

# A process that computes on a host, and is no guest, until the test ends.
burn() { # HOST
	begin testbed exec "$1" sh -c 'while :; do :; done'
}

burns() { # HOST
	json_is "[h['load'] > 0.7 for h in j if h['host'] == '$1'][0]" True hosts
}

left() { # HOST
	is "hosts(1)[0] != '$1'" True
}

# The owner of the host where the rank was, $first.
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
	# Other work on this machine may make the rank move at any time, also just now.
	for _ in 1 2 3 4 5; do
		! owner_moves_it || break
	done
	grep "to h[123] within .*: the owner of $first needs it" "$bed/why"
	second=$(jobs 'hosts(1)[0]')
	# One of the other two hosts has its owner there.
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
	# The other hosts first, so that this one is never the worst.
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

# As bench/decider measures it, but load is known at once and a move takes a second.
@test "simulated: of what load that goes round costs a job, deciders leave an eighth" {
	local dir=$BATS_TEST_TMPDIR n
	printf '; MaxProcs: 6\n1 0 -1 66 4 -1 -1 4 -1 -1 1 1 1 -1 1 -1 -1 -1\n' >"$dir/swf"
	echo time,host,what,value >"$dir/loads"
	for n in {0..30}; do
		printf '%d,h%d,load,1\n%d,h%d,load,0\n' $((10 * n)) $((n % 6 + 1)) $((10 * n + 10)) $((n % 6 + 1))
	done >>"$dir/loads"
	lost() { # POLICY: seconds
		"$stint" sim -p "$1" --swf "$dir/swf" --hosts 6x1x1 --activity "$dir/loads" --no-terms --speedup linear \
			--link 100M --precopy --migrate-cost 50ms --rank-cost 800ms --rank-memory 16M --json |
			python3 -c 'import json, sys; print(json.load(sys.stdin)["response"]["mean"] - 66)'
	}
	local without with policy
	without=$(lost spread)
	for policy in stint dynamite dynamic-sed:every=1,c1=1,c2=1; do
		with=$(lost "$policy")
		echo "$policy: $with of $without"
		python3 -c "import sys; sys.exit(not $without > 30 or not 0 < $with < $without / 8)"
	done
}
