#!/usr/bin/python3
"""wireup.py - strike while ranks of Open MPI find each other, and while they part

    wireup.py init|finalize [CASE|all]...

As faults.py, whose points, parties and blows these are, but the job does nothing
then: ranks 1 and 2 wait in the fence of MPI_Init, or of MPI_Finalize, for rank 0,
which has not come there.  Rank 1 is what is moved from h1 to h2.  The point
`waiting` is that of no move; its parties are old-keeper, source-agent, controller,
link and rank, which is the waiting process itself.  Afterwards rank 0 goes on:
unless rank 1 is lost, all ranks know what each of them said, and the job ends well.
"""
import os
import shutil
import signal
import sys
import time

import bed
import faults
from procs import all_pids, kill, read_proc, until

PARTIES = ["old-keeper", "source-agent", "controller", "link", "rank"]
AWAY = 5  # seconds: longer than any party is stopped, shorter than lost-after


def waiting_cases():
    return [f"waiting:{party}:{blow}" for party in PARTIES
            for blow in (["cut"] if party == "link" else ["kill", "stop"])]


def threads(pid):
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []


def sleeps(pid):
    """All its threads; there are those of PMIx as well."""
    states = [read_proc(pid, f"task/{t}/stat").rpartition(")")[2].split()[:1]
              for t in threads(pid)]
    return len(states) > 3 and all(s == ["S"] for s in states)


class Wireup(faults.Case):
    RANK = 1

    def late(self, word):
        return os.path.join(self.dir, word)

    def allow(self, word):
        with open(self.late(word), "w", encoding="ascii"):
            pass

    def ranks(self):
        """The processes of the two ranks that wait."""
        return [p for p in all_pids()
                if read_proc(p, "comm") == "late-openmpi\n" and
                self.late("init") in read_proc(p, "cmdline") and
                "PMI_RANK=0\0" not in read_proc(p, "environ")]

    def wait_there(self):
        """They have come to the fence: nothing in them runs, at several looks in a row."""
        for _ in range(5):
            if not until(lambda: len(self.ranks()) == 2 and
                         all(map(sleeps, self.ranks()))):
                raise bed.Failed("the ranks do not come to their fence")
            time.sleep(0.05)

    def start(self):
        late = os.path.join(os.path.dirname(self.bed.exe),
                            "../../tests/mpi/late-openmpi")
        self.job = self.bed.start(
            3, os.path.abspath(late), self.late("init"),
            self.late("finalize"), hosts=["h3", "h1", "h2"])
        if self.program == "finalize":
            self.allow("init")
            if not until(lambda: self.job.text().count("sum 3\n") == 3):
                raise bed.Failed("the ranks do not meet")
        self.wait_there()
        if self.point != "waiting":
            self.move()

    def pids(self):
        if self.party != "rank":
            return super().pids()
        return [p for p in self.ranks()
                if "PMI_RANK=1\0" in read_proc(p, "environ")]

    def strike(self):
        if self.point != "waiting":
            super().strike()
            return
        victims = self.pids()
        if self.blow == "cut":
            self.bed.ip("lan", "link", "set", "h1", "down")
        elif self.blow == "kill" and self.service():
            self.bed.restart(self.service())
        else:
            kill(victims, signal.SIGKILL if self.blow == "kill"
                 else signal.SIGSTOP)
        if self.blow == "kill":
            return
        self.allow(self.program)  # while it is away
        time.sleep(AWAY)
        if self.blow == "cut":
            self.bed.ip("lan", "link", "set", "h1", "up")
        kill(victims, signal.SIGCONT)

    def await_steps(self):
        """This job makes no steps."""

    def check_steps(self, whole):
        """Likewise; what each rank said is compared instead."""
        if whole and sorted(self.job.text().split("\n")) != sorted(
                ["", *(f"in {i}" for i in range(3)), *["sum 3"] * 3]):
            raise bed.Failed(f"they said {self.job.text()!r}")

    def check_goes_on(self, info):
        self.check_calm()
        self.allow("init")
        self.allow("finalize")
        status = self.job.wait()
        return "lost" if status else info["ranks"][self.RANK]["host"]

    def check_waiting(self):
        """The rank did not move; it went on, unless its keeper or the rank itself was
        killed."""
        self.allow("init")
        self.allow("finalize")
        dies = self.blow == "kill" and self.party in ("rank", "old-keeper")
        status, why = self.job.wait(), self.job.errors().strip()
        if bool(status) != dies or (dies and not why):
            raise bed.Failed(f"it ends with {status}: {why[-300:]}")
        self.check_steps(not dies)
        return "lost" if dies else "h1"

    def run(self):
        if self.point != "waiting":
            return super().run()
        before = self.bed.things()
        try:
            self.start()
            self.strike()
            became = self.check_waiting()
            self.bed.nothing_new(before)
        finally:
            shutil.rmtree(self.dir, ignore_errors=True)
        return became


def main():
    program, words = sys.argv[1], sys.argv[2:]
    names = [c for w in words for c in
             ([*waiting_cases(), *faults.all_cases()] if w == "all" else
              waiting_cases() if w == "waiting" else
              faults.chosen([w]) if not w.startswith("waiting:") else [w])]
    return 1 if faults.sweep(os.environ.get("STINT_BUILD", "build"), names,
                             program, Wireup) else 0


if __name__ == "__main__":
    sys.exit(main())
