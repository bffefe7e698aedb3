#!/usr/bin/env bats
# Capsules: what is inside, how they are frozen, and that nothing survives them.

bats_require_minimum_version 1.5.0
load capsule

setup() { bed_setup; }
teardown() {
	[ -z "${holder:-}" ] || kill "$holder" 2>/dev/null || true
	[ -z "${v2:-}" ] || umount "$script_dir/v2"
	bed_teardown
}

capsule_up() { # SHELL HOST ADDRESS [MORE...]
	local s=$1 h=$2 a=$3
	shift 3
	shell "$s" "$h"
	ok "$s" create "cap$$$s" net=routed uplink=eth0 "addr=$a" "$@"
}

# Scripts must lie where the capsule sees them: it has a /tmp of its own.
setup_file() {
	script_dir=$(mktemp -d /var/tmp/stint-test.XXXXXX)
	export script_dir
	chmod 755 "$script_dir"
}
teardown_file() { rm -rf "$script_dir"; }

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

@test "capsule: its own hosts, links, /tmp, /dev and clocks" {
	bed_up 1
	capsule_up a h1 10.77.128.1 mono=3600000000000 # back would be before a young machine's boot
	run_inside a 'hostname; cat /etc/hostname; ls /sys/class/net | tr "\n" " "; echo
		ls -A /tmp /dev/shm | grep -v :; ls /dev | wc -l
		ip -4 -o addr show eth0 | awk "{print \$4}"
		cat /sys/class/net/eth0/address; getent hosts "$(hostname)"
		cat /proc/sys/net/ipv4/tcp_rto_min_us 2>/dev/null || echo 5000
		cat /proc/sys/net/ipv4/tcp_ehash_entries 2>/dev/null || echo 4096
		echo x >/dev/shm/x && echo y >/tmp/$(hostname) && echo z >/dev/null && echo written'
	echo "$output"
	[ "$(sed -n 1p <<<"$output")" = "cap$$a" ]
	[ "$(sed -n 2p <<<"$output")" = "cap$$a" ]
	[ "$(sed -n 3p <<<"$output")" = "eth0 lo " ]
	[[ $output == *10.77.128.1/32* ]]
	[[ $output == *02:53:0a:4d:80:01* ]]
	[[ $output == *"10.77.128.1"*"cap$$a"* ]]
	[[ $output == *5000*$'\n4096\n'*written ]]
	[ ! -e "/tmp/cap$$a" ]
	run_inside a 'python3 -c "import time; print(int(time.monotonic()))"'
	host=$(cut -d. -f1 /proc/uptime)
	[ $((output - host)) -ge 3500 ]
}

@test "capsule: what several need alike is made once, and is no place for any of them" {
	local netns='stat -Lc %i /proc/self/ns/net; cat /proc/sys/net/ipv4/tcp_ehash_entries
		ip -o link | wc -l; ip route show | wc -l; sysctl -n net.ipv6.conf.eth0.disable_ipv6'
	bed_up 2
	shell a h1
	shell b h2
	ok a prepare
	ok a create "cap$$a" net=routed uplink=eth0 addr=10.77.128.1
	ok b create "cap$$b" net=routed uplink=eth0 addr=10.77.128.2
	run_inside a "$netns"
	first=$output
	run_inside b "$netns" # one that made all for itself
	[ "$(tail -n +2 <<<"$output")" = "$(tail -n +2 <<<"$first")" ]
	[ "$(sed -n 2,3p <<<"$first" | xargs)" = "4096 2" ]
	ok a destroy
	ok a create "cap$$a" net=routed uplink=eth0 addr=10.77.128.1
	run_inside a "$netns"
	[ "$(tail -n +2 <<<"$output")" = "$(tail -n +2 <<<"$first")" ]
}

