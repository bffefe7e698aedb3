#!/usr/bin/env bats
# A capsule's address: silent when unplugged, and reachable wherever it is plugged in, by
# routes and by bridges.

bats_require_minimum_version 1.5.0
load capsule

setup_file() {
	dir=$(mktemp -d /var/tmp/stint-test.XXXXXX)
	export dir
	# Answers each datagram with its name.
	cat >"$dir/name.py" <<-'E'
	import socket, sys
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	s.bind(("", 4000))
	open(sys.argv[1], "w").write("ready")
	while True:
	    s.sendto(sys.argv[2].encode(), s.recvfrom(100)[1])
	E
	# Asks for the name, for a minute at most, and prints what it got.
	cat >"$dir/ask.py" <<-'E'
	import socket, sys
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	s.settimeout(0.1)
	for i in range(600):
	    try:
	        s.sendto(b"?", (sys.argv[1], 4000))
	        print(s.recv(100).decode(), flush=True)
	        break
	    except (TimeoutError, socket.timeout):
	        pass
	    except OSError as e:
	        print("error", e, flush=True)
	        break
	E
	# Sends its bytes back, over TCP.
	cat >"$dir/echo.py" <<-'E'
	import socket, sys
	l = socket.socket(); l.bind(("", 4001)); l.listen()
	open(sys.argv[1], "w").write("ready")
	c, _ = l.accept()
	while b := c.recv(65536):
	    c.sendall(b)
	E
	# Counts over TCP until the file "stop" is there; all numbers must have come back
	# then.
	cat >"$dir/count.py" <<-'E'
	import os, select, socket, sys, time
	s = socket.create_connection((sys.argv[1], 4001), 60)
	s.setblocking(False)
	back, sent = b"", 0
	stop, tick = sys.argv[2] + ".stop", sys.argv[2] + ".back"
	while not (os.path.exists(stop) and back.count(b"\n") == sent):
	    if not os.path.exists(stop):
	        s.send(b"%d\n" % sent); sent += 1
	    if select.select([s], [], [], 0.01)[0]:
	        b = s.recv(65536)
	        assert b, "closed"
	        back += b
	    with open(tick + ".new", "w") as f:
	        f.write(str(back.count(b"\n")))
	    os.rename(tick + ".new", tick)
	assert back == b"".join(b"%d\n" % i for i in range(sent))
	print("whole")
	E
	chmod -R a+rX "$dir"
	chmod 777 "$dir"
}
teardown_file() { rm -rf "$dir"; }
setup() {
	bed_setup
	mode=routed uplink=eth0 prefix=
}
teardown() { bed_teardown; }

capsule_up() { # SHELL HOST ADDRESS
	shell "$1" "$2"
	ok "$1" create "cap$$$1" net=$mode uplink=$uplink addr="$3" $prefix
}

# Start a capsule with that address, which answers with the shell's name.
named_up() { # SHELL HOST ADDRESS
	rm -f "$dir/$1.ready"
	capsule_up "$@"
	ok "$1" exec "$dir/$1.out" python3 "$dir/name.py" "$dir/$1.ready" "$1"
	eventually test -s "$dir/$1.ready"
}

host_sees() { # HOST ADDRESS NAME
	run on "$1" python3 "$dir/ask.py" "$2"
	[ "$output" = "$3" ] || { echo "$1 sees '$output', not $3"; return 1; }
}

capsule_sees() { # SHELL ADDRESS NAME
	rm -f "$dir/$1.asked"
	ok "$1" exec "$dir/$1.asked" python3 "$dir/ask.py" "$2"
	ok "$1" wait
	[ "$(cat "$dir/$1.asked")" = "$3" ] || {
		echo "capsule $1 sees '$(cat "$dir/$1.asked")', not $3"
		return 1
	}
}

counter() { # FILE SECTION FIELD: of /proc/net/snmp
	awk -v s="$2:" -v f="$3" '$1 == s && !n { for (i = 2; i <= NF; i++) if ($i == f) n = i; next }
		$1 == s { print $n }' "$1"
}

# These hosts sent and received no ICMP errors, redirects or resets.
silent() { # HOST...
	local h
	for h; do
		on "$h" cat /proc/net/snmp >"$dir/snmp"
		for f in "Icmp OutDestUnreachs" "Icmp InDestUnreachs" \
			"Icmp OutRedirects" "Tcp EstabResets" "Tcp OutRsts"; do
			[ "$(counter "$dir/snmp" $f)" = 0 ] || {
				echo "$h: $f is $(counter "$dir/snmp" $f)"
				return 1
			}
		done
	done
}

