# `stint move` for one process: moves, refusals, and every party killed at
# every named point, after which exactly one copy runs or can be told to.

bats_require_minimum_version 1.5.0
load build

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	# appends one number after the other to a file
	cat >beat.py <<-'S'
		import os, sys, time
		os.closerange(3, 1024)
		i = 0
		while i < int((*sys.argv, 60000)[2]):
		    with open(sys.argv[1], "a") as f:
		        f.write(f"{i}\n")
		    i += 1
		    time.sleep(0.01)
	S
}

teardown() {
	local n
	for n in ${receiver:-} ${nest:-} ${victim:-}; do
		kill -9 "$n" && wait "$n"
	done 2>/dev/null || true
	end_nests
}

start_victim() {
	# a file of its own: the process before may still be ending
	beat=beat.$((nr_victims = ${nr_victims:-0} + 1))
	setsid /usr/bin/python3 -S beat.py "$beat" </dev/null >/dev/null 2>&1 3>&- &
	victim=$!
	eventually test -s "$beat"
}

# start_receiver [ENVIRONMENT]
start_receiver() {
	receive_with env "$@"
}

receive_with() { # [WRAPPER...] [-- OPTION...]
	local wrapper=()
	rm -f listen
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		wrapper+=("$1")
		shift
	done
	"${wrapper[@]}" "$stint" move receive --listen 127.0.0.1:0 "${@:2}" \
		>listen 2>receive.err </dev/null 3>&- &
	receiver=$!
	eventually grep -q listening listen
	addr=$(sed -n 's/^listening //p' listen)
}

# Exactly one copy runs.  The time to wait for a beat, if there may be none, is told by
# another process that beats beside it: where the processor is scarce, it is so for both.
beats() { # [SPANS, of at least 0.2 s]
	local n=$(($(wc -l <"$beat") + 2))
	for _ in $(seq "${1:-500}"); do
		/usr/bin/python3 -S beat.py /dev/null 20
		[ "$(wc -l <"$beat")" -le $n ] || return 0
	done
	return 1
}

# No number is lost or written twice: one copy at a time wrote them.
in_sequence() {
	awk '$1 != NR - 1 { print "line " NR " is " $1; exit 1 }' "$beat"
}

@test "a process is moved and goes on with its pid" {
	start_victim
	start_receiver
	run timeout 300 "$stint" move "$victim" --to "$addr"
	echo "$output"
	[ "$status" = 0 ]
	nest=$(find_nests)
	beats
	in_sequence
	! kill -0 "$victim" 2>/dev/null || grep -q Z "/proc/$victim/stat"
	kill -TERM "$nest"
	status=0
	wait "$receiver" || status=$?
	[ "$status" = 143 ]
}

@test "a moved process ignores the signals that it ignored, not those of its receiver" {
	local before
	start_victim
	before=$(grep -E 'SigIgn|SigCgt' "/proc/$victim/status")
	receive_with sh -c 'trap "" HUP USR2; exec "$@"' sh
	grep -q 'SigIgn:.*[89ab].*.[13579bdf]$' "/proc/$receiver/status" # USR2 and HUP
	timeout 300 "$stint" move "$victim" --to "$addr"
	nest=$(find_nests)
	eventually pgrep -P "$nest" -x python3
	echo "$before"
	diff <(echo "$before") <(grep -E 'SigIgn|SigCgt' "/proc/$(pgrep -P "$nest" -x python3)/status")
}

# ended_by FAULT [OPTION...]: prints what the source says when it ends by that fault
ended_by() {
	start_victim
	start_receiver
	run env STINT_FAULT="$1" STINT_STANDSTILL=1 \
		"$stint" move "$victim" --to "$addr" "${@:2}" 3>&-
	echo "$output"
	[ "$status" = 137 ]
	beats
	in_sequence
	teardown
	receiver='' victim=''
}

said() { # of a line of JSON: its outcome and error
	grep '^{' | python3 -c 'import json; j = json.loads(input()); print(j["outcome"], j["error"])'
}

