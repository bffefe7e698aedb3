#!/usr/bin/env bats
# stint testbed: hosts that see each other, limits, and nothing left behind.

bats_require_minimum_version 1.5.0
load capsule

setup() { bed_setup; }
teardown() { bed_teardown; }

@test "testbed: hosts have names, addresses and each other" {
	bed_up 3
	[ "$(on h2 hostname)" = h2 ]
	[ "$(on h2 ip -4 -o addr show dev eth0 | awk '{print $4}')" = 10.77.0.2/16 ]
	[ "$(on h3 ls /sys/class/net | sort | tr '\n' ' ')" = "eth0 lo " ]
	on h1 python3 - <<-E
	import socket
	s = socket.socket(); s.settimeout(60)
	try: s.connect(("h3", 9)); raise SystemExit("who is that?")
	except ConnectionRefusedError: pass
	E
	# No way out of the testbed's network, and no way in.
	[ -z "$(on h1 ip route show default)" ]
	run on h4 true
	[ "$status" = 1 ]
	[[ $output == *"no host h4"* ]]
}

@test "testbed: exec passes exit status, arguments and environment on" {
	bed_up 1
	run on h1 sh -c 'echo "$1 $STINT_HOST $STINT_TESTBED"; exit 7' -- --name
	[ "$status" = 7 ]
	[ "$output" = "--name h1 $STINT_TESTBED" ]
	[ -d "$(on h1 sh -c 'echo $STINT_RUN_DIR')" ]
	run -127 on h1 /no/such/program
	[[ $output == *"/no/such/program"* ]]
}

@test "testbed: shares and speeds are the cgroup's" {
	[ -w /sys/fs/cgroup/cpu/cpu.shares ] || skip "no cgroup v1 cpu controller"
	bed_up 3 --cpus 2,1 --speed 0.5,0.25
	dir=$(find /sys/fs/cgroup/cpu -type d -name "stint-testbed.t$$")
	[ "$(cat "$dir"/h{1,2,3}/cpu.shares | tr '\n' ' ')" = "2048 1024 1024 " ]
	[ "$(cat "$dir"/h{1,2,3}/cpu.cfs_quota_us | tr '\n' ' ')" = "10000 5000 5000 " ]
	on h2 grep -q "cpu:/.*stint-testbed.t$$/h2" /proc/self/cgroup
}

@test "testbed: all hosts together take no more than STINT_TESTBED_CPUS" {
	[ -w /sys/fs/cgroup/cpu/cpu.shares ] || skip "no cgroup v1 cpu controller"
	export STINT_TESTBED_CPUS=0.75
	bed_up 2 --speed 0.5
	dir=$(find /sys/fs/cgroup/cpu -type d -name "stint-testbed.t$$")
	[ "$(cat "$dir"/cpu.cfs_{quota,period}_us | xargs)" = "15000 20000" ]
	"$stint" testbed --name="t$$" down
	bed_up 2 --speed 0.5,2
	[ "$(cat "$dir"/cpu.cfs_{quota,period}_us | xargs)" = "40000 20000" ]
	STINT_TESTBED_CPUS=all run -2 "$stint" testbed --name="n$$" up 1
	[ "$output" = "stint testbed: STINT_TESTBED_CPUS: 'all' is not a number from 0.01 to 1024" ]
}

@test "testbed: two at once do not see each other" {
	bed_up 2
	bed_up 2 --name "t$$b"
	on h1 sh -c 'echo 1 >"$STINT_RUN_DIR/mark"'
	run timeout 300 "$stint" testbed --name "t$$b" exec h1 sh -c 'ls "$STINT_RUN_DIR"'
	[ -z "$output" ]
	run timeout 300 "$stint" testbed list
	[ "${#lines[@]}" = 3 ]
	timeout 300 "$stint" testbed list --json |
		python3 -c 'import json,sys; l = [json.loads(line) for line in sys.stdin]
assert [(x["hosts"], x["state"]) for x in l] == [(2, "up")] * 2, l'
	timeout 300 "$stint" testbed down --name "t$$b"
	on h1 true
}

