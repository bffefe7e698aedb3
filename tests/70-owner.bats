#!/usr/bin/env bats
# The owner of a host: who tells of her presence, who is told, and what follows
bats_require_minimum_version 1.5.0
load owners

setup() {
	jobs_setup
}

teardown() {
	jobs_teardown
}

# What its agent knows of the owner, asked on the host.
owner_of() { # HOST EXPRESSION
	"$BATS_TEST_DIRNAME/ask.py" one "$2" "${3:-}" "${4:-}" \
		timeout 300 "$stint" testbed exec "$1" "$stint" owner status --json
}

# The agent knows that an owner is there, or away, and why.
knows() { # HOST WORD CAUSE
	owner_of "$1" 'j["owner"], j["cause"]' "$2 $3" "${patience:-0}"
}

# The same on all hosts.
users_are() { # COUNT
	json_is 'sum(h["users"] for h in j)' "$1" hosts
}

# The last event in the record says this of the host's owner: 1 here, 0 away.
recorded() { # HOST-NUMBER VALUE
	[ "$(st record | grep -oE "^(host [0-9]+|define) $(($1 - 1)) .*owner=[01]" |
		grep -oE 'owner=[01]' | tail -1)" = "owner=$2" ]
}

@test "an owner who comes is told at once, and to the policy" {
	serve 2
	[ "$(owner_of h2 'j["owner"], j["cause"]')" = "away nobody" ]
	recorded 2 0
	st testbed owner h2 here --for 1h
	[ "$(owner_of h2 'j["owner"], j["cause"], j["who"]')" = "here said root" ]
	eventually recorded 2 1
	recorded 1 0
	st testbed owner h2 away
	eventually recorded 2 0
	# What was seen becomes a script for simulations.
	st record -o "$BATS_TEST_TMPDIR/record"
	"$stint" trace import --from record "$BATS_TEST_TMPDIR/record" -o "$BATS_TEST_TMPDIR/script"
	[ "$(sed -n 's/.*,h2,owner,//p' "$BATS_TEST_TMPDIR/script" | tail -n 2 | xargs)" = "here away" ]
	"$stint" sim -p stint -w lanl:size=2 -n 3 --activity "$BATS_TEST_TMPDIR/script" >/dev/null
	st testbed owner h2 evict
	[ "$(owner_of h2 'j["owner"], j["evict"]')" = "here True" ]
}

@test "the agent of a host is asked from elsewhere, too" {
	serve 2
	st testbed owner h2 here
	[ "$(json '[j[k] for k in ("host", "owner", "cause", "who")]' owner status h2)" = \
		"['h2', 'here', 'said', 'root']" ]
	run -0 st owner status h1
	[[ $output == "h1: the owner is away, for "* ]]
	run -1 st owner status h9
	[[ $output == "stint owner: no host h9; "* ]]
	run -2 st owner status --all h1
	run -2 st owner away h1
	slay "$(service_pid h1)"
	eventually hosts_up 1
	run -1 st owner status h1
	[[ $output == *"host h1 does not answer"* ]]
}

@test "a change does not wait for the next report" {
	serve 1
	recorded 1 0
	slay "$(service_pid h1)"
	start_agent h1 --report-every=10h
	eventually hosts_up 1
	eventually st testbed owner h1 here
	eventually recorded 1 1
}

@test "who is in a capsule says nothing of owners" {
	serve 2
	# The agent's socket is not even visible there,
	run st run --hosts h1 -n 1 "$stint" owner away --run-dir "$bed/h1/run"
	[ "$status" -ne 0 ]
	[[ $output == *"$bed/h1/run/owner.sock"*"No such file"* ]]
	run -0 st run --hosts h1 -n 1 ls -A "$bed/h1/run"
	[ -z "$output" ]
	# and the agent does not listen to processes of another pid namespace.
	run on h1 unshare -p --fork "$stint" owner away --run-dir "$bed/h1/run"
	[ "$status" -ne 0 ]
	[[ $output == *"speak for its owner"* ]]
	on h1 "$stint" owner status --run-dir "$bed/h1/run"
}