@test "an engine that is killed, or hangs, is told of in text and in JSON" {
	ended_by source-frozen
	[[ "$output" == *"stint move: the engine was killed, "*"and the process goes on here"* ]]
	ended_by source-frozen --json
	[[ "$(said <<<"$output")" == "aborted the engine was killed, "* ]]
	ended_by source-frozen:stop --json
	[[ "$(said <<<"$output")" == "aborted the engine hung while "* ]]
	ended_by source-held # it was stopped, and goes on
	start_victim
	receive_with env STINT_FAULT=dest-threads -- --json
	run timeout 300 "$stint" move "$victim" --to "$addr"
	[ "$status" = 1 ]
	eventually grep -q '"aborted"' listen
	eventually grep -q "stint move: the engine was killed" receive.err
	beats
}

@test "threads whose CPU clocks begin anew are told of" {
	export CHECK_STOP=$PWD/stop
	/usr/bin/python3 -S -c 'import os, sys; os.closerange(3, 1024); os.execv(sys.argv[1], sys.argv[1:])' \
		"$STINT_BUILD/tests/move/check-threads" 70 >out 2>&1 </dev/null 3>&- &
	victim=$!
	eventually grep -q READY out
	start_receiver
	run timeout 300 "$stint" move "$victim" --to "$addr"
	echo "$output"
	[ "$status" = 0 ]
	[[ "$output" =~ the\ CPU\ clocks\ of\ [0-9]+\ threads\ begin\ at\ 0\ there ]]
	touch stop
	wait "$receiver"
	grep -q PASS out
}

# As stint-move(1) says: this works with a network namespace of one's own, and not without
# one.
@test "a user without root moves a process in namespaces of their own" {
	local as=() d
	d=$(mktemp -d /var/tmp/stint-test.XXXXXX) # where that user may go
	if [ "$(id -u)" = 0 ]; then
		chown 4399 "$d"
		as=(setpriv --reuid 4399 --regid 4399 --clear-groups)
	fi
	cp -r "$STINT_BUILD/src/cmd" "$d/bin"
	cat >"$d/script" <<-'S'
		cd "$1"
		ip link set lo up
		bin/stint move receive --listen=127.0.0.1:0 --once >listen </dev/null &
		receiver=$!
		setsid python3 -c 'import os; os.closerange(3, 1024); os.execvp("sleep", ["sleep", "1000"])' \
			</dev/null >/dev/null 2>&1 &
		victim=$!
		until grep -q listening listen && grep -q sleep "/proc/$victim/comm"; do sleep 0.05; done
		bin/stint move "$victim" --to="$(sed -n 's/^listening //p' listen)" ||
			kill -9 "$victim" "$receiver"
		wait "$victim" # it is gone from here
		! pgrep -x sleep >left || kill -9 $(cat left) # the only one in this pid namespace
		wait "$receiver"
		echo "receiver $?"
	S
	run timeout 300 "${as[@]}" unshare -Urnpf --mount-proc bash "$d/script" "$d" 3>&-
	echo "$output"
	[[ "$output" == *"moved in "*"receiver 137"* ]]
	run timeout 300 "${as[@]}" unshare -Urpf --mount-proc bash "$d/script" "$d" 3>&-
	rm -r "$d"
	[[ "$output" == *"cannot enter the network namespace"* ]]
}

