#!/usr/bin/python3
"""faults.py - strike at the parties of a job's move, look what becomes of it

    faults.py [POINT:VICTIM]...

On a testbed of two hosts a counting program is moved from h1 to h2.  At POINT
(src/move/fault.h) VICTIM is killed with -9: engine, old-keeper, new-keeper,
source-agent, dest-agent or controller (the last three are started again).
Then either the job goes on, in exactly one copy on the host that `stint ps`
says, and every step it made was made once; or it has failed and the reason is
told.  Nothing is left when the testbed is down.
"""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import bed

STEPS = 250
COUNTER = """
import os, sys, time
for i in range(%d):
    with open(sys.argv[1], "a") as f:
        f.write("%%d\\n" %% i)
    print(i, flush=True)
    time.sleep(0.02)
print("PASS")
""" % STEPS

# What must become of the job: "h1", "h2", "lost", or either of the hosts.
CASES = {
    "dest-spawned:engine": "h1",
    "source-unplugged:engine": "h1",
    "source-recorded:engine": "h2",
    "dest-commit:engine": "h2",
    "dest-state:new-keeper": "h1",
    "source-sent:old-keeper": "lost",
    "source-recorded:old-keeper": "h2",
    "dest-commit:new-keeper": "lost",
    "source-frozen:source-agent": "h2",
    "dest-state:dest-agent": "h2",
    "source-recorded:controller": "h2",
    "dest-spawned:controller": "h1 h2",
}


def until(what, seconds=40):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.02)
    return None


