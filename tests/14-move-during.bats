# What a process does while it is being moved: it ends, starts another program
# or makes a child between two rounds of the pre-copy.  The move says so, and
# what runs on runs on unharmed.

bats_require_minimum_version 1.5.0
load build

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	# counts in a file; does its deed on USR1, and undoes it on USR2
	cat >during.py <<-'S'
		import os, signal, sys, time
		os.closerange(3, 1024)
		deed, beat = sys.argv[1:3]
		child = 0
		def do(*_):
		    global child
		    if deed == "open":
		        child = os.open("there/f", os.O_RDONLY)
		    open("did", "w").close()
		    if deed == "open":
		        return
		    if deed == "exec":
		        os.execv(sys.executable, [sys.executable, "-S", *sys.argv])
		    if deed == "exit":
		        os._exit(7)
		    child = os.fork()
		    if not child:
		        time.sleep(1000)
		def undo(*_):
		    if deed == "open":
		        os.close(child)
		        return open("did", "w").close()
		    os.kill(child, signal.SIGKILL)
		    os.waitpid(child, 0)
		signal.signal(signal.SIGUSR1, do)
		signal.signal(signal.SIGUSR2, undo)
		i = len(open(beat).readlines()) if os.path.exists(beat) else 0
		while True:
		    with open(beat, "a") as f:
		        f.write(f"{i}\n")
		    i += 1
		    time.sleep(0.01)
	S
}

teardown() {
	local n
	for n in ${receiver:-} ${engine:-} ${victim:+-"$victim"} ${moved:-}; do
		kill -9 -- "$n" && wait "${n#-}"
	done 2>/dev/null || true
	end_nests
}

state_is() { # PID LETTER
	grep -q "^State:	$2" "/proc/$1/status" 2>/dev/null
}

more_beats_than() { # NUMBER
	[ "$(wc -l <beat)" -gt "$1" ]
}

receive() { # [WRAPPER...]
	: >listen
	"$@" "$stint" move receive --json --listen 127.0.0.1:0 >listen 2>receive.err </dev/null 3>&- &
	receiver=$!
	eventually grep -q listening listen
	addr=$(sed -n 's/^listening //p' listen)
}

# Start it, and have it do its deed after the first round; then the move goes on to its end.
# Leaves its exit status in $status, its errors in err.
move_during() {
	setsid /usr/bin/python3 -S during.py "$1" beat </dev/null >/dev/null 2>&1 3>&- &
	victim=$!
	eventually test -s beat
	receive
	STINT_FAULT=source-round:stop "$stint" move "$victim" --to "$addr" \
		>out 2>err </dev/null 3>&- &
	engine=$!
	eventually state_is "$engine" T
	kill -USR1 "$victim"
	eventually test -e did
	local n
	n=$(wc -l <beat)
	case $1 in
	exec) eventually more_beats_than "$n" ;; # none before it runs anew
	exit) eventually ended "$victim" ;;
	fork) eventually pgrep -P "$victim" >/dev/null ;;
	esac
	go_on
}

# The engine stops again after each round.
go_on() {
	while kill -CONT "$engine" && ! ended "$engine"; do
		sleep 0.02
	done 2>/dev/null
	status=0
	wait "$engine" || status=$?
	engine=
	cat err
}

beats() {
	eventually more_beats_than $(($(wc -l <beat) + 2))
	awk '$1 != NR - 1 { print "line " NR " is " $1; exit 1 }' beat
}

@test "a process that starts another program during the move stays, unharmed" {
	move_during exec
	[ "$status" = 1 ]
	[[ $(tail -1 err) == *"started another program"* ]]
	beats
}

@test "a process that exits during the move is not moved, and no copy is left" {
	move_during exit
	[ "$status" = 1 ]
	[[ $(tail -1 err) == *"has exited"* ]]
	wait "$victim" || status=$?
	[ "$status" = 7 ]
	status=0
	wait "$receiver" || status=$?
	[ "$status" = 1 ]
}

begin_one() { # reaped OR not
	rm -f beat
	(
		setsid /usr/bin/python3 -S during.py exit beat </dev/null >/dev/null 2>&1 3>&- &
		echo $! >pid
		[ "$1" = reaped ] || exec sleep inf >/dev/null 2>&1 3>&-
	) &
	parent=$!
	eventually test -s beat
	victim=$(<pid)
}

