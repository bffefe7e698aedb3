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

# What the last move of that rank sent, and how often it moved.
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
	migrate 1.0 h1
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

@test "a host is drained by a time and for a reason, which hosts, why and history tell" {
	serve 2
	sleeper --hosts h1 -n 1
	eventually is 'j[1]["state"]' running
	run st drain --reason="$(printf 'two\nlines')" h1
	[ "$status" = 2 ]
	run ! st drain --by=400d h1
	[[ "$output" == *"more than a year"* ]]
	run st drain --by=soon h1
	[ "$status" = 2 ]
	st drain --by=10min --reason="new disk" h1
	where_is 1 "['h2']"
	grep -E 'migrate job 1 rank 0 to h2 (within|at once)' "$bed/controller.log"
	# When that is, as people read it.
	st why 1 | grep "empty by $(date +%Y)-..-.. ..:..:..[,;]"
	[ "$(json '[(h["drain_who"], h["drain_reason"], 0 < h["drain_by_us"] - h["drain_since_us"] <= 600e6) for h in j]' hosts)" = \
		"[('root', 'new disk', True), ('', '', False)]" ]
	st hosts | grep '^h1 is drained by root, since .*, to be empty by .*: new disk'
	run ! st run --hosts h1 true
	[[ "$output" == *"host h1 is being drained by root: new disk;"* ]]
	run ! st migrate 1.0 h1
	[[ "$output" == *"host h1 is being drained by root: new disk"* ]]
	# The deadline may also be a time of day.
	run st drain --by="2020-01-01 10:00" h1
	[ "$status" = 2 ]
	[[ "$output" == *"is in the past"* ]]
	st drain --by="$(date -d '2 hours' '+%F %T')" --reason="new disk" h1
	[ "$(json '6000e6 < j[0]["drain_by_us"] - j[0]["drain_since_us"] <= 7200e6' hosts)" = True ]
	# The reason outlives the controller, and ends with the drain.
	slay "$(service_pid controller)"
	start_controller
	eventually hosts_up 2
	[ "$(json 'j[0]["drain_reason"]' hosts)" = "new disk" ]
	st undrain h1
	[ "$(json '[j[0]["drain_who"], j[0]["drain_by_us"]]' hosts)" = "['', 0]" ]
	st kill 1
	eventually is 'j[1]["state"]' "done"
	st history --json | grep '"root".*"rank 0 leaves h1: new disk"\|"rank 0 leaves h1: new disk".*"root"'
}

@test "... and who finds no place by then begins anew, if its user lets it" {
	serve 1
	sleeper --requeue -n 1
	sleeper -n 1
	eventually is '[j[1]["state"], j[2]["state"]]' "['running', 'running']"
	run ! st drain --by=0.5s --reason="new disk" h1
	eventually is 'j[1]["state"]' waiting
	st why 1 | grep "requeue job 1: h1 had to be empty by .*, and no other host takes rank 0"
	is 'j[2]["state"]' running
	st why 2 | grep "host h1 is being drained by root: new disk"
	st undrain h1
	eventually is 'j[1]["state"]' running
	st kill 1 2
}

# The ranks go one after the other, because nothing is known of the link yet.
leaves_before() { # POLICY
	serve 3 --policy="$1"
	sleeper --hosts h1 -n 1
	eventually is 'j[1]["state"]' running
	sleeper --hosts h1,h2,h3 -n 3
	eventually is 'j[2]["state"]' running
	# The work of three processors counts for more than the time by which the first job
	# has run longer.
	eventually is '2 * (t := now_us() - j[2]["start_us"]) > t + j[2]["start_us"] - j[1]["start_us"]' True
	st drain --by=30s h1
	st record | grep -E '^(plan )?migrate' >"$bed/order"
	cat "$bed/order"
	[[ "$(sed -n 1p "$bed/order")" == "plan migrate job 2 rank 0 to h"* ]]
	# The rank may be planned again while it is on its way.
	[ "$(grep -vc 'plan migrate job 2' <(sed '/^migrate/,$d' "$bed/order"))" = 0 ]
	# What the moves cost, as the source reports it.
	grep '^migrate .* job=2 rank=0 .*cost=[1-9]' "$bed/order"
	grep '^migrate .* job=1 rank=0 .*cost=[1-9]' "$bed/order"
	st kill 1 2
}

@test "where time is short, who has done most work leaves first: stint" {
	leaves_before stint:moves=0 # none for speed, on a busy machine
}