@test "capsule: a program is the submitter, without any privilege" {
	bed_up 1
	capsule_up a h1 10.77.128.1 uid=4321
	run_inside a 'id -u; grep -E "^(Cap|NoNewPrivs|Groups)" /proc/self/status
		grep . /proc/self/personality; cat /proc/self/uid_map
		ip link set eth0 down 2>&1; mount -t tmpfs x /mnt 2>&1; kill -9 1
		cat /proc/1/environ 2>&1; echo 1 2>&1 >/proc/sys/kernel/hostname; unshare -n true 2>&1
		echo alive'
	echo "$output"
	[ "$(sed -n 1p <<<"$output")" = 4321 ]
	[ "$(grep -c '^Cap.*:.0000000000000000$' <<<"$output")" = 5 ]
	[[ $output == *"NoNewPrivs:	1"* ]]
	[[ $output == *00040000* ]]
	[[ $output == *"4321"*"4321"*"1"* ]]
	[[ $output == *"Operation not permitted"* ]]
	[[ $output == *"Permission denied"* ]]
	[[ $output == *alive ]]
	ok a init # it is still there
	# The same for the submitter root, whose exec would regain all capabilities.
	capsule_up b h1 10.77.128.2 uid=0
	run_inside b 'grep -E "^Cap" /proc/self/status; echo x >/proc/sys/kernel/hostname; ip link set eth0 down'
	[ "$(grep -c '^Cap.*:.0000000000000000$' <<<"$output")" = 5 ]
	[ "$status" != 0 ]
}

# keyctl(2) and add_key(2), for programs that run inside, too.
keys_py='import ctypes, os, sys
call = ctypes.CDLL(None, use_errno=True).syscall
SESSION, JOIN, SEARCH, READ = -3, 1, 10, 11
def put(name, word): return call(248, b"user", name, word, len(word), SESSION)
def get(name):
    word = ctypes.create_string_buffer(64)
    n = call(250, READ, call(250, SEARCH, SESSION, b"user", name, 0), word, 64)
    return word.raw[:max(0, n)].decode() or "nothing"
'

@test "capsule: keys of who started the agent are no rank's, nor one rank's another's" {
	local login=$keys_py'
assert call(250, JOIN, b"login") > 0 and put(b"root", b"ticket") > 0
os.execv(sys.argv[1], sys.argv[1:])'
	/usr/bin/python3 -c "$keys_py"'sys.exit(put(b"stint-test", b"x") < 0)' || skip "no keyrings here"
	bed_up 1
	printf '#!/usr/bin/python3\n%s\n' "$login" >"$script_dir/login"
	printf '#!/bin/sh\nexec "%s/login" "%s"\n' "$script_dir" "$capsule_shell" >"$script_dir/started"
	chmod 755 "$script_dir/login" "$script_dir/started"
	capsule_shell=$script_dir/started
	capsule_up a h1 10.77.128.1 uid=4321
	printf '%s\n%s\n' "$keys_py" 'print(get(b"root"), get(b"ann"), put(b"ann", b"hers") > 0, get(b"ann"))' >"$script_dir/keys"
	run_inside a "exec /usr/bin/python3 $script_dir/keys"
	echo "$output"
	[ "$output" = "nothing nothing True hers" ]
	ok a destroy
	ok a create "cap$$a" net=routed uplink=eth0 addr=10.77.128.1 uid=4322
	run_inside a "exec /usr/bin/python3 $script_dir/keys"
	echo "$output"
	[ "$output" = "nothing nothing True hers" ]
}

@test "capsule: sockets of the host's sessions, of its bus and of its agent are hidden" {
	bed_up 1
	# A /run as with a session, for this test's host alone.
	mkdir -p "$script_dir"/run/{user,dbus} "$script_dir/agent"
	touch "$script_dir"/run/{user/bus,dbus/system_bus_socket,other} "$script_dir/agent/owner.sock"
	shell_of() {
		exec unshare -m sh -c 'mount --bind "$1/run" /run && exec "$2"' sh "$script_dir" "$capsule_shell"
	}
	coproc shell_of 3>&-
	in[h]=${COPROC[1]} out[h]=${COPROC[0]}
	ok h create "cap$$h" run="$script_dir/agent"
	run_inside h "exec 2>/dev/null; ls -A /run /run/user /run/dbus $script_dir/agent
		ls /run/user/bus /run/dbus/system_bus_socket $script_dir/agent/owner.sock && echo there
		touch /run/user/x /run/dbus/x $script_dir/agent/x && echo written
		ls $script_dir/run/user"
	echo "$output"
	[ "$(xargs <<<"$output")" = "/run: dbus other user /run/dbus: /run/user: $script_dir/agent: bus" ]
	ok h destroy
	[ -e "$script_dir/agent/owner.sock" ]
	# Nobody has logged in since the host was booted; somebody does while the rank runs.
	rm -r "$script_dir/run/user"
	ok h prepare
	ok h create "cap$$h" run="$script_dir/agent"
	mkdir -p "$script_dir/run/user/0"
	run_inside h "ls -A /run/user"
	[ -z "$output" ]
	ok h destroy
}