@test "testbed: up twice is refused, down twice is fine" {
	bed_up 1
	run bed_up 1
	[ "$status" = 1 ]
	[[ $output == *"is up"*"stint testbed down"* ]]
	timeout 300 "$stint" testbed down
	timeout 300 "$stint" testbed down
	run on h1 true
	[ "$status" = 1 ]
	bed_up 2
}

@test "testbed: of two that come up at the same time under a name, one does" {
	bed_up 3 >"$BATS_TEST_TMPDIR/first" 2>&1 3>&- &
	first=$!
	run bed_up 3
	second=$status
	wait $first && first=0 || first=$?
	cat "$BATS_TEST_TMPDIR/first" && echo "$output"
	[ $((first + second)) = 1 ]
	grep -q "is up" "$BATS_TEST_TMPDIR/first" - <<<"$output"
	on h3 true
}

@test "testbed: down ends what runs there, and nothing else" {
	bed_up 2
	sleep 1000 3>&- &
	other=$!
	"$stint" testbed exec h1 sh -c 'setsid sleep 1000 & echo $! >"$0"; sleep 1000' \
		"$BATS_TEST_TMPDIR/pid" 3>&- &
	started=$!
	eventually test -s "$BATS_TEST_TMPDIR/pid"
	timeout 300 "$stint" testbed down
	ended "$(cat "$BATS_TEST_TMPDIR/pid")"
	run wait $started
	[ "$status" = 137 ]
	kill -0 $other
	kill $other
}

@test "testbed: up killed at any point leaves nothing that down cannot remove" {
	for t in 0.001 0.002 0.003 0.004 0.006 0.008 0.010 0.015; do
		timeout -s KILL $t "$stint" testbed up 5 --bare || true
		timeout 300 "$stint" testbed down
		[ "$(leftovers)" = "$before" ]
	done
	timeout -s KILL 0.004 "$stint" testbed up 5 --bare || true
	bed_up 1 # an up removes what a broken one left
}

@test "testbed: down killed at any point is finished by the next" {
	for t in 0.001 0.002 0.003 0.005 0.008; do
		bed_up 4
		timeout -s KILL $t "$stint" testbed down || true
		timeout 300 "$stint" testbed down
		[ "$(leftovers)" = "$before" ]
	done
}

@test "testbed: down that fails at a host removes all the others" {
	bed_up 3
	on h1 sh -c 'touch "$STINT_RUN_DIR/capsules"' # where a directory must be
	run -1 timeout 300 "$stint" testbed down
	[ "${#lines[@]}" = 1 ]
	[[ $(leftovers) == *"cgroups: "$'\n'* ]]
	# what may be left is h1's run directory, which may be a mount
	[[ $(leftovers) == *"mounts: "[01] ]] && ! mountpoint -q "$(rundir h2)"
	rm "$(rundir h1)/capsules"
	timeout 300 "$stint" testbed down
}

@test "testbed: down needs no file that somebody deleted, and up no group of others" {
	bed_up 2
	rm -rf "${STINT_TESTBED_DIR:?}/${STINT_TESTBED:?}" 2>/dev/null || true # all but mounts
	run -1 env STINT_TESTBED_DIR="$BATS_TEST_TMPDIR/other" timeout 300 "$stint" testbed up 1 --bare
	[[ $output == *"/stint-testbed.t$$"*"another --name"* ]]
	timeout 300 "$stint" testbed down
	[ "$(leftovers)" = "$before" ]
}

@test "testbed: down of one whose directory is gone tells of its groups and leaves them" {
	bed_up 1
	mkdir "$BATS_TEST_TMPDIR/other"
	run -1 env STINT_TESTBED_DIR="$BATS_TEST_TMPDIR/other" timeout 300 "$stint" testbed down
	[ "${#lines[@]}" = 1 ]
	[[ $output == *"/stint-testbed.t$$ is there"*"rmdir"* ]]
	on h1 true
	timeout 300 "$stint" testbed down
	# as the message says
	own=$(awk -F: '$2 == "cpu" || $2 ~ /^cpu,|,cpu/ {print $3}' /proc/self/cgroup)
	[ -d "/sys/fs/cgroup/cpu${own%/}" ] || skip "no cgroup v1 cpu controller"
	mkdir -p "/sys/fs/cgroup/cpu${own%/}/stint-testbed.t$$/h1"
	run -1 timeout 300 "$stint" testbed down
	sh -c "${output#*then }"
	timeout 300 "$stint" testbed down
}

