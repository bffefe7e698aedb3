#!/usr/bin/python3
"""arrays.py - arrays of jobs, requeues and owners, while all that can break breaks

    unshare -m arrays.py [--seconds S] [--strike S] [--only WHAT]... [--seed X] [--build DIR]

Arrays and single jobs of a program that writes down each of its steps come again and
again to a testbed of six hosts under the policy stint, without a client; some may be
begun anew.  They are requeued, cancelled, held and moved at random, and the owners of
their hosts come and go.  Every --strike seconds one of these (--only: of those alone):

    controller, agent, keeper, engine    is killed by -9; the first two start again
    disk    of the controller's state is full for some seconds, and it may be killed
    run     the memory file system of a host's run directory is full for some seconds
    cut     no packet gets through between a host and the controller
    apart   ... or between two hosts, which may be at both ends of a move

In the end, with all whole again,

 - each job that was acknowledged has one account, and is known as over;
 - no two lives of a job have overlapped, there are no more of them than it was
   begun anew, one if it was not; no step of any is missing, or there twice;
 - a job has ended well unless it was cancelled, its keeper was killed, or a host without
   room could not start it; then its last life is whole, and all that it printed is
   kept, once;
 - nothing is left behind (bed.py).

It mounts a small disk over the state directory: in a mount namespace of its own, please.
"""
import collections
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import bed
from procs import children, comm, end, kill, processes, read_proc, stat_of, until

CONTROLLER = "10.77.100.1"
PORT = 7077
DISK, RUN = 48 << 20, 8 << 20
TERMS = ["give-back = 60", "disturb = 100000", "freeze = 2", "linger = 0.5"]
UNFINISHED = 12

PROGRAM = """
import os, sys, time
path, n = sys.argv[1] + "." + os.environ.get("STINT_ARRAY_TASK_ID", "0"), int(sys.argv[2])
to = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
life = os.urandom(4).hex()
def say(*words):
    os.write(to, (" ".join([life, *words]) + "\\n").encode())
say("begin")
for i in range(n):
    say(str(i))
    print(life, i, flush=True)
    time.sleep(0.05)
say("end")
"""


class Town(bed.Bed):
    """A testbed whose agents come to the controller over their network, and whose
    controller keeps its state on a small disk."""

    def lan(self, *argv):
        return ["nsenter", f"--net={self.home}/lan", *argv]

    def restart(self, name):
        self.stop(name)
        self.begin(name)

    def stop(self, name):
        end([self.service(name)])
        if name in self.restarted:
            self.restarted[name].wait()

    def begin(self, name):
        if name == "controller":
            argv = self.lan(self.exe, "controller", *bed.controller_options(self.home),
                            f"--listen={CONTROLLER}:{PORT}", "--policy=stint")
            log = f"{self.home}/controller.log"
        else:
            argv = [self.exe, "testbed", "exec", name, self.exe, "agent",
                    *bed.agent_options(self.home, name)[1:],
                    f"--controller={CONTROLLER}:{PORT}"]
            log = f"{self.home}/{name}/agent.log"
        with open(log, "ab") as out:
            self.restarted[name] = subprocess.Popen(
                argv, env=self.env, stdin=subprocess.DEVNULL, stdout=out,
                stderr=out, start_new_session=True)

    def small_disk(self, size):
        """For the state of a controller that is stopped."""
        state = f"{self.home}/controller"
        shutil.copytree(state, state + ".copy")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "none", state],
                       check=True)
        shutil.copytree(state + ".copy", state, dirs_exist_ok=True)

    def settle(self):
        """Its services as they stay from now on."""
        subprocess.run(self.lan("ip", "address", "add", f"{CONTROLLER}/16", "dev", "br0"),
                       check=True)
        self.stop("controller")
        self.small_disk(DISK)
        for h in self.hosts:
            with open(f"{self.home}/{h}/stint.conf", "a") as f:
                f.write("\n".join(["[owner]", *TERMS, ""]))
            subprocess.run(["mount", "-o", f"remount,size={RUN}", f"{self.home}/{h}/run"],
                           check=True)
        self.begin("controller")
        for h in self.hosts:
            self.restart(h)
        self.all_up()

    def all_up(self):
        def are():
            try:
                return [h["state"] for h in self.ask("hosts")].count("up") == len(self.hosts)
            except bed.Failed:
                return False
        if not until(are, 200):
            raise bed.Failed("the hosts do not come up")

    def __exit__(self, *args):
        if "controller" in self.restarted:
            self.stop("controller")
        subprocess.run(["umount", f"{self.home}/controller"], check=False, capture_output=True)
        super().__exit__(*args)


def fill(path):
    """Until not even one byte has room."""
    with contextlib.suppress(OSError), open(path, "ab", buffering=0) as f:
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while f.write(bytes(size)) == size:
                    pass


def name_of(job):
    """The first one's number alone would be the whole array."""
    return f"{job['array']}[{job['task']}]" if job["array"] else str(job["job"])