@test "where time is short, who has done most work leaves first: spread" {
	leaves_before spread
}

@test "a host that is told to go soon, by a file or at a URL of its own, is left" {
	# Nothing moves for speed, as it would from a host that is slow by what else this machine does.
	serve 2 --policy=stint:moves=0
	: >"$bed/file"
	mkdir "$bed/www"
	: >"$bed/www/soon"
	on h2 timeout 600 python3 -m http.server 8099 --bind 127.0.0.1 -d "$bed/www" >"$bed/www.log" 2>&1 3>&- &
	background="${background:+$background }$!"
	eventually on h2 python3 -c "import socket; socket.create_connection(('127.0.0.1', 8099))" 2>"$bed/connect"
	terms h1 "notice-every = 1s" "notice = cat $bed/file"
	terms h2 "notice-every = 1s" "notice = python3 -c \"import urllib.request as u;print(u.urlopen('http://127.0.0.1:8099/soon').read().decode())\""
	sleeper --hosts h1 -n 1
	eventually is 'j[1]["state"]' running
	echo 120s >"$bed/file"
	eventually where_is 1 "['h2']"
	st record | grep '^plan migrate job 1 rank 0 to h2 within .*: host h1 has to be empty by'
	owner_is 'h["h1"]["owner"], h["h1"]["cause"]' "here notice"
	run ! st migrate 1.0 h1
	# No host is closed for the day because of that, as nobody waited there.
	: >"$bed/file"
	eventually owner_is 'h["h1"]["owner"], h["h1"]["closed"]' "away open"
	echo 60s >"$bed/www/soon"
	eventually where_is 1 "['h1']"
	st kill 1
}

@test "a rank that cannot move stands still while the owner is there, though there is room elsewhere" {
	serve 2
	begin run --hosts h1 -n 1 tail -f /etc/hostname >"$bed/out" 2>&1 # an inotify watch
	eventually is 'j[1]["state"]' running
	eventually eval 'ls -l "/proc/$(jobs "j[1][\"ranks\"][0][\"pid\"]")/fd" | grep -q inotify'
	st testbed owner h1 here
	eventually grep -q "freeze job 1 rank 0: the owner of h1 needs it, and rank 0 uses something that cannot move" "$bed/controller.log"
	eventually owner_is 'h["h1"]["giving"], h["h1"]["guests"], h["h1"]["left"] > 0' "False 1 True"
	st why 1 | grep 'rank 0 uses something that cannot move'
	where_is 1 "['h1']"
	[ "$(grep -c 'job=1 rank=0.*moved=no' "$bed/controller.log")" = 1 ]
	st testbed owner h1 away
	eventually grep -q "thaw job 1 rank 0" "$bed/controller.log"
	is 'j[1]["state"]' running
	st record >"$bed/rec"
	grep ' refused=1$' "$bed/rec"
	st sim --replay "$bed/rec"
	st kill 1
}

# A rank leaves h1; in the middle of its move something happens to the destination.
leaves_in_spite_of() { # COMMAND: with the host
	local first other
	serve 3 --policy=stint
	on h1 tc qdisc add dev eth0 root tbf rate 8mbit burst 20kb latency 400ms
	begin run --hosts h1 "$STINT_BUILD/tests/move/check-bigmem" 32 100 1000 >"$bed/big" 2>&1
	eventually grep -q READY "$bed/big"
	st testbed owner h1 here
	eventually grep -q 'job=1 rank=0 from=h1 .*move=begun' "$bed/controller.log"
	first=$(sed -n 's/.*job=1 rank=0 from=h1 to=\(h[23]\) .*move=begun.*/\1/p' "$bed/controller.log")
	other=$([ "$first" = h2 ] && echo h3 || echo h2)
	# The engine at the destination is at work.
	eventually eval 'keeper_of "$first" | xargs pgrep -P'
	"$1" "$first"
	on h1 tc qdisc del dev eth0 root
	eventually where_is 1 "['$other']" || { cat "$bed/controller.log"; false; }
	# The first destination is still there, and would be the better one.
	grep 'move=begun' "$bed/controller.log"
	[ "$(sed -n 's/.*from=h1 to=\(h[23]\) .*move=begun.*/\1/p' "$bed/controller.log" | tr '\n' ' ')" = "$first $other " ]
	st record >"$bed/rec"
	st sim --replay "$bed/rec"
	st kill 1
}

