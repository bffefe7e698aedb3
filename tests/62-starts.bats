# Agents and controllers die while jobs are submitted and ranks start: every accepted job
# runs, once.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	serve "${hosts:-2}"
}

teardown() {
	local dir
	for dir in "$bed"/h*/run/*.away; do
		[ ! -e "$dir" ] || unblock "${dir%.away}"
	done
	jobs_teardown
}

slay_agent() { # HOST
	slay "${agent_pid:-$(service_pid "$1")}"
	agent_pid=
}

no_sockets() { # DIR
	! compgen -G "$1/*.sock" >/dev/null
}

@test "an agent dies with the order to start a rank unread: the rank starts when it is back" {
	kill -STOP "$(service_pid h1)"
	begin run --hosts h1,h2 -n 2 -l sh -c 'echo ran' >"$bed/out" 2>&1
	eventually is '[r["state"] for r in j[1]["ranks"]] if 1 in j else ""' "['starting', 'done']"
	slay_agent h1
	start_agent h1
	wait "${background##* }"
	[ "$(sort "$bed/out")" = "$(printf '[0] ran\n[1] ran')" ]
	# A keeper of the first start, if there had been one, has ended.
	eventually no_sockets "$bed/h1/run/keepers"
}

@test "a host that does not come back: a rank that never began there starts on another one" {
	ran=$(mktemp /var/tmp/stint-ran.XXXXXX) # a rank's /tmp is its own
	slay "$(service_pid controller)"
	start_controller --lost-after=4s
	eventually hosts_up 2
	kill -STOP "$(service_pid h1)"
	begin run --hosts h1,h2 -n 1 sh -c "echo ran >>$ran; echo out" >"$bed/out" 2>&1
	eventually is 'j[1]["state"] if 1 in j else ""' starting
	slay_agent h1
	wait "${background##* }" || { cat "$bed/out" "$bed/controller.log"; false; }
	[ "$(cat "$bed/out")" = out ] || { cat "$bed/out" "$bed/controller.log"; false; }
	is 'hosts(1)' "['h2']"
	start_agent h1
	eventually hosts_up 2
	eventually no_sockets "$bed/h1/run/keepers"
	[ "$(cat "$ran")" = ran ]
	rm "$ran"
}

@test "a host that does not come back: a rank that was sent its program is lost, not started twice" {
	ran=$(mktemp /var/tmp/stint-ran.XXXXXX) # a rank's /tmp is its own
	slay "$(service_pid controller)"
	start_controller --lost-after=4s
	eventually hosts_up 2
	begin run --hosts h1,h2 -n 1 sh -c "echo ran >>$ran; sleep 1000" >"$bed/out" 2>&1
	eventually grep -q ran "$ran"
	slay_agent h1
	wait "${background##* }" && false
	grep "rank 0 on h1 is lost" "$bed/out"
	is 'j[1]["ranks"][0]["state"]' lost
	start_agent h1
	eventually no_sockets "$bed/h1/run/keepers"
	[ "$(cat "$ran")" = ran ]
	rm "$ran"
}

@test "an agent dies at any moment of a start: each job runs, and once" {
	local i
	agent_pid=$(service_pid h1)
	for i in 0 1 2 3 5 8 12 20 30 50; do
		begin run --hosts h1 echo "out $i" >"$bed/out.$i" 2>&1
		eventually is "'yes' if any(n['argv'][-1].endswith('out $i') for n in j.values()) else 'no'" yes
		python3 -c "import time; time.sleep($i / 1000)"
		slay "$agent_pid"
		start_agent h1
		agent_pid=
		wait "${background##* }" || { cat "$bed/out.$i"; false; }
		[ "$(cat "$bed/out.$i")" = "out $i" ]
		eventually hosts_up 2
		# The agent itself, below the command that put it into its host's namespace.
		agent_pid=$(fuser_of "$bed/h1/run/agent.lock")
	done
}

# Which process holds that lock.
fuser_of() { # FILE
	local file major minor inode
	# The device is compared, too: each run directory in memory numbers its files from 1
	# on.
	read -r major minor inode < <(stat -c '%Hd %Ld %i' "$1")
	printf -v file '%02x:%02x:%d' "$major" "$minor" "$inode"
	awk -v file="$file" '$6 == file { print $5; exit }' /proc/locks
}

# From now on nothing can be made there.
block() { # DIR
	mv "$1" "$1.away"
	touch "$1"
}

unblock() { # DIR
	rm "$1"
	mv "$1.away" "$1"
}

@test "a host on which no keeper comes up: its ranks start on another one, or end after three more tries" {
	block "$bed/h1/run/keepers"
	[ "$(st run --hosts h1,h2 -n 1 echo ran)" = ran ]
	is '[r["host"] for r in j[1]["ranks"]]' "['h2']"
	run -1 st run --hosts h1 true
	[[ "$output" == *"could not be started on h1"*"(as at 3 starts before)"* ]]
	unblock "$bed/h1/run/keepers"
	st run --hosts h1 true
}

@test "a host on which no capsule can be made: ranks that were sent there start on another one, once" {
	ran=$(mktemp /var/tmp/stint-ran.XXXXXX) # a rank's /tmp is its own
	block "$bed/h1/run/capsules"
	[ "$(st run --hosts h1,h2 -n 1 sh -c "echo ran >>$ran; echo out")" = out ]
	[ "$(cat "$ran")" = ran ]
	is '[r["host"] for r in j[1]["ranks"]]' "['h2']"
	st history --json | grep "starts again on h2; on h1 "
	# The host alone: it is tried there a few times, and what is wrong is said.
	run -1 st run --hosts h1 sh -c "echo ran >>$ran"
	[[ "$output" == *"rank 0 on h1: "*"run/capsules"*"(as at 3 starts before)"* ]]
	[ "$(cat "$ran")" = ran ]
	unblock "$bed/h1/run/capsules"
	st run --hosts h1 true
	rm "$ran"
}

# In the mounts of a host's agent and of what it forks: its end is theirs.
on_h1() { # COMMAND...
	nsenter -t "$(service_pid h1)" -m "$@"
}

@test "a host whose disk is full: ranks that were sent there start on another one, once" {
	local dir=$bed/h1/run/capsules
	ran=$(mktemp /var/tmp/stint-ran.XXXXXX) # a rank's /tmp is its own
	# There is room for a directory, and none for a byte of a file.
	on_h1 mount -t tmpfs -o size=4k none "$dir"
	on_h1 sh -c 'cat /dev/zero >"$1/full" 2>/dev/null; test -s "$1/full"' - "$dir"
	[ "$(st run --hosts h1,h2 -n 1 sh -c "echo ran >>$ran; echo out")" = out ]
	[ "$(cat "$ran")" = ran ]
	is '[r["host"] for r in j[1]["ranks"]]' "['h2']"
	st history --json | grep "starts again on h2; on h1 .*No space left"
	run -1 st run --hosts h1 sh -c "echo ran >>$ran"
	[[ "$output" == *"rank 0 on h1: "*"No space left on device"*"(as at 3 starts before)"* ]]
	[ "$(cat "$ran")" = ran ]
	on_h1 umount "$dir"
	st run --hosts h1 true
	rm "$ran"
}

@test "a host whose control groups are gone: ranks that were sent there start on another one, once" {
	local groups=/sys/fs/cgroup
	[ ! -d $groups/pids ] || groups=/sys/fs/cgroup/pids
	ran=$(mktemp /var/tmp/stint-ran.XXXXXX) # a rank's /tmp is its own
	on_h1 mount -t tmpfs none $groups
	[ "$(st run --hosts h1,h2 -n 1 --pids-limit 50 sh -c "echo ran >>$ran; echo out")" = out ]
	[ "$(cat "$ran")" = ran ]
	is '[r["host"] for r in j[1]["ranks"]]' "['h2']"
	run -1 st run --hosts h1 --pids-limit 50 sh -c "echo ran >>$ran"
	[[ "$output" == *"rank 0 on h1: "*"the number of processes cannot be limited on this host"*"(as at 3 starts before)"* ]]
	[ "$(cat "$ran")" = ran ]
	on_h1 umount $groups
	st run --hosts h1 --pids-limit 50 true
	rm "$ran"
}

@test "a program that cannot be executed is not tried elsewhere" {
	run -127 st run --hosts h1,h2 -n 1 --requeue /nonexistent/program
	is 'j[1]["requeues"]' 0
	is 'j[1]["reason"]' not-started
	st history --json | python3 -c 'import json, sys; sys.exit(any("again" in a["what"] for a in json.loads(sys.stdin.readline())["acts"]))'
}

@test "a controller that is being started again: run waits until its job is taken, others do not" {
	slay "$(service_pid controller)"
	begin run -n 1 echo here >"$bed/out" 2>&1
	run -1 st ps
	[[ "$output" == *"nobody listens there"* ]]
	start_controller
	wait "${background##* }"
	[ "$(cat "$bed/out")" = here ]
}

@test "a controller that hangs while it is asked: who asks says so and ends" {
	st run -n 1 true
	# The client gets first answers, and has many more jobs to ask about.
	mapfile -t ones < <(yes 1 | head -n 100000)
	begin ps "${ones[@]}" >"$bed/out" 2>"$bed/err"
	eventually test -s "$bed/out"
	kill -STOP "$(service_pid controller)"
	wait "${background##* }" && false
	kill -CONT "$(service_pid controller)"
	grep "does not answer" "$bed/err"
	st ps
}

@test "run gives a controller up that does not come, and tells a terminal why it waits" {
	slay "$(service_pid controller)"
	python3 - "$stint" "unix:$bed/controller.sock" >"$bed/tty" <<-'END'
		import os, pty, sys, time
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(sys.argv[1], ["stint", "run", "--controller", sys.argv[2], "true"])
		seen = b""
		try:
		    while True:
		        seen += os.read(fd, 4096)
		except OSError:
		    pass
		_, status = os.waitpid(pid, 0)
		print(os.waitstatus_to_exitcode(status), seen.decode().replace("\r", ""))
	END
	cat "$bed/tty"
	grep -q "^1 " "$bed/tty"
	[ "$(grep -c "trying for 30 s" "$bed/tty")" = 1 ]
	grep -q "controller at unix:" "$bed/tty"
}

@test "hosts that have not come back to a restarted controller are waited for" {
	kill -STOP "$(service_pid h1)"
	slay "$(service_pid controller)"
	start_controller
	eventually hosts_up 1
	begin run --hosts h1 echo there >"$bed/out" 2>&1
	eventually grep -q "h2 agent=up\|host=h2" "$bed/controller.log"
	kill -CONT "$(service_pid h1)"
	wait "${background##* }"
	[ "$(cat "$bed/out")" = there ]
}

@test "the controller dies again and again under many submissions: each job runs, and once" {
	local i n=40
	(
		for ((i = 0; i < n; i++)); do
			timeout 300 "$stint" run -n 1 echo x >"$bed/ran.$i" 2>>"$bed/errors" || echo "job $i: $?" >>"$bed/failed"
		done
		touch "$bed/all"
	) 3>&- &
	background=$!
	slay "$(service_pid controller)"
	while [ ! -e "$bed/all" ]; do
		start_controller
		python3 -c 'import random, time; time.sleep(0.05 + random.random() / 2)'
		slay "$controller"
		wait "$controller" || true
	done
	start_controller
	[ ! -e "$bed/failed" ] || { cat "$bed/failed" "$bed/errors"; false; }
	for ((i = 0; i < n; i++)); do
		[ "$(cat "$bed/ran.$i")" = x ]
	done
	eventually hosts_up 2
	[ "$(jobs 'len(j)')" = $n ]
}
