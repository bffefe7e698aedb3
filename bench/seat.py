"""seat.py - somebody who sits at a test host: a terminal that is logged in, and
a key of it"""
import os
import pty
import signal
import subprocess
import sys
import time

import common

sys.path.insert(0, os.path.join(common.ROOT, "tests"))
import bed  # noqa: E402
import terminal  # noqa: E402

IDLE = 5  # SCHED_IDLE


class Seat:
    """The owner's seat at a host of a testbed, where nobody types yet."""

    def __init__(self, b, host, *terms):
        self.bed, self.host = b, host
        self.keys, shell = pty.openpty()
        line = os.ttyname(shell)
        # Nobody has used it for an hour.
        os.utime(line, (time.time() - 3600, time.time() - 3600))
        self.reader = subprocess.Popen(["cat"], stdin=shell,
                                       stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        os.close(shell)
        with open(f"{b.home}/{host}/stint.conf", "a") as f:
            f.write("".join(f"{t}\n" for t in ("linger = 1s", *terms)))
        os.kill(b.service(host), signal.SIGHUP)
        terminal.note(f"{b.home}/{host}/run/utmp", terminal.USER_PROCESS,
                      line.removeprefix("/dev/"), "root", "")
        self.wait_for("users", lambda h: h["users"] == 1)
        self.wait_for("nobody", lambda h: h["owner"] == "away", "owner")

    def wait_for(self, what, true, table="hosts"):
        words = ["owner", "status", "--all"] if table == "owner" else ["hosts"]
        if not bed.until(lambda: any(h["host"] == self.host and true(h)
                                     for h in self.bed.ask(*words))):
            raise bed.Failed(f"{self.host}: no {what}")

    def type(self):
        """A key, and when it was."""
        at = time.monotonic()
        os.write(self.keys, b"\n")
        return at

    def leave(self):
        os.close(self.keys)
        self.reader.wait()


def threads(pid):
    try:
        return [int(t) for t in os.listdir(f"/proc/{pid}/task")]
    except FileNotFoundError:
        return []


def classes(pid):
    found = set()
    for tid in threads(pid):
        try:
            found.add(os.sched_getscheduler(tid))
        except ProcessLookupError:
            pass
    return found


def computed(pid):
    """Nanoseconds that its threads have been on a processor; None: gone."""
    total, tids = 0, threads(pid)
    try:
        for tid in tids:
            with open(f"/proc/{pid}/task/{tid}/schedstat") as f:
                total += int(f.read().split()[0])
    except OSError:
        return None
    return total if tids else None


def last_instruction(pid, seconds=120):
    """When a process that computes all the time did so for the last time."""
    was, at, end = -1, time.monotonic(), time.monotonic() + seconds
    while True:
        now = computed(pid)
        if now is None:
            return at
        if now != was:
            was, at = now, time.monotonic()
        if at > end:
            raise bed.Failed("it does not leave")
        time.sleep(0.0002)


def pid_of(b, job):
    """Of rank 0, and its host."""
    for j in b.ask("ps", str(job.number)):
        for r in j["ranks"]:
            if r["pid"]:
                return r["pid"], r["host"]
    raise bed.Failed("the rank has no pid")
