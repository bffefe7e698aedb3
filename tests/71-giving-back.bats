#!/usr/bin/env bats
# Owners return: their guests get out of the way at once, and leave
bats_require_minimum_version 1.5.0
load owners

setup() {
	jobs_setup
}

teardown() {
	jobs_teardown
}

rank_pid() { # JOB RANK
	jobs "j[$1]['ranks'][$2]['pid']"
}

# The scheduling classes of all its threads.
classes() { # PID
	local t
	for t in /proc/"$1"/task/*; do
		chrt -p "${t##*/}" | sed -n 's/.*scheduling policy: //p'
	done | sort -u
}

is_class() { # PID CLASS
	[ "$(classes "$1")" = "$2" ]
}

# Do other processes of h1 get the processor before those of rank 1.0?  A class counts only
# within its control group.
is_last() { # 0|1
	local dir
	while read -r dir; do
		[ ! -e "$dir/cpu.idle" ] || [ "$(cat "$dir/cpu.idle")" = "$1" ] || return 1
	done < <(sed -n 's/^cgroup //p' "$bed/h1/run/capsules/1.0/record")
}

@test "an owner comes: the rank leaves by itself, and the host is used again" {
	serve 2
	sleeper --hosts h1 -n 1
	eventually is 'j[1]["state"]' running
	st testbed owner h1 here
	eventually where_is 1 "['h2']"
	eventually owner_is 'h["h1"]["returns"], h["h1"]["disturbed"], h["h1"]["giving"]' "1 1 False"
	[ "$(owners 'h["h1"]["last"][0]["took_us"] > 0')" = True ]
	[ "$(owners 'h["h1"]["closed"], h["h2"]["closed"]')" = "owner open" ]
	# What has moved has its own class again.
	is_class "$(rank_pid 1 0)" SCHED_OTHER
	run st why 1
	[[ "$output" == *"migrate job 1 rank 0 to h2"*"the owner of h1 needs it"* ]]
	run ! st run --hosts h1 true
	[[ "$output" == *"host h1 takes no guests: its owner is there"* ]]
	st testbed owner h1 away
	eventually owner_is 'h["h1"]["closed"]' open
	st run --hosts h1 true
	st record >"$bed/rec"
	st sim --replay "$bed/rec"
	st kill 1
}

@test "with the controller dead, guests get the lowest claim and give it back" {
	serve 1
	begin run --hosts h1 -n 1 sh -c \
		'trap "sleep 1000 &" USR1; echo up; while :; do sleep 0.01; done' >>"$bed/out" 2>&1
	eventually grep -q up "$bed/out"
	pid=$(rank_pid 1 0)
	is_class "$pid" SCHED_OTHER
	slay "$(service_pid controller)"
	is_last 0
	st testbed owner h1 here
	eventually is_class "$pid" SCHED_IDLE
	is_last 1
	# The rank's keeper, and what it forks from now on.
	kill -USR1 "$pid"
	eventually pgrep -xf -P "$pid" "sleep 1000"
	is_class "$(pgrep -xf -P "$pid" "sleep 1000")" SCHED_IDLE
	st testbed owner h1 away
	eventually is_class "$pid" SCHED_OTHER
	is_last 0
	start_controller
}

@test "no other host: the rank stands still, goes on when the owner leaves" {
	serve 1
	sleeper --hosts h1 -n 1
	eventually is 'j[1]["state"]' running
	pid=$(rank_pid 1 0)
	st testbed owner h1 here
	eventually grep -q "freeze job 1 rank 0: the owner of h1 needs it, and no other host" "$bed/controller.log"
	frozen() { st record | grep -E '^(freeze|thaw) ' | tail -1 | grep -q "^$1 "; }
	eventually frozen freeze
	st testbed owner h1 away
	eventually frozen thaw
	is 'j[1]["state"]' running
	st record >"$bed/rec"
	st sim --replay "$bed/rec"
	st kill 1
}

@test "... and begins anew when that has lasted for too long, if its user lets it" {
	serve 1
	terms h1 "freeze = 1s"
	sleeper --requeue -n 1
	eventually is 'j[1]["state"]' running
	st testbed owner h1 here
	eventually is 'j[1]["state"]' waiting
	run st why 1
	echo "$output"
	[[ "$output" == *"requeue job 1: rank 0 has stood still on h1"* ]]
	st testbed owner h1 away
	eventually is 'j[1]["state"]' running
	st kill 1
}

@test "terms: share, freeze first, and more guests than are allowed" {
	serve 2
	terms h1 "on-return = share"
	sleeper --hosts h1 -n 1
	eventually is 'j[1]["state"]' running
	pid=$(rank_pid 1 0)
	st testbed owner h1 here
	eventually is_class "$pid" SCHED_IDLE
	eventually owner_is 'h["h1"]["closed"], h["h1"]["leave"]' "owner False"
	where_is 1 "['h1']"
	st testbed owner h1 away
	eventually is_class "$pid" SCHED_OTHER
	terms h1 "on-return = freeze" "freeze = 2s"
	st testbed owner h1 here
	eventually grep -q "freeze job 1 rank 0: the owner of h1 needs it, and the terms" "$bed/controller.log"
	eventually where_is 1 "['h2']"
	terms h2 "guests = 1"
	eventually owner_is 'h["h2"]["closed"]' full
	run st run --hosts h2 true
	echo "$output"
	[[ "$output" == *"its owner allows 1"* ]]
	st kill 1
}

