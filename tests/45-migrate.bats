# Ranks of jobs that move, by `stint migrate` and `stint drain`: nothing of them is lost,
# nor of what they print.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	serve "${hosts:-3}"
}

teardown() { jobs_teardown; }

@test "what a rank prints comes in order and whole, though it moves while nobody reads" {
	mkfifo "$bed/pager"
	"$stint" run -n 1 --hosts h1 seq 1 400000 >"$bed/pager" 2>"$bed/err" 3>&- &
	background=$!
	exec 4<"$bed/pager"
	read -r first <&4
	migrate 1.0 h2
	migrate 1.0 h3
	{ echo "$first"; timeout 300 cat <&4; } | cmp - <(seq 1 400000)
	wait "$background"
	background=
}

@test "a rank goes on printing though what it printed before is lost with the host it left" {
	mkfifo "$bed/pager"
	"$stint" run -n 1 --hosts h1 seq 1 400000 >"$bed/pager" 2>"$bed/err" 3>&- &
	background=$!
	exec 4<"$bed/pager"
	read -r first <&4
	migrate 1.0 h2
	kill -9 "$(pgrep -of "keeper [^ ]* --run-dir=$bed/h1/run ")"
	eventually grep -q keeper=gone "$bed/h1/agent.log"
	timeout 300 cat <&4 | tail -n 1 | grep -qx 400000
	wait "$background"
	background=
	grep -q "some of what rank 0 printed is lost" "$bed/err"
}

# The rank waits for its output to be read, and has written no more for a while.
stuck() { # PID
	local n
	n=$(grep wchar "/proc/$1/io")
	grep -q pipe_write "/proc/$1/wchan" && sleep 1 &&
		[ "$n" = "$(grep wchar "/proc/$1/io")" ]
}

says() { # WORDS COMMAND...
	run st "${@:2}"
	[[ $output == *"$1"* ]]
}

@test "a rank that has ended, whose last words nobody has read yet, is said to have ended" {
	local pid
	mkfifo "$bed/pager"
	"$stint" run -n 1 --hosts h1 yes >"$bed/pager" 2>"$bed/err" 3>&- &
	background=$!
	exec 4<"$bed/pager"
	read -r first <&4
	pid=$(jobs 'j[1]["ranks"][0]["pid"]')
	eventually stuck "$pid"
	slay "$pid"
	eventually says "the rank has ended; what it printed last is still to be read" \
		migrate 1.0 h2
	is 'j[1]["ranks"][0]["state"]' running
	exec 4<&-
	wait "$background" || true
	background=
}

@test "an MPI program runs, and each rank is moved meanwhile" {
	local heat=$STINT_BUILD/examples/heat job moves=0 n=500
	[ -x "$heat" ] || skip "no MPICH here"
	# Iterations are doubled until there are enough for a move, however fast this
	# machine is.
	while [ "$moves" -lt 1 ]; do
		n=$((n * 4))
		limit=600 begin run -n 3 "$heat" -n 64 -i $n >"$bed/out" 2>&1
		eventually grep -q iteration "$bed/out"
		job=$((${job:-0} + 1))
		for rank in 0 1 2; do
			st migrate "$job.$rank" h1 || true
		done
		wait "$background"
		background=
		moves=$(json "sum(r['moves'] for r in j[0]['ranks'])" ps "$job")
		echo "$n iterations: $moves moves"
	done
	st run -n 3 "$heat" -n 64 -i $n >"$bed/right" 2>&1
	[ "$(grep ^result "$bed/out")" = "$(grep ^result "$bed/right")" ]
}

@test "a program that is not MPI moves, and no line is lost" {
	begin run "$count" >"$bed/out" 2>"$bed/err"
	eventually grep -q 9 "$bed/out"
	local job from
	job=$(json 'j[0]["job"]' ps)
	from=$(host_of "$job.0")
	run st migrate "$job.0" "$from"
	[ "$status" = 1 ]
	[[ "$output" == *"already"* ]]
	run st migrate "$job.0" "$([ "$from" = h2 ] && echo h3 || echo h2)" --json
	echo "$output"
	[ "$status" = 0 ]
	echo "$output" | python3 -c 'import json,sys; j=json.load(sys.stdin); assert j["moved"] and j["downtime_us"] > 0'
	[ "$(host_of "$job.0")" != "$from" ]
	st kill -s USR1 "$job"
	wait "$background"
	background=
	[ ! -s "$bed/err" ]
	counted_whole "$bed/out"
}

@test "System V objects keep a rank where it is, and it is told why" {
	begin run --hosts h1 sh -c 'ipcmk -S 1; exec sleep 1000' >"$bed/out" 2>"$bed/err"
	eventually grep -q "Semaphore id" "$bed/out"
	run st migrate 1.0 h2
	[ "$status" = 1 ]
	[[ "$output" == *"System V semaphores"* ]]
	st kill 1
}

