#!/usr/bin/env bats
# What always belongs to the owner: processors, memory, a share of disks and links
bats_require_minimum_version 1.5.0
load owners

setup() {
	jobs_setup
}

teardown() {
	jobs_teardown
}

rank_pid() { # JOB
	jobs "j[$1]['ranks'][0]['pid']"
}

cpus_of() { # PID
	taskset -cp "$1" 2>/dev/null | sed 's/.*: //'
}

runs_on() { # PID CPUS
	[ "$(cpus_of "$1")" = "$2" ]
}

# A control group with all guests of h1: that of this controller, or the one of v2.
guests() { # CONTROLLER
	local dir
	dir=$(sed -n "s/^cgroup \(.*\/$1\/.*\/h1\)$/\1/p" "$bed/record" | head -n 1)
	[ -n "$dir" ] || dir=$(sed -n 's/^cgroup \(.*\/h1\)$/\1/p' "$bed/record")
	echo "$dir"/stint-guests.*
}

guests_memory() {
	cat "$(guests memory)"/memory.{limit_in_bytes,max} 2>/dev/null
}

disks_read_at() { # BYTES-A-SECOND
	cat "$(guests blkio)"/{blkio.throttle.read_bps_device,io.max} 2>/dev/null |
		grep -qE " (rbps=)?$1( wbps=$1 .*)?$"
}

disks_write_at() { # BYTES-A-SECOND
	cat "$(guests blkio)"/{blkio.throttle.write_bps_device,io.max} 2>/dev/null |
		grep -qE " (rbps=$1 wbps=)?$1( .*)?$"
}

disks_are_free() {
	! cat "$(guests blkio)"/{blkio.throttle.read_bps_device,io.max} 2>/dev/null | grep -q .
}

# Without waiting: the log does not repeat a line.
set_terms() { # HOST "NAME = VALUE"...
	local host=$1
	shift
	printf '%s\n' "$@" >>"$bed/$host/stint.conf"
	kill -HUP "$(service_pid "$host")"
}

@test "processors that are the owner's: of guests who are there as well, and with the controller dead" {
	local all last pid
	last=$(nproc --all)
	last=$((last - 1))
	[ "$last" -gt 0 ] || skip "this machine has one processor"
	all=$(cpus_of $$)
	serve 2
	sleeper --hosts h1 -n 1
	eventually is 'j[1]["state"]' running
	pid=$(rank_pid 1)
	eventually runs_on "$pid" "$all"
	slay "$(service_pid controller)"
	set_terms h1 "cores = $last"
	eventually runs_on "$pid" "$last"
	# A rank cannot take them back.
	taskset -cp "$all" "$pid" || true
	eventually runs_on "$pid" "$last"
	# One line is reported, and the old settings stay.
	set_terms h1 "cores = many"
	eventually grep -E "terms=kept error=\"$bed/h1/stint.conf:[0-9]+: .*many" "$bed/h1/agent.log"
	eventually runs_on "$pid" "$last"
	sed -i '/many/d' "$bed/h1/stint.conf"
	start_controller
	eventually hosts_up 2
	# The rank did not bind itself, so it may run anywhere at h2. At h1 its engine keeps
	# off the owner's processors, too.
	migrate 1.0 h2
	eventually runs_on "$(rank_pid 1)" "$all"
	migrate 1.0 h1
	eventually runs_on "$(rank_pid 1)" "$last"
	# A rank that has bound itself stays bound at its destination, if it may run there.
	taskset -cp "$last" "$(rank_pid 1)"
	set_terms h1 "cores = 0"
	eventually eval '[ "$(cat "$(guests cpuset)/cpuset.cpus")" != '"$last"' ]'
	migrate 1.0 h2
	eventually runs_on "$(rank_pid 1)" "$last"
	taskset -cp 0 "$(rank_pid 1)"
	set_terms h1 "cores = $last"
	migrate 1.0 h1
	eventually runs_on "$(rank_pid 1)" "$last"
	st kill 1
}

