#!/usr/bin/python3
"""owners.py - owners come and go every few seconds, while services are killed

    owners.py [--seconds S] [--seed X] [--strike S] [--build DIR]

Six hosts of a testbed under the policy stint, three jobs that check every byte they
exchange (chkmpi), one of which may begin anew.  Each owner comes and goes by a
draw of a few seconds.  Every --strike seconds (0: never) the controller, an agent or a
keeper is killed, mostly while a rank is moving; the first two are started again.
All the time, and afterwards,

 - no rank is there twice: of a rank's processes no two ever compute (a move freezes one
   before the other goes on), and the second one is gone in time (copies.py);
 - no contract is exceeded: no host has been disturbed more often than its terms allow,
   and one allows only a few a day;
 - a host whose owner is there has been given back in the time of its terms, or is
   closed for the day for it, or says that it is still at it (and it gets done); each
   return that took too long has its cause;
 - a job ends well, unless its keeper was killed; then another one takes its place;
 - nothing is left behind (bed.py).

A host that is closed for the day is of no use here for hours: where three are, one of
them gets a new day, and all do before the end, so that ranks that stand still there go on.
"""
import os
import random
import shutil
import sys
import time

import bed
from copies import Copies
from procs import kill, processes, read_proc, stat_of, until

GIVE_BACK = 5  # seconds
FEW, MANY = 4, 100000  # disturbances a day, at the first host and at the others
TERMS = [f"give-back = {GIVE_BACK}", "freeze = 5", "linger = 1"]
RANKS = 3
WORDS = 8  # of a job's program
# Seconds for which a rank may be there twice, one of them standing still: who is in doubt
# about that asks as soon as those whom it takes are connected, which takes seconds at most
# after one of them was killed, and so does to remove what is not needed any more.
TWICE_MOST = 20