@test "capsule: exit status, signals, pids and orphans come back" {
	bed_up 1
	capsule_up a h1 10.77.128.1
	run_inside a 'exit 42'
	[ "$status" = 42 ]
	run_inside a 'kill -SEGV $$'
	[ "$status" = 139 ]
	run_inside a '(sleep 1; exit 9) & exit 0'
	[ "$status" = 0 ]
	ok a wait # init reaps the orphan and tells of it
	[[ $answer == *" 9" ]]
	say a exec /dev/null /no/such/program
	[[ $answer == "error cannot run /no/such/program: No such file"* ]]
	say a exec /dev/null true "$(head -c 131072 /dev/zero | tr '\0' x)"
	[[ $answer == "error an argument or variable of 131072 bytes"* ]]
	ok a exec /dev/null sleep 1000
	ok a kill 0 9
	eventually wait_for a 137
}

# As with a file server that does not answer: whoever opens the file waits for the holder of
# the lease, or for /proc/sys/fs/lease-break-time.
@test "capsule: a program whose file does not answer is waited for no longer than that" {
	[ "$(cat /proc/sys/fs/lease-break-time)" -ge 30 ] || skip "leases are broken at once here"
	bed_up 1
	cp /bin/true "$script_dir/held"
	/usr/bin/python3 -c 'import fcntl, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
fcntl.fcntl(os.open(sys.argv[1], os.O_RDWR), fcntl.F_SETLEASE, fcntl.F_WRLCK)
open(sys.argv[1] + ".lease", "w")
signal.pause()' "$script_dir/held" </dev/null 3>&- &
	holder=$!
	eventually test -e "$script_dir/held.lease"
	capsule_up a h1 10.77.128.1 patience=8000
	say a exec /dev/null "$script_dir/held"
	[[ $answer == "error the program does not start: no progress for 8 s: "* ]] || { echo "$answer"; false; }
	ok a destroy
	kill "$holder"
}