@test "who logs in at a terminal is there once they type" {
	serve 1
	coproc terminal { exec "$BATS_TEST_DIRNAME/terminal.py" "$bed/h1/run/utmp" ada 2>&1 3>&-; }
	local terminal_pid=$terminal_PID
	background="${background:-} $terminal_pid"
	read -r -t 100 line <&"${terminal[0]}"
	[[ $line == pts/* ]]
	eventually users_are 1
	knows h1 away nobody
	echo hello >&"${terminal[1]}"
	eventually knows h1 here terminal
	eventually recorded 1 1
	[ "$(owner_of h1 'j["who"]')" = ada ]
	local keys=${terminal[1]}
	exec {keys}>&-
	eventually ended "$terminal_pid"
}

@test "who counts as owner is read again at SIGHUP, and for how long" {
	serve 1
	mkfifo "$bed/keys"
	"$BATS_TEST_DIRNAME/terminal.py" "$bed/h1/run/utmp" ada elsewhere \
		<"$bed/keys" >"$bed/line" 3>&- &
	background="${background:-} $!"
	exec {keys}>"$bed/keys"
	eventually users_are 1
	echo hello >&"$keys"
	eventually grep -q hello "$bed/line"
	knows h1 away nobody
	printf 'who = ssh\nusers = ada\nlinger = 1h\n' >>"$bed/h1/stint.conf"
	kill -HUP "$(service_pid h1)"
	eventually knows h1 here terminal
	eventually recorded 1 1
	printf 'users = bob\nlinger = 1s\n' >>"$bed/h1/stint.conf"
	kill -HUP "$(service_pid h1)"
	eventually knows h1 away nobody
	# A wrong line changes nothing of the other settings either.
	printf 'users = ada\nlinger = 1h\nwho = me\n' >>"$bed/h1/stint.conf"
	kill -HUP "$(service_pid h1)"
	eventually grep -q "terms=kept .*who: 'me' is none of" "$bed/h1/agent.log"
	echo hello >&"$keys"
	eventually eval '[ "$(grep -c hello "$bed/line")" -gt 1 ]'
	knows h1 away nobody
	exec {keys}>&-
}

@test "who comes by ssh is no owner, unless the terms say so" {
	serve 2
	slay "$(service_pid h2)"
	printf '[owner]\nwho = console, ssh\n' >"$bed/owner.conf"
	start_agent h2 --config="$bed/owner.conf"
	eventually hosts_up 2
	for h in h1 h2; do
		mkfifo "$bed/$h/keys"
		"$BATS_TEST_DIRNAME/terminal.py" "$bed/$h/run/utmp" ada elsewhere \
			<"$bed/$h/keys" >"$bed/$h/line" 3>&- &
		background="${background:-} $!"
	done
	exec {one}>"$bed/h1/keys" {two}>"$bed/h2/keys"
	eventually users_are 2
	echo hello >&"$one"
	echo hello >&"$two"
	eventually knows h2 here terminal
	eventually grep -q hello "$bed/h1/line"
	knows h1 away nobody
	exec {one}>&- {two}>&-
}

logind() {
	DBUS_SYSTEM_BUS_ADDRESS=$address "$BATS_TEST_DIRNAME/logind.py" "$@"
}

sleep_waits_for() { # WHOM
	local whom
	whom=$(logind waits 2>/dev/null) && [ "$whom" = "$1" ]
}

# A bus with a logind, and the agent of h1 that listens to it.
with_logind() { # HOSTS
	address=unix:path=$BATS_TEST_TMPDIR/bus
	dbus-daemon --session --nofork --address="$address" 3>&- 2>/dev/null >&2 &
	background="${background:-} $!"
	eventually test -S "$BATS_TEST_TMPDIR/bus"
	DBUS_SYSTEM_BUS_ADDRESS=$address "$BATS_TEST_DIRNAME/logind.py" serve 3>&- 2>/dev/null >&2 &
	mock=$!
	background="$background $mock"
	eventually sleep_waits_for ""
	slay "$(service_pid h1)"
	printf '[owner]\nsources = logind\nlinger = 0\nquiet = 0\nload = any\n' >"$bed/owner.conf"
	DBUS_SYSTEM_BUS_ADDRESS=$address start_agent h1 --config="$bed/owner.conf"
	eventually sleep_waits_for Stint
	eventually hosts_up "$1"
}

@test "sessions of logind: idle, locked, gone" {
	serve 1
	with_logind 1
	knows h1 away nobody
	logind login c1 ada
	eventually knows h1 here session
	[ "$(owner_of h1 'j["who"]')" = ada ]
	eventually users_are 1
	logind set c1 IdleHint 1
	eventually knows h1 away nobody
	logind set c1 IdleHint 0
	eventually knows h1 here session
	logind set c1 LockedHint 1
	eventually knows h1 away nobody
	logind set c1 LockedHint 0
	eventually knows h1 here session
	logind logout c1
	eventually knows h1 away nobody
	slay "$mock"
	eventually knows h1 here unreadable
	[ "$(owner_of h1 'j["lost"]')" = session ]
	eventually recorded 1 1
}

@test "a host that is about to sleep waits until its guests have left" {
	serve 1
	with_logind 1
	sleeper --hosts h1 -n 1
	logind sleep 1
	eventually knows h1 here going
	[ "$(owner_of h1 'j["evict"]')" = True ]
	sleep_waits_for Stint
	st kill 1
	eventually sleep_waits_for ""
	knows h1 here going
	logind sleep 0
	eventually knows h1 away nobody
	eventually sleep_waits_for Stint
}

# The agent is asked before the sleep goes on: if it let go too soon, the guest would still
# be there.
@test "... and they leave for another host, as the host then may go to sleep, or down" {
	local what
	serve 2 --policy=stint:moves=0
	with_logind 2
	sleeper --hosts h1,h2 -n 1
	eventually is 'j[1]["state"]' running
	for what in sleep shutdown; do
		eventually owner_is 'h["h1"]["closed"], h["h1"]["owner"]' "open away"
		where_is 1 "['h1']" || migrate 1.0 h1
		eventually sleep_waits_for Stint
		logind "$what" 1
		eventually sleep_waits_for ""
		[ "$(jobs 'hosts(1), j[1]["state"]')" = "['h2'] running" ]
		st why 1 | grep "migrate job 1 rank 0 to h2 .*: host h1 has to be empty by"
		knows h1 here going
		logind "$what" 0
		eventually knows h1 away nobody
	done
	[ "$(grep -c 'no guest is left: the host may go' "$bed/h1/agent.log")" = 2 ]
	st kill 1
}

@test "what was said outlives the agent" {
	serve 1
	st testbed owner h1 evict --for 2h
	eventually recorded 1 1
	slay "$(service_pid h1)"
	start_agent h1
	eventually knows h1 here said
	[ "$(owner_of h1 'j["evict"]')" = True ]
}

# All that was recorded of a host's owner since the host came up: "0 1 0".
story() { # HOST-NUMBER
	st record | grep -oE "^(host [0-9]+|define) $(($1 - 1)) .*owner=[01]" |
		grep -oE '.$' | uniq | paste -sd' '
}

told() { # HOST-NUMBER STORY
	[ "$(story "$1")" = "$2" ]
}

@test "a script's owners come and go" {
	serve 2
	cat >"$bed/script" <<-end
		time,host,what,value
		9h,h1,load,0.5
		9h,h2,owner,here
		36000,h2,owner,away
		36000,h1,keyboard,busy
		36001,h1,owner,here
		36001,h1,keyboard,idle
		36060,h1,load,0
	end
	st testbed --from=35999 --faster=20 play "$bed/script"
	eventually told 1 "0 1 0"
	eventually told 2 "0 1 0"
	knows h1 away nobody

	printf '%s\n' time,host,what,value 0,h2,owner,here 0,h3,load,1 >"$bed/script"
	run st testbed play "$bed/script"
	[ "$status" -eq 1 ]
	[[ $output == *"has no host h3" ]]
	told 2 "0 1 0"
}

computes() { # HOW-MANY PLAYER
	[ "$(pgrep -c -P "$2")" = "$1" ]
}

@test "who ends a script leaves nobody behind" {
	serve 2
	cat >"$bed/script" <<-end
		time,host,what,value
		0,h1,owner,here
		0,h2,load,1.5
		1d,h1,owner,away
	end
	"$stint" testbed play "$bed/script" 3>&- &
	local player=$! workers
	background="${background:-} $player"
	eventually knows h1 here said
	eventually computes 2 "$player"
	workers=$(pgrep -P "$player")
	kill "$player"
	for w in $workers; do
		eventually ended "$w"
	done
	eventually knows h1 away nobody
}