@test "drain moves ranks off and keeps new ones away; --undo" {
	begin run -n 2 "$count" >"$bed/out" 2>&1
	eventually all_running
	local job host
	job=$(json 'j[0]["job"]' ps)
	host=$(host_of "$job.0")
	st drain "$host"
	[ "$(host_of "$job.0")" != "$host" ]
	[ "$(json "[h['state'] for h in j if h['host'] == '$host'][0]" hosts)" = drained ]
	run st run --hosts "$host" true
	[ "$status" = 1 ]
	[[ "$output" == *"drained"* ]]
	st drain "$host" --undo
	st run --hosts "$host" true
	st kill "$job"
	wait "$background" || true
	background=
	run st drain h9
	[ "$status" = 1 ]
}

@test "several hosts are drained at a time: no rank goes from one to the other" {
	begin run -n 2 --hosts h1,h2 "$count" >"$bed/out" 2>&1
	eventually all_running
	run --separate-stderr st drain h1 h9 h2
	[ "$status" = 1 ]
	[[ "$stderr" == "stint drain: no host h9;"* ]]
	[ "$(json '[h["state"] for h in j]' hosts)" = "['up', 'up', 'up']" ]
	st drain h1 h2 >"$bed/moves"
	[ "$(jobs 'hosts(1)')" = "['h3', 'h3']" ]
	[ "$(jobs '[r["moves"] for r in j[1]["ranks"]]')" = "[1, 1]" ]
	[ "$(grep -c '^rank 1.. moved from h[12] to h3' "$bed/moves")" = 2 ]
	[ "$(json '[h["state"] for h in j]' hosts)" = "['drained', 'drained', 'up']" ]
	run --separate-stderr st drain h1 h3
	[ "$status" = 1 ]
	[[ "$stderr" == "stint drain: h3 takes nothing new, but not all could leave: "* ]]
	[ "${#stderr_lines[@]}" = 1 ]
	st undrain h1 h2 h3
	[ "$(json '[h["state"] for h in j]' hosts)" = "['up', 'up', 'up']" ]
	st kill 1
}

@test "a destination that runs out of memory: the move is given up" {
	local group
	group=$(find /sys/fs/cgroup/memory -type d -path "*stint-testbed.$STINT_TESTBED/h2" 2>/dev/null)
	[ -n "$group" ] || skip "no cgroup v1 memory controller"
	limit=1000 st run -n 1 --hosts h1 python3 -c 'import sys, time
b = bytearray(64 << 20)
while True:
    for i in range(0, len(b), 4096): b[i] = b[i] + 1 & 255
    assert len(set(b[::4096])) == 1
    print("round", flush=True); time.sleep(0.05)' >"$bed/out" 2>&1 3>&- &
	background=$!
	eventually grep -q round "$bed/out"
	echo $((24 << 20)) >"$group/memory.limit_in_bytes"
	for _ in 1 2; do
		run -1 st migrate 1.0 h2
		echo "$output"
		[ "${#lines[@]}" = 1 ]
	done
	rounds=$(grep -c round "$bed/out")
	more_rounds() { [ "$(grep -c round "$bed/out")" -gt "$rounds" ]; }
	eventually more_rounds
	echo -1 >"$group/memory.limit_in_bytes"
	# Without CAP_SYS_RESOURCE the agent might have been killed in place of the helper.
	again() { hosts_up 3 || start_agent h2; st migrate 1.0 h2; }
	eventually again
	if sh -c 'echo -1 >/proc/self/oom_score_adj' 2>/dev/null; then
		[ "$(cat "/proc/$(service_pid h1)/oom_score_adj")" = -900 ]
		[ "$(cat "/proc/$(pgrep -f "[b] = bytearray.64" | tail -n 1)/oom_score_adj")" = 0 ]
	fi
	rounds=$(grep -c round "$bed/out")
	eventually more_rounds
}

# What was seen of job 1's ranks as they moved.
seen() { # EXPRESSION ABOUT r, ITS RANKS
	json "[($1) for r in j[0]['ranks']]" ps 1
}

@test "how much a rank writes is seen as it moves, unknown before, and known to the next controller" {
	local was
	begin run --hosts h1 -n 2 "$STINT_BUILD/tests/move/check-bigmem" 16 1000 10000 >"$bed/out" 2>&1
	eventually eval '[ "$(grep -c READY "$bed/out")" = 2 ]'
	[ "$(seen "r['writes'], r['last_predicted_us']")" = "[(None, None), (None, None)]" ]
	[ "$(st top --once | grep -c ' unknown ')" = 2 ]
	migrate 1.0 h2
	[ "$(seen "r['writes'] is not None and r['writes'] > 1e5 and r['last_predicted_us'] > 0")" = "[True, False]" ]
	[ "$(st top --once | grep -c ' unknown ')" = 1 ]
	st record | grep '^migrate .* seen=[1-9][0-9]*:[1-9][0-9]*:[1-9][0-9]*:[1-9][0-9]*$'
	was=$(seen "r['writes'], r['last_predicted_us']")
	slay "$(service_pid controller)"
	start_controller --policy=stint
	eventually is 'j[1]["state"]' running
	[ "$(seen "r['writes'], r['last_predicted_us']")" = "$was" ]
	st record | grep '^migrate .* to=1 cost=0 seen='
	st record >"$bed/rec"
	st sim --replay "$bed/rec"
	st kill 1
}