# The process ends between two looks: gone from /proc, or not reaped yet.
@test "a process that ends while it is checked has exited, in check and move" {
	local how verb
	for how in reaped not; do
		for verb in check move; do
			begin_one $how
			if [ $verb = check ]; then
				set -- check "$victim"
			else
				receive
				set -- "$victim" --to "$addr"
			fi
			STINT_FAULT=source-checked:stop "$stint" move "$@" 2>err 3>&- &
			engine=$!
			eventually state_is $engine T
			kill -9 "$victim"
			[ $how = not ] || eventually test ! -e "/proc/$victim"
			[ $how = reaped ] || eventually state_is "$victim" Z
			go_on
			[ $how = reaped ] || kill "$parent"
			if [ $verb = move ]; then # it has heard of no move
				kill "$receiver"
				wait "$receiver" || true
				receiver=
			fi
			[ "$status" = 1 ]
			[ "$(tail -1 err)" = "stint move: process $victim has exited" ]
			victim=
		done
	done
}

@test "a process with a lasting child stays, and moves when that has gone" {
	move_during fork
	[ "$status" = 1 ]
	[[ $(tail -1 err) == *"has a child"* ]]
	beats
	kill -USR2 "$victim"
	receive
	run timeout 300 "$stint" move "$victim" --to "$addr"
	echo "$output"
	[ "$status" = 0 ]
	eventually grep -q outcome listen
	grep outcome listen | python3 "$BATS_TEST_DIRNAME/fields.py" "$BATS_TEST_DIRNAME/../man/stint-move.1" --all
	moved=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' listen)
	beats
}

# The process opens a file that is missing at the destination, after the last look before
# the freeze: the freeze is undone, and made again when the file is closed.
@test "a file that is opened just before the freeze, and is not there, is asked for first" {
	[ "$(id -u)" = 0 ] || skip "mounts, as root"
	mkdir there
	echo x >there/f
	setsid /usr/bin/python3 -S during.py open beat </dev/null >/dev/null 2>&1 3>&- &
	victim=$!
	eventually test -s beat
	receive unshare --mount sh -c 'mount -t tmpfs none there && exec "$@"' sh
	STINT_FAULT=source-round:stop "$stint" move "$victim" --to "$addr" \
		>out 2>err </dev/null 3>&- &
	engine=$!
	# After a round in which the file was open there is another round; so it is open at
	# the last one.
	local sig=USR1
	until grep -q "not yet" err; do
		eventually at_rest
		! ended "$engine" || break
		rm -f did
		kill -$sig "$victim"
		eventually test -e did
		[ $sig = USR1 ] && sig=USR2 || sig=USR1
		kill -CONT "$engine"
		eventually at_rest
	done
	rm -f did
	kill -USR2 "$victim"
	go_on
	[ "$status" = 0 ]
	[[ $(cat err) == *"not yet: /"*"there/f cannot be opened at the destination"* ]]
	eventually grep -q outcome listen
	moved=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' listen)
	beats
}

@test "more descriptors than the destination lets anybody have are known before the freeze" {
	setsid bash -c 'ulimit -n 4096; exec 3000</dev/null; exec /usr/bin/python3 -S during.py fork beat' \
		</dev/null >/dev/null 2>&1 3>&- &
	victim=$!
	eventually test -s beat
	receive prlimit --nofile=1024:1024
	STINT_FAULT=source-frozen:error run timeout 300 "$stint" move "$victim" --to "$addr"
	tail -n 1 <<<"$output"
	[ "$status" = 1 ]
	[[ $output == *"its descriptors go up to 3000, and the hard limit of open files (RLIMIT_NOFILE) is 1024 there" ]]
	beats
	receive prlimit --nofile=3100:3100 # for these, but not for the others beside them
	STINT_FAULT=source-frozen:error run timeout 300 "$stint" move "$victim" --to "$addr"
	tail -n 1 <<<"$output"
	[ "$status" = 1 ]
	[[ $output == *"no descriptor from 4096 on (the hard limit of open files there, RLIMIT_NOFILE)"* ]]
	beats
}