keeper_of() { # HOST
	sed -n 's/^keeper \([0-9]*\) .*/\1/p' "$bed/$1"/run/capsules/1.0*/record
}

kill_keeper() {
	kill -9 "$(keeper_of "$1")"
}

cut_link() {
	on "$1" ip link set eth0 down
}

@test "the destination dies in the middle of a move: another host is tried at once" {
	leaves_in_spite_of kill_keeper
}

# A connection is given up after ten seconds without an answer.
@test "... and where its link is cut, too" {
	leaves_in_spite_of cut_link
}

# A line for the calendar: maintenance of an hour, so many minutes from now on.
line_in() { # MINUTES HOSTS REASON
	date -d "+$1 min" '+%Y-%m-%d %-H:%M' | sed "s/ \(.*\)/ \1-$(date -d "+$(($1 + 60)) min" +%-H:%M) $2 $3/"
}

@test "a calendar: hosts are drained in time, nothing that ends later starts there, and afterwards they are open again" {
	serve 3
	sleeper --hosts h1 -n 1
	eventually is 'j[1]["state"]' running
	slay "$(service_pid controller)"
	# Reached by a link, as configuration often is.
	mkdir "$bed/etc"
	ln -s "$bed/etc/calendar" "$bed/calendar"
	{ line_in 5 h1 "new disk"; line_in 120 h2 later; } >"$bed/etc/calendar"
	start_controller --calendar="$bed/calendar"
	eventually hosts_up 3
	# The host whose time is near is left in time, and `stint why` says why.
	eventually eval '[[ "$(st hosts)" == *"h1 is drained by calendar, since "*", to be empty by "*": new disk"* ]]'
	eventually eval '[[ "$(jobs "hosts(1)")" != *h1* ]]'
	[[ "$(st hosts)" == *"h2, by the calendar open until "* ]]
	# A job that would end too late goes elsewhere, or waits, and `stint why` says so.
	sleeper --time=3h -n 1
	eventually is 'j[2]["state"]' running
	where_is 2 "['h3']"
	st submit --time=3h -n 17 sleep 0
	eventually eval '[[ "$(st why 3)" == *"1 more closes before it would end"* ]]'
	st record | grep -q "^host .* open="
	# A wrong line changes nothing; when the line is removed the host is open again.
	echo "sat 99:00-6:00 h1" >"$bed/calendar"
	eventually grep -q "calendar=kept error=\"$bed/calendar:1: " "$bed/controller.log"
	json_is '[h["drain"] for h in j]' '[True, False, False]' hosts
	: >"$bed/calendar"
	eventually json_is '[h["drain"] for h in j]' '[False, False, False]' hosts
	st record >"$BATS_TEST_TMPDIR/rec"
	st sim --replay "$BATS_TEST_TMPDIR/rec" --json | grep -q '"equal": *true'
	st kill 1 2
	# A calendar that cannot be read at the start is an error.
	echo "sat 99:00-6:00 h1" >"$bed/calendar"
	run -2 timeout 60 "$stint" controller --state-dir="$BATS_TEST_TMPDIR/s" --listen="unix:$BATS_TEST_TMPDIR/c.sock" --calendar="$bed/calendar"
	[[ "$output" == *"calendar:1: '99:00-6:00' are no times"* ]]
}

# The controller has no more reason to look than that.
@test "a host is drained when its time comes, and by a calendar that takes another's place" {
	serve 2
	slay "$(service_pid controller)"
	slay "$(service_pid h2)"
	{ line_in 16 h1 soon; line_in 5 h2 now; } >"$bed/calendar"
	start_controller --calendar="$bed/calendar"
	eventually hosts_up 1
	run -0 st hosts
	[[ "$output" == *"h1, by the calendar open until "* ]]
	# Who comes is looked at, and who is opened while it is time.
	start_agent h2
	eventually hosts_up 2
	eventually json_is 'j[1]["drain"], j[1]["drain_reason"]' "True now" hosts
	st undrain h2
	eventually json_is 'j[1]["drain"], j[1]["drain_reason"]' "True now" hosts
	# A quarter of an hour before.
	eventually json_is 'j[0]["drain"], j[0]["drain_reason"]' "True soon" hosts
	line_in 3 h2 other >"$bed/calendar.new"
	mv "$bed/calendar.new" "$bed/calendar"
	eventually json_is '[h["drain_reason"] for h in j]' "['', 'now']" hosts
}
