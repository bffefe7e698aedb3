#!/usr/bin/python3
"""crash.py - a host that dies, and a controller that dies at its word

    crash.py [host|word]...

host: all of h1's processes die at once.  The job with a rank there fails and
says why, the job elsewhere goes on, `stint hosts` says "down"; the agent
started again takes new work, and nothing old is left.

word: the controller dies by -9 as soon as one of many clients has been told
its job's number; every number that was told is known to the next controller.
"""
import os
import pty
import re
import subprocess
import sys

import bed
from parties import Cluster, ensure, things
from procs import processes

CLIENTS, ROUNDS = 12, 4


def dies(c, restart):
    """A host of one job dies; restart: its agent is back at once."""
    b = c.bed
    struck = b.start(3, "sleep", "1000", hosts=["h1", "h2", "h3"])
    other = b.start(2, "sh", "-c", "sleep 2; echo done", hosts=["h2", "h3"])
    c.crash("h1")
    if restart:
        c.agent("h1")
    status = struck.wait(100)
    if status != 1 or "rank 0 on h1 is lost" not in struck.errors():
        raise bed.Failed(f"exit {status}: {struck.errors()}")
    if other.wait(100) or other.text() != "done\n" * 2:
        raise bed.Failed(f"the other job: {other.text()}{other.errors()}")
    if not restart:
        c.agent("h1")
    r = b.stint("run", "--hosts", "h1", "echo", "again")
    if r.stdout != "again\n":
        raise bed.Failed(f"h1 takes no work: {r.stderr}")


def host(c):
    c.no_controller()
    c.controller("1s")
    for h in c.bed.hosts:
        ensure(lambda: c.host(h)["state"] == "up", f"{h} does not come back")
    before = things(c)
    dies(c, False)
    dies(c, True)
    ensure(lambda: not things(c) - before,
           lambda: f"left behind: {things(c) - before}")


def client(c):
    """The client of a waiting job, whose terminal shows when the job was accepted."""
    ours, theirs = pty.openpty()
    p = subprocess.Popen([c.bed.exe, "run", "true"], env=c.bed.env,
                         stdin=subprocess.DEVNULL, stdout=theirs,
                         stderr=theirs, start_new_session=True)
    os.close(theirs)
    os.set_blocking(ours, False)
    return p, ours


def told(terminals):
    """Job numbers that clients have printed."""
    numbers = set()
    for t in terminals:
        try:
            text = os.read(t, 65536).decode()
        except OSError:
            continue
        numbers |= {int(n) for n in re.findall(r"job (\d+) waits", text)}
    return numbers


def word(c):
    for h in c.bed.hosts:
        c.bed.stint("drain", h)
    for i in range(ROUNDS):
        clients = [client(c) for _ in range(CLIENTS)]
        terminals = [t for _, t in clients]
        known = ensure(lambda: told(terminals), "no job is taken")
        c.no_controller()
        known |= told(terminals)
        for p, t in clients:
            p.kill()
            p.wait()
            os.close(t)
        c.controller()
        jobs = {j["job"] for j in c.bed.ask("ps", "-a")}
        if not known <= jobs:
            raise bed.Failed(f"round {i}: told {known}, and only {jobs} are "
                             "known")
        print(f"round {i}: {len(known)} of {CLIENTS} told, all known")


def main():
    failed = 0
    with bed.Bed(os.environ.get("STINT_BUILD", "build"), 3) as b, \
            Cluster(b) as c:
        try:
            for name in sys.argv[1:] or ("host", "word"):
                {"host": host, "word": word}[name](c)
        except (bed.Failed, subprocess.TimeoutExpired) as e:
            failed = 1
            print(f"FAILED: {e}", flush=True)
    return 1 if failed or processes(c.home) else 0


if __name__ == "__main__":
    sys.exit(main())
