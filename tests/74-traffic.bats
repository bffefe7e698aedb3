#!/usr/bin/env bats
# Which ranks talk to each other, by what the kernel counts.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	[ -x "$STINT_BUILD/tests/mpi/talk" ] || skip "no MPICH here"
	jobs_setup
}
teardown() { jobs_teardown; }

# Two ranks that send each other 100 kB again and again.
chat=$connected'while True:
    c.sendall(bytes(100000))
    n = 0
    while n < 100000: n += len(c.recv(100000))
    time.sleep(0.05)'

# Ranks of tests/mpi/talk.c send messages of 5 MB; what MPI itself adds is within 5 %.
all_is_seen() { # JOB RANKS
	st ps "$1" --json | python3 -c '
import json, sys
job, n = json.load(sys.stdin), int(sys.argv[1])
want = {}
for r in range(n):
    for to, messages in (((r + 1) % n, 2 * (r + 1)), ((r - 1) % n, r + 1)):
        want[r, to] = want.get((r, to), 0) + messages * 5e6
seen = {(r["rank"], s["rank"]): s for r in job["ranks"] for s in r["sent"]}
print(want, seen, file=sys.stderr)
for pair, bytes in want.items():
    if pair not in seen or not bytes <= seen[pair]["bytes"] <= 1.05 * bytes:
        sys.exit(1)
    # A segment carries no more than the largest one that is sent unsegmented.
    assert seen[pair]["segments"] >= bytes / 65536, seen
for r in job["ranks"]:
    assert r["sent_bytes"] == sum(s["bytes"] for s in r["sent"]), r
' "$2" 2>"$BATS_TEST_TMPDIR/seen"
}

all_have_come() { # COUNT
	[ "$(grep -c 'all have come' "$bed/out")" = "$1" ]
}

@test "of two and of three ranks it is known who sent how much to whom, also from one host and after a move" {
	serve 3
	begin run -n 2 --hosts h1,h2 "$STINT_BUILD/tests/mpi/talk" 5 >>"$bed/out"
	eventually all_have_come 1
	begin run -n 3 --hosts h1,h2,h2 "$STINT_BUILD/tests/mpi/talk" 5 >>"$bed/out"
	eventually all_have_come 2
	eventually all_is_seen 1 2
	eventually all_is_seen 2 3
	# After a move the connections of a rank begin anew, and what was counted stays.
	migrate 2.0 h3
	eventually is '[r["host"] for r in j[2]["ranks"]]' "['h3', 'h2', 'h2']"
	all_is_seen 2 3
	# A new agent does not count again what the agent before has reported.
	slay "$(service_pid h2)"
	start_agent h2
	background="${background:+$background }$!"
	eventually hosts_up 3
	eventually is 'j[2]["ranks"][1]["memory"] > 0' True
	all_is_seen 2 3
}

# The policy is told, too, once the agent has looked twice.
@test "the policy is told who talks to whom, which is recorded and replays" {
	serve 2
	begin run -n 2 --hosts h1,h2 python3 -c "$chat" >>"$bed/out"
	eventually eval 'st record | grep -q "^talk .* job=1 pairs=0-1:"'
	st record >"$BATS_TEST_TMPDIR/rec"
	st sim --replay "$BATS_TEST_TMPDIR/rec" --json | grep -q '"equal": *true'
	st kill 1
}
