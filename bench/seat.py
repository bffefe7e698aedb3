"""seat.py - somebody who sits at a test host: a terminal that is logged in, and
a key of it"""
import os
import pty
import signal
import subprocess
import sys
import threading
import time

import common

sys.path.insert(0, os.path.join(common.ROOT, "tests"))
import bed  # noqa: E402
import terminal  # noqa: E402

IDLE = 5  # SCHED_IDLE
PF_EXITING = 4


class Seat:
    """An owner's seat at a host of a testbed, at which nobody has typed yet."""

    def __init__(self, b, host, *terms):
        self.bed, self.host = b, host
        self.keys, shell = pty.openpty()
        line = os.ttyname(shell)
        # Nobody has typed at it for an hour.
        os.utime(line, (time.time() - 3600, time.time() - 3600))
        self.reader = subprocess.Popen(["cat"], stdin=shell,
                                       stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        os.close(shell)
        self.set("linger = 2s", *terms)
        terminal.note(f"{b.home}/{host}/run/utmp", terminal.USER_PROCESS,
                      line.removeprefix("/dev/"), "root", "")
        self.wait_for("users", lambda h: h["users"] == 1)
        self.wait_for("nobody", lambda h: h["owner"] == "away", "owner")

    def set(self, *terms):
        """Further terms of the host; its agent reads them."""
        with open(f"{self.bed.home}/{self.host}/stint.conf", "a") as f:
            f.write("".join(f"{t}\n" for t in terms))
        os.kill(self.bed.service(self.host), signal.SIGHUP)

    def wait_for(self, what, true, table="hosts"):
        words = ["owner", "status", "--all"] if table == "owner" else ["hosts"]
        if not bed.until(lambda: any(h["host"] == self.host and true(h)
                                     for h in self.bed.ask(*words))):
            raise bed.Failed(f"{self.host}: no {what}")

    def type(self):
        """Type a key; returns when that was."""
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
    """Nanoseconds for which its threads have been on a processor; None: it has ended."""
    total, tids = 0, threads(pid)
    try:
        for tid in tids:
            with open(f"/proc/{pid}/task/{tid}/schedstat") as f:
                total += int(f.read().split()[0])
    except OSError:
        return None
    return total if tids else None


def leaves(pid, seconds=120):
    """When a process that computes now and then did so for the last time, and when its
    memory was free again."""
    was, last, end = None, time.monotonic(), time.monotonic() + seconds
    while time.monotonic() < end:
        now = computed(pid)
        state, flags = ending(pid)
        if state is None:
            return last, time.monotonic()
        if now is not None and now != was and not flags & PF_EXITING:
            was, last = now, time.monotonic()
        time.sleep(0.001)
    raise bed.Failed("it does not leave")


def ending(pid):
    """The state of a process, None once its memory is free; and its flags."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rpartition(")")[2].split()
    except OSError:
        return None, 0
    return None if fields[0] in "ZX" else fields[0], int(fields[6])


class Present:
    """with: the owner at that seat types all the time."""

    def __init__(self, seat):
        self.seat, self.over = seat, threading.Event()
        self.thread = threading.Thread(target=self.stay)

    def stay(self):
        while not self.over.wait(0.3):
            self.seat.type()

    def __enter__(self):
        self.thread.start()
        return self.seat.type()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def pid_of(b, job):
    """The pid of rank 0, and its host."""
    for j in b.ask("ps", str(job.number)):
        for r in j["ranks"]:
            if r["pid"]:
                return r["pid"], r["host"]
    raise bed.Failed("the rank has no pid")