@test "memory that is the owner's: guests together have the rest, whoever comes is killed before the owner" {
	local total pid
	total=$(awk '/^MemTotal/ { print $2 }' /proc/meminfo)
	serve 1
	begin run --hosts h1 python3 -S -c 'import time
b = bytearray(48 << 20)
b[::4096] = bytes([1]) * (len(b) >> 12)
print("has", flush=True)
time.sleep(1000)' >"$bed/out" 2>&1
	eventually grep -q has "$bed/out"
	pid=$(rank_pid 1)
	# No guest is killed for that, and the agent says so.
	set_terms h1 "memory = $((total - 20000))k"
	eventually grep 'guests=loose why="memory: guests have more' "$bed/h1/agent.log"
	[ -d "/proc/$pid" ]
	set_terms h1 "memory = $((total - 120000))k"
	eventually grep guests=bound "$bed/h1/agent.log"
	[ "$(guests_memory)" -le 122880000 ]
	run ! st run --hosts h1 python3 -S -c 'b = bytearray(256 << 20)
b[::4096] = bytes([1]) * (len(b) >> 12)
print("more", flush=True)'
	[[ "$output" != *more* ]]
	st testbed exec h1 python3 -S -c 'b = bytearray(256 << 20)
b[::4096] = bytes([1]) * (len(b) >> 12)'
	st kill --signal=KILL 1 || true
}

@test "a group of guests that somebody has removed is made anew, with its bounds, for the next guest" {
	local dirs
	serve 1
	set_terms h1 "disk = 20M"
	eventually disks_read_at $((20 << 20))
	dirs=$(find /sys/fs/cgroup -depth -type d -path "*/h1/stint-guests.*")
	dirs=$(grep "stint-testbed.$STINT_TESTBED/" <<<"$dirs")
	[ -n "$dirs" ]
	xargs rmdir <<<"$dirs"
	sleeper --hosts h1 -n 1
	eventually is 'j[1]["state"]' running
	grep -qE "(blkio|^0:):.*/stint-guests\." "/proc/$(rank_pid 1)/cgroup"
	grep -qE "(memory|^0:):.*/stint-guests\." "/proc/$(rank_pid 1)/cgroup"
	eventually disks_read_at $((20 << 20))
	st kill 1
}

@test "the owner's own ranks are bound by none of it" {
	local all pid
	serve 1
	all=$(cpus_of $$)
	set_terms h1 "users = root" "cores = 1000" "disk = 20M"
	eventually disks_read_at $((20 << 20))
	sleeper --hosts h1 -n 1
	eventually is 'j[1]["state"]' running
	eventually runs_on "$(rank_pid 1)" "$all"
	# Guests that come from now on.
	set_terms h1 "users = daemon" "disk = 21M"
	eventually disks_read_at $((21 << 20))
	sleeper --hosts h1 -n 1
	eventually is 'j[2]["state"]' running
	pid=$(rank_pid 2)
	grep -qE "(blkio|^0:):.*/stint-guests\." "/proc/$pid/cgroup"
	disks_write_at $((21 << 20))
	set_terms h1 "disk = any"
	eventually disks_are_free
	st kill 1 2
}

# All ranks send so many MB to the last one, at the same time, and print how long it took,
# in whole seconds.
stream='import os, socket, sys, time
rank, n = int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])
size = int(sys.argv[1]) << 20
peer = socket.gethostname().rsplit("-", 1)[0] + "-%d" % (n - 1)
s = socket.socket()
if rank == n - 1:
    s.bind(("0.0.0.0", 7777)); s.listen(5)
    all = [s.accept()[0] for i in range(n - 1)]
    for c in all:
        c.sendall(b"g")
    for c in all:
        got = 0
        while got < size:
            got += len(c.recv(1 << 20))
        c.sendall(b"x")
else:
    while s.connect_ex((peer, 7777)): s.close(); time.sleep(0.05); s = socket.socket()
    s.recv(1)
    began = time.monotonic()
    s.sendall(bytes(size))
    s.recv(1)
    print("took", int(time.monotonic() - began), flush=True)'

