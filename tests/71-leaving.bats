#!/usr/bin/env bats
# Hosts are left in order: by a deadline, for a reason that is told
bats_require_minimum_version 1.5.0
load owners

setup() {
	jobs_setup
}

teardown() {
	jobs_teardown
}

# What its last move sent, and how often.
moved() { # FIELD
	sed -n "s/.* moved=yes .*$1=\([0-9]*\).*/\1/p" "$bed/controller.log" | tail -n 1
}

@test "who would leave too late stands still for it: less is sent than without a deadline" {
	local far near
	serve 2
	for h in h1 h2; do # 20 MB a second
		on $h tc qdisc add dev eth0 root tbf rate 160mbit burst 100kb latency 400ms
	done
	terms h1 "give-back = 0.3s"
	begin run --hosts h2 python3 -S -c 'b = bytearray(8 << 20)
while True:
    for i in range(256):
        b[::4096] = bytes([i]) * (len(b) >> 12)' >"$bed/out" 2>&1
	eventually is 'j[1]["state"]' running
	st migrate 1.0 h1
	far=$(moved bytes)
	st testbed owner h1 here
	eventually where_is 1 "['h2']"
	eventually eval '[ "$(moved bytes)" != '"$far"' ]'
	near=$(moved bytes)
	grep moved= "$bed/controller.log"
	[ $((near * 3)) -lt $((far * 2)) ]
	[ "$(moved downtime_us)" -gt 200000 ]
	st kill 1
}
