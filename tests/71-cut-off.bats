#!/usr/bin/env bats
# A host's agent is cut off from its controller while the owner returns, and while it is
# given back: the agent acts alone, and once the link is back there is one copy of the
# rank, and each return was counted once
bats_require_minimum_version 1.5.0
load owners

setup() {
	jobs_setup
}

teardown() {
	jobs_teardown
}

# The controller is at h3, and h1's agent hears it over the network.
serve_apart() { # OPTIONS OF THE CONTROLLER...
	serve 3
	slay "$(service_pid controller)"
	on h3 timeout 900 "$stint" controller --state-dir="$bed/controller" --pool=10.77.128.0/17 \
		--listen="unix:$bed/controller.sock" --listen=10.77.0.3:7077 --min-uid=0 \
		--log="$bed/controller.log" "$@" >>"$bed/controller.log" 2>&1 3>&- &
	# shellcheck disable=SC2034 # ended by jobs_teardown
	controller=$!
	eventually hosts_up 3
	slay "$(service_pid h1)"
	start_agent h1 --controller=10.77.0.3:7077
	eventually grep -q 'controller=10.77.0.3:7077 connected' "$bed/h1/agent.log"
	st drain h3
	eventually json_is '[(h["state"], h["drain"]) for h in j[:2]]' "[('up', False), ('up', False)]" hosts
}

# Nothing that they say to each other arrives any more; both wait for it.
cut_off() {
	on h1 nft "add table ip cut
		add chain ip cut in { type filter hook input priority 0; }
		add chain ip cut out { type filter hook output priority 0; }
		add rule ip cut in ip saddr 10.77.0.3 tcp sport 7077 drop
		add rule ip cut out ip daddr 10.77.0.3 tcp dport 7077 drop"
}

link_back() {
	on h1 nft delete table ip cut
	eventually json_is 'j[0]["state"]' up hosts
}

given_up() {
	eventually json_is 'j[0]["state"]' down hosts
}

lowered() { # PID
	[ "$(chrt -p "$1" | sed -n 's/.*scheduling policy: //p')" = SCHED_IDLE ]
}

# What h1's agent keeps: "DISTURBED RETURNS".
on_paper() {
	[ "$(awk '$1 == "day" { print $3, $4 }' "$bed/h1/run/contract")" = "$1" ]
}

counted() { # "DISTURBED RETURNS"
	on_paper "$1"
	eventually owner_is 'h["h1"]["disturbed"], h["h1"]["returns"]' "$1"
}

# The program's processes, stopped ones included.
copies_are() { # COUNT PROGRAM AND ITS WORDS
	[ "$(pgrep -fc -- "^[^ ]*$2")" = "$1" ]
}

@test "cut off, the agent gives the owner the host as far as it can alone; the rank leaves when the link is back" {
	local pid
	serve_apart --policy=stint:gain=100 --lost-after=1h
	begin run --hosts h1,h2 -n 1 "$count" >"$bed/out" 2>"$bed/err"
	eventually is 'j[1]["state"]' running
	where_is 1 "['h1']"
	pid=$(jobs 'j[1]["ranks"][0]["pid"]')
	cut_off
	st testbed owner h1 here
	eventually lowered "$pid"
	given_up
	# Nobody else knows; the owner goes and comes once more.
	st testbed owner h1 away
	eventually eval '! lowered "$pid"'
	st testbed owner h1 here
	eventually lowered "$pid"
	eventually on_paper "2 2"
	[ -d "/proc/$pid" ]
	where_is 1 "['h1']"
	link_back
	eventually where_is 1 "['h2']"
	eventually owner_is 'h["h1"]["giving"], h["h1"]["guests"]' "False 0"
	counted "2 2"
	eventually [ ! -d "/proc/$pid" ]
	st kill -s USR1 1
	wait "${background##* }" || { cat "$bed/err"; false; }
	counted_whole "$bed/out"
	st record >"$bed/rec"
	st sim --replay "$bed/rec"
}

# The rank is under way from h1 to h2, and its engine will be at work for some time.
give_back_slowly() {
	on h1 tc qdisc add dev eth0 root tbf rate 8mbit burst 20kb latency 400ms
	begin run --hosts h1,h2 "$STINT_BUILD/tests/move/check-bigmem" 24 100 1000 >"$bed/big" 2>&1
	eventually grep -q READY "$bed/big"
	where_is 1 "['h1']"
	st testbed owner h1 here
	eventually grep -q 'job=1 rank=0 from=h1 to=h2 .*move=begun' "$bed/controller.log"
	eventually eval 'ls "$bed"/h2/run/capsules/1.0*/record'
}

# One copy, which is right in all its pages.
ends_well() {
	eventually where_is 1 "['h2']"
	eventually owner_is 'h["h1"]["giving"], h["h1"]["guests"]' "False 0"
	counted "1 1"
	eventually copies_are 1 "check-bigmem 24 100 1000"
	st testbed owner h1 away
	st record >"$bed/rec"
	st sim --replay "$bed/rec"
	is 'j[1]["state"]' running
	st kill 1
}

@test "cut off from the controller while the rank leaves: it arrives, and that is known once the link is back" {
	serve_apart --policy=stint:gain=100 --lost-after=1h
	give_back_slowly
	cut_off
	given_up
	on h1 tc qdisc del dev eth0 root
	link_back
	ends_well
}

@test "cut off from all others while the rank leaves: it stays, and leaves when the link is back" {
	serve_apart --policy=stint:gain=100 --lost-after=1h
	give_back_slowly
	on h1 ip link set eth0 down
	given_up
	on h1 tc qdisc del dev eth0 root
	on h1 ip link set eth0 up
	eventually json_is 'j[0]["state"]' up hosts
	ends_well
}
