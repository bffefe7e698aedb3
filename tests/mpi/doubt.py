#!/usr/bin/python3
"""doubt.py - who decides where a rank is, when its two keepers cannot

    doubt.py [SCENARIO]...

On one testbed of three hosts, for each scenario a counting program is moved
from h1 to h2 and the move is stopped at a named point (src/move/wire/fault.h).
Then parties are killed, or kept away, and come back.  In the end the job goes
on in exactly one copy, on the host that `stint ps` says, each step made once
and printed once; or it has failed and says why, and no copy is left.  While
nobody can know, `stint ps` says "undecided" and what to do.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

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
    """The testbed's controller and agents, killed and started at will."""

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
            env["STINT_STANDSTILL"] = "1000"  # nobody ends what we stop
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
        """Of that host, and the engines they forked."""
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
            # What is frozen could not die, as it does with a machine.
            for path, _, files in os.walk("/sys/fs/cgroup/freezer" + group):
                if "freezer.state" in files:
                    with open(f"{path}/freezer.state", "w") as f:
                        f.write("THAWED")
            return not pids
        ensure(dead, f"something of {host} does not die")
        ensure(lambda: self.host(host)["state"] == "down",
               f"{host} does not go down")

    def close(self):
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
        """What who asked for the first move heard in the end."""
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
        """Once more, past the point where this move stops as well."""
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


# ---- the scenarios; their names are those of the functions

def link_lost_after_the_record(c, m):
    """The source wrote its record and is away: undecided until it is back."""
    c.no_agent("h1")
    m.kill_engine("h2")
    m.undecided("h1", "start the agent")
    m.go()
    c.agent("h1")
    m.runs_at("h2")


def link_lost_before_the_record(c, m):
    """The source's engine dies undecided: the rank stays."""
    c.no_agent("h1")
    m.kill_engine("h2")
    m.undecided("h1", "start the agent")
    m.kill_engine("h1")
    c.agent("h1")
    m.runs_at("h1")


def controller_restarted(c, m):
    """Undecided before it was killed and after; both agents come back."""
    c.no_agent("h1")
    m.kill_engine("h2")
    m.undecided("h1")
    c.no_controller()
    c.controller()
    m.undecided("h1", "start the agent")
    c.no_agent("h2")
    m.go()
    c.agent("h1")
    c.agent("h2")
    m.runs_at("h2")
    m.told(0, "moved from h1 to h2")


def everything_restarted(c, m):
    """Agents and controller die at once, the source's answer is no."""
    m.kill_engine("h2")
    c.no_agent("h1")
    c.no_agent("h2")
    c.no_controller()
    m.kill_engine("h1")
    c.controller()
    c.agent("h2")
    m.undecided("h1")
    c.agent("h1")
    m.runs_at("h1")


def source_host_comes_back_with_its_record(c, m):
    """All of h1 died after the record; its agent answers from the disk."""
    m.kill_engine("h2")
    c.crash("h1")
    m.undecided("h1", "start the agent")
    c.agent("h1")
    m.runs_at("h2")
    m.told(0, "moved from h1 to h2", "did not tell how long")


def source_host_dies_when_the_copy_runs(c, m):
    """It runs at h2 whether or not h1 ever says so."""
    c.crash("h1")
    m.runs_at("h2")
    c.agent("h1")
    m.told(0, "moved from h1 to h2")


def source_host_is_given_up_when_the_copy_runs(c, m):
    """Its record is of no use to anybody, and goes when it comes back."""
    c.crash("h1")
    c.no_controller()
    c.controller("2s")
    m.told(0, "moved from h1 to h2", "did not tell how long")
    if not m.records("h1"):
        raise bed.Failed("h1 has no record")
    c.agent("h1")
    ensure(lambda: not m.records("h1"),
           lambda: f"left on h1: {m.records('h1')}")
    m.runs_at("h2")
    c.no_controller()
    c.controller()


def source_host_is_gone_and_the_rank_moves_on(c, m):
    """Nobody waits for h1, which finds nothing to say when it comes back."""
    c.crash("h1")
    m.runs_at("h2")
    m.on_to("h3")
    m.told(0, "moved from h1 to h2", "did not tell how long")
    m.runs_at("h3")
    c.agent("h1")
    m.job.move(0, "h1")
    m.runs_at("h1")


def source_agent_is_away_and_the_rank_moves_on(c, m):
    """Its keeper's copy stands still until it is told that it has left."""
    c.no_agent("h1")
    m.kill_engine("h1")
    ensure(m.settled, lambda: f"not settled: {m.info()}")
    m.on_to("h3")
    m.told(0, "moved from h1 to h2", "did not tell how long")
    c.agent("h1")
    m.runs_at("h3")


