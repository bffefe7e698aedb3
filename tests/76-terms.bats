#!/usr/bin/env bats
# What is always the owner's: processors, memory, a share of disks and links
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

# A group that all guests of h1 are in: that controller's, or v2's.
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

# No waiting: the log does not say the same line twice.
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
	# One line, and the old ones stay.
	set_terms h1 "cores = many"
	eventually grep -E "terms=kept error=\"$bed/h1/stint.conf:[0-9]+: .*many" "$bed/h1/agent.log"
	eventually runs_on "$pid" "$last"
	sed -i '/many/d' "$bed/h1/stint.conf"
	start_controller
	eventually hosts_up 2
	# It was not bound by itself, so that it is not there; and engines stay away, too.
	migrate 1.0 h2
	eventually runs_on "$(rank_pid 1)" "$all"
	migrate 1.0 h1
	eventually runs_on "$(rank_pid 1)" "$last"
	# What bound itself stays so, where it may run there.
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
	# Nobody is killed for it, and the agent says so.
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

@test "the owner's own ranks are bound by none of it" {
	local all pid
	serve 1
	all=$(cpus_of $$)
	set_terms h1 "users = root" "cores = 1000" "disk = 20M"
	eventually disks_read_at $((20 << 20))
	sleeper --hosts h1 -n 1
	eventually is 'j[1]["state"]' running
	eventually runs_on "$(rank_pid 1)" "$all"
	# Whoever comes from now on.
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
