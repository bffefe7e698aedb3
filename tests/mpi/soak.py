#!/usr/bin/python3
"""soak.py - move the ranks of a running MPI job that checks every byte

    soak.py [--moves N] [--ranks N] [--how HOW] [--mpi openmpi] [--build DIR]

Ranks of chkmpi (of waits, if they wait) are moved to hosts of a testbed, N times
in all; then the job is told to end and must have found nothing wrong and exit
with 0.  HOW is

    random   any rank, one after the other
    turn     each rank in its turn
    pair     two ranks at the same time
    overlap  half of the ranks by one mover, half by another, neither caring
             where the other one is: moves begin in the middle of others
    waiting  any rank that is blocked in a wait of MPI's, in MPI_Recv or
             MPI_Finalize; the message that they wait for is sent at the end
    fences   any rank that waits for rank 0 in the fence of MPI_Init, and then
             in that of MPI_Finalize, of one job after the other

Memory of the controller and the agents is looked at as it goes: it must not
grow with the moves.
"""
import os
import random
import shutil
import sys
import tempfile
import threading
import time

import bed
from procs import until

WARM_UP = 100  # moves after which no service may grow any more
GROWTH = 4 << 20  # bytes that an allocator may take for itself all the same
AT_A_FENCE = 10  # moves at most, before rank 0 comes there as well
PHASES = ("freeze_us", "last_us", "capture_us", "restore_us", "commit_us")


class Job:
    """The program that is moved, and how it says that all was right: chkmpi."""
    first, last = "round", "PASS"

    def __init__(self, opts):
        self.ranks = range(opts.ranks)
        self.argv = [self.path(opts, "chkmpi"), "--seconds", "1000000",
                     "--seed", str(opts.seed)]

    @staticmethod
    def path(opts, name):
        return os.path.abspath(os.path.join(
            opts.build, "tests/mpi",
            name + {"mpich": "", "openmpi": "-openmpi"}[opts.mpi]))


class Waiting(Job):
    """waits receive: rank 1 sends when it is told to end, the others wait."""
    first, last = "waiting", '"seconds":'

    def __init__(self, opts):
        super().__init__(opts)
        self.ranks = [r for r in self.ranks if r != 1]
        self.argv = [self.path(opts, "waits"), "receive", "1000000000"]


class Late(Job):
    """late: where rank 0 has not come to, the others wait."""
    FENCES = ("init", "finalize")

    def __init__(self, opts):
        super().__init__(opts)
        self.ranks = self.ranks[1:]
        self.right = sorted(line + "\n" for rank in range(opts.ranks)
                            for line in (f"in {rank}",
                                         f"sum {sum(range(opts.ranks))}"))
        self.dir = tempfile.mkdtemp(prefix="stint-soak-", dir="/var/tmp")
        self.argv = [self.path(opts, "late"),
                     *(os.path.join(self.dir, f) for f in self.FENCES)]

    def allow(self, fence):
        with open(os.path.join(self.dir, fence), "w", encoding="ascii"):
            pass

    def is_right(self, text):
        return sorted(text.splitlines(keepends=True)) == self.right


