#!/usr/bin/env bats
# Control groups, and an init with its namespaces, that a keeper's capsules have one after the
# other: who gets them, and what is left of them when it is killed.

bats_require_minimum_version 1.5.0
load capsule

setup() { bed_setup; }
teardown() { bed_teardown; }

needs_v1() {
	[ -w /sys/fs/cgroup/pids/tasks ] || [ -d /sys/fs/cgroup/pids ] ||
		skip "no groups of cgroup v1, which alone can be renamed"
}

keeper() { # SHELL
	shell "$1" h1
	ok "$1" store
	ok "$1" keep
}

up() { # NUMBER [MORE...]
	local n=$1
	shift
	ok a create "cap$$.$n" net=routed uplink=eth0 "addr=10.77.128.$n" "$@"
	ok a plug
}

dirs() { # NUMBER: of a capsule's groups, as its record has them
	sed -n 's/^cgroup //p' "$(rundir h1)/capsules/cap$$.$1/record"
}

# The groups of a capsule but that of memory, by inode; names that its record does not have
# are not there.
groups() { # NUMBER
	dirs "$1" | grep -v /memory/ | xargs stat -c %i | sort | tr '\n' ' '
}

at_rest() { find /sys/fs/cgroup -path "*stint-testbed.t$$/h1/*" -name 'rest.*' -type d | sort; }

next_has_them() { # [MORE...]
	up 2 "$@"
	[ "$(groups 2)" = "$first" ]
}

@test "groups: unused ones are the next capsule's, of the same user with the same limits" {
	needs_v1
	bed_up 1
	keeper a
	up 1 pids=100
	first=$(groups 1)
	[ "$(wc -w <<<"$first")" = 3 ]
	ok a exec /dev/null true
	ok a wait
	ok a destroy
	[ "$(at_rest | wc -l)" = 4 ]
	[ ! -e "$(rundir h1)/capsules/cap$$.1" ]
	[ -z "$(find /sys/fs/cgroup -path "*/h1/cap$$.1")" ]
	# They keep the names that they had at rest, and nothing else has the capsule's.
	resting=$(at_rest)
	next_has_them pids=100
	[ "$(at_rest)" = "$resting" ]
	[ "$(dirs 2 | sort)" = "$resting" ]
	[ -z "$(find /sys/fs/cgroup -path "*/h1/cap$$.2")" ]
	[ "$(cat "$(dirs 2 | grep /pids/)/pids.max")" = 100 ]
	ok a destroy
	run ! next_has_them pids=99
	ok a destroy
	up 1 pids=100
	first=$(groups 1)
	ok a destroy
	run ! next_has_them pids=100 uid=4321
	ok a destroy
	up 1 memory=100000000
	first=$(groups 1)
	ok a destroy
	run ! next_has_them memory=100000000
	ok a destroy
	eval "exec ${in[a]}>&-"
	eventually eval '[ -z "$(at_rest)" ]'
	[ -z "$(find "$(rundir h1)/capsules" -mindepth 1 ! -name .lock)" ]
}

@test "groups: what a limit, an owner or somebody who has stopped it did to them is not the next one's" {
	needs_v1
	bed_up 1
	keeper a
	# A fork was refused.
	up 1 pids=8
	first=$(groups 1)
	echo 'for i in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done' >/var/tmp/stint-kept.$$
	ok a exec /dev/null sh "/var/tmp/stint-kept.$$"
	ok a wait
	rm "/var/tmp/stint-kept.$$"
	ok a destroy
	run ! next_has_them pids=8
	ok a destroy
	# An owner came, and lowered them.
	up 1
	first=$(groups 1)
	echo 2 >"$(dirs 1 | grep /cgroup/cpu/)/cpu.shares"
	ok a destroy
	run ! next_has_them
	ok a destroy
	# It was stopped, as for a move.
	up 1
	first=$(groups 1)
	ok a freeze
	ok a thaw
	ok a destroy
	[ -z "$(at_rest)" ]
	run ! next_has_them
	ok a destroy
	# Somebody is in them.
	up 1
	first=$(groups 1)
	ok a destroy
	sleep 1000 3>&- &
	echo $! >"$(at_rest | grep /pids/)/cgroup.procs"
	run ! next_has_them
	ok a destroy
	wait $! || true
}

@test "groups: what the kernel has counted of one capsule the next cannot read" {
	needs_v1
	bed_up 1
	keeper a
	up 1
	first=$(groups 1)
	ok a exec /dev/null dd if=/dev/zero of=/dev/null bs=100M count=1
	ok a wait
	[ "$(cat "$(dirs 1 | grep /memory/)/memory.max_usage_in_bytes")" -gt 100000000 ]
	ok a destroy
	next_has_them
	[ "$(cat "$(dirs 2 | grep /memory/)/memory.max_usage_in_bytes")" -lt 50000000 ]
	ok a destroy
}

@test "groups: of a keeper that is killed between two capsules the next sweep leaves nothing" {
	needs_v1
	bed_up 1
	keeper a
	up 1
	ok a destroy
	[ "$(at_rest | wc -l)" = 4 ]
	kill -9 "${pid[a]}"
	eventually ended "${pid[a]}"
	keeper b
	[ "$(at_rest | wc -l)" = 4 ]
	# A capsule whose name a dead one has, which is swept for.
	mkdir -p "$(rundir h1)/capsules/cap$$.b"
	ok b create "cap$$.b" net=routed uplink=eth0 addr=10.77.128.9
	[ -z "$(at_rest)" ]
	[ -z "$(find "$(rundir h1)/capsules" -name '.rest.*')" ]
	ok b destroy
}

# ---- init

the_init() { # SHELL
	ok "$1" init
	cut -d ' ' -f 2 <<<"$answer"
}

inside() { # SHELL COMMAND...: its output
	local s=$1 said=$BATS_TEST_TMPDIR/said
	shift
	: >"$said"
	ok "$s" exec "$said" "$@"
	ok "$s" wait
	cat "$said"
}

script=$BATS_TEST_DIRNAME/leave.py

@test "init: it has the same user's next capsule, and of what a job left that tells nothing" {
	needs_v1
	bed_up 1
	cp "$script" "/var/tmp/stint-leave.$$"
	keeper fresh
	ok fresh create "cap$$.n" net=routed uplink=eth0 addr=10.77.128.7 uid=4321
	ok fresh plug
	new=$(inside fresh python3 "/var/tmp/stint-leave.$$" tell)
	[[ "$new" == *"init's stat is not to be seen"* ]]
	ok fresh destroy
	eval "exec ${in[fresh]}>&-"
	keeper a
	ok a create "cap$$.n" net=routed uplink=eth0 addr=10.77.128.7 uid=4321
	ok a plug
	init=$(the_init a)
	[ "$(inside a python3 "/var/tmp/stint-leave.$$" leave)" = left ]
	ok a destroy
	for _ in 2 3; do
		ok a create "cap$$.n" net=routed uplink=eth0 addr=10.77.128.7 uid=4321
		ok a plug
		[ "$(the_init a)" = "$init" ]
		told=$(inside a python3 "/var/tmp/stint-leave.$$" tell)
		diff <(echo "$new") <(echo "$told")
		ok a destroy
	done
	rm "/var/tmp/stint-leave.$$"
	# Others have others.
	up 3 uid=4322
	[ "$(the_init a)" != "$init" ]
	ok a destroy
	eventually ended "$init"
}