@test "whose ranks may be guests is the owner's to say" {
	serve 1
	terms h1 "guests-of = nobody, daemon"
	run ! st run --hosts h1 true
	echo "$output"
	[[ "$output" == *"lets in no guests of root"* ]]
	# The log does not say twice in a row that terms were read.
	echo "guests-of = root" >>"$bed/h1/stint.conf"
	kill -HUP "$(service_pid h1)"
	eventually st run --hosts h1 true
}

@test "bad terms: one line with file and line, and the old ones stay" {
	serve 1
	terms h1 "quiet = 9000d" "disturb = many"
	grep -q "terms=kept error=\"$bed/h1/stint.conf:8: disturb: 'many' is not a whole number\"" "$bed/h1/agent.log"
	owner_is 'h["h1"]["closed"]' open
	sed -i '$d' "$bed/h1/stint.conf"
	terms h1
	eventually owner_is 'h["h1"]["closed"]' quiet
	run ! st run --hosts h1 true
	[[ "$output" == *"has not been away for long enough"* ]]
	begin run true
	eventually is 'j[1]["state"]' waiting
	terms h1 "quiet = 0"
	eventually is 'j[1]["state"]' "done"
}

@test "the contract: disturbed as often as allowed, closed for the day, also for the next agent" {
	serve 2
	terms h1 "disturb = 2"
	for i in 1 2; do
		st run --hosts h1 true
		eventually owner_is 'h["h1"]["guests"]' 0
		st testbed owner h1 here
		eventually owner_is 'h["h1"]["disturbed"]' "$i"
		st testbed owner h1 away
		eventually owner_is 'h["h1"]["owner"] == "here"' False
	done
	eventually owner_is 'h["h1"]["closed"], h["h1"]["left"]' "disturbed 0"
	run ! st run --hosts h1 true
	[[ "$output" == *"disturbed as often as the terms allow"* ]]
	[ "$(st run hostname)" != "" ]
	slay "$(service_pid h1)"
	start_agent h1
	eventually owner_is 'h["h1"]["closed"], h["h1"]["disturbed"], h["h1"]["up"]' "disturbed 2 True"
	# A contract that cannot be read counts as one with too many disturbances.
	end_agent=$(pgrep -n -f -- "--run-dir=$bed/h1/run .*--config")
	slay "$end_agent"
	echo nonsense >"$bed/h1/run/contract"
	start_agent h1
	eventually owner_is 'h["h1"]["closed"], h["h1"]["up"]' "lost True"
}

@test "owners return everywhere at once, and during a move, from it and to it" {
	serve 3
	sleeper --hosts h1,h2 -n 2
	eventually is 'j[1]["state"]' running
	for h in h1 h2 h3; do st testbed owner $h here; done
	eventually owner_is 'all(i["leave"] for i in h.values())' True
	for h in h1 h2 h3; do st testbed owner $h away; done
	eventually owner_is 'all(i["closed"] == "open" for i in h.values())' True
	# Moves during which the owner of either host returns.
	for i in 1 2 3 4; do
		begin migrate 1.0 h3 >>"$bed/out" 2>&1
		st testbed owner h3 here
		st testbed owner h1 here
		eventually owner_is 'h["h1"]["guests"] + h["h3"]["guests"]' 0
		eventually where_is 1 "['h2', 'h2']"
		st testbed owner h1 away
		st testbed owner h3 away
		eventually owner_is 'h["h1"]["closed"], h["h3"]["closed"]' "open open"
		migrate 1.0 h1
	done
	is 'j[1]["state"]' running
	st record >"$bed/rec"
	st sim --replay "$bed/rec"
	st kill 1
}

# A host's agent connects through this relay, which keeps its messages back while $bed/hold
# is there: then the controller does not know what the agent does.
slow_host() { # HOST
	local host=$1
	python3 -c 'import os, select, socket, sys
here, there, hold = sys.argv[1:]
s = socket.socket(socket.AF_UNIX)
s.bind(here)
s.listen()
a, b = s.accept()[0], socket.socket(socket.AF_UNIX)
b.connect(there)
while True:
    held = os.path.exists(hold)
    if held:
        open(hold + "s", "w").close()
    for f in select.select([b] if held else [a, b], [], [], 0.05)[0]:
        data = f.recv(65536)
        if not data:
            sys.exit()
        (a if f is b else b).sendall(data)' \
		"$bed/slow.sock" "$bed/controller.sock" "$bed/hold" 3>&- &
	background="${background:+$background }$!"
	eventually test -S "$bed/slow.sock"
	kill -9 "$(service_pid "$host")"
	eventually hosts_up $(($(json 'len(j)' hosts) - 1))
	start_agent "$host" --controller="unix:$bed/slow.sock"
	eventually hosts_up "$(json 'len(j)' hosts)"
	eventually owner_is "h['$host']['closed']" open
}