@test "a share of the uplink for guests, all of them together; the owner's own have none" {
	serve 2
	set_terms h1 "net = 2M"
	eventually eval '[[ "$(st testbed exec h1 nft list tables 2>/dev/null)" == *stint-guests* ]]'
	# Two ranks, 10 MB; a second's worth and a bit more may be saved up.
	run -0 st run -n 3 --hosts h1,h1,h2 python3 -c "$stream" 5
	echo "$output"
	[ "$(sed -n 's/took //p' <<<"$output" | sort -n | tail -1)" -ge 3 ]
	# The agent looks for its rules, because whoever loads a firewall may flush them.
	st testbed exec h1 nft flush ruleset
	eventually eval '[[ "$(st testbed exec h1 nft list tables 2>/dev/null)" == *stint-guests* ]]'
	sleeper --hosts h1 -n 1
	eventually eval 'st testbed exec h1 ip -o link | grep -q " stg"'
	set_terms h1 "users = root"
	sleeper --hosts h1 -n 1
	eventually eval 'st testbed exec h1 ip -o link | grep -q " sto"'
	set_terms h1 "net = 1k"
	eventually grep -q 'terms=kept error=".*net: 1k a second is too little' "$bed/h1/agent.log"
	sed -i '/1k/d' "$bed/h1/stint.conf"
	set_terms h1 "net = any"
	eventually eval '[[ "$(st testbed exec h1 nft list tables 2>/dev/null)" != *stint-guests* ]]'
	st kill 1 2 3 || true
}

moved_in() { # JSON: the move's time in whole seconds that were over
	echo $(($(sed -n 's/.*"total_us": *\([0-9]*\).*/\1/p' <<<"$1") / 1000000))
}

@test "a share of the uplink for moves, of either host, also one that is set while a rank is under way" {
	local said
	serve 2
	begin run --hosts h1 python3 -S -c 'import time
b = bytes([7]) * (24 << 20)
print("has", flush=True)
while b == bytes([7]) * (24 << 20): time.sleep(0.2)' >"$bed/out" 2>&1
	eventually grep -q has "$bed/out"
	set_terms h1 "move-net = 8M"
	eventually grep -q terms=read "$bed/h1/agent.log"
	said=$(migrate 1.0 h2 --json)
	echo "$said"
	[ "$(moved_in "$said")" -ge 2 ]
	# The limit also holds for the destination.
	said=$(migrate 1.0 h1 --json)
	echo "$said"
	[ "$(moved_in "$said")" -ge 2 ]
	is 'j[1]["state"]' running
	st kill 1
}

@test "a job of the host's own user is no guest: it starts while the owner is there, stays, and disturbs nobody" {
	serve 2
	set_terms h1 "users = $(id -un)" "quiet = 0" "load = any"
	eventually grep -q terms=read "$bed/h1/agent.log"
	st testbed owner h1 here
	eventually owner_is 'h["h1"]["owner"]' here
	# Now the host takes no job but those of its own user, as this one is.
	sleeper --hosts h1 -n 1
	eventually is 'j[1]["state"]' running
	run -0 st run --hosts h1 echo short
	st testbed owner h1 away
	eventually owner_is 'h["h1"]["owner"]' away
	st testbed owner h1 here
	eventually owner_is 'h["h1"]["owner"]' here
	owner_is '[h["h1"]["disturbed"], h["h1"]["guests"]]' '[0, 0]'
	where_is 1 "['h1']"
	# The engine of such a job is not bound either.
	migrate 1.0 h2
	migrate 1.0 h1
	where_is 1 "['h1']"
	# The record notes whose host it is, and can be replayed.
	st record >"$BATS_TEST_TMPDIR/rec"
	grep -q "^host .* own=$(id -u)" "$BATS_TEST_TMPDIR/rec"
	st sim --replay "$BATS_TEST_TMPDIR/rec" --json | grep -q '"equal": *true'
	st kill 1
}
