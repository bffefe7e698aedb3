# TCP of capsules goes past the host's forwarding (doc/design/10). Tested is that it does,
# that this works after a move, and that it does not where the host's owner wants to see
# packets. The kernel counts forwarded ones: ForwDatagrams.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	sum=$STINT_BUILD/tests/mpi/chkmpi
}

teardown() {
	jobs_teardown
}

# Two ranks that exchange messages until they are told to end.
exchange() { # HOSTS
	limit=1000 st run -n 2 --hosts "$1" "$sum" --seconds 1000 --max 1000 \
		>"$bed/out" 2>&1 3>&- &
	background=$!
	eventually grep -q round "$bed/out"
}

ends_right() {
	st kill -s USR1 1
	wait "${background%% *}"
	background=
	grep -q PASS "$bed/out"
}

# The last line about the fast path in the host's log has these words.
says() { # HOST WORDS
	grep 'fast-path=' "$bed/$1/agent.log" | tail -n1 | grep -qF "$2"
}

has_received() { # HOST PACKETS
	[ "$(on "$1" cat /sys/class/net/eth0/statistics/rx_packets)" -ge "$2" ]
}

# How many packets the host has forwarded while it received 50 or more.
forwarded() { # HOST
	local was now at
	was=$(on "$1" awk '/^Ip: [0-9]/ { print $7 }' /proc/net/snmp)
	at=$(on "$1" cat /sys/class/net/eth0/statistics/rx_packets)
	eventually has_received "$1" $((at + 50))
	now=$(on "$1" awk '/^Ip: [0-9]/ { print $7 }' /proc/net/snmp)
	echo $((now - was))
}

fast() { # HOST...
	local h
	for h; do
		eventually says "$h" fast-path=on
		[ "$(forwarded "$h")" -lt 5 ]
	done
}

slow() { # HOST WHY
	eventually says "$1" "fast-path=off why=\"$2\""
	[ "$(forwarded "$1")" -gt 25 ]
}

no_programs() { # HOST
	[ -z "$(on "$1" "$BATS_TEST_DIRNAME/tcx.py" eth0)" ]
}

@test "capsules' TCP is not forwarded, until the owner of the host wants to see it" {
	serve 2
	exchange h1,h2
	fast h1 h2

	on h1 nft -f - <<-'END'
		table inet guard {
			chain seen {
				type filter hook forward priority 0
				counter
			}
		}
	END
	slow h1 "nftables has the table guard"
	on h1 nft list table inet guard | grep -Eq 'packets [1-9][0-9]'
	on h1 nft delete table inet guard
	fast h1

	on h1 tc qdisc add dev eth0 clsact
	slow h1 "the uplink has a qdisc clsact"
	on h1 tc qdisc del dev eth0 clsact
	fast h1

	timeout 300 "$stint" testbed exec h1 "$BATS_TEST_DIRNAME/tcx.py" eth0 hold 3>&- &
	held=$!
	background="$background $held"
	slow h1 "the uplink has a tcx program that is not Stint's"
	kill "$held"
	fast h1
	ends_right
}

@test "a rank that moves has its fast path where it is" {
	serve 3
	exchange h1,h2
	fast h1 h2
	migrate 1.0 h3
	fast h3 h2
	migrate 1.1 h3 # nothing leaves this host now
	eventually no_programs h2
	migrate 1.1 h1
	fast h1 h3
	ends_right
}

@test "a keeper that is killed leaves no program of the fast path behind" {
	serve 2
	exchange h1,h2
	fast h1 h2
	[ "$(on h1 "$BATS_TEST_DIRNAME/tcx.py" eth0)" = stint_fast_path ]
	kill -9 "$(pgrep -of "keeper [^ ]* --run-dir=$bed/h1/run ")"
	run ! wait "$background"
	background=
	eventually no_programs h1
	eventually no_programs h2
}

@test "an agent with fast-path=no has none" {
	serve 2
	kill "$(service_pid h1)"
	eventually hosts_up 1
	start_agent h1 --fast-path=no
	eventually hosts_up 2
	exchange h1,h2
	slow h1 "the agent's setting is fast-path=no"
	no_programs h1
	fast h2
	ends_right
}

# Write that word as the agent does, which is stopped, so that nobody else writes it.
say_hooks() { # HOST FOUND TEXT
	python3 - "$bed/$1/run/hooks" "$2" "$3" <<-'E'
		import sys, time
		path, found, text = sys.argv[1:]
		with open(path, "r+b", buffering=0) as f:
		    old = f.read().split()
		    now = time.monotonic_ns() // 1000
		    f.seek(0)
		    f.write(b"%-232s %22d\n" % (b"%d %s %s %s" % (now, old[1], found.encode(), text.encode()), now))
	E
}

inotify_instances() { # PID
	find "/proc/$1/fd" -lname anon_inode:inotify | wc -l
}

# Write the word again until the keeper has read it, as nothing else tells when it does.
hears() { # HOST FOUND TEXT
	say_hooks "$@"
	says "$1" "fast-path=off why=\"$3\""
}

@test "keepers take their agent's word for what the host has, and look themselves while it is silent" {
	serve 2
	exchange h1,h2
	fast h1 h2
	kill -STOP "$(service_pid h1)"
	eventually hears h1 1 "the agent says so"
	eventually says h1 fast-path=on # its word is old, and nothing is there
	# A user has 128 inotify instances, which the watching for owners needs.
	[ "$(inotify_instances "$(pgrep -of "keeper [^ ]* --run-dir=$bed/h1/run ")")" = 0 ]
	on h1 nft add table inet guard
	slow h1 "nftables has the table guard"
	kill -CONT "$(service_pid h1)"
	on h1 nft delete table inet guard
	fast h1
	kill -9 "$(service_pid h1)"
	on h1 nft add table inet guard
	slow h1 "nftables has the table guard"
	start_agent h1
	eventually hosts_up 2
	on h1 nft delete table inet guard
	fast h1
	ends_right
}
