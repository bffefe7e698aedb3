"""jobs.py - a program of others as a job, whose ranks move at random

What it prints, and how it ends, must be the same as that of a job nobody moves.
One that reads is fed until it has been moved as often as wanted, however quick
or slow the machine; the job that is not moved gets the same input then.
"""
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, d) for d in ("..", "../mpi")]
from procs import until  # noqa: E402
from bed import Failed, Short  # noqa: E402

STARTING = threading.Lock()  # who starts finds out its job's number
OPTIONS = ["--wdir=/tmp"]
DAWDLE = "../../tests/mpi/dawdle.so"


def words(rng):
    return "".join(" ".join(f"{rng.randrange(1 << 20):x}"
                            for _ in range(8)) + "\n"
                   for _ in range(200)).encode()


def octets(rng):
    return rng.randbytes(16000)


def sums(rng):
    return "".join(f"{rng.randrange(1 << 90)}*{rng.randrange(1 << 60)}"
                   f"%{rng.randrange(1, 1 << 70)}\n"
                   for _ in range(100)).encode()


def sql(rng):
    return b"begin;\n" + "".join(
        f"insert into t values({rng.randrange(1 << 16)},'{rng.random()}');\n"
        for _ in range(100)).encode() + \
        b"commit;\nselect count(*), sum(k), max(v) from t;\n"


def c(rng):
    return "".join(
        f"int f{rng.randrange(1 << 60)}(int a) {{ return a * "
        f"{rng.randrange(99)} > 7 ? a / {rng.randrange(1, 99)} : a; }}\n"
        for _ in range(20)).encode()


FOODS = {"words": words, "bytes": octets, "sums": sums, "sql": sql, "c": c}
FIRST = {"sql": b"create table t(k integer, v text);\n"}


class Victim:
    """A line of a list: NAME, RANKS, FOOD, KEEP, COMMAND."""

    def __init__(self, name, ranks, food, keep, argv):
        self.name, self.ranks, self.food = name, int(ranks), food
        self.keep = re.compile(keep.encode() if keep != "-" else b"")
        self.argv = argv
        if food not in (*FOODS, "-", "late"):
            raise ValueError(f"{name}: no food {food}")

    @classmethod
    def of_line(cls, line, where, folder):
        """A path that begins with @ is relative to the list, one with % to the folder."""
        *begin, command = re.split(r"\t+", line.rstrip("\n"))
        tops = {"@": where, "%": (folder or "") + "/"}
        argv = [tops[w[0]] + w[1:] if w[:1] in tops else w
                for w in shlex.split(command)]
        return cls(*begin, [w.replace("=%", f"={folder or ''}/")
                            for w in argv])

    def lacks(self):
        program = next(w for w in self.argv if "=" not in w and w != "env")
        needs = [w[6:] for w in self.argv if w.startswith("NEEDS=")]
        return next((f"no {p} here" for p in [*needs, program]
                     if not shutil.which(p)), None)

    def kept(self, text):
        """The lines that do not tell times; for several ranks in sorted order."""
        found = [(s, self.keep.search(s)) for s in text.split(b"\n")]
        lines = [b" ".join(m.groups(b"")) if m.groups() else s
                 for s, m in found if m]
        return sorted(lines) if self.ranks > 1 else lines


class Feeder:
    """Writes to a pipe until it is told that it was enough, and to a file."""

    def __init__(self, food, rng, pipe, path):
        self.food, self.rng, self.pipe, self.path = food, rng, pipe, path
        self.enough = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        try:
            with open(self.path, "wb") as copy, self.pipe as pipe:
                block = FIRST.get(self.food, b"")
                while True:
                    copy.write(block)
                    pipe.write(block)
                    pipe.flush()
                    if self.enough.wait(self.rng.choice([0, 0.002, 0.03])):
                        break
                    block = FOODS[self.food](self.rng)
        except BrokenPipeError:
            pass  # a program that reads no more is compared all the same

    def end(self, process, longest):
        """A program that does not read for as long as it may take is ended."""
        self.enough.set()
        self.thread.join(longest)
        if self.thread.is_alive():
            process.kill()
            self.thread.join()


