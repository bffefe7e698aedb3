#!/usr/bin/python3
"""faults.py - strike at the parties of a job's move, look what becomes of it

    faults.py [--job mpi|openmpi|count] [--parallel N] [CASE|all|kill|stop|cut]...
    faults.py --list
    faults.py --sample N

A CASE is POINT:PARTY[:BLOW].  On a testbed of three hosts rank 0 of a job is
moved from h1 to h2, and its engine stands still at POINT (src/move/wire/fault.h).
Then PARTY is struck:

    source-engine dest-engine old-keeper new-keeper source-agent dest-agent
    controller link

by BLOW:

    kill   kill -9; agents and controller are started again
    error  the step fails (engines, at their own points)
    stop   silence: SIGSTOP, and SIGCONT longer afterwards than any patience
    cut    h1's cable is pulled, and put back after that time

and the engine goes on.  The job is chkmpi on three ranks, which checks every
byte, of MPICH or Open MPI, or a program that counts, alone.  Afterwards

 - the move has an end, and `stint ps` says where each rank is: exactly one
   process of it is there, and none anywhere else;
 - rank 0 is where it may be by the rule (expected()), and `stint migrate` says
   so; if it is lost, the job has failed and `stint run` said why;
 - else the job goes on: nobody is ahead of others any more, every step was made
   once, no byte was wrong, and its exit status is 0;
 - when it has ended nothing is left of it: no process, cgroup, link, route,
   file or mount.

Ends with a table of points and parties.
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import bed
from procs import (all_pids, children, comm, fault_points, is_ahead, kill,
                   processes, read_proc, stat_of, until)

COUNTER = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "../counter.py")
CHKMPI = {"mpi": "chkmpi", "openmpi": "chkmpi-openmpi"}
POINTS = fault_points()
PARTIES = ["source-engine", "dest-engine", "old-keeper", "new-keeper",
           "source-agent", "dest-agent", "controller", "link"]
# Longer than FRAME_PATIENCE (src/move/wire/frame.h), shorter than `lost-after`.
SILENCE = 40
# The most for a rank whose engine hangs: three seconds, and what it takes to ask who has
# the rank if that is in doubt.  Without a bound it was 30 seconds and more.
STANDSTILL = 15


def side(point):
    return point.split("-")[0]


def blows(point, party):
    if party == "link":
        return ["cut"]
    if party == f"{side(point)}-engine":
        return ["kill", "error", "stop"]
    return ["kill", "stop"]


def all_cases():
    return [f"{point}:{party}:{blow}" for point in POINTS
            for party in PARTIES for blow in blows(point, party)]


def committed(point):
    """
    Whether the source has decided when an engine stands at that point.  At
    dest-ready READY is out: the source goes on by itself.
    """
    return point == "dest-ready" or \
        POINTS.index(point) >= POINTS.index("source-recorded")


def expected(point, party, blow):
    """Where the rank may be then: "h1", "h2" or "lost"."""
    if blow == "kill" and party == "old-keeper" and not committed(point):
        return {"lost"}  # the death of a keeper ends what it keeps
    if blow == "kill" and party == "new-keeper" and committed(point):
        return {"lost"}
    if point == "dest-ready" and party == "dest-engine" and \
            blow in ("kill", "error"):
        return {"h1", "h2"}  # the source ends by itself: the sender of READY may be gone
    if committed(point):
        return {"h2"}
    # READY has arrived at the source, which looks once more whether its sender lives;
    # between that look and the record nobody can know.
    if blow == "kill" and POINTS.index(point) >= POINTS.index("source-sent") \
            and party in ("dest-engine", "new-keeper"):
        return {"h1", "h2" if party == "dest-engine" else "lost"}
    # Struck before the decision: an engine cannot go on, everybody else can.
    if blow == "error":
        return {"h1"}
    return {"h1"} if blow == "kill" and "agent" not in party and \
        party != "controller" else {"h1", "h2"}


class Case:
    RANK = 0  # the rank is moved from h1 to h2

    def __init__(self, b, name, program):
        self.bed, self.name, self.program = b, name, program
        self.point, self.party, self.blow = name.split(":")
        self.dir = tempfile.mkdtemp(prefix="stint-faults-", dir="/var/tmp")
        self.steps = os.path.join(self.dir, "steps")
        self.job = self.migrate = None

    # ---- finding the parties

    def keeper(self, host):
        """The rank's keeper on that host; an engine is a fork of it, and looks like it."""
        pids = processes("keeper", f"--run-dir={self.bed.home}/{host}/run",
                         f".{self.RANK}\0")
        return [p for p in pids
                if (is_now := stat_of(p)) and is_now[1] not in pids]

    def engine(self, host):
        """The keeper's engine: the child that looks like it, and is not a capsule's init."""
        return [c for k in self.keeper(host) for c in children(k)
                if read_proc(c, "cmdline") == read_proc(k, "cmdline") and
                os.path.exists(f"/proc/{c}/ns/pid") and
                os.readlink(f"/proc/{c}/ns/pid") ==
                os.readlink("/proc/self/ns/pid")]

    def pids(self):
        """The processes of the party; none for the link."""
        if self.party == "link":
            return []
        if self.party.endswith("-engine"):
            return self.engine("h1" if side(self.party) == "source" else "h2")
        if self.party.endswith("-keeper"):
            return self.keeper("h1" if self.party == "old-keeper" else "h2")
        return [self.bed.service(self.service())]

    def service(self):
        return {"source-agent": "h1", "dest-agent": "h2",
                "controller": "controller"}.get(self.party)

    # ---- the job and its move

    def fault(self, text):
        path = f"{self.bed.dir}/fault"
        with open(path + ".new", "w") as f:
            f.write(text)
        os.rename(path + ".new", path)

    def start(self):
        if self.program in CHKMPI:
            chkmpi = os.path.join(os.path.dirname(self.bed.exe),
                                  "../../tests/mpi", CHKMPI[self.program])
            self.job = self.bed.start(
                3, os.path.abspath(chkmpi), "--seconds", "100000", "--max",
                "30000", "--log", self.steps, hosts=["h1", "h2", "h3"])
        else:
            self.job = self.bed.start(1, COUNTER, self.steps, hosts=["h1"])
        self.job.wait_for("round")
        self.move()

    def move(self):
        self.migrate = subprocess.Popen(
            [self.bed.exe, "migrate", f"{self.job.number}.{self.RANK}", "h2"],
            env=self.bed.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def own_point(self):
        """The engine strikes itself, at its own point."""
        return self.party == f"{side(self.point)}-engine" and \
            self.blow in ("kill", "error")

    def strike(self):
        """Wait until the engine stands at the point, and strike the party."""
        hosts = "h1" if side(self.point) == "source" else "h2"
        here = until(lambda: [p for p in self.engine(hosts)
                              if (stat_of(p) or "-")[0] == "T"])
        if not here:
            said = self.migrate.communicate()[0] if self.migrate.poll() \
                is not None else "it has not ended"
            raise bed.Failed(f"the move never came to that point: {said}")
        self.fault("")
        # Let the other end go on as far as it can.
        time.sleep(0.2)
        victims = self.pids()
        if self.blow == "cut":
            self.bed.ip("lan", "link", "set", "h1", "down")
        elif self.service() and self.blow == "kill":
            self.bed.restart(self.service())
        elif not victims and self.party not in self.over():
            raise bed.Failed(f"no {self.party} is there")
        if self.blow == "stop":
            kill(victims, signal.SIGSTOP)
        elif not self.service():
            kill(victims)
        self.await_death(victims)
        kill(set(here) - set(victims), signal.SIGCONT)
        if self.blow == "stop" and self.party.endswith("-engine"):
            self.await_steps()
        if self.blow in ("stop", "cut"):
            self.wait_silence(victims)

    def await_steps(self):
        """An engine that hangs keeps its rank still for seconds at most."""
        n = len(self.made())
        if not until(lambda: len(self.made()) > n + 1, STANDSTILL):
            raise bed.Failed(f"the rank stands still for {STANDSTILL} s")

    def await_death(self, victims):
        """This is also true of an engine, which ends with its keeper, or as its orphan."""
        if self.blow != "kill" or self.service():
            return
        host = {"old-keeper": "h1", "new-keeper": "h2"}.get(self.party)
        if not until(lambda: not any(map(stat_of, victims)) and
                     not (host and self.keeper(host))):
            raise bed.Failed(f"{self.party} does not die")

    def over(self):
        """Parties that have done all their work when a point is reached."""
        return {"source-engine", "old-keeper"} \
            if self.point == "dest-running" else \
            {"dest-engine"} if self.point in (
                "source-committed", "source-running") else set()

    def wait_silence(self, victims):
        """Wait until everything is settled that can be, as far as it is reported."""
        until(lambda: self.migrate.poll() is not None, SILENCE)
        if self.blow == "cut":
            self.bed.ip("lan", "link", "set", "h1", "up")
        kill(victims, signal.SIGCONT)

    # ---- the outcome

    def info(self):
        r = self.bed.stint("ps", "-a", "--json", str(self.job.number))
        if r.returncode:
            return None  # a controller that is just starting
        return bed.json.loads(r.stdout) if r.stdout else None

    def settled(self):
        """The job's entry once none of its ranks is being moved."""
        i = self.info()
        return i if i and (i["state"] == "done" or
                           not any("moving_to" in r for r in i["ranks"])) \
            else None

    def copies(self, rank):
        """The hosts of all processes that run in capsules of that rank."""
        name, found = f"/{self.job.number}.{rank}.", []
        bed_name = f"stint-testbed.{self.bed.env['STINT_TESTBED']}/"
        for p in all_pids():
            line = [x for x in read_proc(p, "cgroup").splitlines()
                    if ":freezer:" in x]
            # The freezer's group has all of a capsule except its init.
            if line and bed_name in line[0] and stat_of(p) and \
                    name in line[0] + ".":
                found.append(line[0].split(bed_name)[1].split("/")[0])
        return found

    def untrue(self, info):
        """What `stint ps` says that is not true; "" if there is nothing."""
        if info["state"] == "done":
            return ""
        for r in info["ranks"]:
            there = self.copies(r["rank"])
            if r["state"] == "running" and there != [r["host"]]:
                return f"ps says rank {r['rank']} is on {r['host']}, and " \
                    f"it is on {there}"
        return ""

    def check_ps(self):
        info = until(self.settled)
        if not info:
            raise bed.Failed(f"the move has no end: {self.info()}")
        if not until(lambda: not self.untrue(self.settled() or info)):
            raise bed.Failed(self.untrue(self.settled() or info))
        return self.settled() or info

    def made(self):
        with open(self.steps) as f:
            return f.read().split()

    def check_steps(self, whole):
        made = self.made()
        if made != [str(i) for i in range(len(made))]:
            raise bed.Failed("a step was made twice or got lost")
        said = [line.split()[1] for line in self.job.text().splitlines()
                if line.startswith("round ")]
        if whole and self.program == "count" and said != made:
            raise bed.Failed(f"{len(made)} steps, and {len(said)} lines")
        if said != sorted(set(said), key=int):
            raise bed.Failed("a line of output came twice or out of order")

    def ahead(self):
        """Processes of the testbed that are ahead of others, for a move."""
        name = f"stint-testbed.{self.bed.env['STINT_TESTBED']}/"
        return [f"{p} {comm(p)}" for p in all_pids()
                if name in read_proc(p, "cgroup") and is_ahead(p)]

    def check_calm(self):
        if not until(lambda: not self.ahead()):
            raise bed.Failed(f"still ahead of others: {self.ahead()}")

    def check_goes_on(self, info):
        """A job that lives makes steps; then it is told to end."""
        self.check_calm()
        n = len(self.made())
        if not until(lambda: len(self.made()) > n + 1 or
                     self.job.process.poll() is not None):
            raise bed.Failed("the job stands still")
        self.job.kill("-s", "USR1")
        status = self.job.wait()
        if not status and "PASS" not in self.job.text():
            raise bed.Failed("it ended without its result")
        return "lost" if status else info["ranks"][self.RANK]["host"]

    def check(self):
        info = self.check_ps()
        if info["state"] == "done":
            became = "lost"
            if not self.job.wait():
                raise bed.Failed("it has ended well before its time")
        else:
            became = self.check_goes_on(info)
        if became == "lost" and not self.job.errors().strip():
            raise bed.Failed("it has failed and nobody was told why")
        self.check_steps(became != "lost")
        want = expected(self.point, self.party, self.blow)
        if became not in want:
            raise bed.Failed(
                f"it should be {' or '.join(sorted(want))}, and is {became} "
                f"({self.job.errors().strip()[-300:]})")
        return became

    def check_said(self, became):
        """What `stint migrate` says is what has happened."""
        text, _ = self.migrate.communicate(timeout=300)
        moved = self.migrate.returncode == 0
        if became == "lost" and ("stays on" in text or " 0 us" in text) or \
                became == "h1" and (moved or "moved from" in text) or \
                became == "h2" and not (moved and "to h2" in text and
                                        " 0 us" not in text):
            raise bed.Failed(f"it is {became}, and migrate says: {text}")

    def run(self):
        before = self.bed.things()
        self.fault(f"{self.point}:{self.blow if self.own_point() else 'stop'}")
        try:
            self.start()
            if self.own_point():
                self.migrate.wait(120)
                self.fault("")
            else:
                self.strike()
            became = self.check()
            self.check_said(became)
            self.bed.nothing_new(before)
        finally:
            self.fault("")
            if self.migrate:
                self.migrate.kill()
                self.migrate.wait()
            shutil.rmtree(self.dir, ignore_errors=True)
        return became


def tell_logs(b):
    for name in ["controller", *(f"{h}/agent" for h in b.hosts)]:
        with open(f"{b.home}/{name}.log", errors="replace") as f:
            for line in f.read().splitlines()[-8:]:
                print(f"  {name}: {line}")


def sweep(build, cases, program, kind=Case):
    """Run these cases on one testbed, one after the other; after a failure on a new one."""
    failed, cases = 0, list(cases)
    while cases:
        b = bed.Bed(build, 3)
        b.env["STINT_FAULT"] = f"@{b.dir}/fault"
        with b:
            while cases:
                name, begun = cases.pop(0), time.monotonic()
                try:
                    became = kind(b, name, program).run()
                    print(f"ok {name}: {became} "
                          f"{time.monotonic() - begun:.0f}s", flush=True)
                except (bed.Failed, subprocess.TimeoutExpired) as e:
                    failed += 1
                    print(f"FAILED {name}: {e}", flush=True)
                    tell_logs(b)
                    break
    return failed


def chosen(words):
    names = []
    for w in words:
        more = all_cases() if w == "all" else \
            [c for c in all_cases() if c.endswith(f":{w}") or
             c.startswith(w + ":") or c == w]
        if not more:
            raise SystemExit(f"no case {w}; --list tells which there are")
        names += more
    return names


def sample(n):
    """Some of the quick cases, other ones after each commit."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True,
                          text=True, cwd=os.path.dirname(
                              os.path.abspath(__file__)))
    quick = [c for c in all_cases() if c.endswith((":kill", ":error"))]
    return random.Random(head.stdout).sample(quick, n)


def in_parallel(opts, names):
    """Each case with a testbed of its own, by processes of this program."""
    parts = [names[i::opts.parallel] for i in range(opts.parallel)]
    running = [subprocess.Popen([sys.executable, __file__, "--job", opts.job,
                                 "--build", opts.build, *part])
               for part in parts if part]
    return sum(p.wait() != 0 for p in running)


def main():
    p = bed.parser(seed=False)
    p.add_argument("--job", default="mpi", choices=[*CHKMPI, "count"])
    p.add_argument("--parallel", type=int, default=1)
    p.add_argument("--list", action="store_true")
    p.add_argument("--sample", type=int, default=0)
    p.add_argument("case", nargs="*")
    opts = p.parse_args()
    names = chosen(opts.case) + sample(opts.sample)
    if opts.list:
        print("\n".join(f"{c} {'|'.join(sorted(expected(*c.split(':'))))}"
                        for c in names or all_cases()))
        return 0
    failed = in_parallel(opts, names) if opts.parallel > 1 else \
        sweep(opts.build, names, opts.job)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
