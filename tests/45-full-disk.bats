# The disk with the controller's state is full: nothing is lost that anybody was told.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	serve "${hosts:-3}"
}

teardown() { jobs_teardown; }

# A small disk for the controller's state, in a mount namespace that $holder holds open,
# so that the controller there can be killed and started again.
small_disk() { # SIZE
	unshare -m sh -c 'cp -a "$1" "$1.copy" && mount -t tmpfs -o size="$2",mode=700 none "$1" &&
		cp -a "$1.copy/." "$1" && touch "$1.mounted" || exit 99
		exec sleep 100000' sh "$bed/controller" "$1" 3>&- &
	holder=$!
	background="${background:+$background }$holder"
	eventually test -e "$bed/controller.mounted"
}

controller_on_small_disk() {
	nsenter -t "$holder" -m "$stint" controller --state-dir="$bed/controller" --min-uid=0 \
		--pool=10.77.128.0/17 --listen="unix:$bed/controller.sock" >>"$bed/controller.log" 2>&1 3>&- &
	controller=$!
	eventually hosts_up 3
}

at_disk() { # COMMAND...
	nsenter -t "$holder" -m sh -c "cd \"\$1\" && $*" sh "$bed/controller"
}

fill_disk() { # until not even its journal finds room
	eventually at_disk 'cat /dev/zero >>fill 2>/dev/null; [ -s fill ] && ! echo x >more'
}

exits_0() { json 'sum(i["state"] == "done" and i["exit"] == 0 for i in j)' ps --all; }

@test "a full disk: filled at any moment, and its controller killed, all that was told is known" {
	local round job told=0
	begin run -n 1 sleep 1000 >"$bed/told" 2>&1
	job=${background##* }
	eventually is 'j[1]["state"]' running
	slay "$(service_pid controller)"
	small_disk 48m
	controller_on_small_disk
	for round in 1 2 3; do
		{ sleep "0.$((RANDOM % 10))" && at_disk 'cat /dev/zero >>fill 2>/dev/null' || true; } 3>&- &
		background="$background $!"
		while st run -n 1 true 2>"$bed/refused"; do
			told=$((told + 1))
		done
		grep -q "disk is full: jobs run on" "$bed/refused"
		fill_disk
		slay "$controller"
		controller_on_small_disk
		[ "$(jobs 'j[1]["state"]')" = running ]
		[ "$(exits_0)" = "$told" ]
		run -1 st run -n 1 true
		[[ "$output" == *"disk is full: jobs run on"* ]]
		# The controller is killed once more, when it has found no room for the row
		# of a move.
		migrate 1.0 "$(json '"h2" if j[0]["ranks"][0]["host"] == "h1" else "h1"' ps 1)" >/dev/null
		slay "$controller"
		controller_on_small_disk
		[ "$(jobs 'j[1]["ranks"][0]["moves"]')" = "$round" ]
		at_disk 'rm -f fill more'
		eventually st run -n 1 true
		told=$((told + 1))
	done
	st kill -s KILL 1
	wait "$job" || [ $? = 137 ]
	[ "$(jobs 'j[1]["exit"]')" = 137 ]
}

@test "a full disk: what runs goes on, new jobs are refused, and with room all is as before" {
	local i job
	begin run -n 1 --hosts h1 python3 -c 'import signal, sys
signal.signal(signal.SIGUSR1, lambda *a: sys.exit(5))
while True: signal.pause()' >"$bed/told" 2>&1
	job=${background##* }
	eventually is 'j[1]["state"]' running
	slay "$(service_pid controller)"
	small_disk 48m
	controller_on_small_disk
	run --separate-stderr st ps
	[[ "$stderr" == *"nearly full"* ]]
	st run -n 1 true
	fill_disk
	# Nobody could take the room that the store holds: it still starts, moves and ends
	# ranks.
	run -1 st run -n 1 true
	[[ "$output" == *"disk is full: jobs run on"* ]]
	for i in 1 2 3 4 5 6; do
		migrate 1.0 "h$((i % 2 + 2))" >/dev/null
	done
	run --separate-stderr st hosts
	[[ "$stderr" == *"disk is full"* ]]
	# With the disk still full, it knows all of that.
	[ "$(jobs 'j[1]["state"]')" = running ]
	st kill -s USR1 1
	wait "$job" || [ $? = 5 ]
	[ "$(jobs 'j[1]["state"], j[1]["exit"]')" = "done 5" ]
	kill -0 "$controller"
	at_disk 'rm fill'
	st run -n 1 true
	eventually grep -q "has room again\|nearly full" "$bed/controller.log"
}

is_closed() { # HOST WHY
	st owner status --all | grep -Eq "^$1 .* $2 "
}

@test "a host whose run directory is full takes no ranks and makes no job fail, until there is room" {
	local run="$bed/h1/run"
	mount -o remount,size=4m "$run"
	head -c 8m /dev/zero >"$run/fill" 2>/dev/null || true
	st run -n 2 true # before the host has said so: its rank goes to a free one
	eventually is_closed h1 disk
	for _ in 1 2 3 4; do
		st run -n 1 true
	done
	st run -n 2 --hosts h2,h3 true
	run st run -n 1 --hosts h1 true
	[ "$status" = 1 ]
	[[ $output == "stint run: host h1 takes no guests: its run directory is full" ]]
	rm "$run/fill"
	eventually st run -n 1 --hosts h1 true
}
