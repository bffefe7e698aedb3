"""refaults.py - how much of an owner's files is to be read again because of a guest

A host with a memory limit (--memory), half of which is always the owner's (the term
`memory`).  Its files fill that half, as far as the host's own processes leave it, and a
guest the other one.  bench/reader.py touches the files all the time, and counts pages
that it has to read again: with no guest, with one there, and while one leaves.  The last
row is what the term is worth: without it, and with a guest of 64 MB more."""
import os
import subprocess
import sys
import tempfile
import threading
import time

import common
import bed
import seat

MB = 1 << 20
HOST = 768  # megabytes
OWN = HOST // 2
# What the kernel charges in batches, page tables, and a guest's keeper and engine.
SPARE = int(os.environ.get("SPARE", 8))
RATE = 20000  # pages a second
LEAST = 1.0  # in a thousand: fewer are as good as none


def used(b, host):
    """Bytes of that host's control group."""
    with open(f"{b.home}/record") as f:
        groups = [line.split()[1] for line in f if line.startswith("cgroup ")]
    for group in groups:
        for name in ("memory.usage_in_bytes", "memory.current"):
            path = os.path.join(group, name)
            if os.path.basename(group) == host and os.path.exists(path):
                with open(path) as f:
                    return int(f.read())
    raise bed.Failed("the host has no memory of its own")


class Reader:
    """with: the owner at that host uses files of so many bytes."""

    def __init__(self, b, host, size):
        # Of holes: no disk is in the way, and memory is needed all the same.  Not in /tmp,
        # which may be in memory itself.
        self.file = tempfile.NamedTemporaryFile(dir=common.BUILD)
        self.file.truncate(size)
        self.process = subprocess.Popen(
            [b.exe, "testbed", "exec", host, sys.executable,
             os.path.join(common.ROOT, "bench/reader.py"), self.file.name,
             str(RATE)],
            env=b.env, text=True, stdout=subprocess.PIPE, stdin=subprocess.PIPE)
        if self.process.stdout.readline() != "READY\n":
            raise bed.Failed("the owner's files cannot be read")
        self.rows = []
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()

    def listen(self):
        for line in self.process.stdout:
            self.rows.append(tuple(map(int, line.split())))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.thread.join()
        self.process.wait()
        self.file.close()

    def again(self, since, until):
        """Of a thousand pages touched between two instants, how many were read again."""
        if not bed.until(lambda: self.rows and self.rows[-1][0] / 1e6 > until):
            raise bed.Failed("the owner's files are not read any more")
        seen = [r for r in self.rows if since <= r[0] / 1e6 <= until + 0.1]
        touched, faults = (seen[-1][k] - seen[0][k] for k in (1, 2))
        return 1000 * faults / touched


def once(b, owner, guest_mb, found):
    size = OWN * MB - used(b, "h1") - SPARE * MB
    with Reader(b, "h1", size) as reader:
        def for_a_while(what, seconds=3):
            since = time.monotonic()
            time.sleep(seconds)
            found[what].append(reader.again(since, since + seconds))
        for_a_while("none")
        began = time.monotonic()
        job = b.start(1, common.check("bigmem"), str(guest_mb), "20000", "1000",
                      hosts=["h1"])
        job.wait_for("READY")
        found["coming"].append(reader.again(began, time.monotonic()))
        for_a_while("there")
        pid = seat.pid_of(b, job)[0]
        with seat.Present(owner) as at:
            gone, _ = seat.leaves(pid)
            found["leaving"].append(reader.again(at, gone))
    job.kill("-9")
    job.wait()
    owner.wait_for("open", lambda h: h["closed"] == "open", "owner")


def unprotected(b, owner, guest_mb, found):
    owner.set("on-return = share", "memory = 0")
    with Reader(b, "h1", OWN * MB - used(b, "h1") - SPARE * MB) as reader:
        job = b.start(1, common.check("bigmem"), str(guest_mb), "20000", "1000",
                      hosts=["h1"])
        job.wait_for("READY")
        since = time.monotonic()
        time.sleep(3)
        found["unprotected"].append(reader.again(since, since + 3))
    job.kill("-9")
    job.wait()


def measure(rounds):
    found = {k: [] for k in ("none", "coming", "there", "leaving",
                             "unprotected")}
    with bed.Bed(common.BUILD, 2, f"--memory={HOST}M,{4 * HOST}M",
                 "--policy=stint") as b:
        # Too late at a busy time, the host would be closed for the day.
        owner = seat.Seat(b, "h1", "give-back = 60s", f"memory = {OWN}M")
        for _ in range(rounds):
            once(b, owner, HOST - OWN - SPARE, found)
        unprotected(b, owner, HOST - OWN - SPARE + 64, found)
        owner.leave()
    none = common.median(found["none"])
    for what in ("coming", "there", "leaving"):
        value = common.median(found[what])
        common.say(f"pages of an owner's files read again, a guest {what}",
                   value, "in 1000", f"no guest, {none:.3f}",
                   (value + LEAST) / (none + LEAST), rounds, bound=1.5,
                   worst=round(max(found[what]), 3))
    value = found["unprotected"][0]
    common.say("pages of an owner's files read again, a guest there and no "
               "memory the owner's", value, "in 1000", f"no guest, {none:.3f}",
               (value + LEAST) / (none + LEAST))