@test "limits that are lower at the destination bound those of the process, no more" {
	local as=() d
	d=$(mktemp -d /var/tmp/stint-test.XXXXXX)
	if [ "$(id -u)" = 0 ]; then
		chown 4399 "$d"
		as=(setpriv --reuid 4399 --regid 4399 --clear-groups)
	fi
	cp -r "$STINT_BUILD/src/cmd" "$d/bin"
	cat >"$d/script" <<-'S'
		cd "$1"
		ip link set lo up
		ulimit -n 4096
		(
			ulimit -Sn 1000 -Sc 0
			ulimit -Hn 2048
			exec bin/stint move receive --listen=127.0.0.1:0 --once >listen </dev/null
		) &
		receiver=$!
		ulimit -Sn 1500
		setsid python3 -c 'import os; os.closerange(3, 1024); os.execvp("sleep", ["sleep", "1000"])' \
			</dev/null >/dev/null 2>&1 &
		victim=$!
		until grep -q listening listen && grep -q sleep "/proc/$victim/comm"; do sleep 0.05; done
		bin/stint move "$victim" --to="$(sed -n 's/^listening //p' listen)" ||
			kill -9 "$victim" "$receiver"
		wait "$victim"
		! pgrep -x sleep >left || grep "open files" "/proc/$(cat left)/limits"
		! [ -s left ] || kill -9 "$(cat left)"
		wait "$receiver"
	S
	run timeout 300 "${as[@]}" unshare -Urnpf --mount-proc bash "$d/script" "$d" 3>&-
	rm -r "$d"
	echo "$output"
	[[ "$output" =~ "Max open files "\ +1500\ +2048\  ]]
}

stranger() { # TEXT: says it, and goes
	printf '%s' "$1" >"/dev/tcp/${addr%:*}/${addr##*:}"
}

told() { # NUMBER of strangers
	[ "$(grep -c '^stint move: 127.0.0.1 is not the source: .*; still waiting$' receive.err)" = "$1" ]
}

@test "strangers end no receiver, nor keep the source out" {
	local options wrong
	for i in right wrong; do
		"$stint" controller --state-dir=$i --enrol=host/x >key.$i
	done
	for options in "" "--key key.right"; do
		start_victim
		receive_with -- $options
		stranger ""
		stranger "GET / HTTP/1.0"$'\n\n'
		wrong=2
		if [ -n "$options" ]; then
			sleep 1000 3<>"/dev/tcp/${addr%:*}/${addr##*:}" & # says nothing
			nest=$!
			eventually grep -qx sleep "/proc/$nest/comm" # connected
			run ! timeout 300 "$stint" move "$victim" --to "$addr" --key key.wrong
			wrong=3
		fi
		timeout 300 "$stint" move "$victim" --to "$addr" $options
		beats
		[ -z "$nest" ] || kill "$nest"
		told $wrong || { cat receive.err; false; }
		nest=$(find_nests)
		kill -TERM "$nest"
		wait "$receiver" || true
		nest=
	done
	receive_with -- --once
	stranger ""
	status=0
	wait "$receiver" || status=$?
	# the receiver says from whom, and why not from this source
	[ "$status" = 1 ] && [ "$(wc -l <receive.err)" = 2 ]
}

@test "of a name's addresses the one serves where the receiver is" {
	printf '::1 two\n127.0.0.1 two\n' >hosts
	start_victim
	start_receiver
	# shellcheck disable=SC2016 # the inner shell's
	run timeout 300 unshare -m sh -c \
		'mount --bind hosts /etc/hosts && exec "$0" move "$@"' \
		"$stint" "$victim" --to "two:${addr##*:}"
	echo "$output"
	[ "$status" = 0 ]
	nest=$(find_nests)
	beats
}

# In the receiver's nest the landing process has pid 2; here pid 2 is another process.
@test "a move puts nobody ahead but who takes part" {
	cat >inside <<-'S'
		sleep 1000 &
		[ $! = 2 ] && renice -n 0 -p 2 >renice || exit 9
		setsid /usr/bin/python3 -S beat.py beat </dev/null >/dev/null 2>&1 &
		victim=$!
		until [ -s beat ]; do sleep 0.05; done
		"$1" move receive --listen 127.0.0.1:0 >listen </dev/null &
		until grep -q listening listen; do sleep 0.05; done
		"$1" move $victim --to "$(sed -n 's/^listening //p' listen)" || exit
		chrt -p 2
	S
	run timeout 300 unshare --pid --fork --kill-child --mount-proc bash inside "$stint"
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"pid 2's current scheduling policy: SCHED_OTHER"* ]]
}

