#!/usr/bin/python3
"""faults.py - strike a move at a named point and look who runs afterwards

    faults.py [--action ACTION]... [--points POINT,...|all] -- PROGRAM ...

check-steps, or another program of this directory, is moved with `stint move`
while one side has STINT_FAULT=POINT:ACTION.  ACTION is kill or error, or
cut: the engine stops at the point, the link between the hosts is taken away,
and the engine goes on; or stop: it stops there and never goes on by itself.
Afterwards:

 - never do two copies run;
 - one that nobody has decided about stands still, and once told to run (and
   the other one to end) it does;
 - before the source's record the process runs on without anybody's help,
   unless the source was killed while it was held;
 - the program passes, and no process, namespace or file of the move is left;
 - where an engine was stopped, the program stood still for seconds at most,
   by its own clock: its watch (src/move/proc/watch.h) has killed it.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from procs import (all_pids, children, comm, exit_on_term, fault_points,
                   stat_of, until)
from drive import (Drive, Failed, adopt_orphans,
                   options as drive_options)

# Without tracking a move goes on nevertheless, and where tracking works nothing can fail
# there.
UNFAILING = "source-tracking", "dest-released", "dest-running"


def environment(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as f:
            return f.read()
    except OSError:
        return b""


# An engine that hangs there keeps the process, or its copy, from running.
HOLDING = ["source-frozen", "source-injected", "source-unplugged",
           "source-captured", "source-sent", "source-ready", "source-held",
           "source-recorded", "dest-landed", "dest-ready", "dest-commit"]
# The rule is three seconds; without a bound it was 30 and more.
STANDSTILL_MS = 10000


class Strike(Drive):
    def __init__(self, opts, point, action):
        super().__init__(opts)
        self.point, self.action = point, action
        self.at_source = point.startswith("source")
        points = fault_points()
        self.when = points.index(point)
        # READY has been sent: the source may hold its copy and decide.
        self.held = points.index("dest-ready")
        # From here on the destination may hold a copy that waits for the outcome.
        self.ready = points.index("source-sent")

    # ---- finding the processes

    def source_state(self):
        """'runs', 'stands' or 'gone'."""
        st = stat_of(self.pid)
        if not st:
            return "gone"
        return "stands" if st[0] in "Tt" else "runs"

    def nest(self):
        """The init of what has landed, orphaned or not; 0 if there is none."""
        receiver = self.receiving.pid
        # In this order, as an orphan becomes ours.
        for p in children(receiver) + children(os.getpid()):
            if comm(p) == "stint-nest":
                return p
        return 0

    def steps(self):
        try:
            return os.path.getsize(self.path("files/STEPS"))
        except FileNotFoundError:
            return 0

    def grows(self, seconds=0.3):
        before = self.steps()
        time.sleep(seconds)
        return self.steps() > before

    # ---- the strike

    def start_move(self):
        action = "stop" if self.action == "cut" else self.action
        fault = f"{self.point}:{action}"
        name, self.receiving, address = self.receiver(
            0, None if self.at_source else fault)
        argv = self.hosts.enter(0) + [
            self.stint, "move", str(self.pid), "--to", address, "--json",
            *self.secret, *self.opts.option]
        self.sending = self.start("send", argv, fault if self.at_source
                                  else None)

    def cut(self):
        victim = self.sending if self.at_source else self.receiving
        if not until(lambda: (stat_of(victim.pid) or "-")[0] == "T" or
                     victim.poll() is not None):
            raise Failed("it never came to that point")
        self.hosts.ip(0, "link", "set", "eth0", "down")
        if victim.poll() is None:
            os.kill(victim.pid, signal.SIGCONT)

    def hang(self):
        """The engine stops, and nobody tells it to go on."""
        victim = self.sending if self.at_source else self.receiving
        if not until(lambda: (stat_of(victim.pid) or "-")[0] == "T" or
                     victim.poll() is not None):
            raise Failed("it never came to that point")
        if self.point in HOLDING:
            if not until(lambda: victim.poll() is not None):
                raise Failed("it hangs and nobody ends it")
            if victim.poll() != -signal.SIGKILL:
                raise Failed(f"it ended with {victim.poll()}")
        elif not self.at_source and \
                not until(lambda: self.sending.poll() is not None):
            raise Failed("the source waits for ever")
        victim.kill()

    def settled(self):
        """Both engines are done: gone, or waiting for their process."""
        victim = self.sending if self.at_source else self.receiving
        if self.action == "cut" and (stat_of(victim.pid) or "-")[0] == "T":
            os.kill(victim.pid, signal.SIGCONT)  # it came to that point once more
        if self.sending.poll() is None:
            return False
        if self.receiving.poll() is not None:
            return True
        return '"outcome"' in self.text("receive-0")

    def check_struck(self):
        """Has the fault struck at all?"""
        victim = self.sending if self.at_source else self.receiving
        if self.action == "kill" and victim.poll() != -signal.SIGKILL:
            raise Failed(f"{self.point} was never met "
                         f"(exit status {victim.poll()})")
        if self.action == "error" and self.point not in UNFAILING and \
                f"fault at {self.point}" not in self.words():
            raise Failed(f"{self.point} was never met")

    def tell(self, word, pid):
        """Release or discard a landed copy, as a user would."""
        r = self.run_stint("move", word, str(pid))
        if r.returncode and stat_of(pid):
            raise Failed(f"{word}: {r.stderr}")

    def run_stint(self, *args):
        return subprocess.run([self.stint, *args], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=120)

    def undecided(self):
        """A cut link may be noticed only after the point of no return."""
        return self.action == "cut" and \
            '"outcome":"undecided"' in self.text("send")

    def at_destination(self):
        """The decision, by the source's record."""
        return os.path.exists(self.path("record"))

    def resolve(self):
        """Which copy runs? Decide if nobody has decided. True: the destination's."""
        if self.when < self.held:
            # Both ends undo what they have done, which takes a moment.
            until(lambda: self.source_state() != "stands" or
                  self.undecided())
            if self.when < self.ready:
                until(lambda: not self.nest())
        # A process that a dying engine lets go takes a moment to stop again: so look after
        # a while, not at once.
        growing = self.grows()
        source, nest = self.source_state(), self.nest()
        if source == "runs":
            if not growing and not until(self.grows):
                raise Failed("the source's copy is let go and does nothing")
            if nest and self.when < self.ready:
                raise Failed("something is left at the destination")
            if nest:
                self.tell("discard", nest)
            return False
        if self.when < self.held and not self.undecided() and \
                (self.point, self.action) != ("source-tracking", "error"):
            raise Failed(f"{stat_of(self.pid)}: before the commit the source's copy {source}")
        if not growing:
            if not self.at_destination():
                # Held, and not recorded: it is the source's, and goes on when told to.
                if nest:
                    self.tell("discard", nest)
                os.kill(self.pid, signal.SIGCONT)
                return False
            if not nest:
                raise Failed("no copy is left")
            self.tell("release", nest)
        if source == "stands":
            os.kill(self.pid, signal.SIGKILL)
        return True

    def finish_strike(self, there):
        if not until(self.grows):
            raise Failed("the copy that should run does not")
        open(self.path("stop"), "w").close()
        if not until(lambda: re.search("^(PASS|FAIL)", self.words(), re.M)):
            raise Failed("it does not end")
        if not re.search("^PASS$", self.words(), re.M) or "FAIL" in self.words():
            raise Failed("it did not pass: " + self.words()[-200:])
        if self.grows(0.1):
            raise Failed("another copy still runs")
        pause = re.search(r"^longest pause (\d+) ms$", self.words(), re.M)
        if self.action == "stop" and pause and \
                int(pause.group(1)) > STANDSTILL_MS:
            raise Failed(f"it stood still for {pause.group(1)} ms")
        self.nothing_left()

    def words(self):
        return "".join(self.text(n) for n, _ in self.children)

    def nothing_left(self):
        """No process of this move, except those that hold the hosts."""
        mark = f"CHECK_DIR={self.dir}".encode()

        def left():
            return [p for p in all_pids() if p != os.getpid() and
                    stat_of(p) and mark in environment(p)]
        if not until(lambda: not left()):
            raise Failed("left behind: " + ", ".join(
                f"{p} {comm(p)} {stat_of(p)}" for p in left()))

    def run(self):
        self.opts.option = [f"--record={self.path('record')}"]
        self.begin()
        if not until(self.steps):
            raise Failed("the program makes no steps")
        self.start_move()
        if self.action == "cut":
            self.cut()
        if self.action == "stop":
            self.hang()
        if not until(self.settled):
            raise Failed("the engines do not end: " +
                         f"source {self.source_state()}")
        self.check_struck()
        self.finish_strike(self.resolve())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--action", action="append")
    p.add_argument("--points", default="all")
    p.add_argument("--keep", action="store_true")
    p.add_argument("program", nargs="+")
    opts = p.parse_args()
    points = fault_points() if opts.points == "all" else opts.points.split(",")
    adopt_orphans()
    exit_on_term()
    failed = 0
    for point in points:
        for action in opts.action or ["kill", "error"]:
            d = Strike(drive_options((["--keep"] if opts.keep else []) +
                                     ["--", *opts.program]), point, action)
            begun = time.monotonic()
            try:
                d.run()
                print(f"ok {point}:{action} {time.monotonic() - begun:.1f}s",
                      flush=True)
            except Failed as e:
                failed += 1
                print(f"FAILED {point}:{action}: {e}", flush=True)
                d.trouble()
            finally:
                d.cleanup()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
