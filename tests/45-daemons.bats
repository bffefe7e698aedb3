# Agents, controllers and clients come and go, are killed or are strangers: what happens to
# jobs and hosts.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	serve "${hosts:-3}"
}

teardown() { jobs_teardown; }

host_count_is() { # N
	json_is 'len(j)' "$1" hosts
}

@test "agents and the controller are killed, and the job runs on" {
	begin run -n 2 -l "$count" >"$bed/out" 2>"$bed/err"
	eventually all_running
	slay "$(service_pid h1)"
	start_agent h1
	slay "$(service_pid controller)"
	start_controller
	eventually all_running || { st ps; cat "$bed"/*.log "$bed"/*/*.log; false; }
	eventually all_running
	# An orderly stop, as for an update, ends no job either.
	kill "$controller"
	wait "$controller" || true
	start_controller
	eventually all_running
	st kill -s USR1 "$(json 'j[0]["job"]' ps)"
	wait "$background"
	background=
	for r in 0 1; do
		sed -n "s/^\[$r\] //p" "$bed/out" >"$bed/out.$r"
		counted_whole "$bed/out.$r"
	done
	kill "$controller"
	# The agent that is started here belongs to the testbed, which ends all that is in
	# it.
}

@test "a controller without hosts serves, and takes the first ones as they come" {
	local agent enrol=("$stint" controller --state-dir="$bed/s2")
	"${enrol[@]}" --enrol=admin/root >"$bed/me.key"
	begin controller --state-dir="$bed/s2" --min-uid=0 --pool=10.99.0.0/16 --listen="unix:$bed/c2" 2>"$bed/c2.log"
	export STINT_CONTROLLER=unix:$bed/c2 STINT_KEY=$bed/me.key
	eventually grep -q serving "$bed/c2.log"
	[ "$(json j hosts) $(json j ps)" = "[] []" ]
	run --separate-stderr st run true
	[ "$status" = 1 ]
	[ "${#stderr_lines[@]}" = 1 ]
	[[ "$stderr" == *"no host yet"*"--enrol=host/NAME"* ]]
	run --separate-stderr st record
	[ "$status" = 1 ]
	[ -z "$output" ]
	for h in h1 h2; do
		"${enrol[@]}" --enrol="host/$h" >"$bed/$h.key2"
		on "$h" timeout 300 "$stint" agent --controller="unix:$bed/c2" --key="$bed/$h.key2" \
			--run-dir="$bed/$h/run2" --config="$bed/$h/stint.conf" --uplink=eth0 --score=1000 --min-uid=0 2>>"$bed/c2.log" 3>&- &
		background="$background $!"
	done
	eventually hosts_up 2
	[ "$(st run -n 2 --hosts h1,h2 hostname | wc -l)" = 2 ]
	st run true
	st record >"$bed/record"
	st sim --replay "$bed/record"
}

# Over a network TLS is used, for which clients load a library; on one machine they need
# not.
@test "a controller elsewhere is reached by TLS, one here without" {
	local enrol=("$stint" controller --state-dir="$bed/s3") far=10.77.0.1:7077
	[ -e "$STINT_BUILD/src/core/stint-tls.so" ]
	run ! grep -qE 'gnutls|systemd' <(ldd "$STINT_BUILD/src/cmd/stint-client")
	run ! grep -qE 'gnutls|systemd|sqlite' <(ldd "$STINT_BUILD/src/cmd/stint-keeper")
	for who in host/x admin/root; do
		"${enrol[@]}" --enrol="$who" >"$bed/${who##*/}.key"
	done
	on h1 timeout 600 "${enrol[@]}" --min-uid=0 --pool=10.99.0.0/16 --listen="$far" \
		--listen="unix:$bed/c3" 2>"$bed/c3.log" 3>&- &
	controller=$!
	eventually grep -q serving "$bed/c3.log"
	on h2 timeout 600 "$stint" agent --controller="$far" --key="$bed/x.key" --run-dir="$bed/x" \
		--config="$bed/h2/stint.conf" --min-uid=0 2>"$bed/x.log" 3>&- &
	local agent=$!
	export STINT_CONTROLLER=unix:$bed/c3 STINT_KEY=$bed/root.key
	eventually host_count_is 1
	[ "$(st run echo near)" = near ]
	export STINT_CONTROLLER=$far
	[ "$(on h2 "$stint" run echo far)" = far ]
	sed -i 's/0$/1/; t; s/.$/0/' "$bed/root.key" # another secret
	run on h2 "$stint" ps
	[ "$status" = 1 ]
	[[ $output == *"the peer does not know our key"* ]]
	export STINT_CONTROLLER=unix:$bed/c3
	run st ps
	[ "$status" = 1 ]
	[[ $output == *"the peer does not know our key"* ]]
	kill "$agent"
}

@test "a client that goes away takes its job with it" {
	"$stint" controller --state-dir="$bed/s2" --enrol=host/x >"$bed/x.key"
	"$stint" controller --state-dir="$bed/s2" --enrol=admin/root >"$bed/me.key"
	timeout 600 "$stint" controller --state-dir="$bed/s2" --min-uid=0 --client-grace=1s --listen="unix:$bed/c2" 2>"$bed/c2.log" 3>&- &
	controller=$!
	on h1 "$stint" agent --controller="unix:$bed/c2" --key="$bed/x.key" --run-dir="$bed/x" --config="$bed/h1/stint.conf" --min-uid=0 2>"$bed/x.log" 3>&- &
	local agent=$!
	export STINT_CONTROLLER=unix:$bed/c2 STINT_KEY=$bed/me.key
	eventually host_count_is 1
	"$stint" run sleep 1000 3>&- &
	local client=$!
	eventually all_running
	kill -9 "$client"
	eventually job_count_is 0
	kill "$agent" "$controller"
	wait "$agent" "$controller" || true
	unset STINT_CONTROLLER STINT_KEY
}

