# Jobs whose capsules are ports of a bridge on the hosts' LAN: `stint agent
# --net=bridge`, `stint testbed up --bridge`.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	serve 3 --bridge
}

teardown() {
	jobs_teardown
}

# Both serves and asks, one line at a time over one TCP connection, until USR1: any loss is
# an error.
talk=$connected'import signal
on = True
def enough(*_):
    global on
    on = False
signal.signal(signal.SIGUSR1, enough)
f = c.makefile("rw")
i, line = 0, ""
while line != "end\n":
    if rank:
        said = "%d\n" % i if on else "end\n"
        f.write(said); f.flush()
    line = f.readline()
    assert line == said if rank else line in ("%d\n" % i, "end\n"), line
    if not rank:
        f.write(line); f.flush()
        if i == 20: print("talking", flush=True)
    i += 1
    time.sleep(0.01)
print("all", i)'

@test "bridged capsules: both ends of a stream move, and not a byte is lost" {
	# The hosts have told their figures right after the start, too.
	"$stint" hosts --json | python3 -c 'import json,sys; assert all(h["memory_free"] > 0 for h in map(json.loads, sys.stdin))'
	timeout 600 "$stint" run -n 2 --hosts h1,h2 python3 -c "$talk" \
		>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	background=$!
	eventually grep -q talking "$BATS_TEST_TMPDIR/out" || { cat "$BATS_TEST_TMPDIR/err"; false; }
	timeout 300 "$stint" migrate 1.1 h3
	timeout 300 "$stint" migrate 1.0 h2
	# Each capsule has its port at the bridge beside that of the LAN, and no route.
	for h in h2 h3; do
		[ "$(on "$h" ip -o link show master br0 | grep -vc eth0)" = 1 ]
		run ! grep "10.77.128.*/32\|10.77.128.[0-9]* " <<<"$(on "$h" ip -4 route)"
	done
	timeout 300 "$stint" kill -s USR1 1
	status=0
	wait "$background" || status=$?
	background=
	cat "$BATS_TEST_TMPDIR/err"
	[ "$status" = 0 ]
	[ "$(grep -c "^all " "$BATS_TEST_TMPDIR/out")" = 2 ]
	[ "$(grep "^all " "$BATS_TEST_TMPDIR/out" | sort -u | wc -l)" = 1 ]
}

@test "a rank does not move from a bridged host to a routed one; a pool elsewhere is refused" {
	local agent
	read -r agent _ <"$bed/h3.service"
	kill -9 "$agent"
	eventually ended "$agent"
	on h3 "$stint" agent --controller="unix:$bed/controller.sock" --key="$bed/h3/key" \
		--run-dir="$bed/h3/run" --config="$bed/h3/stint.conf" --uplink=br0 --score=1000 >>"$bed/h3/agent.log" 2>&1 3>&- &
	eventually grep -q "host=h3 agent=down" "$bed/controller.log"
	eventually eval 'grep -c "host=h3 agent=up" "$bed/controller.log" | grep -qx 2'
	timeout 600 "$stint" run --hosts h1 sleep 1000 3>&- &
	background=$!
	eventually eval '"$stint" ps | grep -q running'
	run timeout 300 "$stint" migrate 1.0 h3
	echo "$output"
	[ "$status" = 1 ]
	[[ "$output" == *"bridge on h1 and routed on h3"* ]]
	timeout 300 "$stint" kill 1
	"$stint" controller --state-dir="$bed/s2" --enrol=host/x >"$bed/x.key"
	timeout 300 "$stint" controller --state-dir="$bed/s2" --pool=10.99.0.0/16 \
		--listen="unix:$bed/c2" 2>"$bed/c2.log" 3>&- &
	local controller=$!
	on h1 timeout 300 "$stint" agent --controller="unix:$bed/c2" --key="$bed/x.key" --run-dir="$bed/x" \
		--uplink=br0 --net=bridge 2>"$bed/x.log" 3>&- &
	local agent=$!
	eventually grep -q "not part of the network at the bridge br0" "$bed/x.log" "$bed/c2.log" || { cat "$bed/x.log" "$bed/c2.log"; false; }
	kill "$agent" "$controller" || true
	wait "$agent" "$controller" || true
}

# If it did, nobody would find the host for a minute whenever a capsule comes or goes.
@test "capsules at a bridge do not change its own address" {
	on h1 ip link set eth0 address fc:00:00:00:00:01
	timeout 600 "$stint" run -n 8 --hosts h1 sleep 1000 3>&- &
	background=$!
	eventually eval '"$stint" ps | grep -q running'
	[ "$(on h1 ip -o link show master br0 | grep -vc eth0)" = 8 ]
	[ "$(on h1 cat /sys/class/net/br0/address)" = fc:00:00:00:00:01 ]
	timeout 300 "$stint" kill 1
}