def read(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as f:
            return f.read().decode(errors="replace")
    except OSError:
        return ""


def state(pid):
    return read(pid, "stat").rpartition(")")[2].strip()[:1]


def processes(*words):
    """Living processes whose command line has all these words."""
    found = []
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        line = read(pid, "cmdline")
        if line and all(w in line for w in words) and \
                state(pid) not in ("Z", "X") and pid != os.getpid():
            found.append(pid)
    return found


class Case:
    def __init__(self, build, name):
        self.point, self.victim = name.split(":")
        self.want = CASES.get(name, "h1 h2 lost").split()
        self.build = build
        self.dir = tempfile.mkdtemp(prefix="stint-faults-", dir="/var/tmp")
        self.steps = os.path.join(self.dir, "steps")
        self.extra = []

    def home(self):
        return os.path.join(self.bed.env["STINT_TESTBED_DIR"],
                            self.bed.env["STINT_TESTBED"])

    def keepers(self, host):
        # An engine is a fork of its keeper and looks like it.
        pids = processes("keeper", f"--run-dir={self.home()}/{host}/run")
        return [p for p in pids
                if int(read(p, "stat").rpartition(")")[2].split()[1])
                not in pids]

    def stopped(self):
        found = [p for p in processes("keeper", f"--run-dir={self.home()}/")
                 if state(p) == "T"]
        return found[0] if found else 0

    def service(self, name):
        with open(f"{self.home()}/{name}.service") as f:
            return int(f.read().split()[0])

    def start(self, name, *argv):
        with open(f"{self.home()}/{name}.again.log", "ab") as log:
            self.extra.append(subprocess.Popen(
                [self.bed.exe, *argv], env=self.bed.env, stdout=log,
                stderr=log, stdin=subprocess.DEVNULL,
                start_new_session=True))

    def start_agent(self, host):
        home = self.home()
        self.start(host, "testbed", "exec", host, self.bed.exe, "agent",
                   f"--controller=unix:{home}/controller.sock",
                   f"--key={home}/{host}/key",
                   f"--run-dir={home}/{host}/run", "--uplink=eth0",
                   "--cores=1", "--score=1000")

    def start_controller(self):
        home = self.home()
        self.start("controller", "controller",
                   f"--state-dir={home}/controller", "--pool=10.77.128.0/17",
                   f"--listen=unix:{home}/controller.sock")

    def strike(self):
        engine = until(self.stopped)
        if not engine:
            raise bed.Failed("the move never came to that point")
        for name, host in (("old-keeper", "h1"), ("new-keeper", "h2")):
            if self.victim == name:
                for p in self.keepers(host):
                    os.kill(p, signal.SIGKILL)
        for name, host in (("source-agent", "h1"), ("dest-agent", "h2")):
            if self.victim == name:
                os.kill(self.service(host), signal.SIGKILL)
                self.start_agent(host)
        if self.victim == "controller":
            os.kill(self.service("controller"), signal.SIGKILL)
            self.start_controller()
        time.sleep(0.3)
        if state(engine) == "T":
            os.kill(engine, signal.SIGCONT)

    def job_info(self):
        r = self.bed.stint("ps", "-a", "--json", str(self.job.number))
        try:
            jobs = json.loads(r.stdout)
        except ValueError:
            return None
        return jobs[0] if jobs else None

    def settled(self):
        """The job's entry once no move of it is under way any more."""
        i = self.job_info()
        return i if i and (i["state"] == "done" or
                           not any("moving_to" in r for r in i["ranks"])) \
            else None

    def copies(self):
        # The client has the same words on its command line.
        return [p for p in processes(self.steps, "time.sleep")
                if p != self.job.process.pid]

    def check_ps(self):
        info = until(self.settled)
        if not info:
            raise bed.Failed(f"the move has no end: {self.job_info()}")
        if info["state"] == "done":
            return info
        host = info["ranks"][0]["host"]
        if not until(lambda: len(self.copies()) <= 1, 20):
            raise bed.Failed(f"copies: {self.copies()}")
        for p in self.copies():
            if f"/{host}" not in read(p, "cgroup"):
                raise bed.Failed(f"ps says {host}, and it is in "
                                 + read(p, "cgroup"))
        return info

    def check_steps(self, whole):
        with open(self.steps) as f:
            made = f.read().split()
        if made != [str(i) for i in range(len(made))]:
            raise bed.Failed("a step was made twice or got lost")
        if whole and (len(made) != STEPS or self.job.text().split() !=
                      made + ["PASS"]):
            raise bed.Failed(f"{len(made)} steps, and the output is not whole")

    def check_end(self, info):
        status = self.job.wait(90)
        host = (self.job_info() or info)["ranks"][0]["host"]
        became = "lost" if status else host
        if status and not self.job.errors().strip():
            raise bed.Failed(f"exit {status} without a reason")
        self.check_steps(not status)
        if became not in self.want:
            raise bed.Failed(f"it should be {' or '.join(self.want)}, and is "
                             f"{became} ({self.job.errors().strip()[-300:]})")
        if not until(lambda: not self.copies(), 10):
            raise bed.Failed("a copy is left: " + ", ".join(
                f"{p} {read(p, 'stat')[:60]} {read(p, 'cgroup').split()[-1]}"
                for p in self.copies()))
        return became

    def close(self):
        for p in self.extra:
            if p.poll() is None:
                os.killpg(p.pid, signal.SIGTERM)
                p.wait(20)

    def run(self):
        self.bed = bed.Bed(self.build, 2)
        self.bed.env["STINT_FAULT"] = \
            self.point + ("" if self.victim == "engine" else ":stop")
        home = self.home()
        with self.bed as b:
            try:
                self.job = b.start(1, "python3", "-c", COUNTER, self.steps,
                                   hosts=["h1"])
                until(lambda: os.path.exists(self.steps))
                with open(f"{self.dir}/migrate", "wb") as out:
                    self.extra.append(subprocess.Popen(
                        [b.exe, "migrate", f"{self.job.number}.0", "h2"],
                        env=b.env, stdin=subprocess.DEVNULL, stdout=out,
                        stderr=out, start_new_session=True))
                if self.victim == "engine":
                    self.extra[-1].wait(60)
                else:
                    self.strike()
                became = self.check_end(self.check_ps())
            except (bed.Failed, subprocess.TimeoutExpired):
                self.tell_logs()
                raise
            finally:
                self.close()
        if not until(lambda: not processes(home), 15):
            raise bed.Failed(f"left behind: {processes(home)}")
        return became

    def tell_logs(self):
        for path in [f"{self.dir}/migrate", *glob.glob(
                f"{self.home()}/**/*.log", recursive=True)]:
            with open(path, errors="replace") as f:
                for line in f.read().splitlines()[-8:]:
                    print(f"  {os.path.basename(path)}: {line}")


def main():
    build = os.environ.get("STINT_BUILD", "build")
    failed = 0
    for name in sys.argv[1:] or CASES:
        c = Case(build, name)
        try:
            print(f"ok {name}: {c.run()}", flush=True)
        except (bed.Failed, subprocess.TimeoutExpired) as e:
            failed += 1
            print(f"FAILED {name}: {e}", flush=True)
        finally:
            shutil.rmtree(c.dir, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
