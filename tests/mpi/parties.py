"""parties.py - the parties of a move, killed and started at will (doubt.py, crash.py)

Cluster has the controller and the agents of a testbed; Move is a counting program whose
move stands still at a named point (src/move/wire/fault.h), and says where it runs then.
"""
import os
import shutil
import signal
import subprocess
import tempfile

import bed
from procs import all_pids, end, kill, processes, read_proc, stat_of, until

COUNTER = """
import os, sys, time
i = 0
while not os.path.exists(sys.argv[1] + ".stop"):
    with open(sys.argv[1], "a") as f:
        f.write("%d\\n" % i)
    print(i, flush=True)
    i += 1
    time.sleep(0.02)
print("PASS")
"""


def ensure(what, why, seconds=300):
    value = until(what, seconds)
    if not value:
        raise bed.Failed(why() if callable(why) else why)
    return value


def pid_space(pid):
    try:
        return os.stat(f"/proc/{pid}/ns/pid").st_ino
    except OSError:
        return 0


class Cluster:
    """The testbed's controller and agents, which are killed and started at will."""

    def __init__(self, b):
        self.bed = b
        self.home = os.path.join(b.env["STINT_TESTBED_DIR"],
                                 b.env["STINT_TESTBED"])
        self.started = []

    def start(self, name, *argv, fault=""):
        env = dict(self.bed.env)
        env.pop("STINT_FAULT", None)
        if fault:
            env["STINT_FAULT"] = fault
            env["STINT_STANDSTILL"] = "1000"  # no watch ends what we stop
        with open(f"{self.home}/{name}.again.log", "ab") as log:
            self.started.append(subprocess.Popen(
                [self.bed.exe, *argv], env=env, stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, start_new_session=True))

    def host(self, name):
        return next((h for h in self.bed.ask("hosts") if h["host"] == name),
                    None)

    def agent(self, host, fault=""):
        """As `stint testbed up` starts it."""
        self.start(host, "testbed", "exec", host, self.bed.exe, "agent",
                   *bed.agent_options(self.home, host), fault=fault)
        ensure(lambda: self.host(host)["state"] == "up",
               f"the agent of {host} does not come up")

    def no_agent(self, host):
        end(processes("\0agent\0", f"{self.home}/{host}/run"))
        ensure(lambda: self.host(host)["state"] == "down",
               f"{host} does not go down")

    def controller(self, lost_after="60s"):
        self.start("controller", "controller",
                   *bed.controller_options(self.home),
                   f"--lost-after={lost_after}")
        ensure(lambda: not self.bed.stint("ps").returncode,
               "the controller does not come up")

    def no_controller(self):
        end(processes("\0controller\0",
                      f"--state-dir={self.home}/controller"))

    def keepers(self, host):
        """The keepers of that host, and the engines that they forked."""
        here = os.stat("/proc/self/ns/pid").st_ino
        pids = [p for p in processes(
            "keeper", f"--run-dir={self.home}/{host}/run")
            if pid_space(p) == here]  # a capsule's init is a fork, too
        engines = [p for p in pids if (stat_of(p) or (0, 0))[1] in pids]
        return [p for p in pids if p not in engines], engines

    def crash(self, host):
        """Every process of that host dies at once."""
        group = f"/stint-testbed.{os.path.basename(self.home)}/{host}"

        def dead():
            pids = [p for p in all_pids() if stat_of(p) and
                    group in read_proc(p, "cgroup")]
            kill(pids)
            # A frozen process could not die otherwise, as it would with its machine.
            for path, _, files in os.walk("/sys/fs/cgroup/freezer" + group):
                if "freezer.state" in files:
                    with open(f"{path}/freezer.state", "w") as f:
                        f.write("THAWED")
            return not pids
        ensure(dead, f"something of {host} does not die")
        ensure(lambda: self.host(host)["state"] == "down",
               f"{host} does not go down")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for p in self.started:
            if p.poll() is None:
                os.killpg(p.pid, signal.SIGTERM)
                p.wait(100)