class Submitted:
    """A job, or one task of an array."""

    def __init__(self, number, path, steps, requeue):
        self.number, self.path, self.steps, self.requeue = number, path, steps, requeue
        self.may_fail = False  # somebody has seen to that


class Arrays:
    def __init__(self, b, opts):
        self.bed, self.opts = b, opts
        self.rng = random.Random(opts.seed)
        self.dir = tempfile.mkdtemp(prefix="stint-arrays-", dir="/var/tmp")
        self.jobs, self.tag = {}, 0
        self.counts = collections.Counter()
        self.to_mend = []  # (when, what)
        self.next_strike = time.monotonic() + opts.strike
        self.owners = dict.fromkeys(b.hosts, 0)
        self.here = set()

    def ask(self, *args):
        """None while there is no controller, or it is too busy."""
        try:
            return self.bed.ask(*args)
        except bed.Failed:
            return None

    # ---- jobs

    def submit(self):
        self.tag += 1
        path = f"{self.dir}/{self.tag}"
        steps, tasks = self.rng.randint(2, 120), self.rng.choice([0, 0, 2, 3, 6])
        requeue = self.rng.random() < 0.5
        words = ["--requeue"] if requeue else []
        if tasks:
            words.append(f"--array=1-{tasks}" + self.rng.choice(["", "%2"]))
        r = self.bed.stint("submit", *words, "/usr/bin/python3", "-S", "-c", PROGRAM, path, str(steps))
        if r.returncode:
            self.counts["refused"] += 1
            if "disk is full" not in r.stderr and "did not answer" not in r.stderr:
                raise bed.Failed(f"submit: {r.stderr}")
            return
        first = int(r.stdout)
        for i in range(tasks or 1):
            self.jobs[first + i] = Submitted(first + i, f"{path}.{i + 1 if tasks else 0}",
                                             steps, requeue)
        self.counts["jobs"] += tasks or 1

    def meddle(self, unfinished):
        """Somebody does something to a job."""
        j = self.rng.choice(unfinished)
        n, name = j["job"], name_of(j)
        what = self.rng.choice(["requeue", "requeue", "migrate", "migrate", "migrate", "hold",
                                "cancel"])
        self.counts[what] += 1
        if what == "migrate":
            self.bed.stint("migrate", f"{n}.0", self.rng.choice(self.bed.hosts))
        elif what == "hold":
            self.bed.stint("hold", name)
            self.bed.stint("release", name)
        else:
            # Even where it is not told that it was done, it may have been.
            self.jobs[n].may_fail |= what == "cancel"
            self.bed.stint(what, name)

    def step_owners(self):
        now = time.monotonic()
        for h, due in self.owners.items():
            if now < due or (h not in self.here and len(self.here) >= 4):
                continue
            r = self.bed.stint("testbed", "owner", h, "away" if h in self.here else "here",
                               "--for", "60")
            if r.returncode:
                continue  # its agent has just been killed
            self.here ^= {h}
            self.counts["returns"] += h in self.here
            self.owners[h] = now + self.rng.uniform(1, 6)

    # ---- what breaks

    def keepers(self):
        """Each with its rank, "JOB.RANK"; not the engines that it has forked."""
        found = {}
        for p in processes("keeper", f"--run-dir={self.bed.home}"):
            for w in read_proc(p, "cmdline").split("\0"):
                if re.fullmatch(r"[0-9]+\.[0-9]+", w):
                    found[p] = w
        return {p: name for p, name in found.items()
                if stat_of(p) and stat_of(p)[1] not in found}

    def kill_keeper(self):
        keepers = self.keepers()
        if keepers:
            victim = self.rng.choice(sorted(keepers))
            self.jobs[int(keepers[victim].split(".")[0])].may_fail = True
            kill([victim])

    def kill_engine(self):
        ours = os.readlink("/proc/self/ns/pid")
        engines = []
        for k in self.keepers():
            for c in children(k):
                with contextlib.suppress(OSError):
                    if comm(c) == comm(k) and os.readlink(f"/proc/{c}/ns/pid") == ours:
                        engines.append(c)
        self.counts["engines"] += bool(engines)
        if engines:
            kill([self.rng.choice(engines)])

    def later(self, what):
        self.to_mend.append((time.monotonic() + self.rng.uniform(1, 8), what))

    def fill(self, folder):
        """Until not even one byte has room; freed in some seconds."""
        path = f"{folder}/fill"
        fill(path)

        def free():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        self.later(free)

    def rules(self, host, rule):
        """Packets of that host that are dropped, for some seconds."""
        nft = ["nsenter", f"--net={self.bed.home}/{host}/netns", "nft"]
        table = f"cut{self.counts['strikes']}"
        chains = [f"chain {way} {{\ntype filter hook {way} priority 0\n"
                  f"{rule.replace('TO', to)} drop\n}}\n" for way, to in (("input", "s"), ("output", "d"))]
        subprocess.run([*nft, "-f", "-"], input=f"table inet {table} {{\n{''.join(chains)}}}\n",
                       text=True, check=True)
        self.later(lambda: subprocess.run([*nft, "delete", "table", "inet", table], check=True))

    def strike(self):
        if not self.opts.strike or time.monotonic() < self.next_strike:
            return
        self.next_strike = time.monotonic() + self.opts.strike
        self.counts["strikes"] += 1
        what = self.rng.choice(self.opts.only or WHATS)
        self.counts[f"{what} struck"] += 1
        host, other = self.rng.sample(self.bed.hosts, 2)
        if what == "controller":
            self.bed.restart("controller")
        elif what == "agent":
            self.bed.restart(host)
        elif what == "keeper":
            self.kill_keeper()
        elif what == "engine":
            self.kill_engine()
        elif what == "disk":
            self.fill(f"{self.bed.home}/controller")
            if self.rng.random() < 0.5:
                self.bed.restart("controller")
        elif what == "run":
            self.fill(f"{self.bed.home}/{host}/run")
        elif what == "cut":
            self.rules(host, f"ip TOaddr {CONTROLLER}")
        else:
            self.rules(host, f"ip TOaddr 10.77.0.{other[1:]}")

    def mend(self, all_of_it=False):
        now = time.monotonic()
        for when, what in list(self.to_mend):
            if all_of_it or when <= now:
                self.to_mend.remove((when, what))
                what()

    # ---- how it was

    def account(self, number, known):
        accounts = [a for a in known if a["job"] == number]
        if len(accounts) != 1:
            raise bed.Failed(f"job {number} has {len(accounts)} accounts")
        return accounts[0]

    def lives(self, job):
        """[[steps]] of a job, by its lives; Failed if they overlap."""
        lives, last = [], None
        if not os.path.exists(job.path):
            return lives
        with open(job.path) as f:
            for line in f.read().splitlines():
                life, word = line.split(" ", 1)
                if word == "begin":
                    lives.append([])
                    last = life
                elif life != last:
                    raise bed.Failed(f"job {job.number}: two lives at once: {job.path}")
                else:
                    lives[-1].append(word)
        for steps in lives:
            n = [s for s in steps if s != "end"]
            if n != [str(i) for i in range(len(n))]:
                raise bed.Failed(f"job {job.number}: steps are missing or twice: {job.path}")
        return lives

    def check(self, job, known):
        a = self.account(job.number, known)
        lives, whole = self.lives(job), [str(i) for i in range(job.steps)]
        where = f"job {job.number}: {json.dumps(a)}: {job.path}"
        if len(lives) > a["requeues"] + 1 or (len(lives) > 1 and not job.requeue):
            raise bed.Failed(f"{len(lives)} lives: {where}")
        if a["exit"]:
            self.counts["failed"] += 1
            # Such a start fails for good, and is not tried elsewhere.
            no_room = a["reason"] == "not-started" and "No space left" in a["why"]
            self.counts["no room"] += no_room
            if not job.may_fail and not (no_room and self.counts["run struck"]):
                raise bed.Failed(f"failed: {where}")
            return
        if not lives or lives[-1] != [*whole, "end"]:
            raise bed.Failed(f"ended well, and is not whole: {where}")
        r = self.bed.stint("output", name_of(a))
        printed = [line.split(" ") for line in r.stdout.splitlines()]
        if not printed or [n for life, n in printed if life == printed[-1][0]] != whole:
            raise bed.Failed(f"printed: {where}: {r.stdout[-300:]} {r.stderr}")

    def finish(self, before):
        self.mend(True)
        for h in self.bed.hosts:
            until(lambda h=h: not self.bed.stint("testbed", "owner", h, "away").returncode, 60)
        self.bed.all_up()
        if not until(lambda: self.ask("ps") == [], 400):
            raise bed.Failed(f"jobs without an end: {self.ask('ps')}")
        known = self.bed.ask("history")
        for job in self.jobs.values():
            self.check(job, known)
        self.bed.nothing_new(before)
        shutil.rmtree(self.dir)
        return "ok " + ", ".join(f"{k} {v}" for k, v in sorted(self.counts.items()))

    def run(self):
        self.bed.settle()
        for h in self.bed.hosts:
            self.bed.stint("testbed", "owner", h, "away")
        before = self.bed.things()
        over = time.monotonic() + self.opts.seconds
        while time.monotonic() < over:
            unfinished = self.ask("ps")
            if unfinished is not None and len(unfinished) < UNFINISHED:
                self.submit()
            if unfinished and self.rng.random() < 0.3:
                self.meddle([j for j in unfinished if j["job"] in self.jobs] or unfinished)
            self.step_owners()
            self.strike()
            self.mend()
            time.sleep(0.1)
        return self.finish(before)


WHATS = ["controller", "agent", "keeper", "engine", "disk", "run", "cut", "apart"]


def main():
    p = bed.parser()
    p.add_argument("--seconds", type=float, default=300)
    p.add_argument("--strike", type=float, default=4)
    p.add_argument("--only", action="append", choices=WHATS)
    opts = p.parse_args()
    try:
        with Town(opts.build, 6, "--policy=stint") as b:
            print(Arrays(b, opts).run())
    except bed.Failed as e:
        print(f"FAILED seed {opts.seed}: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main())