all_see() { # NAME: hosts and capsules on each
	host_sees h1 10.77.128.1 "$1"
	host_sees h2 10.77.128.1 "$1"
	host_sees h3 10.77.128.1 "$1"
	capsule_sees q 10.77.128.1 "$1"
	capsule_sees p 10.77.128.1 "$1"
}

address_moves() {
	capsule_up q h1 10.77.128.11
	capsule_up p h2 10.77.128.12
	ok q plug
	ok p plug
	named_up a0 h1 10.77.128.1
	ok a0 plug
	all_see a0
	for i in 1 2 3 4; do
		named_up "a$i" "h$((i % 2 + 1))" 10.77.128.1
		all_see "a$((i - 1))" # the new one is not plugged yet
		ok "a$((i - 1))" unplug
		ok "a$i" plug
		ok "a$((i - 1))" yield
		all_see "a$i"
		# Once with the old capsule still there, once without it.
		[ $((i % 2)) = 0 ] || ok "a$((i - 1))" destroy
		all_see "a$i"
	done
	silent h1 h2 h3
}

stream_waits() {
	capsule_up a h1 10.77.128.1
	capsule_up q h1 10.77.128.11
	ok a plug
	ok q plug
	for peer in h1 h2 q; do
		rm -f "$dir/ready" "$dir/$peer".*
		ok a exec "$dir/a.out" python3 "$dir/echo.py" "$dir/ready"
		eventually test -s "$dir/ready"
		if [ $peer = q ]; then
			ok q exec "$dir/$peer.out" python3 "$dir/count.py" 10.77.128.1 "$dir/$peer"
		else
			on $peer python3 "$dir/count.py" 10.77.128.1 "$dir/$peer" >"$dir/$peer.out" 2>&1 3>&- &
		fi
		eventually counted $peer 20
		for i in 1 2; do
			ok a unplug
			# Both directions are cut, once packets that have arrived are taken.
			eventually stands $peer
			n=$(cat "$dir/$peer.back")
			ok a plug
			eventually counted $peer $((n + 20)) || {
				cat "$dir/$peer.out" "$dir/a.out"
				false
			}
		done
		touch "$dir/$peer.stop"
		eventually grep -q . "$dir/$peer.out"
		[ "$(cat "$dir/$peer.out")" = whole ]
		ok a wait
	done
	silent h1 h2
}

# A running process would count twenty times in half a second, or in the time that twenty
# sleeps take here.
stands() {
	local n
	n=$(cat "$dir/$1.back")
	for _ in {1..50}; do sleep 0.01; done
	[ "$(cat "$dir/$1.back")" = "$n" ]
}

counted() { [ "$(cat "$dir/$1.back" 2>/dev/null || echo 0)" -ge "$2" ]; }

@test "net: routed, the address is where it is plugged, for everybody" {
	bed_up 3
	address_moves
}

@test "net: bridged, the address is where it is plugged, for everybody" {
	bed_up 3 --bridge
	mode=bridge uplink=br0 prefix=prefix=16
	address_moves
}

@test "net: routed, a cut stream waits and goes on" {
	bed_up 2
	stream_waits
}

@test "net: bridged, a cut stream waits and goes on" {
	bed_up 2 --bridge
	mode=bridge uplink=br0 prefix=prefix=16
	stream_waits
}

@test "net: a capsule alone on its host, without an uplink" {
	bed_up 1
	shell a h1
	ok a create "cap$$a" net=routed addr=192.168.77.1
	ok a plug
	rm -f "$dir/ready"
	ok a exec "$dir/a.out" python3 "$dir/name.py" "$dir/ready" alone
	eventually test -s "$dir/ready"
	host_sees h1 192.168.77.1 alone
}

@test "net: plug, unplug and yield may be said twice" {
	bed_up 1
	capsule_up a h1 10.77.128.1
	for what in unplug yield plug plug unplug unplug plug yield yield plug; do
		ok a $what
	done
	ok a destroy
	[ -z "$(on h1 ip neigh show proxy)" ]
	[ -z "$(on h1 ip route show 10.77.128.1)" ]
}
