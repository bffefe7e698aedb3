"""told.py - a program that says when it is set up, and is told when to verify

CRIU's own test programs are such (test/zdtm of its source; none of them is
here): started with --pidfile and --outfile it goes on as a daemon, SIGTERM tells
it to look at what it had set up, and its outfile says PASS then.  It is moved
with `stint move` between two network namespaces, by drive.py.
"""
import os
import random
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, ".."), os.path.join(HERE, "../move")]
from procs import stat_of, until  # noqa: E402
from drive import Drive, Failed, options as drive_options  # noqa: E402

# The parent that the daemon gets shall be in its namespaces: it lets the program
# begin, says how that went and adopts what is left.
ADOPT = """import ctypes, os, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
print("BEGUN", subprocess.call(sys.argv[2:], cwd=sys.argv[1]), flush=True)
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
"""
KEY = b"file to store pid"  # what its --help says of --pidfile


def is_told(path):
    try:
        with open(path, "rb") as f:
            return f.read(4) == b"\x7fELF" and KEY in f.read()
    except OSError:
        return False


def arguments(path, where):
    """The files that the program says it needs, in a directory of its own."""
    told = subprocess.run([path, "--help"], stdin=subprocess.DEVNULL, cwd=where,
                          capture_output=True, timeout=20, check=False).stderr
    named = re.findall(r"^  --([a-z_0-9]+)=string", told.decode(), re.M)
    return [f"--{name}={name}" for name in named]


class Told(Drive):
    def __init__(self, build, path, rng):
        super().__init__(drive_options(["--build", build, path]))
        self.program, self.rng = path, rng

    def out(self, name):
        return os.path.join(self.path("files"), name)

    def read(self, name):
        try:
            with open(self.out(name), errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def begin(self):
        os.chmod(self.dir, 0o777)  # some programs become other users
        os.chmod(self.path("files"), 0o777)
        argv = [self.program, *arguments(self.program, self.path("files"))]
        p = self.start("program", [*self.hosts.enter(0), sys.executable, "-c",
                                   ADOPT, self.path("files"), *argv])
        status = self.wait_for("program", p, r"^BEGUN (-?\d+)$", 30).group(1)
        if status != "0" or not self.read("pidfile"):
            raise Failed(f"not set up ({status}): {self.last_words()}")
        self.pid = int(self.read("pidfile"))

    def last_words(self):
        for name in "outfile", "outfile.inprogress":
            if self.read(name):
                return self.read(name).strip().splitlines()[-1]
        return (self.text("program").strip().splitlines() or ["no word"])[-1]

    def verify(self):
        """Does it say PASS? It is told by a signal, and has a while to do so."""
        os.kill(self.pid, signal.SIGTERM)
        if not until(lambda: self.read("outfile") or not stat_of(self.pid), 60):
            raise Failed("does not end")
        if not until(lambda: "PASS" in self.read("outfile"), 1):
            raise Failed(self.last_words())

    def unmoved(self):
        self.begin()
        time.sleep(self.rng.uniform(0, 0.1))
        self.verify()

    def moved(self, moves):
        """The reason of a refusal, if the program has passed all the same."""
        self.begin()
        refusal = None
        for n in range(moves):
            time.sleep(self.rng.uniform(0, 0.2))
            try:
                self.move(n)
            except Failed as e:
                refusal = str(e)
                break
        time.sleep(self.rng.uniform(0, 0.1))
        self.verify()
        return refusal


def run(build, path, moves, seed):
    """(state, moves, worst standstill in microseconds, words)"""
    # Run it once unmoved: a program that does not run here is not judged.
    for how in "unmoved", "moved":
        d = Told(build, path, random.Random(seed))
        try:
            refusal = d.unmoved() if how == "unmoved" else d.moved(moves)
        except (Failed, OSError, subprocess.TimeoutExpired) as e:
            worst = max((r["downtime_us"] for r in d.reports), default=0)
            if how == "unmoved":
                return "skipped", 0, 0, f"unmoved: {e}"
            return "WRONG", len(d.reports), worst, str(e)
        finally:
            d.cleanup()
    worst = max((r["downtime_us"] for r in d.reports), default=0)
    if refusal:
        return "refused", len(d.reports), worst, refusal
    return "as unmoved", len(d.reports), worst, ""
