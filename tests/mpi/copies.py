#!/usr/bin/python3
"""copies.py - watches how many processes there are of each rank, and which of them run

    copies.py   tries itself: two that compute are seen, and one that stays, and no others

A rank that moves is there twice for a while: its copy at the source stands still from the
freeze on, until it is known that the other one runs (or will never run).  What must not
be, ever, is that both get to compute; and what stands still takes memory of a host that
may have been given back, so it is not to stay.
"""
import os
import re
import signal
import subprocess
import sys
import threading
import time

import bed  # noqa: F401, puts the folder of procs on the path
from procs import read_proc, stat_of, until

HAND_OVER = 2.0  # seconds, in which one may stop and the other begin
LOOK = 0.1


def user_ticks(pid):
    """What it has computed: not the kernel's work as it lands, or is removed."""
    fields = read_proc(pid, "stat").rpartition(")")[2].split()
    return int(fields[11]) if len(fields) > 12 else None


def rank_of(pid):
    """The rank that a process says it is, None: it does not say."""
    m = re.search(r"(?:^|\0)PMI_RANK=(\d+)(?:\0|$)", read_proc(pid, "environ"))
    return int(m.group(1)) if m else None


def freezer_of(pid):
    """Where it is: its group of the freezer, and that one's state."""
    for line in read_proc(pid, "cgroup").splitlines():
        if ":freezer:" in line or line.startswith("0::"):
            path = line.split(":", 2)[2]
            for top in ("/sys/fs/cgroup/freezer", "/sys/fs/cgroup"):
                for name in ("freezer.state", "cgroup.freeze"):
                    try:
                        with open(f"{top}{path}/{name}") as f:
                            return f"{path} {f.read().strip()}"
                    except OSError:
                        pass
    return "?"


class Twice:
    """A rank that is there more than once, and what its copies did since."""

    def __init__(self, now):
        self.since, self.told = now, False
        self.ran = {}  # pid: (ticks, when it last computed, when it first did here)

    def look(self, pids, now):
        for p in pids:
            ticks = user_ticks(p)
            was = self.ran.get(p)
            if ticks is None:
                continue
            if was and ticks > was[0]:
                self.ran[p] = (ticks, now, was[2] or now)
            elif not was:
                self.ran[p] = (ticks, None, None)

    def both_run(self):
        """One computed for longer than a hand-over takes after another had begun to."""
        first = [r[2] for r in self.ran.values() if r[2]]
        last = [r[1] for r in self.ran.values() if r[1]]
        return len(first) > 1 and sorted(last)[-2] > max(first) + HAND_OVER


    def about(self, pid):
        """For who reads of it."""
        return (f"{pid} {stat_of(pid)} {freezer_of(pid)} ran={self.ran.get(pid)} "
                f"in={read_proc(pid, 'wchan')}")


class Copies(threading.Thread):
    """Looks until close(); jobs() gives (number, words of the program), tell() is called with
    what must not be: two that run, or more than one for `most` seconds."""

    def __init__(self, jobs, tell, most):
        super().__init__(daemon=True)
        self.jobs, self.tell, self.most = jobs, tell, most
        self.twice, self.took, self.wrong = {}, [], []
        self.time, self.last = 0.0, time.monotonic()
        self.over = threading.Event()

    def found(self):
        """{(job, rank): pids}"""
        known, all_of = {tuple(argv): n for n, argv in self.jobs()}, {}
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            argv = tuple(read_proc(name, "cmdline").split("\0")[:-1])
            if argv in known and stat_of(name):
                rank = rank_of(name)
                if rank is not None:
                    all_of.setdefault((known[argv], rank), []).append(name)
        return all_of

    def look(self):
        """A machine that pauses for a minute has nobody there for a minute: a look counts
        for a second at most."""
        all_of, now = self.found(), time.monotonic()
        self.time += min(now - self.last, 1)
        self.last, now = now, self.time
        for key, pids in all_of.items():
            if len(pids) > 1:
                t = self.twice.setdefault(key, Twice(now))
                t.look(pids, now)
                self.judge(key, t, pids, now)
        for key in [k for k in self.twice if len(all_of.get(k, ())) < 2]:
            self.took.append(now - self.twice.pop(key).since)

    def judge(self, key, t, pids, now):
        if t.told:
            return
        if t.both_run():
            what = "run"
        elif now > t.since + self.most:
            what = f"are there for {now - t.since:.1f} s"
        else:
            return
        t.told = True
        self.wrong.append(f"{len(pids)} copies of rank {key[0]}.{key[1]} {what}")
        self.tell(self.wrong[-1], [t.about(p) for p in pids])

    def run(self):
        while not self.over.wait(LOOK):
            self.look()

    def close(self):
        self.over.set()
        self.join()


def seen(stops, most):
    """What is said of two of one rank, the second of which computes or stands still."""
    argv = ["sh", "-c", f"while :; do :; done # {os.getpid()} {stops}"]
    both = [subprocess.Popen(argv, env={**os.environ, "PMI_RANK": "3"})
            for _ in range(2)]
    copies = Copies(lambda: [(7, argv)], lambda *_: None, most)
    if stops:
        both[1].send_signal(signal.SIGSTOP)
    copies.start()
    until(lambda: copies.wrong or copies.time > HAND_OVER + 8, 120)
    copies.close()
    for p in both:
        p.kill()
        p.wait()
    return [re.sub(" [0-9.]+ s$", "", w) for w in copies.wrong]


def main():
    for stops, most, want in (
            (False, 100, ["2 copies of rank 7.3 run"]), (True, 100, []),
            (True, 3, ["2 copies of rank 7.3 are there for"])):
        said = seen(stops, most)
        if said != want:
            print(f"FAILED stops={stops} most={most}: {said}")
            return 1
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
