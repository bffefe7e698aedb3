# jobs.bash - for tests that run jobs on a testbed; load it at the top of a .bats file.
# $bed is the testbed's directory; processes beside it are named in $background and
# $controller, and are ended by jobs_teardown.
load capsule

# How a Python program of two ranks begins: c is a TCP connection between them, rank is the
# number of this one.
# shellcheck disable=SC2034 # for who loads this
connected='import os, socket, time
rank = int(os.environ["PMI_RANK"])
peer = socket.gethostname().rsplit("-", 1)[0] + "-0"
s = socket.socket()
if rank == 0:
    s.bind(("0.0.0.0", 7777)); s.listen(1); c, _ = s.accept()
else:
    while s.connect_ex((peer, 7777)): s.close(); time.sleep(0.05); s = socket.socket()
    c = s
'

jobs_setup() {
	bed_setup
	bed=$STINT_TESTBED_DIR/$STINT_TESTBED
}

jobs_teardown() {
	trap : TERM # whoever ends the test waits for this
	[ -n "${BATS_TEST_COMPLETED:-}" ] || tell_how_it_was
	# By their ids: what this test itself started outside the testbed.  A client
	# whose controller has gone would wait for the next one.
	[ -z "${background:-}" ] || end_background
	[ -z "${controller:-}" ] || kill "$controller" 2>/dev/null || true
	bed_teardown
}

# To help whoever reads why a test failed.
tell_how_it_was() {
	timeout 20 "$stint" ps --all || true
	tail -n 5 "$bed"/out "$bed"/controller.log "$bed"/h*/agent.log 2>/dev/null || true
}

# A process and all below it. That of `st run &` is a shell, and the client is its
# grandchild.
tree_of() { # PID
	local p
	echo "$1"
	for p in $(pgrep -P "$1"); do
		tree_of "$p"
	done
}

# A process that does not end is killed: waiting for it would keep the testbed up, and bats,
# once it is told to end, deletes that testbed's record.
end_background() {
	local p all end=$((SECONDS + 20)) # longer than begin()'s -k
	all=$(for p in $background; do tree_of "$p"; done)
	kill $all 2>/dev/null || true
	for p in $all; do
		until ended "$p" || [ $SECONDS -ge $end ]; do
			sleep 0.05
		done
	done
	kill -9 $all 2>/dev/null || true
	wait $background || true
}

st() {
	timeout -k 10 "${limit:-300}" "$stint" "$@"
}

# A move that the machine was too busy for is refused or given up, which says so, and
# may be asked for again; each time is told in the TAP.  An engine that died of anything
# but SIGKILL has a bug: that fails the test.
migrate() { # JOB.RANK HOST [OPTION...]
	local said end=$((SECONDS + 300))
	until said=$(st migrate "$@" 2>&1); do
		echo "$said"
		[ $SECONDS -lt $end ] || return 1
		case $said in
		*"cannot be stopped now"* | *"temporarily unavailable"*) ;;
		*"cannot reach "*": Connection refused"* | *"the engine was killed (Killed)"*) ;;
		*) return 1 ;;
		esac
		echo "# asked again: ${said##*$'\n'}" >&3
		sleep 1
	done
	echo "$said"
}

# Run a command in the background, under a pid to which signals can be sent: that of `st &`
# would be a shell's, whose death leaves the command without a parent.
begin() { # ARGUMENTS...
	timeout -k 10 "${limit:-1000}" "$stint" "$@" 3>&- &
	background="${background:+$background }$!"
}

# The value of a python expression about the JSON of a command: j is its only object, or the
# list of them.
json() { # EXPRESSION COMMAND...
	asked "$(shape_of "$2")" "$1" "" "" "${@:2}" --json
}

# Is this the value?  Within eventually, which sets patience, this waits for it for some
# time.
json_is() { # EXPRESSION VALUE COMMAND...
	asked "$(shape_of "$3")" "$1" "$2" "${patience:-0}" "${@:3}" --json
}

shape_of() { # COMMAND
	case $1 in
	hosts | ps) echo all ;;
	*) echo one ;;
	esac
}

asked() { # SHAPE EXPRESSION VALUE SECONDS COMMAND...
	"$BATS_TEST_DIRNAME/ask.py" "${@:1:4}" \
		timeout -k 10 "${limit:-300}" "$stint" "${@:5}"
}

# The value of a python expression about all jobs, by number: j[1]["state"].
jobs() { # EXPRESSION
	asked jobs "$1" "" "" ps --all --json
}

is() { # EXPRESSION VALUE
	asked jobs "$1" "$2" "${patience:-0}" ps --all --json
}

hosts_up() { # COUNT
	json_is 'sum(h["state"] != "down" for h in j)' "$1" hosts
}

# Is this the number of jobs that wait or run?
job_count_is() {
	json_is 'len(j)' "$1" ps
}

# Is this the number of jobs (1), and do all ranks of them run?
all_running() {
	json_is 'all(r["state"] == "running" for i in j for r in i["ranks"]) and (len(j), j[0]["state"])' \
		"${1:-1} running" ps
}

# The host of a rank.
host_of() { # JOB.RANK
	json "j[0]['ranks'][${1#*.}]['host']" ps "${1%.*}"
}

# A program that counts until USR1; and a check that all it counted came, once and in order.
# shellcheck disable=SC2034 # for who loads this
count=$BATS_TEST_DIRNAME/counter.py

counted_whole() { # FILE
	local n
	n=$(sed -n 's/^PASS //p' "$1")
	[ "$n" -gt 1 ] && cmp "$1" <(seq -f 'round %.0f' 0 $((n - 1)); echo "PASS $n")
}

# Start it in the background, until it is killed.
sleeper() { # OPTIONS...
	local n=$((${njobs:-0} + 1))
	begin run "$@" sleep 1000 >>"$bed/out" 2>&1
	njobs=$n
	eventually is "'yes' if $n in j else 'no'" yes
}

service_pid() { # controller, h1, ...
	cut -d' ' -f1 "$bed/$1.service"
}

# Kill it, and wait until its files are closed, so that another can take its place.
slay() { # PID
	kill -9 "$1"
	eventually ended "$1"
}

# Start it as `stint testbed up` did.
start_agent() { # HOST OPTIONS...
	local host=$1
	shift
	on "$host" "$stint" agent --controller="unix:$bed/controller.sock" \
		--key="$bed/$host/key" --run-dir="$bed/$host/run" --config="$bed/$host/stint.conf" --uplink=eth0 \
		--cores=1 --score=1000 --min-uid=0 --min-gid=0 --log="$bed/$host/agent.log" "$@" >>"$bed/$host/agent.log" 2>&1 3>&- &
}

start_controller() { # OPTIONS...
	"$stint" controller --state-dir="$bed/controller" --pool=10.77.128.0/17 \
		--listen="unix:$bed/controller.sock" --min-uid=0 --log="$bed/controller.log" "$@" \
		>>"$bed/controller.log" 2>&1 3>&- &
	controller=$!
}