@test "more signals that wait, or memory that is locked, than the destination lets anybody have are known before the freeze" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	cat >holds.py <<-'S'
		import ctypes, mmap, os, signal, sys, time
		os.closerange(3, 1024)
		what, beat = sys.argv[1:]
		if what == "signals":
		    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
		    for _ in range(300):
		        os.kill(os.getpid(), signal.SIGRTMIN)
		else:
		    m = mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE)
		    at = ctypes.addressof(ctypes.c_char.from_buffer(m))
		    if ctypes.CDLL(None).mlock(ctypes.c_void_p(at), 1 << 20):
		        sys.exit("mlock")
		i = 0
		while True:
		    with open(beat, "a") as f:
		        f.write(f"{i}\n")
		    i += 1
		    time.sleep(0.01)
	S
	local few=(setpriv --bounding-set "-ipc_lock,-sys_resource"
		prlimit --memlock=65536:65536 --sigpending=200:200)
	local what words
	for what in signals memory; do
		rm -f beat
		setsid /usr/bin/python3 holds.py "$what" beat </dev/null >/dev/null 2>&1 3>&- &
		victim=$!
		eventually test -s beat
		receive "${few[@]}"
		# the process is not stopped at all, as it would be if a freeze had failed
		STINT_FAULT=source-frozen:error run timeout 300 "$stint" move "$victim" --to "$addr"
		tail -n 1 <<<"$output"
		[ "$status" = 1 ]
		words="300 signals wait for the process, and at the destination its user may have 200 queued (RLIMIT_SIGPENDING), of which "
		[ $what = signals ] ||
			words="1024 KiB of the process are locked (mlock), and the destination lets it lock 64 KiB (RLIMIT_MEMLOCK; more takes CAP_IPC_LOCK)"
		[[ $output == *"$words"* ]]
		beats
		receive prlimit --memlock=65536:65536 # it has CAP_IPC_LOCK
		run timeout 300 "$stint" move "$victim" --to "$addr"
		tail -n 1 <<<"$output"
		[ "$status" = 0 ]
		eventually grep -q outcome listen
		moved=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' listen)
		beats
		kill -9 "$moved"
	done
}

@test "what its sockets need and the destination lacks is known before the freeze" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	cat >needs.py <<-'S'
		import os, socket, sys, time
		os.closerange(3, 1024)
		what, beat = sys.argv[1:]
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		if what == "transparent":
		    s.setsockopt(socket.SOL_IP, 19, 1)
		if what == "mark":
		    s.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, 7)
		if what == "priority":
		    s.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 9)
		for port in range(1023 if what == "port" else 0, 600, -1):
		    try:
		        s.bind(("127.0.0.1", port))
		        break
		    except OSError:
		        pass
		if what == "connection":
		    l = socket.create_server(("127.0.0.1", 0))
		    a = socket.create_connection(l.getsockname())
		    b = l.accept()
		i = 0
		while True:
		    with open(beat, "a") as f:
		        f.write(f"{i}\n")
		    i += 1
		    time.sleep(0.01)
	S
	# Both agree if nothing is missing at the destination, and nothing is in the way.
	for what in transparent mark priority port connection; do
		rm -f beat
		setsid /usr/bin/python3 -S needs.py "$what" beat </dev/null >/dev/null 2>&1 3>&- &
		victim=$!
		eventually test -s beat
		receive setpriv --bounding-set=-net_admin,-net_raw,-net_bind_service
		STINT_FAULT=source-frozen:error run timeout 300 "$stint" move "$victim" --to "$addr"
		echo "$what: $(tail -n 1 <<<"$output")"
		[ "$status" = 1 ]
		case $what in
		transparent) [[ $output == *"the destination cannot set IP_TRANSPARENT of a socket: "*" (it takes a privilege there)" ]] ;;
		mark) [[ $output == *"the destination cannot set SO_MARK of a socket: "*" (it takes a privilege there)" ]] ;;
		priority) [[ $output == *"the destination cannot set SO_PRIORITY of a socket: "*" (it takes a privilege there)" ]] ;;
		port) [[ $output == *"a socket has port "*", and the destination lets nobody without a privilege have it" ]] ;;
		connection) [[ $output == *"a TCP connection cannot be made again at the destination: "*"CAP_NET_ADMIN"* ]] ;;
		esac
		beats
		receive
		STINT_FAULT=source-frozen:error run timeout 300 "$stint" move "$victim" --to "$addr"
		[[ $output == *"source-frozen"* ]] || { echo "$what, with privilege: $output"; false; }
		beats
		kill -9 -- "-$victim"
	done
}

at_rest() { # between two rounds, or at its end
	state_is "$engine" T || ended "$engine"
}

# A compiler's output, for example, which is renamed while the question is under way.
@test "a file that was open when the destination was asked, and has gone since, is no reason" {
	[ "$(id -u)" = 0 ] || skip "mounts, as root"
	mkdir there
	echo x >there/f
	setsid /usr/bin/python3 -S during.py open beat </dev/null >/dev/null 2>&1 3>&- &
	victim=$!
	eventually test -s beat
	kill -USR1 "$victim"
	eventually test -e did
	receive unshare --mount sh -c 'mount -t tmpfs none there && exec "$@"' sh
	kill -STOP "$receiver"
	"$stint" move "$victim" --to "$addr" >out 2>err </dev/null 3>&- &
	engine=$!
	eventually is_asked
	rm did
	kill -USR2 "$victim"
	eventually test -e did
	mv there/f there/g
	sleep 0.3 # it asks no more after a quarter of a second
	kill -CONT "$receiver"
	status=0
	wait "$engine" || status=$?
	cat err
	[ "$status" = 0 ]
	eventually grep -q outcome listen
	moved=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' listen)
	beats
}

