"""bed.py - a testbed and jobs on it, for tests and benchmarks in Python"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from procs import (end, exit_on_term, heed_no_term, memory,  # noqa: E402
                   processes, until)


class Failed(Exception):
    pass


# A network that the host's agent keeps for the next job of the same user.
SPARE = re.compile(r"^\d+: st[a-z]+\d+y\d+@")


def controller_options(home):
    """As `stint testbed up` gives them to the controller of that bed."""
    return [f"--state-dir={home}/controller", "--pool=10.77.128.0/17",
            "--min-uid=0", f"--listen=unix:{home}/controller.sock"]


def agent_options(home, host):
    return [f"--controller=unix:{home}/controller.sock",
            f"--key={home}/{host}/key", f"--run-dir={home}/{host}/run",
            f"--config={home}/{host}/stint.conf", "--uplink=eth0", "--cores=1", "--score=1000", "--min-uid=0",
            "--min-gid=0"]


class Short(Failed):
    """The job was over before all its ranks were seen to run."""


class Job:
    def __init__(self, bed, number, process, out, err):
        self.bed, self.number, self.process = bed, number, process
        self.out, self.err = out, err

    def ranks(self):
        """Rank to host, for the ranks that run."""
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

    def wait_for(self, word, seconds=300):
        end = time.monotonic() + seconds
        while word not in self.text():
            if self.process.poll() is not None or time.monotonic() > end:
                raise Failed(f"job {self.number}: no {word}: "
                             f"{self.text()[-300:]}{self.errors()[-300:]}")
            time.sleep(0.01)

    def move(self, rank, host, *options):
        """The report of the move as a dict; raises Failed if the rank stays."""
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
        r = self.bed.stint("kill", *args, str(self.number))
        if r.returncode and "has ended" not in r.stderr:
            raise Failed(f"kill: {r.stderr.strip()}")

    def wait(self, seconds=300):
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
        self.home = os.path.join(self.env["STINT_TESTBED_DIR"],
                                 self.env["STINT_TESTBED"])
        self.jobs = []
        self.restarted = {}  # services that were started again, by name
        self.hosts = [f"h{i + 1}" for i in range(hosts)]
        self.up = [str(hosts), *options]

    def __enter__(self):
        exit_on_term()
        r = self.stint("testbed", "up", *self.up)
        if r.returncode:
            raise Failed(f"testbed: {r.stderr.strip()}")
        return self

    def __exit__(self, *_):
        heed_no_term()
        for j in self.jobs:
            if j.process.poll() is None:
                j.process.terminate()
        # Whoever ends us by a signal sends that to our whole group as well.
        down = self.stint("testbed", "down", timeout=300,
                          start_new_session=True)
        for j in self.jobs:
            try:
                j.process.wait(60)
            except subprocess.TimeoutExpired:
                j.process.kill()
                j.process.wait()
        for p in self.restarted.values():
            p.terminate()  # an agent is gone already, the controller is not
            p.wait(60)
        if down.returncode:  # the next attempt needs its record
            print(f"STINT_TESTBED_DIR={self.env['STINT_TESTBED_DIR']} "
                  f"STINT_TESTBED={self.env['STINT_TESTBED']} is still there: "
                  f"{down.stderr.strip()}", file=sys.stderr)
            raise Failed("the testbed does not go down")
        subprocess.run(["rm", "-rf", self.dir], check=False)

    def stint(self, *args, timeout=300, **kw):
        return subprocess.run([self.exe, *args], env=self.env, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=timeout, **kw)

    def on(self, host, *argv, **kw):
        return self.stint("testbed", "exec", host, *argv, **kw)

    def ask(self, *args):
        """All objects that a command lists; asks again if the controller is too busy for a
        while."""
        end = time.monotonic() + 120
        r = self.stint(*args, "--json")
        while "did not answer in time" in r.stderr and time.monotonic() < end:
            r = self.stint(*args, "--json")
        if r.returncode:
            raise Failed(f"{args[0]}: {r.stderr.strip()}")
        return [json.loads(line) for line in r.stdout.splitlines()]

    @staticmethod
    def is_of(job, argv):
        """Was it submitted with these words? A list may show them cut."""
        told = job["argv"]
        n = len(told) - 1 if told[-1:] == ["..."] else len(argv)
        return told[:n] == list(argv)[:n]

    def start(self, n, *argv, hosts=None, options=(), stdin=None):
        """Start a job and wait until all its ranks run.

        One start at a time of the same words: others may start theirs.
        """
        known = {j["job"] for j in self.ask("ps", "-a")}
        files = [os.path.join(self.dir, f"{len(self.jobs)}.{x}")
                 for x in ("out", "err")]
        args = ["run", "-n", str(n), *options]
        if hosts:
            args += ["--hosts", ",".join(hosts)]
        with open(files[0], "wb") as out, open(files[1], "wb") as err:
            p = subprocess.Popen([self.exe, *args, *argv], env=self.env,
                                 stdin=stdin or subprocess.DEVNULL,
                                 stdout=out, stderr=err)
        job = Job(self, 0, p, *files)
        self.jobs.append(job)
        end = time.monotonic() + 300
        while len(job.ranks() if job.number else ()) < n:
            if p.poll() is not None:
                raise Short(f"the job is over already: {job.errors()}")
            if time.monotonic() > end:
                raise Failed(f"the job does not start: {job.errors()}")
            job.number = max((j["job"] for j in self.ask("ps")
                              if j["job"] not in known and
                              self.is_of(j, argv)), default=0)
            time.sleep(0.02)
        return job

    # ---- its services, "controller" and the hosts' names for their agents

    def service(self, name):
        """The pid of a service."""
        if name in self.restarted:
            return self.restarted[name].pid
        with open(f"{self.home}/{name}.service") as f:
            return int(f.read().split()[0])

    def memory(self):
        """Bytes of memory of each service."""
        return {name: memory(self.service(name))
                for name in ["controller", *self.hosts]}

    def restart(self, name, *options):
        """Kill a service with -9 and start it as `stint testbed up` did, with options more."""
        end([self.service(name)])
        if name in self.restarted:
            self.restarted[name].wait()
        if name == "controller":
            argv = [self.exe, "controller", *controller_options(self.home),
                    *options]
            log = f"{self.home}/controller.log"
        else:
            argv = [self.exe, "testbed", "exec", name, self.exe, "agent",
                    *agent_options(self.home, name), *options]
            log = f"{self.home}/{name}/agent.log"
        with open(log, "ab") as out:
            self.restarted[name] = subprocess.Popen(
                argv, env=self.env, stdin=subprocess.DEVNULL, stdout=out,
                stderr=out, start_new_session=True)

    # ---- what is there, to see what is left behind later

    def ip(self, where, *args):
        """Run ip(8) in the network namespace of a host, or in the "lan"."""
        ns = f"{self.home}/{where}" + ("" if where == "lan" else "/netns")
        return subprocess.run(["nsenter", f"--net={ns}", "ip", *args],
                              check=True, capture_output=True,
                              text=True).stdout.splitlines()

    def things(self):
        """
        All that jobs make on the hosts, as a set of words: links, routes,
        neighbours, cgroups, files of the run directories, mounts, processes.  The
        contract with an owner stays: it is written when the first guest comes.
        """
        found = set()
        for h in self.hosts:
            for args in (["-o", "link"], ["-4", "route", "show", "table", "all"],
                         ["neigh", "show", "proxy"]):
                found |= {f"{h} {args[-1]}: {line.split(' state ')[0]}"
                          for line in self.ip(h, *args)
                          if "cache" not in line and not SPARE.search(line)}
            for path, _, names in os.walk(f"{self.home}/{h}/run"):
                found |= {os.path.join(path, n) for n in names if n != "contract"}
        name = self.env["STINT_TESTBED"]
        for top in glob.glob(f"/sys/fs/cgroup/*/stint-testbed.{name}") + \
                glob.glob(f"/sys/fs/cgroup/stint-testbed.{name}"):
            found |= {path for path, _, _ in os.walk(top)}
        with open("/proc/self/mountinfo") as f:
            found |= {line.split()[4] for line in f if self.home in line}
        services = set(map(self.service, ["controller", *self.hosts]))
        found |= {f"process {p}" for p in processes(self.home)
                  if p not in services}
        return found

    def nothing_new(self, before, seconds=300):
        """Raises Failed if there is more than there was, and it does not go."""
        if not until(lambda: not self.things() - before, seconds):
            raise Failed("left behind: " +
                         ", ".join(sorted(self.things() - before)))


def parser(seed=True):
    """The options that all programs have that work on a bed for a while."""
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=os.environ.get("STINT_BUILD", "build"))
    if seed:
        p.add_argument("--seed", type=int, default=1)
    return p


def main(opts, work, hosts, *options, what=None):
    """Print what work(bed) returns; returns the program's exit code."""
    try:
        with Bed(opts.build, hosts, *options) as b:
            print(work(b))
    except Failed as e:
        print(f"FAILED {what or f'seed {opts.seed}'}: {e}", file=sys.stderr)
        return 1
    return 0