def agent_away(c, m):
    """Its rank runs on, and is not lost."""
    m.go()
    m.told(0, "moved from h1 to h2")
    c.no_agent("h2")
    ensure(lambda: m.rank()["state"] == "silent",
           lambda: f"not silent: {m.rank()}")
    if "start the agent" not in m.rank()["why"]:
        raise bed.Failed(f"why: {m.rank()}")
    c.agent("h2")
    m.runs_at("h2")


def source_host_comes_back_without_a_record(c, m):
    """All of h1 died before the record: nobody has the rank any more."""
    m.kill_engine("h2")
    c.crash("h1")
    m.undecided("h1", "start the agent")
    c.agent("h1")
    m.failed("lost")
    m.told(1, "is lost, which was on h1")
    if m.rank()["state"] != "lost":
        raise bed.Failed(f"not lost: {m.rank()}")


def source_host_never_comes_back(c, m):
    """Given up after lost-after, also by a controller that was restarted."""
    m.kill_engine("h2")
    c.crash("h1")
    m.undecided("h1", "start the agent")
    c.no_controller()
    c.controller("2s")
    m.failed("lost", "does not answer")
    c.no_controller()
    c.controller()
    c.agent("h1")


def destination_died_before_anybody_knew(c, m):
    """Record there, destination's keeper gone, and nobody saw it go."""
    c.no_controller()
    m.kill_keeper("h2")
    kill(processes("\0agent\0", f"{c.home}/h2/run"))
    c.controller()
    c.agent("h2")
    m.go()
    m.failed("lost")


def killed_while_undecided(c, m):
    """stint kill ends the copy that is held as well."""
    c.no_agent("h1")
    m.kill_engine("h2")
    m.undecided("h1")
    m.job.kill("-s", "KILL")
    c.agent("h1")
    m.failed("killed")


def stale_copy_of_an_older_move(c, m):
    """A copy that was turned down must not be taken for a later move's."""
    m.kill_engine("h2")
    m.undecided("has decided")
    c.no_agent("h2")
    m.kill_engine("h1")
    ensure(m.settled, lambda: f"not settled: {m.info()}")
    c.no_agent("h1")
    c.agent("h1")
    m.migrate("h3")

    def begun():
        if m.migrations[-1].poll() is not None:  # its keeper was not heard yet
            m.migrate("h3")
        return m.stopped()
    m.engine = ensure(begun, m.said)  # struck as well: its keeper's wish
    m.go()
    ensure(lambda: m.rank()["host"] == "h3", m.said)
    c.no_controller()
    c.controller()
    c.agent("h2")
    m.runs_at("h3")


SCENARIOS = {
    link_lost_after_the_record: "source-recorded",
    link_lost_before_the_record: "source-held",
    controller_restarted: "source-recorded",
    everything_restarted: "source-ready",
    source_host_comes_back_with_its_record: "source-recorded",
    source_host_comes_back_without_a_record: "source-held",
    source_host_dies_when_the_copy_runs: "source-committed",
    source_host_is_given_up_when_the_copy_runs: "source-committed",
    source_host_is_gone_and_the_rank_moves_on: "source-committed",
    source_agent_is_away_and_the_rank_moves_on: "source-committed",
    agent_away: "source-recorded",
    source_host_never_comes_back: "source-held",
    destination_died_before_anybody_knew: "source-recorded",
    killed_while_undecided: "source-recorded",
    stale_copy_of_an_older_move: "source-held",
}


def tell_logs(c):
    for path in sorted(os.listdir(c.home)):
        if path.endswith(".log"):
            with open(f"{c.home}/{path}", errors="replace") as f:
                for line in f.read().splitlines()[-12:]:
                    print(f"  {path}: {line}")


def things(c):
    """What jobs leave on hosts, but for processes: those are counted above."""
    return {t for t in c.bed.things() if not t.startswith("process ")}


def play(c, scenario, point):
    t = time.monotonic()
    before = things(c)
    m = Move(c, point)
    try:
        scenario(c, m)
        if m.job.process.poll() is None:
            m.finish()
        ensure(lambda: not things(c) - before,
               lambda: f"left behind: {things(c) - before}")
        print(f"ok {scenario.__name__} {time.monotonic() - t:.1f}", flush=True)
        return 0
    except (bed.Failed, subprocess.TimeoutExpired) as e:
        print(f"FAILED {scenario.__name__}: {e}", flush=True)
        tell_logs(c)
        return 1
    finally:
        m.close()


def main():
    names = sys.argv[1:] or [s.__name__ for s in SCENARIOS]
    todo = {s: p for s, p in SCENARIOS.items() if s.__name__ in names}
    failed = len(set(names)) - len(todo)
    with bed.Bed(os.environ.get("STINT_BUILD", "build"), 3) as b:
        c = Cluster(b)
        try:
            for scenario, point in todo.items():
                failed += play(c, scenario, point)
        finally:
            c.close()
        home = c.home
    left = processes(home)
    if left:
        print(f"FAILED: left behind: {left}")
    return 1 if failed or left else 0


if __name__ == "__main__":
    sys.exit(main())
