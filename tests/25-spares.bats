#!/usr/bin/env bats
# Networks that capsules have one after the other: who gets one that somebody has used, and
# what a job could leave in it for the next.

bats_require_minimum_version 1.5.0
load capsule

setup() { bed_setup; }
teardown() { bed_teardown; }

setup_file() {
	script_dir=$(mktemp -d /var/tmp/stint-test.XXXXXX)
	export script_dir
	chmod 755 "$script_dir"
}
teardown_file() { rm -rf "$script_dir"; }

capsule_up() { # SHELL ADDRESS [MORE...]
	local s=$1 a=$2
	shift 2
	ok "$s" create "cap$$$s" net=routed uplink=eth0 "addr=$a" "$@"
	ok "$s" plug
}

run_inside() { # SHELL SCRIPT
	local f=$script_dir/$BATS_TEST_NUMBER
	echo "$2" >"$f"
	: >"$f.out"
	chmod 666 "$f.out"
	ok "$1" exec "$f.out" sh "$f"
	ok "$1" wait
	status=${answer##* }
	output=$(cat "$f.out")
}

# All that a program can learn of its network, less numbers that the kernel gives.
tells='cd /proc/net && for f in dev snmp netstat snmp6 sockstat arp route fib_trie igmp \
		tcp udp raw icmp tcp6 udp6 ip6_flowlabel netlink; do
		echo "$f:"
		case $f in
		sockstat) grep -v mem $f ;; # which is of all
		netlink) wc -l <$f ;;
		*) cat $f ;;
		esac
	done
	ip -o addr; ip route show table all; ip -d neigh; ip tcp_metrics show
	cat /sys/class/net/eth0/statistics/* /sys/class/net/eth0/address; ls -lR /sys/class/net/eth0/'

# Numbers of inodes come again.
which='import socket; s = socket.socket(); print(s.getsockopt(socket.SOL_SOCKET, 71, 8).hex())'

no_numbers='s/@if[0-9]+|(^| )[0-9]+: |sto[^ ]*|[A-Z][a-z]{2} +[0-9]+ [0-9:]+ //g'

look() { # SHELL: $netns, $told
	run_inside "$1" "python3 -c '$which'"
	netns=$output
	[ "${#netns}" = 16 ]
	run_inside "$1" "$tells"
	told=$(sed -E "$no_numbers" <<<"$output")
}

# What one tells that was made for this capsule alone.
fresh() { # ADDRESS
	shell fresh h1
	ok fresh store
	capsule_up fresh "$1"
	look fresh
	new=$told
	ok fresh destroy
	capsule_down fresh
}

capsule_down() { # SHELL, which keeps a store: nobody else has what is in that
	eval "exec ${in[$1]}>&-"
	shells=${shells/ $1/}
	rm -r "$BATS_TEST_TMPDIR/shell.$1"
}

unused() { # [keep]
	bed_up 1
	fresh 10.77.128.2
	shell a h1
	ok a store
	[ -z "$1" ] || ok a keep
	capsule_up a 10.77.128.1
	look a
	first=$netns
	[[ $told == *10.77.128.1* ]]
	ok a destroy
	run -1 --separate-stderr eval 'on h1 ip -4 route show | grep 10.77.128.1'
	run -1 --separate-stderr eval 'on h1 ip neigh show | grep 10.77.128.1'
	capsule_up a 10.77.128.2
	look a
	[ "$netns" = "$first" ]
	diff <(echo "$new") <(echo "$told")
	ok a destroy
	# Another user's it is not.
	capsule_up a 10.77.128.2 uid=4321
	look a
	[ "$netns" != "$first" ]
	ok a destroy
	capsule_up a 10.77.128.2
	look a
	[ "$netns" = "$first" ]
}

@test "spares: one that nobody has used is the next one's, and tells what a new one does" {
	unused ""
}

@test "spares: so is one that the keeper itself has kept, and its next is another user's" {
	unused keep
}

# The outside end: takes a descriptor, and holds it until its input ends.
holder='import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
s.listen()
print("listens", flush=True)
held = []
for _ in range(2):
    c = s.accept()[0]
    held.append((c, socket.recv_fds(c, 1, 1)))
    c.send(b"x")
sys.stdin.read()'
to_holder='h = socket.socket(socket.AF_UNIX); h.connect("%s")
socket.send_fds(h, [b"x"], [s.fileno()]); h.recv(1)'

# What follows is in another network, which tells of nothing: from the store (a), and where
# the keeper itself has kept it (b).
leaves() { # NAME PYTHON
	local first s
	for s in a b; do
		capsule_up $s 10.77.128.1
		look $s
		first=$netns
		run_inside $s "exec python3 -c '
import os, socket, struct
$2
print(\"left\")'"
		echo "$1: $output"
		[ "$output" = left ]
		ok $s destroy
		capsule_up $s 10.77.128.2
		look $s
		ok $s destroy
		[ "$netns" != "$first" ]
		diff <(echo "$new") <(echo "$told")
	done
}

two_keepers() {
	shell a h1
	ok a store
	shell b h1
	ok b store
	ok b keep
}

@test "spares: whatever a job leaves in its network ends with its capsule" {
	bed_up 1
	fresh 10.77.128.2
	two_keepers
	leaves "a packet" 's = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"x", ("127.0.0.1", 9))'
	leaves "a packet that goes nowhere" 's = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"x", ("10.77.128.9", 9))'
	leaves "a connection that has ended" 'l = socket.create_server(("127.0.0.1", 0))
s = socket.create_connection(l.getsockname()); c = l.accept()[0]; s.close(); c.close()'
	leaves "a connection with data that nobody takes" 'l = socket.create_server(("127.0.0.1", 0))
s = socket.create_connection(l.getsockname()); s.send(b"x" * 100000)'
	leaves "a flow label" 's = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IPV6, 32, socket.inet_pton(socket.AF_INET6, "::1") +
    struct.pack("!I", 0) + struct.pack("=BBHHHI", 0, 255, 1, 6, 6, 0))'
	leaves "a group, of which it is told" "$join
before = told()
join()
for _ in range(30000):
    if told() != before: break
    time.sleep(0.001)"
}

# Of the group of the test, by eth0; the kernel tells of it some ms later.
join='import time
def join(s=socket.socket(socket.AF_INET, socket.SOCK_DGRAM)):
    s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
        socket.inet_aton("239.1.2.3") + socket.inet_aton("10.77.128.1"))
def told():
    return open("/proc/net/dev").read()'
join6='def join(s=socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)):
    s.setsockopt(socket.IPPROTO_IPV6, 20, socket.inet_pton(socket.AF_INET6, "ff15::1234") +
        struct.pack("@I", socket.if_nametoindex("%s")))'

left_at_once() { # SHELL PYTHON: the next one's network, the same or another, tells nothing later
	capsule_up "$1" 10.77.128.1
	run_inside "$1" "exec python3 -Sc '
import os, socket, struct
$2
join()
os._exit(0)'"
	[ "$status" = 0 ]
	ok "$1" destroy
	capsule_up "$1" 10.77.128.2
	run_inside "$1" "sleep 0.3; $tells"
	told=$(sed -E "$no_numbers" <<<"$output")
	ok "$1" destroy
	diff <(echo "$new") <(echo "$told")
}

@test "spares: of a group that a job was in for a moment nothing is told in the next one's network" {
	bed_up 1
	fresh 10.77.128.2
	two_keepers
	for _ in $(seq "${ROUNDS:-4}"); do
		left_at_once a "$join"
		left_at_once b "$join"
	done
	# shellcheck disable=SC2059
	for link in eth0 lo; do
		left_at_once a "$(printf "$join6" $link)"
		left_at_once b "$(printf "$join6" $link)"
	done
}

@test "spares: a socket that was handed out of its capsule takes the network along" {
	local path=$script_dir/holder
	bed_up 1
	fresh 10.77.128.2
	two_keepers
	mkfifo "$script_dir/hold"
	python3 -c "$holder" "$path" <"$script_dir/hold" >"$script_dir/said" 3>&- &
	holds=$!
	exec {hold}>"$script_dir/hold"
	for _ in $(seq 300); do
		[ -s "$script_dir/said" ] && break
		sleep 0.1
	done
	# shellcheck disable=SC2059
	leaves "a socket" "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
$(printf "$to_holder" "$path")"
	exec {hold}>&-
	wait "$holds"
}

@test "spares: jobs of one user after the other are in one network, as keepers hand it on" {
	local seen=
	serve 2
	net() { "$stint" run python3 -c "$which"; }
	for _ in $(seq 20); do # there is one a host, or more while another is being cleaned
		now=$(net)
		[ "${#now}" = 16 ]
		[[ " $seen " == *" $now "* ]] && break
		seen="$seen $now"
	done
	echo "$seen, $now"
	[[ " $seen " == *" $now "* ]]
}
