"""bed.py - a testbed and jobs on it, for tests and benchmarks in Python"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time


class Failed(Exception):
    pass


class Job:
    def __init__(self, bed, number, process, out, err):
        self.bed, self.number, self.process = bed, number, process
        self.out, self.err = out, err

    def ranks(self):
        """Rank to host, of those that run."""
        for j in self.bed.ask("ps", str(self.number)):
            return {r["rank"]: r["host"] for r in j["ranks"]
                    if r["state"] == "running"}
        return {}

    def text(self):
        with open(self.out, errors="replace") as f:
            return f.read()

    def errors(self):
        with open(self.err, errors="replace") as f:
            return f.read()

    def wait_for(self, word, seconds=60):
        end = time.monotonic() + seconds
        while word not in self.text():
            if self.process.poll() is not None or time.monotonic() > end:
                raise Failed(f"job {self.number}: no {word}: "
                             f"{self.text()[-300:]}{self.errors()[-300:]}")
            time.sleep(0.01)

    def move(self, rank, host, *options):
        """The report of the move as a dict; Failed if it stays."""
        r = self.bed.stint("migrate", f"{self.number}.{rank}", host, "--json",
                           *options)
        try:
            report = json.loads(r.stdout)
        except ValueError:
            raise Failed(f"migrate: {r.stderr.strip()}") from None
        if r.returncode or not report["moved"]:
            raise Failed(f"{report['why'] or r.stderr.strip()}")
        return report

    def kill(self, *args):
        self.bed.stint("kill", *args, str(self.number))

    def wait(self, seconds=120):
        """The exit status of `stint run`."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"job {self.number} does not end") from None


class Bed:
    """A testbed of this process; with: goes down at the end of the block."""

    def __init__(self, build, hosts, *options):
        self.exe = os.path.join(os.path.abspath(build), "src/cmd/stint")
        self.dir = tempfile.mkdtemp(prefix="stint-bed-")
        self.env = dict(os.environ, STINT_TESTBED=f"py{os.getpid()}",
                        STINT_TESTBED_DIR=os.path.join(self.dir, "beds"))
        self.jobs = []
        self.hosts = [f"h{i + 1}" for i in range(hosts)]
        self.up = [str(hosts), *options]

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        r = self.stint("testbed", "up", *self.up)
        if r.returncode:
            raise Failed(f"testbed: {r.stderr.strip()}")
        return self

    def __exit__(self, *_):
        for j in self.jobs:
            if j.process.poll() is None:
                j.process.terminate()
        self.stint("testbed", "down", timeout=60)
        for j in self.jobs:
            try:
                j.process.wait(20)
            except subprocess.TimeoutExpired:
                j.process.kill()
                j.process.wait()
        subprocess.run(["rm", "-rf", self.dir], check=False)

    def stint(self, *args, timeout=300):
        return subprocess.run([self.exe, *args], env=self.env, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=timeout)

    def on(self, host, *argv, **kw):
        return self.stint("testbed", "exec", host, *argv, **kw)

    def ask(self, *args):
        r = self.stint(*args, "--json")
        if r.returncode:
            raise Failed(f"{args[0]}: {r.stderr.strip()}")
        return json.loads(r.stdout)

    def start(self, n, *argv, hosts=None, options=()):
        """Start a job and wait until all its ranks run."""
        known = {j["job"] for j in self.ask("ps", "-a")}
        files = [os.path.join(self.dir, f"{len(self.jobs)}.{x}")
                 for x in ("out", "err")]
        args = ["run", "-n", str(n), *options]
        if hosts:
            args += ["--hosts", ",".join(hosts)]
        with open(files[0], "wb") as out, open(files[1], "wb") as err:
            p = subprocess.Popen([self.exe, *args, *argv], env=self.env,
                                 stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=err)
        job = Job(self, 0, p, *files)
        self.jobs.append(job)
        end = time.monotonic() + 60
        while len(job.ranks() if job.number else ()) < n:
            if p.poll() is not None or time.monotonic() > end:
                raise Failed(f"the job does not start: {job.errors()}")
            new = {j["job"] for j in self.ask("ps")} - known
            job.number = max(new, default=0)
            time.sleep(0.02)
        return job
