#!/usr/bin/env bats
# A guest leaves a host whose owner keeps all processors busy
bats_require_minimum_version 1.5.0
load owners

setup() {
	jobs_setup
}

teardown() {
	[ -z "${busy:-}" ] || kill $busy 2>/dev/null || true
	jobs_teardown
}

# The owner computes on h1 by that many threads.
compute() { # NUMBER
	local i
	for ((i = 0; i < $1; i++)); do
		st testbed exec h1 sh -c 'while :; do :; done' </dev/null >/dev/null 2>&1 3>&- &
		busy="${busy:+$busy }$!"
	done
}

# Half a processor and eight threads: before, 64 MB were there for a minute.
@test "an owner who computes on all processors has the host back soon" {
	serve 2 --speed=0.5,1
	terms h1 "give-back = 10s"
	begin run --hosts h1 -n 1 "$STINT_BUILD/tests/move/check-bigmem" 64 2000 1000 >"$bed/out" 2>&1
	eventually grep -q READY "$bed/out"
	pid=$(jobs "j[1]['ranks'][0]['pid']")
	compute 8
	sleep 1
	st testbed owner h1 here
	patience=60 eventually where_is 1 "['h2']"
	patience=60 owner_is 'h["h1"]["giving"], h["h1"]["guests"]' "False 0"
	run ! test -e "/proc/$pid"
	# Nothing of it was real-time, and it was in time, which leaves the host open.
	[ "$(owners 'h["h1"]["last"][0]["took_us"] < 10_000_000')" = True ]
	run ! grep -q late=guest "$bed/controller.log"
	kill $busy
	st testbed owner h1 away
	eventually owner_is 'h["h1"]["closed"]' open
	# Whoever comes next has its own class, and so has its keeper.
	st run --hosts h1 true
	st kill 1
}