class Trial:
    """One program, moved, and then not moved."""

    def __init__(self, bed, victim, moves, seed, longest):
        self.bed, self.victim, self.moves = bed, victim, moves
        self.longest = longest
        self.rng = random.Random(f"{seed} {victim.name}")
        self.fed = victim.food in FOODS
        name = victim.name.replace("/", "-")
        self.input = os.path.join(bed.dir, f"input.{name}")
        self.out = os.path.join(bed.dir, f"out.{name}")
        self.moved, self.worst, self.refusal, self.words = 0, 0, None, ""
        self.options = OPTIONS
        if victim.food == "late":
            dawdle = os.path.join(os.path.dirname(bed.exe), DAWDLE)
            self.options = [*OPTIONS, "-x", "LD_PRELOAD=" +
                            os.path.abspath(dawdle)]

    def start(self, stdin):
        with STARTING:
            return self.bed.start(self.victim.ranks, *self.victim.argv,
                                  stdin=stdin, options=self.options)

    def move(self, job):
        """Whether to go on."""
        ranks = job.ranks()
        if not ranks or job.process.poll() is not None:
            return False
        rank = self.rng.choice(sorted(ranks))
        host = self.rng.choice([h for h in self.bed.hosts if h != ranks[rank]])
        try:
            report = job.move(rank, host)
        except Failed as e:
            # a rank that ended meanwhile was not refused
            if until(lambda: job.process.poll() is not None, 1):
                return False
            self.refusal = str(e)
            return not self.fed  # one of its ranks may have ended
        self.moved += 1
        self.worst = max(self.worst, report["downtime_us"])
        return True

    def move_about(self, job):
        end = time.monotonic() + self.longest
        pause = 0.05  # a job that may be over soon is moved at once
        while (not self.fed or self.moved < self.moves) and \
                time.monotonic() < end:
            time.sleep(self.rng.uniform(0, pause))
            if not self.move(job):
                break
            pause = 0.4 if self.victim.food == "-" else 0.1

    def outcome(self, job):
        try:
            status = job.wait(self.longest)
        except Failed:
            job.kill()  # it must not use up processor time that the next one needs
            raise
        with open(job.out, "rb") as f:
            return status, self.victim.kept(f.read())

    def disturbed(self):
        job = self.start(subprocess.PIPE if self.fed else None)
        feeder = Feeder(self.victim.food, self.rng, job.process.stdin,
                        self.input) if self.fed else None
        try:
            self.move_about(job)
        finally:
            if feeder:
                feeder.end(job.process, self.longest)
        return job, self.outcome(job)

    def undisturbed(self):
        if not self.fed:
            return self.run_through(subprocess.DEVNULL)
        with open(self.input, "rb") as f:
            return self.run_through(f)

    def run_through(self, stdin):
        """The job may be over at once."""
        with open(self.out, "wb") as f:
            r = subprocess.run(
                [self.bed.exe, "run", f"-n{self.victim.ranks}", *self.options,
                 *self.victim.argv],
                env=self.bed.env, stdin=stdin, stdout=f, timeout=self.longest,
                stderr=subprocess.PIPE, check=False)
        self.words = r.stderr.decode(errors="replace")
        with open(self.out, "rb") as f:
            return r.returncode, self.victim.kept(f.read())

    def run(self):
        """(state, words)"""
        job, moved = self.disturbed()
        try:
            still = self.undisturbed()
        except subprocess.TimeoutExpired:
            return "WRONG", f"moved it ends with {moved[0]}, unmoved it " \
                f"takes over {self.longest:g} s"
        if moved != still:
            return "WRONG", difference(moved, still) + job.errors()[-300:]
        if still[0] or not still[1]:
            return "skipped", f"unmoved it ends with {still[0]}, " \
                f"{len(still[1])} lines to compare: {self.words[-200:]}"
        if not self.moved and self.refusal:
            return "refused", self.refusal
        if self.fed and self.moved < self.moves:
            return "refused", self.refusal or "ended before it was moved"
        if not self.moved:
            return "skipped", "too short to be moved"
        return "as unmoved", self.refusal or ""


def difference(moved, still):
    if moved[0] != still[0]:
        return f"ends with {moved[0]}, unmoved with {still[0]}; "
    n = next((i for i, (a, b) in enumerate(zip(moved[1], still[1]))
              if a != b), min(len(moved[1]), len(still[1])))
    return f"kept line {n} of {len(moved[1])} ({len(still[1])} unmoved): " \
        f"{moved[1][n:n + 1]} not {still[1][n:n + 1]}; "


def run(bed, victim, moves, seed, longest):
    """(state, moves, worst standstill in microseconds, words)"""
    lacks = victim.lacks()
    if lacks:
        return "skipped", 0, 0, lacks
    trial = Trial(bed, victim, moves, seed, longest)
    try:
        state, told = trial.run()
    except Short as e:
        state, told = "skipped", str(e)
    except (Failed, subprocess.TimeoutExpired) as e:
        state, told = "WRONG", str(e)
    return state, trial.moved, trial.worst, " ".join(told.split())