class Move:
    """A job on h1 whose move to h2 stands still at a named point."""

    def __init__(self, cluster, point):
        self.c, self.bed = cluster, cluster.bed
        self.dir = tempfile.mkdtemp(prefix="stint-doubt-", dir="/var/tmp")
        self.steps = os.path.join(self.dir, "steps")
        for host in ("h1", "h2"):
            cluster.no_agent(host)
            cluster.agent(host, fault=f"{point}:stop")
        self.job = self.bed.start(1, "python3", "-c", COUNTER, self.steps,
                                  hosts=["h1"])
        ensure(self.made, "the program does not begin")
        self.migrations = []
        self.migrate("h2")
        self.engine = ensure(self.stopped, lambda: "the move never came to "
                             "that point: " + self.said())

    def migrate(self, host):
        with open(f"{self.dir}/migrate", "ab") as out:
            self.migrations.append(subprocess.Popen(
                [self.bed.exe, "migrate", f"{self.job.number}.0", host],
                env=self.bed.env, stdin=subprocess.DEVNULL, stdout=out,
                stderr=out))

    def said(self):
        with open(f"{self.dir}/migrate") as f:
            return f.read()

    def told(self, status, *words):
        """What the client that asked for the first move was told in the end."""
        code = self.migrations[0].wait(100)
        for w in words:
            if w not in self.said():
                raise bed.Failed(f"'{w}' was not said: {self.said()}")
        if code != status:
            raise bed.Failed(f"migrate ended with {code}: {self.said()}")

    def made(self):
        try:
            with open(self.steps) as f:
                return f.read().split()
        except FileNotFoundError:
            return []

    def stopped(self):
        for h in ("h1", "h2"):
            for p in self.c.keepers(h)[1]:
                if (stat_of(p) or "-")[0] == "T":
                    return p
        return 0

    def go(self):
        os.kill(self.engine, signal.SIGCONT)

    def on_to(self, host):
        """Move once more, past the point where this move stops as well."""
        self.migrate(host)
        self.engine = ensure(self.stopped, lambda: "no second move: "
                             + self.said(), 30)
        self.go()
        ensure(lambda: self.settled() and self.rank()["host"] == host,
               lambda: f"not on {host}: {self.info()}")

    def kill_engine(self, host):
        kill(self.c.keepers(host)[1])

    def kill_keeper(self, host):
        kill(self.c.keepers(host)[0])

    def info(self):
        return self.bed.ask("ps", "-a", str(self.job.number))[0]

    def records(self, host):
        keepers = f"{self.c.home}/{host}/run/keepers"
        return [f for f in os.listdir(keepers)
                if f.startswith(f"{self.job.number}.0.") and "record" in f]

    def rank(self):
        return self.info()["ranks"][0]

    def undecided(self, *words):
        ensure(lambda: self.rank()["state"] == "undecided",
               lambda: f"not undecided: {self.rank()}")
        why = self.rank()["why"]
        for w in words:
            if w not in why:
                raise bed.Failed(f"'{w}' is not in why=\"{why}\"")

    def copies(self):
        # The client has the same words on its command line.
        return [p for p in processes(self.steps, "time.sleep")
                if p != self.job.process.pid]

    def settled(self):
        r = self.rank()
        return r["state"] == "running" and "moving_to" not in r

    def runs_at(self, host):
        ensure(self.settled, lambda: f"not settled: {self.info()}")
        ensure(lambda: len(self.copies()) == 1,
               lambda: f"copies: {self.copies()}")
        if self.rank()["host"] != host or \
                f"/{host}" not in read_proc(self.copies()[0], "cgroup"):
            raise bed.Failed(f"it should be on {host}: {self.rank()}, "
                             + read_proc(self.copies()[0], "cgroup"))
        n = len(self.made())
        ensure(lambda: len(self.made()) > n, "it does not run")

    def finish(self):
        with open(self.steps + ".stop", "w"):
            pass
        status = self.job.wait(100)
        made = self.made()
        if status or made != [str(i) for i in range(len(made))] or \
                self.job.text().split() != made + ["PASS"]:
            raise bed.Failed(f"exit {status}, {len(made)} steps: "
                             f"{self.job.errors()[-300:]}")

    def failed(self, *words):
        status = self.job.wait(100)
        for w in words:
            if w not in self.job.errors():
                raise bed.Failed(f"exit {status}, and '{w}' is not in: "
                                 + self.job.errors())
        if not status:
            raise bed.Failed("it did not fail")
        made = self.made()
        if made != [str(i) for i in range(len(made))]:
            raise bed.Failed("a step was made twice or got lost")
        ensure(lambda: self.info()["state"] == "done",
               lambda: f"not done: {self.info()}")
        ensure(lambda: not self.copies(),
               lambda: f"copies are left: {self.copies()}")

    def close(self):
        if self.job.process.poll() is None:
            self.job.kill("-s", "KILL")
        for p in self.migrations:
            try:
                p.wait(100)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def things(c):
    """What jobs leave on hosts, without processes, which are counted above."""
    return {t for t in c.bed.things() if not t.startswith("process ")}