@test "testbed: a cluster of its own, which commands find by its name" {
	serve 3 --speed 1,0.5,2
	timeout 300 "$stint" hosts --json >"$BATS_TEST_TMPDIR/hosts"
	python3 - "$BATS_TEST_TMPDIR/hosts" <<-'E'
	import json, sys
	hosts = [json.loads(line) for line in open(sys.argv[1])]
	assert [h["host"] for h in hosts] == ["h1", "h2", "h3"], hosts
	E
	timeout 300 "$stint" run -n 3 hostname | sort >"$BATS_TEST_TMPDIR/names"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/names")" = 3 ]
	# Another testbed at the same time, with the same addresses.
	timeout 300 "$stint" testbed up 2 --name "t$$b"
	STINT_TESTBED=t$$b timeout 300 "$stint" run -n 1 true
	timeout 300 "$stint" testbed down --name "t$$b"
	timeout 300 "$stint" run -n 1 true
}

@test "testbed: down ends agents, keepers and ranks, also of killed parents" {
	serve 2
	"$stint" run -n 2 sleep 1000 >/dev/null 2>&1 3>&- &
	run=$!
	eventually sh -c '[ $(ls "$0"/h*/run/capsules/*/record 2>/dev/null | wc -l) = 2 ]' \
		"$STINT_TESTBED_DIR/$STINT_TESTBED"
	kill -9 "$(cut -d' ' -f1 "$STINT_TESTBED_DIR/$STINT_TESTBED/h1.service")"
	kill -9 "$(cut -d' ' -f1 "$STINT_TESTBED_DIR/$STINT_TESTBED/controller.service")"
	timeout 300 "$stint" testbed down
	[ "$(leftovers)" = "$before" ]
	run -0 sh -c 'ls "$STINT_TESTBED_DIR"'
	kill -9 $run || true # it waits for its controller to come back
	wait $run || true
}

@test "testbed: up with agents killed at any point leaves nothing" {
	for t in 0.02 0.05 0.1 0.15 0.2 0.3; do
		timeout -s KILL $t "$stint" testbed up 3 || true
		timeout 300 "$stint" testbed down
		[ "$(leftovers)" = "$before" ]
	done
}

@test "testbed: bad arguments are refused with one line" {
	for args in "up" "up 0" "up 65" "up x" "up 2 3" "down 1" "nonsense" \
		"exec" "exec h1" "up 1 --cpus x" "up 1 --cpus 1,,2" \
		"up 1 --speed -1" "up 1 --speed nan"; do
		run timeout 300 "$stint" testbed $args
		[ "$status" = 2 ] || { echo "$args: $status $output"; false; }
	done
	run timeout 300 "$stint" testbed up 1 --name a/b
	[ "$status" = 2 ]
	[ "${#lines[@]}" = 1 ]
	run timeout 300 "$stint" testbed up 1 --name abcdefghijklmnopqrstuvwxyz
	[ "$status" = 2 ]
	run on ../h1 true
	[ "$status" = 1 ]
}

@test "testbed: exec, owner and play say which testbed or host is missing" {
	printf '%s\n' time,host,what,value 0,h2,owner,here >"$BATS_TEST_TMPDIR/script"
	none="no testbed $STINT_TESTBED; see: stint testbed list"
	for args in "exec h2 true" "owner h2 here" "play $BATS_TEST_TMPDIR/script"; do
		run -1 timeout 300 "$stint" testbed $args
		[ "$output" = "stint testbed: $none" ] || { echo "$args: $output"; false; }
	done
	bed_up 1
	for args in "exec h2 true" "owner h2 here" "play $BATS_TEST_TMPDIR/script"; do
		run -1 timeout 300 "$stint" testbed $args
		[ "$output" = "stint testbed: testbed $STINT_TESTBED has no host h2" ] || { echo "$args: $output"; false; }
	done
}

@test "testbed: its parties killed in any order, down leaves nothing" {
	timeout 300 "$BATS_TEST_DIRNAME/mpi/tidy.py" --rounds 3 --seed $$ >"$BATS_TEST_TMPDIR/tidy" || {
		cat "$BATS_TEST_TMPDIR/tidy"
		false
	}
}