class Owners:
    def __init__(self, b, opts):
        self.bed, self.opts = b, opts
        self.rng = random.Random(opts.seed)
        self.jobs, self.tag = [], 0
        self.due = {h: (0, False) for h in b.hosts}  # until then, and there
        self.counts = dict.fromkeys(["returns", "strikes", "in moves", "jobs",
                                     "lost", "late", "used up", "new days"], 0)
        self.struck = set()  # jobs whose keeper was killed
        self.next_strike = time.monotonic() + opts.strike
        self.late = set()
        self.copies = Copies(lambda: [(j.number, j.process.args[-WORDS:])
                                      for j in self.jobs], self.keep, TWICE_MOST)
        self.began = time.monotonic()

    def set_terms(self):
        for h in self.bed.hosts:
            with open(f"{self.bed.home}/{h}/stint.conf", "a") as f:
                f.write("\n".join(["[owner]", *TERMS,
                                   f"disturb = {self.allowed(h)}", ""]))
            kill([self.bed.service(h)], 1)  # SIGHUP
        for h in self.bed.hosts:
            log = f"{self.bed.home}/{h}/agent.log"
            if not until(lambda log=log: "terms=read" in open(log).read(), 300):
                raise bed.Failed(f"{h} has not read its terms")

    def allowed(self, host):
        return FEW if host == self.bed.hosts[0] else MANY

    # ---- jobs

    def begin(self):
        self.tag += 1
        argv = [os.path.join(os.path.dirname(self.bed.exe),
                             "../../tests/mpi/chkmpi"),
                "--seconds", str(self.opts.seconds + 3600), "--max", "20000",
                "--quiet", "--seed", str(1000 + self.tag)]
        options = ["--requeue"] if self.tag % 3 == 0 else []
        self.counts["jobs"] += 1
        self.jobs.append(self.bed.start(RANKS, *argv, options=options))

    def look_at_jobs(self):
        for j in list(self.jobs):
            if j.process.poll() is None:
                continue
            self.jobs.remove(j)
            if j.number not in self.struck:
                raise bed.Failed(f"job {j.number} ended with "
                                 f"{j.process.returncode}: {j.errors()[-500:]}")
            if "wrong" in j.errors() or "SABOTAGE" in j.text():
                raise bed.Failed(f"job {j.number}: {j.errors()[-500:]}")
            self.counts["lost"] += 1

    def ranks_of(self, job):
        """Processes that are ranks of a job, at either end of a move."""
        return [int(p) for (n, _), pids in self.copies.found().items()
                if n == job.number for p in pids]

    def keep(self, what, lines):
        """What there is to be read about a rank that is there twice."""
        print(f"# {what}", *lines, *self.bed.stint("ps").stdout.splitlines(),
              sep="\n#   ", flush=True)
        logs = ["controller.log", *[f"{h}/agent.log" for h in self.bed.hosts]]
        for path in logs if self.opts.keep else ():
            shutil.copy(f"{self.bed.home}/{path}",
                        os.path.join(self.opts.keep, path.replace("/", "-")))

    def no_rank_twice(self):
        if self.copies.wrong:
            raise bed.Failed("; ".join(self.copies.wrong))

    # ---- owners

    def step_owners(self):
        now = time.monotonic()
        for h, (until_then, here) in self.due.items():
            if now < until_then:
                continue
            word = "away" if here else "here"
            # Two hosts at least take guests, if the first does not any more.
            if not here and sum(there for _, there in self.due.values()) >= 3:
                continue
            r = self.bed.stint("testbed", "owner", h, word, "--for", "60")
            if r.returncode:
                continue  # its agent has just been killed
            self.counts["returns"] += not here
            self.due[h] = (now + self.rng.uniform(1, 5), not here)

    def hosts(self):
        try:
            return [h for h in self.bed.ask("owner", "status", "--all")
                    if h["host"] in self.bed.hosts]
        except bed.Failed:
            return []  # the controller has just been killed

    def look_at_hosts(self):
        hosts = self.hosts()
        for h in hosts:
            self.counts["used up"] |= (self.allowed(h["host"]) == FEW ==
                                        h["disturbed"])
            if h["disturbed"] > self.allowed(h["host"]):
                raise bed.Failed(f"{h['host']} was disturbed "
                                 f"{h['disturbed']} times")
            for r in h["last"]:
                took = r["took_us"]
                if took is None or took <= GIVE_BACK * 1e6 or \
                        (h["host"], r["at_us"]) in self.late:
                    continue
                self.late.add((h["host"], r["at_us"]))
                self.counts["late"] += 1
                print(f"# {h['host']} gave back in {took / 1e6:.1f} s, and is "
                      f"closed: {h['closed']}; {r['late']}", flush=True)
                if not r["late"]:
                    raise bed.Failed(f"{h['host']} was late, and nobody says why")
                if h["closed"] not in ("slow", "owner", "disturbed"):
                    raise bed.Failed(f"{h['host']} took {took / 1e6:.1f} s, and "
                                     f"is {h['closed']}")

        slow = [h["host"] for h in hosts if h["closed"] == "slow"]
        if len(slow) > 2:
            self.new_day(slow[0])

    def new_day(self, host):
        """What the agent keeps of the day is gone, as at midnight."""
        kill([self.bed.service(host)])
        until(lambda: not stat_of(self.bed.service(host)), 60)
        try:
            os.unlink(f"{self.bed.home}/{host}/run/contract")
        except FileNotFoundError:
            pass
        self.bed.restart(host)
        self.counts["new days"] += 1

    # ---- strikes

    def moving(self):
        with open(f"{self.bed.home}/controller.log", errors="replace") as f:
            text = f.read()[-4000:]
        return text.rfind("migrate job") > text.rfind("moved=")

    def strike(self):
        if not self.opts.strike or time.monotonic() < self.next_strike:
            return
        moving = bool(until(self.moving, 2))
        what = self.rng.choice(["controller", "agent", "agent", "keeper"])
        self.next_strike = time.monotonic() + self.opts.strike
        self.counts["strikes"] += 1
        self.counts["in moves"] += moving
        if what == "controller":
            self.bed.restart("controller")
        elif what == "agent":
            self.bed.restart(self.rng.choice(self.bed.hosts))
        else:
            self.kill_keeper()

    def kill_keeper(self):
        job = self.rng.choice(self.jobs)
        keepers = [k for k in processes("keeper",
                                        f"--run-dir={self.bed.home}")
                   if stat_of(k) and f"{job.number}." in read_proc(k, "cmdline")
                   .replace("\0", " ")]
        if keepers:
            self.struck.add(job.number)
            kill([self.rng.choice(keepers)])

    # ---- all of it

    def run(self):
        self.set_terms()
        for h in self.bed.hosts:  # what was reported last stays
            self.bed.stint("testbed", "owner", h, "away")
        before = self.bed.things()
        self.copies.start()
        end = time.monotonic() + self.opts.seconds
        while time.monotonic() < end:
            try:
                while len(self.jobs) < 3:
                    self.begin()
            except bed.Short as e:
                raise bed.Failed(str(e)) from None
            self.step_owners()
            self.strike()
            self.look_at_jobs()
            self.no_rank_twice()
            self.look_at_hosts()
            time.sleep(0.2)
        return self.finish(before)

    def finish(self, before):
        for h in self.bed.hosts:
            until(lambda h=h: not self.bed.stint("testbed", "owner", h, "away")
                  .returncode, 60)
        for h in until(self.hosts, 60) or []:
            if h["closed"] in ("slow", "disturbed"):
                self.new_day(h["host"])
        for j in self.jobs:
            kill(self.ranks_of(j), 10)  # SIGUSR1: the program ends, and says whether all was right
        for j in self.jobs:
            if j.wait(200) and j.number not in self.struck:
                raise bed.Failed(f"job {j.number}: exit {j.process.returncode}:"
                                 f" {j.errors()[-500:]}")
        self.copies.close()
        self.no_rank_twice()
        self.bed.nothing_new(before)
        told = ", ".join([*[f"{k} {v}" for k, v in self.counts.items()],
                          f"twice {len(self.copies.took)} for at most "
                          f"{max(self.copies.took, default=0):.1f} s"])
        return f"ok {told} in {time.monotonic() - self.began:.0f} s"


def main():
    p = bed.parser()
    p.add_argument("--seconds", type=float, default=300)
    p.add_argument("--strike", type=float, default=5)
    p.add_argument("--keep", help="a folder for the logs, if a rank is there twice")
    opts = p.parse_args()
    return bed.main(opts, lambda b: Owners(b, opts).run(), 6, "--policy=stint")


if __name__ == "__main__":
    sys.exit(main())