# Start a script in the capsule, with its output in that file; its pid is left in $rank.
start() { # SHELL FILE SCRIPT
	echo "$3" >"$2.sh"
	: >"$2"
	chmod 666 "$2"
	ok "$1" exec "$2" sh "$2.sh"
	rank=${answer#ok }
}

wait_for() { # SHELL STATUS: until one ends with it
	ok "$1" wait && [[ $answer == *" $2" ]]
}

@test "capsule: frozen it does not run, thawed it goes on" {
	bed_up 1
	capsule_up a h1 10.77.128.1
	start a "$script_dir/beats" 'while echo .; do sleep 0.01; done'
	eventually test -s "$script_dir/beats"
	ok a freeze
	n=$(stat -c %s "$script_dir/beats")
	stands "$script_dir/beats" "$n"
	ok a thaw
	eventually grown "$script_dir/beats" "$n"
	ok a destroy
}

grown() { [ "$(stat -c %s "$1")" -gt "$2" ]; }

# A running script would append thirty times meanwhile: it sleeps as often as we do, however
# long a sleep takes here.
stands() { # FILE SIZE
	for _ in {1..30}; do sleep 0.01; done
	[ "$(stat -c %s "$1")" = "$2" ]
}

@test "capsule: a frozen copy stays so when its tracer dies" {
	bed_up 1
	capsule_up a h1 10.77.128.1
	start a "$script_dir/beats" 'while :; do echo .; sleep 0.001; done'
	eventually test -s "$script_dir/beats"
	python3 - "$rank" <<-'E' 3>&- &
	import ctypes, sys, time
	libc = ctypes.CDLL(None, use_errno=True)
	libc.ptrace.argtypes = [ctypes.c_long] * 4
	assert libc.ptrace(0x4206, int(sys.argv[1]), 0, 0) == 0   # SEIZE
	assert libc.ptrace(0x4207, int(sys.argv[1]), 0, 0) == 0   # INTERRUPT
	time.sleep(1000)
	E
	tracer=$!
	eventually grep -qs '^State:.t' "/proc/$rank/status"
	ok a freeze
	n=$(stat -c %s "$script_dir/beats")
	kill -9 $tracer
	wait $tracer || true
	stands "$script_dir/beats" "$n"
	ok a thaw
	eventually grown "$script_dir/beats" "$n"
	ok a destroy
}

@test "capsule: a landing helper has what it was given, and outlives a freeze" {
	bed_up 1
	capsule_up a h1 10.77.128.1
	ok a land
	copy=${answer#ok }
	sleep 0.2
	kill -0 "$copy"
	ok a freeze
	ok a thaw
	kill -0 "$copy"
	ok a release
	ok a wait
	[[ $answer == "ok exit "*" 7" ]]
}

@test "capsule: the keeper's death ends all of it, running or frozen" {
	bed_up 1
	for how in running frozen; do
		capsule_up $how h1 10.77.128.1
		start $how "$script_dir/$how" 'trap "" TERM INT HUP; while :; do echo .; sleep 0.01; done'
		ok $how init
		init=$(cut -d' ' -f2 <<<"$answer")
		eventually test -s "$script_dir/$how"
		[ $how = running ] || ok $how freeze
		n=$(stat -c %s "$script_dir/$how")
		ok $how plug
		kill -9 "${pid[$how]}"
		eventually ended "$rank"
		eventually ended "$init"
		[ $how = running ] || [ "$(stat -c %s "$script_dir/$how")" = "$n" ]
		[ -e "$(rundir h1)/capsules/cap$$$how/record" ]
		# The next keeper of this run directory may remove what is left; creating a
		# capsule does so if a dead one has its name.
		shell again$how h1
		ok again$how create "cap$$$how" net=routed uplink=eth0 addr=10.77.128.1
		ok again$how plug
		ok again$how destroy
		[ -z "$(ls "$(rundir h1)/capsules")" ]
		[ -z "$(on h1 ip neigh show proxy)" ]
		[ "$(on h1 ls /sys/class/net | sort | tr '\n' ' ')" = "eth0 lo " ]
	done
}

@test "capsule: init killed from outside is noticed, and all of it removed" {
	bed_up 1
	capsule_up a h1 10.77.128.1
	ok a exec /dev/null sleep 1000
	rank=${answer#ok }
	ok a freeze
	ok a init
	kill -9 "$(cut -d' ' -f2 <<<"$answer")"
	ok a wait
	[ "$answer" = "ok gone" ]
	ok a destroy
	eventually ended "$rank"
	[ -z "$(ls "$(rundir h1)/capsules")" ]
}

@test "capsule: killed while it is being made, the next one removes it" {
	bed_up 1
	for t in 0.001 0.003 0.005 0.007 0.01 0.015 0.02 0.03; do
		echo "create cap$$k net=routed uplink=eth0 addr=10.77.128.9" |
			timeout -s KILL $t "$stint" testbed exec h1 "$capsule_shell" || true
	done
	shell z h1
	ok z create "cap$$k" net=routed uplink=eth0 addr=10.77.128.9
	ok z destroy
	[ -z "$(ls "$(rundir h1)/capsules")" ]
	[ "$(on h1 ls /sys/class/net | sort | tr '\n' ' ')" = "eth0 lo " ]
}

@test "capsule: what cannot be is refused with the reason" {
	bed_up 1
	shell a h1
	for bad in "create ../x" "create x/y" "create .x" "create x net=routed" \
		"create x net=routed addr=10.77.128.1 uplink=nolink" \
		"create x net=bridge addr=10.77.128.1" "create x run=/no/such/dir"; do
		say a "$bad"
		[[ $answer == error* ]] || { echo "$bad: $answer"; false; }
		[ "$answer" != "error " ]
	done
	ok a create x
	shell b h1
	say b create x
	[[ $answer == *"in use"* ]]
	ok a destroy
	ok b create x
}

@test "capsule: without root, the submitter's own, frozen by signals" {
	bed_up 1
	run_dir=$script_dir/run
	mkdir -p "$run_dir"
	chown 4321 "$run_dir"
	cp "$capsule_shell" "$script_dir/shell"
	cp "$STINT_BUILD/tests/move/check-brief" "$script_dir/brief"
	coproc setpriv --reuid 4321 --regid 4321 --clear-groups "$script_dir/shell" 3>&-
	in[u]=${COPROC[1]} out[u]=${COPROC[0]}
	say u create "cap$$u" run="$run_dir" addr=10.77.128.1 net=routed uplink=eth0
	[[ $answer == *"only root gives capsules an address"* ]]
	say u create "cap$$u" run="$run_dir"
	[ "$answer" = "ok 0" ] || skip "no user namespaces without root: $answer"
	ok u init
	[[ $answer == *signals ]]
	start u "$script_dir/beats" 'id -u; while :; do echo .; sleep 0.01; done'
	eventually grown "$script_dir/beats" 20
	[ "$(head -1 "$script_dir/beats")" = 4321 ]
	ok u freeze
	n=$(stat -c %s "$script_dir/beats")
	stands "$script_dir/beats" "$n"
	ok u thaw
	eventually grown "$script_dir/beats" "$n"
	# Most of the time this rank is in vfork(), and cannot stop before its child does.
	start u "$script_dir/vfork" "exec '$script_dir/brief' vfork"
	eventually grown "$script_dir/vfork" 0
	for _ in {1..5}; do
		ok u freeze
		ok u thaw
	done
	ok u destroy
	[ -z "$(ls "$run_dir/capsules")" ]
}

@test "capsule: on a machine with cgroup v2 alone" {
	bed_up 1
	run_dir=$script_dir/run
	mkdir -p "$run_dir" "$script_dir/v2"
	mount -t cgroup2 none "$script_dir/v2" || skip "no cgroup v2 here"
	v2=$script_dir/v2/cap$$v
	# It sees the unified hierarchy in /sys/fs/cgroup, and nothing else.
	coproc unshare --mount --propagation private sh -c '
		umount --recursive /sys/fs/cgroup
		mount -t cgroup2 none /sys/fs/cgroup && exec "$0"' "$capsule_shell" 3>&-
	# shellcheck disable=SC2034 # for say()
	in[v]=${COPROC[1]} out[v]=${COPROC[0]}
	ok v create "cap$$v" run="$run_dir"
	ok v init
	[[ $answer == *v2 ]]
	start v "$script_dir/beats" 'while :; do echo .; sleep 0.01; done'
	eventually grown "$script_dir/beats" 20
	[ -n "$(cat "$v2/run/cgroup.procs")" ]
	[ "$(wc -l <"$v2/init/cgroup.procs")" = 1 ]
	ok v freeze
	[ "$(cat "$v2/run/cgroup.freeze")" = 1 ]
	grep -q "frozen 1" "$v2/run/cgroup.events"
	n=$(stat -c %s "$script_dir/beats")
	stands "$script_dir/beats" "$n"
	ok v thaw
	eventually grown "$script_dir/beats" "$n"
	# A frozen copy dies with its keeper, without running again.
	ok v freeze
	rank=$(head -1 "$v2/run/cgroup.procs")
	n=$(stat -c %s "$script_dir/beats")
	kill -9 "$COPROC_PID"
	eventually ended "$rank"
	[ "$(stat -c %s "$script_dir/beats")" = "$n" ]
	rmdir "$v2/run" "$v2/init" "$v2"
}

# The cgroup of a desktop session is like this, and somebody types sudo there.
@test "capsule: root makes one in a group of cgroup v2 that is another user's" {
	bed_up 1
	run_dir=$script_dir/run
	mkdir -p "$run_dir" "$script_dir/v2"
	mount -t cgroup2 none "$script_dir/v2" || skip "no cgroup v2 here"
	v2=$script_dir/v2 # teardown() unmounts it
	box=$v2/box$$
	mkdir -p "$box/stint-self"
	chown 65534 "$box/cgroup.procs"
	coproc unshare --mount --propagation private sh -c '
		umount --recursive /sys/fs/cgroup
		mount -t cgroup2 none /sys/fs/cgroup &&
			echo 0 >"/sys/fs/cgroup/$1/stint-self/cgroup.procs" && exec "$0"' \
		"$capsule_shell" "box$$" 3>&-
	# shellcheck disable=SC2034 # for say()
	in[v]=${COPROC[1]} out[v]=${COPROC[0]}
	ok v create "cap$$v" run="$run_dir"
	[ "$(wc -l <"$box/cap$$v/init/cgroup.procs")" = 1 ]
	ok v destroy
	kill "$COPROC_PID"
	eventually rmdir "$box/stint-self"
	rmdir "$box"
}