@test "nohup holds; a client whose controller is away can still be told to end" {
	local c
	(
		trap "" HUP
		exec "$stint" run "$count"
	) >"$bed/out" 2>"$bed/err" 3>&- &
	background=$!
	eventually all_running
	[ "$(json 'sum(1 for i in j for r in i["ranks"])' ps)" = 1 ]
	[ "$(st ps | wc -l)" = 2 ] # no line for a rank that just runs
	[ "$(st ps 1 | wc -l)" = 3 ]
	kill -HUP "$background"
	eventually grep -q 9 "$bed/out"
	c=$(service_pid controller)
	kill -9 "$c"
	eventually grep -q "it is waited for" "$bed/err"
	kill -TERM "$background"
	status=0
	wait "$background" || status=$?
	background=
	[ "$status" = 143 ]
	grep -q "ends job 1" "$bed/err"
	start_controller --client-grace=1ms
	eventually job_count_is 0
	kill "$controller"
}

@test "a peer without a key gets nothing parsed, and keeps nobody out" {
	python3 - "$bed/controller.sock" <<-'END'
	import os, socket, sys
	idle = []
	for i in range(100):
	    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); idle.append(s)
	for data in (b"\0\0\0\2\x08\x01", b"GET / HTTP/1.0\r\n\r\n", os.urandom(4096), b"\x16\x03\x01\xff\xff" + b"A" * 65535):
	    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
	    s.settimeout(30)
	    try:
	        s.sendall(data); s.shutdown(socket.SHUT_WR)
	        answer = s.recv(65536)
	    except OSError:
	        answer = b""
	    assert b"stint" not in answer
	END
	printf 'admin/root %064d\n' 0 >"$bed/bad.key"
	run st ps --controller "unix:$bed/controller.sock" --key "$bed/bad.key"
	[ "$status" = 1 ]
	[[ "$output" == *"key"* ]]
	st ps
	kill -0 "$(service_pid controller)"
}

@test "an agent's key is no user's, and a user's is for that user" {
	"$stint" controller --state-dir="$bed/controller" --enrol=user/nobody >"$bed/nobody.key"
	run st ps --controller "unix:$bed/controller.sock" --key "$bed/h1/key"
	[ "$status" = 1 ]
	run st run --controller "unix:$bed/controller.sock" --key "$bed/nobody.key" true
	[ "$status" = 1 ]
	[[ "$output" == *"nobody"* ]]
	run st drain h1 --controller "unix:$bed/controller.sock" --key "$bed/nobody.key"
	[ "$status" = 1 ]
}

# Nobody starts an agent again: --clean-up alone ends what is there.
@test "agent --clean-up: a host is left as if it had never been in a cluster" {
	run -1 on h1 "$stint" agent --clean-up --run-dir="$bed/h1/run"
	[[ $output == *"another agent works in"* ]]
	bare=$(host_things | grep -v stint-guests) # its agent has made these
	sleeper -n 1 --hosts h1
	sleeper -n 1 --hosts h1
	eventually is 'j[1]["state"] + j[2]["state"]' runningrunning
	[ "$(host_things)" != "$bare" ]
	# A keeper at rest, which does not hear that its nursery has ended.
	st run --hosts h1 true
	nursery=$(pgrep -P "$(service_pid h1)" -f -- "keeper --nursery")
	eventually pgrep -P "$nursery" -xf "stint keeper --at-rest"
	rests=$(pgrep -P "$nursery" -xf "stint keeper --at-rest")
	# shellcheck disable=SC2086 # as many as there are
	kill -STOP $rests
	kill -9 "$(service_pid h1)"
	# A keeper without an agent that is just starting, and a keeper that does not
	# listen.
	on h1 sh -c '"$0" keeper 77.0 --run-dir="$1" >/dev/null 2>&1 &' "$stint" "$bed/h1/run" 3>&-
	eventually test -S "$bed/h1/run/keepers/77.0.0.sock"
	kill -STOP $(pgrep -f -- "keepe[r] 1.0 --run-dir=$bed/h1/run")
	on h1 "$stint" agent --clean-up --run-dir="$bed/h1/run"
	# On a disk the folder of a testbed is a mount, which is not the agent's.
	if mountpoint -q "$bed/h1/run"; then
		[ -z "$(ls -A "$bed/h1/run")" ]
		umount -l "$bed/h1/run"
		rmdir "$bed/h1/run"
	fi
	[ ! -e "$bed/h1/run" ]
	diff <(echo "$bare") <(host_things)
	run ! pgrep -f -- "[-]-run-dir=$bed/h1/run"
	for pid in $rests; do
		ended "$pid"
	done
	run -1 on h1 "$stint" agent --clean-up --run-dir="$bed/h1/run"
	[ "${#lines[@]}" = 1 ]
	start_agent h1 # it may join again; what it had is lost, and told so
	eventually is 'j[1]["state"] + j[2]["state"]' donedone
}

host_things() { # links, routes, proxies, cgroups of h1
	on h1 sh -c 'ip -o link; ip -4 route show table all; ip neigh show proxy' |
		sed 's/qdisc.*//; s/ cache.*//'
	find /sys/fs/cgroup -path "*stint-testbed.$STINT_TESTBED/h1/*" -type d | sort
}