class Soak:
    def __init__(self, opts, b):
        self.opts, self.bed = opts, b
        self.reports, self.trouble = [], None
        self.lock = threading.Lock()
        self.before = None
        self.start()

    def start(self):
        self.what = (Waiting if self.opts.how == "waiting" else Job)(self.opts)
        self.job = self.bed.start(self.opts.ranks, *self.what.argv)
        self.job.wait_for(self.what.first, 120)

    def move(self, rng, rank):
        here = self.job.ranks().get(rank)
        host = rng.choice([h for h in self.bed.hosts if h != here])
        try:
            report = self.job.move(rank, host)
        except bed.Failed as e:
            raise bed.Failed(f"move {len(self.reports)}, rank {rank} from "
                             f"{here} to {host}: {e}; "
                             f"{self.job.errors()[-500:]}") from None
        if self.job.process.poll() is not None:
            raise bed.Failed(f"the job ended: {self.job.errors()[-500:]}")
        with self.lock:
            self.reports.append(report)
            n = len(self.reports)
        self.tell(n)

    def tell(self, n):
        if n == min(WARM_UP, self.opts.moves // 2):
            self.before = self.bed.memory()
        if n % 100 == 0:
            print(f"# {n} moves, {self.last_line()}", flush=True)

    def last_line(self):
        return (self.job.text().splitlines() or ["no word yet"])[-1]

    def mover(self, rng, choose, moves, together=None):
        """Move until all moves are made, or some mover fails."""
        try:
            for n in range(moves):
                if together:
                    together.wait()
                if self.trouble:
                    return
                self.move(rng, choose(n))
                time.sleep(self.opts.pause)
        except threading.BrokenBarrierError:
            pass
        except Exception as e:  # of this thread; reported by the main one
            self.trouble = self.trouble or e
        finally:
            if together:
                together.abort()

    def movers(self):
        """One (rng, choose) for each mover."""
        ranks, rng = self.what.ranks, random.Random(self.opts.seed)
        if self.opts.how in ("random", "waiting"):
            return [(rng, lambda n: rng.choice(ranks))]
        if self.opts.how == "turn":
            return [(rng, lambda n: n % self.opts.ranks)]
        other = random.Random(self.opts.seed + 1)
        return [(rng, lambda n: rng.choice(ranks[::2])),
                (other, lambda n: other.choice(ranks[1::2]))]

    def run(self):
        movers = self.movers()
        together = threading.Barrier(len(movers)) \
            if self.opts.how == "pair" else None
        threads = [threading.Thread(target=self.mover, args=(
            rng, choose, self.opts.moves // len(movers), together))
            for rng, choose in movers]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if self.trouble:
            raise self.trouble
        self.check_memory()
        self.job.kill("-s", "USR1")
        status = self.job.wait()
        if status or self.what.last not in self.job.text():
            raise bed.Failed(f"exit {status}: {self.job.text()[-200:]}"
                             f"{self.job.errors()[-500:]}")

    def check_memory(self):
        if "ASAN_OPTIONS" in os.environ:
            return  # a sanitizer keeps freed memory for a while, to notice late uses
        after = self.bed.memory()
        for name, was in (self.before or {}).items():
            if after[name] > was + GROWTH:
                raise bed.Failed(f"{name} grew from {was >> 10} to "
                                 f"{after[name] >> 10} KiB")

    def summary(self):
        ms = sorted(r["downtime_us"] / 1000 for r in self.reports)
        return (f"ok {self.opts.how}: {len(ms)} moves of a rank of "
                f"{self.opts.ranks}, "
                f"{self.last_line()}; downtime median "
                f" {ms[len(ms) // 2]:.1f} ms, worst {ms[-1]:.1f} ms\n"
                f"# the slowest: {self.slowest()}")

    def slowest(self):
        """Which phase of the pause was long, compared with what it usually takes."""
        n, worst = max(enumerate(self.reports, 1),
                       key=lambda r: r[1]["downtime_us"])
        usual = {k: sorted(r[k] for r in self.reports)[len(self.reports) // 2]
                 for k in PHASES}
        parts = ", ".join(f"{k[:-3]} {worst[k] / 1000:.1f} "
                          f"({usual[k] / 1000:.1f})" for k in PHASES)
        return (f"move {n}, {parts} ms (medians); "
                + ", ".join(f"{k} {worst[k]}" for k in
                            ("rounds", "bytes_last", "threads")))


class Fences(Soak):
    """Short jobs, until all moves are made."""

    def start(self):
        """By run(): there are several."""

    def run(self):
        rng = random.Random(self.opts.seed)
        while len(self.reports) < self.opts.moves:
            self.what = Late(self.opts)
            try:
                self.run_job(rng)
            finally:
                shutil.rmtree(self.what.dir)
        self.check_memory()

    def run_job(self, rng):
        self.job = self.bed.start(self.opts.ranks, *self.what.argv)
        for rank in self.what.ranks:
            self.wait_there(rng, rank)
        for fence in self.what.FENCES:
            for _ in range(min(AT_A_FENCE, self.opts.moves)):
                self.move(rng, rng.choice(self.what.ranks))
            self.what.allow(fence)
            if not until(lambda: self.what.is_right(self.job.text()) or
                         self.job.process.poll() is not None):
                raise bed.Failed(f"they do not meet: {self.job.text()!r}")
        status = self.job.wait()
        if status or not self.what.is_right(self.job.text()):
            raise bed.Failed(f"exit {status}: {self.job.text()!r}"
                             f"{self.job.errors()[-500:]}")

    def wait_there(self, rng, rank):
        """MPI asks the kernel for interfaces on the way, by what does not move."""
        end = time.monotonic() + 60
        while True:
            try:
                return self.move(rng, rank)
            except bed.Failed as e:
                if "netlink" not in str(e) or time.monotonic() > end:
                    raise


def main():
    p = bed.parser()
    p.add_argument("--moves", type=int, default=20)
    p.add_argument("--ranks", type=int, default=4)
    p.add_argument("--mpi", default="mpich", choices=("mpich", "openmpi"))
    p.add_argument("--how", default="random",
                   choices=["random", "turn", "pair", "overlap",
                            "waiting", "fences"])
    p.add_argument("--pause", type=float, default=0.05)
    opts = p.parse_args()

    def work(b):
        s = (Fences if opts.how == "fences" else Soak)(opts, b)
        s.run()
        return s.summary()
    return bed.main(opts, work, opts.ranks + 1, what=opts.how)


if __name__ == "__main__":
    sys.exit(main())
