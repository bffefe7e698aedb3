#!/usr/bin/python3
"""churn.py - many short jobs come, move and die; nothing may be left of them

    churn.py [--jobs N] [--seed X] [--only WHAT] [--mpi] [--build DIR]

N jobs run on a testbed, a few at a time.  Each has some ranks that do nothing
for a moment, count, or check what they exchange (MPI).  Meanwhile the client is killed
with -9 or TERM, the job is ended by `stint kill`, a rank is moved or dies by
its own hand, a keeper or an agent is killed, the controller is killed and
started again: at random times, from the seed (--only move: nothing but moves;
--mpi: only MPI jobs).  Afterwards

 - every job has an end, and `stint ps` is empty;
 - a job nobody laid hands on has exit status 0 and its whole output;
 - what jobs make on hosts is gone: processes, cgroups, links, routes, proxy
   neighbours, files, mounts (bed.py);
 - controller and agents have not grown since a fifth of the jobs were over.
"""
import os
import random
import signal
import subprocess
import sys
import threading
import time

import bed
from procs import kill, processes, stat_of, until

GROWTH = 4 << 20  # bytes that an allocator may take for itself all the same
COUNT = "n=0; while [ $n -lt 20 ]; do echo $n; n=$((n+1)); sleep 0.02; done"


class Churn:
    def __init__(self, b, opts):
        self.bed, self.opts = b, opts
        self.rng = random.Random(opts.seed)
        self.lock = threading.Lock()
        self.trouble, self.begun, self.ended, self.failed = None, 0, 0, 0
        self.news = []  # what happened to which job, for whoever reads a failure
        # While something may be killed that any job needs.
        self.strikes = 0

    def kind(self, rng):
        """
        (ranks, argv, output of a rank when nothing happens to it).  The last
        word of argv is the job's own, so that it can be told from others.
        """
        with self.lock:
            self.begun += 1
            tag = str(100000 + self.begun)
        chkmpi = os.path.abspath(os.path.join(os.path.dirname(self.bed.exe),
                                              "../../tests/mpi/chkmpi"))
        kinds = [
            (rng.randint(1, 4), ["true", tag], ""),
            (rng.randint(1, 3), ["sh", "-c", COUNT, tag],
             "".join(f"{n}\n" for n in range(20))),
            (rng.randint(2, 4), [chkmpi, "--rounds", "5", "--max", "5000",
                                 "--quiet", "--seed", tag], None)]
        return kinds[-1] if self.opts.mpi else rng.choice(kinds)

    # ---- what happens to a job; each function returns whether the job may fail by that

    def leave_alone(self, rng, p):
        return False

    def find(self, p):
        """The job of that client; None if it is over or not there yet."""
        mine = [j for j in self.bed.ask("ps") if j["argv"] == p.args[4:]]
        return mine[0] if mine else None

    def kill_client(self, rng, p):
        p.send_signal(rng.choice([signal.SIGKILL, signal.SIGTERM,
                                  signal.SIGINT, signal.SIGHUP]))
        return True

    def kill_job(self, rng, p):
        job = self.find(p)
        if job:
            self.bed.stint("kill", str(job["job"]))
        return True

    def move(self, rng, p):
        j = self.find(p)
        if j:
            self.bed.stint("migrate",
                           f"{j['job']}.{rng.randrange(len(j['ranks']))}",
                           rng.choice(self.bed.hosts))
        return False

    def kill_keeper(self, rng, p):
        keepers = [k for k in processes("keeper", f"--run-dir={self.bed.home}")
                   if stat_of(k)]
        if keepers:
            with self.lock:
                self.strikes += 1
            kill([rng.choice(keepers)])
        return True

    def restart(self, rng, p):
        name = rng.choice(["controller", *self.bed.hosts])
        with self.lock:
            # If a keeper is killed while an agent starts it, its rank dies with it.
            self.strikes += name != "controller"
            self.bed.restart(name)
        return False

    def happenings(self):
        if self.opts.only:
            return [getattr(self, self.opts.only)]
        return [self.leave_alone] * 6 + [self.kill_client] * 4 + \
            [self.kill_job] * 3 + [self.move] * 4 + [self.kill_keeper] + \
            [self.restart]

    # ---- one job

    def one(self, rng):
        ranks, argv, output = self.kind(rng)
        strikes = self.strikes
        p = subprocess.Popen([self.bed.exe, "run", "-n", str(ranks), *argv],
                             env=self.bed.env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
        time.sleep(rng.random() * 0.6)
        happens = rng.choice(self.happenings())
        self.news.append(f"{os.path.basename(argv[0])} {argv[-1]} of {ranks}: "
                         f"{happens.__name__}")
        try:
            may_fail = happens(rng, p)
        except bed.Failed:
            may_fail = False  # the controller is just being started again
        try:
            out, err = p.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            raise bed.Failed(f"{argv} of {ranks} ranks has no end") from None
        with self.lock:
            self.ended += 1
            self.failed += p.returncode != 0
            struck = self.strikes != strikes
        if p.returncode and not may_fail and not struck:
            raise bed.Failed(f"{argv} of {ranks} ranks, {happens.__name__}: "
                             f"exit {p.returncode}: {err.strip()[-1000:]}; "
                             f"before it: {', '.join(self.news[-8:])}")
        if not p.returncode and output is not None and \
                sorted(out) != sorted(output * ranks):
            raise bed.Failed(f"{argv} of {ranks} ranks: its output is not "
                             f"whole: {out[-200:]}")

    def worker(self, rng, jobs):
        try:
            for _ in range(jobs):
                if self.trouble:
                    return
                self.one(rng)
        except Exception as e:  # of this thread; reported by the main one
            self.trouble = self.trouble or e

    def some(self, jobs):
        threads = [threading.Thread(target=self.worker, args=(
            random.Random(self.rng.random()), jobs // self.opts.parallel))
            for _ in range(self.opts.parallel)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if self.trouble:
            raise self.trouble

    def quiet(self, before):
        """All jobs end, and nothing is left."""
        if not until(lambda: not self.listed(), 300):
            raise bed.Failed(f"jobs without an end: {self.listed()}")
        self.bed.nothing_new(before, 30)

    def listed(self):
        r = self.bed.stint("ps", "--json")
        return r.stdout or r.returncode

    def run(self):
        before = self.bed.things()
        fifth = max(self.opts.jobs // 5, self.opts.parallel)
        size = None
        for part in range(5):
            self.some(fifth)
            self.quiet(before)
            now = self.bed.memory()
            size = size or now
            print(f"# {self.ended} jobs, {self.failed} of them ended badly, "
                  "nothing left; KiB: " +
                  ", ".join(f"{k} {v >> 10}" for k, v in now.items()),
                  flush=True)
        for name, was in size.items():
            # A service that was started again has another size.
            if name not in self.bed.restarted and now[name] > was + GROWTH:
                raise bed.Failed(f"{name} grew from {was >> 10} to "
                                 f"{now[name] >> 10} KiB")
        return f"ok {self.ended} jobs, {self.failed} of them ended badly"


def main():
    p = bed.parser()
    p.add_argument("--jobs", type=int, default=100)
    p.add_argument("--parallel", type=int, default=4)
    p.add_argument("--only", choices=["leave_alone", "kill_client", "kill_job",
                                      "move", "kill_keeper", "restart"])
    p.add_argument("--mpi", action="store_true")
    opts = p.parse_args()
    return bed.main(opts, lambda b: Churn(b, opts).run(), 3)


if __name__ == "__main__":
    sys.exit(main())
