#!/usr/bin/python3
"""strikes.py - at random moments of several moves at once somebody is struck

    strikes.py [--job mpi|openmpi] [--rounds N] [--moves K] [--seed X]
               [--only PARTY:BLOW]... [--most SECONDS]

A job of --ranks ranks that checks every byte runs on a testbed with as many
hosts more as are moved at once.  In each round K ranks begin to move, and
after a random time one of

    source-engine dest-engine source-watch dest-watch old-keeper new-keeper
    source-agent dest-agent controller

of one of these moves (not at a named point, as in faults.py) is

    kill   killed by -9; agents and controller are started again
    stop   stopped for a random time of up to 8 s

Then

 - each `stint migrate` ends, and says what is so: a rank that moved is at its
   destination, one that stays is where it was,
   and one that is lost is not said to be somewhere;
 - `stint ps` never shows a rank that moves from a host to that same host, and
   in the end is right about where each process is, of which there is one;
 - the job goes on, every step made once.  It may fail only when a keeper is
   struck; then there is no process of it any more, and it said why;
 - it did not stand still for longer than --most, a party that was stopped and
   that nobody bounds (keepers) left aside.

Prints how long the longest pause of each round was, ends with a table.
"""
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import bed
from faults import CHKMPI, Case, tell_logs
from procs import children, comm, kill, stat_of, until

PARTIES = ["source-engine", "dest-engine", "source-watch", "dest-watch",
           "old-keeper", "new-keeper", "source-agent", "dest-agent",
           "controller"]
BLOWS = [f"{p}:{b}" for p in PARTIES for b in ("kill", "stop")]
STOP_MOST = 8


