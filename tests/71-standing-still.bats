#!/usr/bin/env bats
# Ranks that cannot leave their hosts now: they stand still, leave when there is a place,
# and go on when their hosts may be used again
bats_require_minimum_version 1.5.0
load owners

setup() {
	jobs_setup
}

teardown() {
	jobs_teardown
}

# A rank at h1 that prints all the time; its job may begin anew with --requeue.
printer() { # OPTIONS...
	begin run "$@" --hosts h1 -n 1 python3 -S -c 'import time
while not time.sleep(0.05): print("here", flush=True)' >"$bed/printed"
	eventually prints
}

prints() {
	local was
	was=$(stat -c %s "$bed/printed")
	sleep 0.3
	[ "$(stat -c %s "$bed/printed")" -gt "$was" ]
}

stands_still() {
	! prints
}

failed_moves() { # AT LEAST
	[ "$(grep -c 'job=1 rank=0 .*moved=no' "$bed/controller.log")" -ge "$1" ]
}

# The policy does not know whom h2 lets in, so that moves to it begin, and fail before the
# rank is stopped.
cannot_leave_for_now() { # POLICY
	serve 2 --policy="$1"
	terms h2 "guests-of = daemon"
	printer
	st testbed owner h1 here
	eventually failed_moves 1
	eventually stands_still
	eventually owner_is 'h["h1"]["giving"]' False
	# It is tried again, which lets it run no more than it does now.
	eventually failed_moves 2
	where_is 1 "['h1']"
	stands_still
	st testbed owner h1 away
	eventually prints
	is 'j[1]["state"]' running
	st testbed owner h1 here
	eventually stands_still
	terms h2 "guests-of = root"
	eventually where_is 1 "['h2']"
	eventually prints
	st record >"$bed/rec"
	st sim --replay "$bed/rec"
	st kill 1
}

@test "moves that fail before the rank is stopped: it stands still meanwhile, and goes on when its owner has gone: stint" {
	cannot_leave_for_now stint
}

@test "... spread, which remembers no moves" {
	cannot_leave_for_now spread
}

closed_for_the_day() {
	owner_is 'h["h1"]["owner"], h["h1"]["closed"]' "away slow"
}

# h1 is closed for the day because that took longer than no time at all, and its owner has
# gone; that of h2 is there.
given_back_too_slowly() { # POLICY
	serve 2 --policy="$1"
	terms h1 "give-back = 1us" "freeze = ${2:-1h}"
	st testbed owner h2 here --for 2h
	eventually owner_is 'h["h2"]["closed"]' owner
}

gone_again() {
	st testbed owner h1 here
	eventually stands_still
	st testbed owner h1 away
	eventually closed_for_the_day
	stands_still
}

leaves_a_closed_host() { # POLICY
	given_back_too_slowly "$1"
	printer
	gone_again
	where_is 1 "['h1']"
	# How far it was is told when the time to give back is over.
	grep -E 'host=h1 late=guest job=1 rank=0 why="(it stands still|no move of it is under way)"' "$bed/controller.log"
	# ... and stands in the accounts.
	owner_is 'h["h1"]["last"][-1]["late_us"] > 0, h["h1"]["last"][-1]["late"][:5]' "True 1.0: "
	st owner status --all | grep -E 'late by .*\(1\.0: (it stands still|no move of it is under way)\)'
	st testbed owner h2 away
	eventually where_is 1 "['h2']"
	eventually prints
	run ! st run --hosts h1 true
	[[ "$output" == *"h1 takes no guests: it was given back too slowly today"* ]]
	st record >"$bed/rec"
	st sim --replay "$bed/rec"
	st kill 1
	eventually asked jobs 'j[1]["ranks"][0]["late_us"] > 0 if 1 in j else 0' True 0 history --json
}

@test "a host that is closed for the day, with its owner away: its rank leaves as soon as there is a place: stint" {
	leaves_a_closed_host stint
}

@test "... spread" {
	leaves_a_closed_host spread
}

begins_anew_elsewhere() { # POLICY
	given_back_too_slowly "$1" 3s
	printer --requeue
	gone_again
	eventually is 'j[1]["state"]' waiting
	st why 1 | grep "requeue job 1: rank 0 has stood still on h1"
	st kill 1
}

@test "... or begins anew, if its user lets it, when it has stood still for as long as the terms say: stint" {
	begins_anew_elsewhere stint
}

@test "... spread, likewise" {
	begins_anew_elsewhere spread
}

on_paper() { # "DISTURBED RETURNS"
	[ "$(awk '$1 == "day" { print $3, $4 }' "$bed/h1/run/contract")" = "$1" ]
}

# While nobody takes what it prints.
wakes() { # PID
	local was
	was=$(grep ^voluntary "/proc/$1/status")
	sleep 0.5
	[ "$(grep ^voluntary "/proc/$1/status")" != "$was" ]
}

@test "no disturbance is left, and no controller is there: the agent stops who is still there, and the next return counts no more" {
	local pid
	serve 2 --policy=stint
	terms h1 "disturb = 1" "give-back = 4"
	st drain h2
	printer
	pid=$(jobs 'j[1]["ranks"][0]["pid"]')
	slay "$(service_pid controller)"
	st testbed owner h1 here
	eventually on_paper "1 1"
	wakes "$pid"
	st testbed owner h1 away
	eventually grep -q guests=stop "$bed/h1/agent.log"
	eventually eval '! wakes "$pid"'
	sleep 4
	st testbed owner h1 here
	eventually on_paper "1 2"
	start_controller --policy=stint
	eventually owner_is 'h["h1"]["disturbed"], h["h1"]["giving"]' "1 False"
	run ! wakes "$pid"
	# It is known to stand still, and leaves as soon as there is a place.
	st undrain h2
	eventually where_is 1 "['h2']"
	eventually prints
	st record >"$bed/rec"
	st sim --replay "$bed/rec"
	st kill 1
}