@test "what cannot be moved is refused and runs on" {
	start_victim
	start_receiver
	run timeout 300 "$stint" move 1 --to "$addr"
	[ "$status" = 1 ]
	run timeout 300 "$stint" move check "$victim"
	[ "$status" = 0 ]
	setsid sh -c 'sleep 1000 & wait' </dev/null >/dev/null 2>&1 3>&- &
	local parent=$!
	eventually pgrep -P "$parent" >/dev/null
	run timeout 300 "$stint" move check "$parent"
	kill -9 -- "-$parent"
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"has a child"* ]]
	run timeout 300 "$stint" move "$victim" --to 127.0.0.1:1
	[ "$status" = 1 ]
	run "$stint" move nonsense --to "$addr"
	[ "$status" = 2 ]
	beats
	in_sequence
}

@test "check finds what a thread that is not the leader does with its system calls" {
	local dir=$BATS_TEST_TMPDIR program
	# without descriptors of bats, which are pipes
	CHECK_STOP=$dir/stop python3 -c 'import os, sys; os.closerange(3, 1024)
os.execv(sys.argv[1], sys.argv[1:])' "$STINT_BUILD/tests/move/check-unsupported" \
		dispatch thread </dev/null >"$dir/out" 2>&1 3>&- &
	program=$!
	eventually grep -qE 'READY|SKIP' "$dir/out"
	grep -q READY "$dir/out" || skip "no syscall user dispatch"
	run timeout 300 "$stint" move check "$program"
	touch "$dir/stop"
	wait "$program"
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"handles its system calls itself (syscall user dispatch)"* ]]
}

@test "a budget that cannot be kept is refused before the freeze" {
	start_victim
	start_receiver
	run timeout 300 "$stint" move "$victim" --to "$addr" --budget 0.001ms
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"over the budget"* ]]
	beats
	in_sequence
}

# As which user would the program run?
@test "without a key the receiver takes no process from another user of the host" {
	[ "$(id -u)" = 0 ] || skip "takes root"
	start_victim
	start_receiver
	grep -q "may come from this host, its root or this user; no key" receive.err
	setpriv --reuid 65534 --regid 65534 --clear-groups timeout 300 \
		bash -c 'exec 4<>"/dev/tcp/127.0.0.1/$1"; cat <&4' - "${addr##*:}" 3>&-
	grep -q "127.0.0.1 is not the source: no --key, and it is user 65534's, not ours or root's; still waiting" receive.err
	timeout 300 "$stint" move "$victim" --to "$addr"
	beats
}

# strike SIDE POINT: kill that side at that point, and check that one copy is left.
strike() {
	start_victim
	local status=0 env=("STINT_FAULT=$2")
	if [ "$1" = source ]; then
		start_receiver
		env "${env[@]}" timeout 300 "$stint" move "$victim" \
			--to "$addr" --record record >out 2>&1 || status=$?
	else
		start_receiver "${env[@]}"
		timeout 300 "$stint" move "$victim" --to "$addr" \
			--record record >out 2>&1 || true
		wait "$receiver" || status=$?
	fi
	# the move was struck, not refused before that
	[ "$status" = 137 ] || { cat out receive.err; return 1; }
	nest=$(find_nests)
	if ! beats 10; then
		# only a decision that reached nobody leaves both copies standing still
		if [ -e record ]; then
			"$stint" move release "$nest"
		else
			[ "$2" = source-held ]
			"$stint" move discard "$nest"
			kill -CONT "$victim"
		fi
		beats
	fi
	in_sequence || { echo "at $2"; return 1; }
	teardown
	receiver='' nest='' victim=''
	rm -f record
}

@test "the source killed at every point leaves one copy" {
	for p in checked hello tracking round injected frozen unplugged \
		captured sent ready held recorded committed running; do
		echo "source-$p"
		strike source "source-$p"
	done
}

@test "the destination killed at every point leaves one copy" {
	for p in hello spawned round state threads landed ready commit \
		released running; do
		echo "dest-$p"
		strike dest "dest-$p"
	done
}