is_asked() { # what it was sent lies there, as it is stopped
	[ -n "$(ss -Htn src "$addr" | awk '$2 > 0')" ]
}

# Where writes cannot be tracked, all memory is copied while the process stands still.
@test "stop-and-copy: programs pass through moves, announced as such" {
	[ "$(id -u)" = 0 ] || skip "makes network namespaces, as root"
	local drive=$BATS_TEST_DIRNAME/move/drive.py program
	export STINT_TRACK=none
	for program in "storm" "memory shared" "memory sparse" "bigmem 16 1000" \
		"threads" "brief journal"; do
		timeout 300 "$drive" --json --moves 2 -- \
			"$STINT_BUILD/tests/move/check-"$program >reports
		[ "$(grep -c '"tracked": false' reports)" = 2 ]
	done
}

# A page that a device fills slowly may be sent before its content arrives, and is not
# marked as written afterwards.
@test "stop-and-copy: of a process that reads by direct I/O" {
	local kind
	head -c 65536 /dev/zero >data
	for kind in "os.O_RDONLY | os.O_DIRECT" "os.O_WRONLY | os.O_DIRECT"; do
		setsid /usr/bin/python3 -S -c "if True:
			import os, time
			os.closerange(3, 4096)
			os.open('data', $kind)
			open('opened', 'w').close()
			while True: time.sleep(1)" </dev/null >/dev/null 2>&1 3>&- &
		victim=$!
		eventually test -e opened
		rm opened
		receive
		run timeout 300 "$stint" move "$victim" --to "$addr"
		echo "$output"
		[ "$status" = 0 ]
		if [[ $kind = *RDONLY* ]]; then
			[[ $output == *"stop-and-copy: a file is open for direct I/O (O_DIRECT)"* ]]
		else
			[[ $output != *"stop-and-copy"* ]]
		fi
		kill -9 "$receiver"
	done
}

# At the device's own speed this cannot be seen: a block arrives before a round begins.
@test "nothing is lost of what a slow device reads into a process that moves" {
	local group device=/sys/fs/cgroup/blkio/blkio.throttle.read_bps_device
	[ -w "$device" ] || skip "no controller of cgroup v1 that slows a device (blkio)"
	group=${device%/*}/stint-test.$$
	device=$(/usr/bin/python3 -c 'import os; d = os.stat(".").st_dev; print(f"{os.major(d)}:{os.minor(d)}")')
	mkdir "$group"
	if ! echo "$device 2621440" >"$group/blkio.throttle.read_bps_device"; then
		rmdir "$group"
		skip "the files of this test are on $device, which cannot be slowed"
	fi
	status=0
	CHECK_DIR=$PWD timeout 300 bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - "$group" \
		"$BATS_TEST_DIRNAME/move/drive.py" --moves 3 -- \
		"$STINT_BUILD/tests/move/check-unseen" direct >out 2>&1 3>&- || status=$?
	cat out
	eventually rmdir "$group" 2>/dev/null
	[ "$status" = 0 ]
}

@test "stop-and-copy: the budget is compared before the freeze" {
	setsid /usr/bin/python3 -S during.py fork beat </dev/null >/dev/null 2>&1 3>&- &
	victim=$!
	eventually test -s beat
	receive
	STINT_TRACK=none run timeout 300 "$stint" move "$victim" --to "$addr" --budget 0.1ms
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"stop-and-copy: STINT_TRACK=none"* ]]
	[[ $output == *"without write tracking it would stand still for about"* ]]
	# by soft-dirty bits; a kernel without them says so
	receive
	STINT_TRACK=softdirty run timeout 300 "$stint" move "$victim" --to "$addr" --budget 0.1ms
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"STINT_TRACK=softdirty, and this kernel has no soft-dirty bits"* ||
		$output == *"round 1:"* ]]
	if [ "$(id -u)" = 0 ]; then # 16 MB in 4 TiB, to find which takes half a minute
		STINT_TRACK=none timeout 300 "$BATS_TEST_DIRNAME/move/drive.py" \
			--moves 1 --option=--budget=5s --refuse 'over the budget' -- \
			"$STINT_BUILD/tests/move/check-memory" sparse
	fi
	receive
	STINT_TRACK=nonsense run timeout 300 "$stint" move "$victim" --to "$addr"
	[ "$status" = 1 ]
	[[ $output == *"STINT_TRACK=nonsense: async, softdirty or none"* ]]
	beats
}