class Pauses(threading.Thread):
    """For how long no step is made, as seen from outside."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.longest, self.over = path, 0, False
        self.start()

    def run(self):
        size, since = -1, time.monotonic()
        while not self.over:
            now = time.monotonic()
            n = os.stat(self.path).st_size if os.path.exists(self.path) else 0
            self.longest = max(self.longest, now - since)
            if n != size:
                size, since = n, now
            time.sleep(0.01)

    def close(self):
        self.over = True
        self.join()

    def reset(self):
        self.longest = 0


class Job(Case):
    """A job for many rounds, and what faults.py asks about one after a blow."""

    def __init__(self, b, opts):
        self.bed, self.opts, self.program = b, opts, opts.job
        self.dir = tempfile.mkdtemp(prefix="stint-strikes-", dir="/var/tmp")
        self.steps = os.path.join(self.dir, "steps")
        self.before = b.things()
        chkmpi = os.path.join(os.path.dirname(b.exe), "../../tests/mpi",
                              CHKMPI[opts.job])
        self.job = b.start(opts.ranks, os.path.abspath(chkmpi), "--seconds",
                           "100000", "--max", "30000", "--log", self.steps)
        self.job.wait_for("round")
        self.pauses = Pauses(self.steps)

    def keepers_of(self, host, rank):
        pids = bed.processes("keeper", f"--run-dir={self.bed.home}/{host}/run",
                             f"\0{self.job.number}.{rank}\0")
        return [p for p in pids if stat_of(p) and stat_of(p)[1] not in pids]

    def engines_of(self, host, rank):
        ours = os.readlink("/proc/self/ns/pid")
        found = []
        for k in self.keepers_of(host, rank):
            for c in children(k):
                try:
                    if comm(c) == comm(k) and \
                            os.readlink(f"/proc/{c}/ns/pid") == ours:
                        found.append(c)
                except OSError:
                    pass
        return found

    def victims(self, party, move):
        rank, here, there = move
        host = here if party.startswith(("source", "old")) else there
        if party.endswith("-engine"):
            return self.engines_of(host, rank)
        if party.endswith("-watch"):
            return [w for e in self.engines_of(host, rank)
                    for w in children(e) if comm(w) == "stint-watch"]
        if party.endswith("-keeper"):
            return self.keepers_of(host, rank)
        return [self.bed.service(self.name_of(party, move))]

    @staticmethod
    def name_of(party, move):
        return {"controller": "controller", "source-agent": move[1],
                "dest-agent": move[2]}.get(party)

    def begin(self, rng):
        """[((rank, from, to), process)] of the moves."""
        at = self.job.ranks()
        moves = []
        for rank in rng.sample(sorted(at), min(self.opts.moves, len(at))):
            to = rng.choice([h for h in self.bed.hosts if h != at[rank]])
            moves.append(((rank, at[rank], to), subprocess.Popen(
                [self.bed.exe, "migrate", "--json",
                 f"{self.job.number}.{rank}", to], env=self.bed.env,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True)))
        return moves

    def strike(self, rng, party, blow, move):
        """Strikes; True if the party was there."""
        if blow == "kill" and self.name_of(party, move):
            self.bed.restart(self.name_of(party, move))
            return True
        pids = self.victims(party, move)
        if blow == "kill":
            kill(pids)
            return bool(pids)
        kill(pids, signal.SIGSTOP)
        time.sleep(rng.random() * STOP_MOST if pids else 0)
        kill(pids, signal.SIGCONT)
        return bool(pids)

    def never_so(self):
        """What `stint ps` must never say while ranks move."""
        info = self.info()
        for r in info["ranks"] if info else ():
            if r.get("moving_to") == r["host"]:
                raise bed.Failed(f"ps: moving {r['host']} -> {r['moving_to']}")

    def said(self, moves):
        """What each `stint migrate` said, once all have ended."""
        end, told = time.monotonic() + 120, []
        while any(p.poll() is None for _, p in moves):
            if time.monotonic() > end:
                raise bed.Failed("a migrate has no end")
            self.never_so()
            time.sleep(0.05)
        for move, p in moves:
            out, err = p.communicate()
            told.append((move, p.returncode,
                         json.loads(out) if out else None, err.strip()))
        return told

    def is_so(self, info, told):
        for (rank, here, there), status, m, err in told:
            at = info["ranks"][rank]["host"]
            if not m:  # the move never began, and why
                if at != here:
                    raise bed.Failed(f"rank {rank} is on {at}: {err}")
                continue
            if m["moved"] != (at == there) or (status == 0) != m["moved"]:
                raise bed.Failed(f"rank {rank}: {here} -> {there}, it is on "
                                 f"{at}, exit {status}, said {m}")

    def lost_is_said(self, struck, told):
        for (rank, here, _), status, m, err in told:
            # The ranks of others were killed with the job, or had moved by then.
            if rank == struck and m and not m["moved"] and not m["lost"] and \
                    self.info()["ranks"][rank]["state"] == "lost":
                raise bed.Failed(f"rank {rank} was on {here}, is lost: {m}")

    def round(self, rng):
        """(blow, outcome, longest pause)"""
        party, blow = rng.choice(self.opts.only or BLOWS).split(":")
        n = len(self.made())
        if not until(lambda: len(self.made()) > n + 1 or
                     self.job.process.poll() is not None, 30):
            raise bed.Failed("the job stands still before a round")
        self.pauses.reset()
        moves = self.begin(rng)
        move = rng.choice(moves)[0]
        if self.opts.await_party:
            until(lambda: self.victims(party, move), 2)
        time.sleep(rng.random() * self.opts.within)
        hit = self.strike(rng, party, blow, move)
        told = self.said(moves)
        info = self.check_ps()
        if info["state"] == "done":
            return self.over(party, blow, move[0], told)
        self.is_so(info, told)
        n = len(self.made())
        if not until(lambda: len(self.made()) > n + 2 or
                     self.job.process.poll() is not None, 60):
            raise bed.Failed("the job stands still")
        self.check_steps(True)
        longest = self.pauses.longest
        if longest > self.opts.most and not (
                blow == "stop" and party.endswith("keeper")):
            raise bed.Failed(f"it stood still for {longest:.2f} s after "
                             f"{party}:{blow}; {told}")
        done = sum(1 for t in told if t[2] and t[2]["moved"])
        return (f"{party}:{blow}" if hit else "nobody",
                f"{done} of {len(told)} moved", longest)

    def over(self, party, blow, rank, told):
        if not (party.endswith("-keeper") and blow == "kill"):
            raise bed.Failed(f"the job failed after {party}:{blow}: "
                             f"{self.job.errors()[-600:]}")
        if not self.job.wait() or not self.job.errors().strip():
            raise bed.Failed("it has failed and nobody was told why")
        self.lost_is_said(rank, told)
        self.check_steps(False)
        return (f"{party}:{blow}", "lost", 0)

    def close(self):
        self.pauses.close()
        if self.job.process.poll() is None:
            self.job.kill("-s", "USR1")
            if self.job.wait() or "PASS" not in self.job.text():
                raise bed.Failed("it ended without its result: " +
                                 self.job.errors()[-300:])
        self.bed.nothing_new(self.before)
        shutil.rmtree(self.dir, ignore_errors=True)


def play(b, opts, rng, table):
    job, n = Job(b, opts), 0
    while n < opts.rounds:
        blow, became, longest = job.round(rng)
        n += 1
        table[blow, became].append(longest)
        print(f"ok {n} {blow}: {became}, {longest * 1000:.0f} ms", flush=True)
        if became == "lost":
            job.close()
            job = Job(b, opts)
    job.close()


def main():
    p = bed.parser()
    p.add_argument("--job", default="mpi", choices=list(CHKMPI))
    p.add_argument("--rounds", type=int, default=10)
    p.add_argument("--ranks", type=int, default=4)
    p.add_argument("--moves", type=int, default=4)
    p.add_argument("--only", action="append", choices=BLOWS)
    p.add_argument("--await-party", action="store_true",
                   help="the time to the blow begins when it is there")
    p.add_argument("--within", type=float, default=1.0)
    p.add_argument("--most", type=float, default=15)
    opts = p.parse_args()
    table, rng = collections.defaultdict(list), random.Random(opts.seed)
    failed = 0
    with bed.Bed(opts.build, opts.ranks + opts.moves) as b:
        try:
            play(b, opts, rng, table)
        except (bed.Failed, subprocess.TimeoutExpired) as e:
            failed = 1
            print(f"FAILED seed {opts.seed}: {e}", flush=True)
            tell_logs(b)
    for (blow, became), times in sorted(table.items()):
        print(f"# {blow:22} {became:14} {len(times):3} times, longest pause "
              f"{max(times):.2f} s")
    return failed


if __name__ == "__main__":
    sys.exit(main())