# The host's owner comes, which only its agent knows.
owner_unheard() { # HOST
	rm -f "$bed/holds"
	touch "$bed/hold"
	eventually test -e "$bed/holds"
	st testbed owner "$1" here
	eventually eval "grep 'host=' '$bed/$1/agent.log' | tail -n 1 | grep -q host=owner"
}

@test "an owner comes between the placement and the start: the rank starts elsewhere, once" {
	serve 2
	slow_host h1
	owner_unheard h1
	ran=$(mktemp /var/tmp/stint-ran.XXXXXX) # a rank's /tmp is its own
	begin run --hosts h1,h2 -n 1 sh -c "echo ran >>$ran; echo out" >"$bed/ran" 2>&1
	eventually is 'hosts(1) if 1 in j else ""' "['h1']"
	rm "$bed/hold"
	wait "${background##* }" || { cat "$bed/ran" "$bed/controller.log"; false; }
	[ "$(cat "$bed/ran")" = out ]
	where_is 1 "['h2']"
	grep 'job=1 rank=0 host=h1 start=refused' "$bed/controller.log"
	[ "$(cat "$ran")" = ran ]
	rm "$ran"
}

@test "... and where there is no other host its job waits for this one" {
	local where
	serve 1
	slow_host h1
	for where in "" --hosts=h1; do
		owner_unheard h1
		begin run $where -n 1 echo out >"$bed/ran" 2>&1
		n=$((${n:-0} + 1))
		eventually is "hosts($n) if $n in j else ''" "['h1']"
		rm "$bed/hold"
		eventually is "j[$n]['state']" waiting
		st why "$n" | tee "$bed/why"
		grep "h1 takes no guests: its owner is there" "$bed/why"
		st testbed owner h1 away
		wait "${background##* }" || { cat "$bed/ran" "$bed/controller.log"; false; }
		[ "$(cat "$bed/ran")" = out ]
	done
}

@test "... and a rank whose fellow has begun waits alone" {
	serve 2
	slow_host h1
	owner_unheard h1
	ran=$(mktemp /var/tmp/stint-ran.XXXXXX)
	begin run --hosts h1,h2 -n 2 sh -c "echo ran >>$ran" >"$bed/ran" 2>&1
	eventually is '[r["state"] for r in j[1]["ranks"]][1:] if 1 in j else ""' "['done']"
	rm "$bed/hold"
	eventually grep -q "job=1 rank=0 host=h1 start=refused" "$bed/controller.log"
	st why 1 | grep "rank 0 has not begun: h1 takes no guests"
	st testbed owner h1 away
	wait "${background##* }" || { cat "$bed/ran" "$bed/controller.log"; false; }
	[ "$(cat "$ran")" = "$(printf 'ran\nran')" ]
	where_is 1 "['h1', 'h2']"
	rm "$ran"
}

# Both ranks are started before the agent is heard, which so far has reported neither.
two_at_once() { # ARGUMENTS
	rm -f "$bed/holds"
	touch "$bed/hold"
	eventually test -e "$bed/holds"
	begin run "$@" -n 1 sleep 10000 >"$bed/one" 2>&1
	begin run "$@" -n 1 sleep 10000 >"$bed/two" 2>&1
	eventually is '[hosts(i) for i in (1, 2) if i in j]' "[['h1'], ['h1']]"
	eventually eval '[ "$(ls "$bed/h1/run/keepers" | grep -c "sock$")" -ge 1 ]'
	rm "$bed/hold"
}

@test "two starts at once where one guest is allowed: the other goes elsewhere" {
	serve 2
	terms h1 "guests = 1"
	slow_host h1
	two_at_once --hosts h1,h2
	eventually is '[j[i]["state"] for i in (1, 2)]' "['running', 'running']"
	is 'sorted(hosts(1) + hosts(2))' "['h1', 'h2']"
	grep 'rank=0 host=h1 start=refused' "$bed/controller.log"
	eventually owner_is 'h["h1"]["guests"], h["h1"]["closed"]' "1 full"
	st kill 1 2
}

@test "... or waits until there is room" {
	serve 1
	terms h1 "guests = 1"
	slow_host h1
	two_at_once --hosts h1
	eventually is 'sorted(j[i]["state"] for i in (1, 2))' "['running', 'waiting']"
	first=$(jobs '[i for i in (1, 2) if j[i]["state"] == "running"][0]')
	# Each try is refused for what the agent reports, and no program begins.
	eventually eval 'st why $((3 - first)) | grep "h1 takes no more guests: its owner allows 1"'
	eventually owner_is 'h["h1"]["guests"], h["h1"]["closed"]' "1 full"
	st kill "$first"
	eventually is "j[$((3 - first))]['state']" running
	st kill $((3 - first))
}
