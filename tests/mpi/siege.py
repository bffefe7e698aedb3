#!/usr/bin/python3
"""siege.py - owners come and go, and whatever can go wrong does, mostly in the middle of moves

    unshare -m siege.py [--seconds S] [--strike S] [--only WHAT]... [--seed X] [--build DIR]

What owners.py does, on a testbed whose agents come to the controller over their network,
with jobs of MPICH and Open MPI in turn.  Besides, hosts are drained by a time, told to go
soon, ranks are moved by hand and jobs requeued; and every --strike seconds, mostly while
a rank moves, one of (--only: of those alone)

    controller, agent   is killed by -9, and started again
    early       the controller is killed as soon as a move has begun, before its destination
                has told that it is ready
    keeper, both        a keeper is killed; the keepers at both ends of a move
    engine      an engine, or who watches it, is killed
    stop        any of them is stopped for 3 to 20 s
    cut         no packet gets through between a host and the controller for some seconds
    apart       ... or between two hosts
    run         a host's run directory is full for some seconds
    slow        a host's link has 10 Mb/s for some seconds
    opposite    two ranks are moved at once, each to where the other is
    arrival     an owner comes to where a rank is just arriving
    disk        the disk with the controller's state is full for some seconds, and an owner
                comes: that host's agent sees to the guests' lowest claim all the same
    gone        (once) a host goes for good, with all that runs there, mostly while a rank is
                on its way to or from it

What must hold is what owners.py says.  It mounts things: in a mount namespace, please.
"""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import arrays
import bed
import owners
from procs import children, comm, kill, processes, read_proc, stat_of, until

WHATS = ["controller", "agent", "early", "keeper", "both", "engine", "stop", "cut", "apart",
         "run", "slow", "opposite", "arrival", "disk", "gone"]
TERMS = [*owners.TERMS, "notice-every = 1s"]
HOSTS = 6
GIVEN_UP = 55  # seconds, nearly --lost-after, for which nothing is cut off or stopped


class Town(arrays.Town):
    DISK = 128 << 20  # of the controller, for the record of half an hour

    def settle(self):
        subprocess.run(self.lan("ip", "address", "add", f"{arrays.CONTROLLER}/16", "dev",
                                "br0"), check=True)
        self.stop("controller")
        self.small_disk(self.DISK)
        for h in self.hosts:
            open(f"{self.home}/{h}/notice", "w").close()
            with open(f"{self.home}/{h}/stint.conf", "a") as f:
                f.write("\n".join(["[owner]", *TERMS, f"notice = cat {self.home}/{h}/notice",
                                   f"disturb = {allowed(self, h)}", ""]))
            subprocess.run(["mount", "-o", f"remount,size={arrays.RUN}",
                            f"{self.home}/{h}/run"], check=True)
        self.begin("controller")
        for h in self.hosts:
            self.restart(h)
        self.all_up()


def allowed(b, host):
    return owners.FEW if host == b.hosts[0] else owners.MANY


class Siege(owners.Owners):
    def __init__(self, b, opts):
        super().__init__(b, opts)
        self.to_mend = []  # (when, what)
        self.gone = None
        self.busy = set()  # what is stopped or cut off already
        for w in opts.only or WHATS:
            self.counts[w] = 0
        for w in ("drains", "notices", "requeues", "by hand"):
            self.counts[w] = 0
        self.next_bother = time.monotonic() + 5
        self.hands = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.mender, daemon=True)
        self.thread.start()

    def set_terms(self):
        self.bed.settle()

    # ---- jobs

    def begin(self):
        self.tag += 1
        mpi = "" if self.tag % 2 else "-openmpi"
        argv = [os.path.abspath(os.path.join(
            os.path.dirname(self.bed.exe), f"../../tests/mpi/chkmpi{mpi}")),
            "--seconds", str(self.opts.seconds + 3600), "--max", "20000",
            "--quiet", "--seed", str(1000 + self.tag)]
        options = ["--requeue"] if self.tag % 3 == 0 else []
        try:
            self.jobs.append(self.bed.start(owners.RANKS, *argv, options=options))
            self.counts["jobs"] += 1
        except bed.Short as e:
            if "disk is full" not in str(e):
                raise
            self.bed.jobs.pop()  # it was refused, and is none

    # ---- moves that owners do not cause

    def later(self, seconds, what):
        self.to_mend.append((time.monotonic() + seconds, what))

    def mend(self, all_of_it=False):
        now = time.monotonic()
        for when, what in list(self.to_mend):
            if all_of_it or when <= now:
                self.to_mend.remove((when, what))
                what()

    def mender(self):
        """While we wait for who is stopped."""
        while not self.over.wait(0.1):
            self.mend()

    def bother(self):
        now = time.monotonic()
        if now < self.next_bother:
            return
        self.next_bother = now + self.rng.uniform(2, 6)
        h = self.rng.choice(self.bed.hosts)
        what = self.rng.choice(["drain", "notice", "requeue", "hand", "hand"])
        if what == "drain" and ("drain", h) not in self.busy:
            self.counts["drains"] += 1
            self.bed.stint("drain", "--no-wait", f"--by={self.rng.randint(3, 20)}s", h)
            self.once(("drain", h), self.rng.uniform(3, 10),
                      lambda: until(lambda: not self.bed.stint("undrain", h).returncode, 100))
        elif what == "notice" and ("notice", h) not in self.busy:
            self.counts["notices"] += 1
            self.tell_notice(h, f"{self.rng.randint(4, 30)}s")
            self.once(("notice", h), self.rng.uniform(3, 10), lambda: self.tell_notice(h, ""))
        elif what == "requeue":
            self.counts["requeues"] += 1
            self.bed.stint("requeue", str(self.rng.choice(self.jobs).number))
        elif what == "hand":
            self.by_hand(self.rng.choice(self.jobs), self.rng.randrange(owners.RANKS), h)

    def tell_notice(self, h, text):
        path = f"{self.bed.home}/{h}/notice"
        with open(path + ".new", "w") as f:
            f.write(text)
        os.rename(path + ".new", path)

    def by_hand(self, job, rank, host):
        self.counts["by hand"] += 1
        self.hands = [p for p in self.hands if p.poll() is None]
        self.hands.append(subprocess.Popen(
            [self.bed.exe, "migrate", f"{job.number}.{rank}", host], env=self.bed.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    # ---- strikes

    def once(self, what, seconds, mend):
        self.busy.add(what)

        def over():
            mend()
            self.busy.discard(what)
        self.later(seconds, over)

    def log(self):
        with open(f"{self.bed.home}/controller.log", errors="replace") as f:
            return f.read()[-20000:]

    def moves(self):
        """(job, rank, from, to) of those under way, by the log."""
        found = {}
        for m in re.finditer(r"job=(\d+) rank=(\d+) from=(h\d+) to=(h\d+) epoch=\d+ "
                             r"move(d?)=", self.log()):
            key = (int(m.group(1)), int(m.group(2)))
            if m.group(5):
                found.pop(key, None)
            else:
                found[key] = (*key, m.group(3), m.group(4))
        return list(found.values())

    def seen_to_move(self):
        """Between hosts that are still there."""
        return [m for m in until(self.moves, 2) or []
                if {m[2], m[3]} <= set(self.bed.hosts)]

    def keepers_of(self, name=None, host=None):
        top = f"--run-dir={self.bed.home}" + (f"/{host}/run" if host else "")
        found = {}
        for p in processes("keeper", top):
            for w in read_proc(p, "cmdline").split("\0"):
                if re.fullmatch(r"[0-9]+\.[0-9]+", w) and w in (name, w if not name else name):
                    found[p] = w
        return {p: n for p, n in found.items()
                if stat_of(p) and stat_of(p)[1] not in found}

    def engines_of(self, keepers):
        ours, found = os.readlink("/proc/self/ns/pid"), []
        for k in keepers:
            for c in children(k):
                with contextlib.suppress(OSError):
                    if comm(c) == comm(k) and os.readlink(f"/proc/{c}/ns/pid") == ours:
                        found.append(c)
        return found + [w for e in found for w in children(e) if comm(w) == "stint-watch"]

    def strike(self):
        if not self.opts.strike or time.monotonic() < self.next_strike:
            return
        what = self.rng.choice(self.opts.only or WHATS)
        moving = self.seen_to_move()
        if not moving:  # nobody moves by himself: so one is moved
            self.by_hand(self.rng.choice(self.jobs), self.rng.randrange(owners.RANKS),
                         self.rng.choice(self.bed.hosts))
            moving = self.seen_to_move()
        self.next_strike = time.monotonic() + self.opts.strike
        self.counts["strikes"] += 1
        self.counts["in moves"] += bool(moving)
        self.counts[what] += 1
        if what != "early":
            time.sleep(self.rng.random() * 0.7)
        m = self.rng.choice(moving) if moving else None
        hosts = [m[2], m[3]] if m else self.rng.sample(self.bed.hosts, 2)
        self.rng.shuffle(hosts)
        getattr(self, f"do_{what}")(m, *hosts)

    def do_controller(self, *_):
        self.restart("controller")

    do_early = do_controller

    def do_agent(self, _m, host, _):
        self.restart(host)

    def restart(self, name):
        self.bed.restart(name)

    def strike_keepers(self, victims):
        for n in victims.values():
            self.struck.add(int(n.split(".")[0]))
        kill(list(victims))

    def do_keeper(self, m, host, _):
        found = self.keepers_of(f"{m[0]}.{m[1]}" if m else None, host if m else None)
        if found:
            victim = self.rng.choice(sorted(found))
            self.strike_keepers({victim: found[victim]})

    def do_both(self, m, *_):
        if m:
            self.strike_keepers(self.keepers_of(f"{m[0]}.{m[1]}"))

    def do_engine(self, *_):
        found = self.engines_of(self.keepers_of())
        if found:
            kill([self.rng.choice(found)])

    def do_stop(self, m, host, _):
        keepers = self.keepers_of(f"{m[0]}.{m[1]}") if m else {}
        who = self.rng.choice(["controller", "agent", "keeper", "engine"])
        pids = [self.bed.service("controller" if who == "controller" else host)]
        if who in ("keeper", "engine"):
            all_of = sorted(keepers) if who == "keeper" else self.engines_of(keepers)
            pids = [self.rng.choice(all_of)] if all_of else []
        if pids and ("stop", pids[0]) not in self.busy:
            kill(pids, signal.SIGSTOP)
            self.once(("stop", pids[0]), self.rng.uniform(3, 20),
                      lambda: kill(pids, signal.SIGCONT))

    def rules(self, host, rule):
        if ("cut", host) in self.busy:
            return
        nft = ["nsenter", f"--net={self.bed.home}/{host}/netns", "nft"]
        chains = [f"chain {way} {{\ntype filter hook {way} priority 0\n"
                  f"{rule.replace('TO', to)} drop\n}}\n"
                  for way, to in (("input", "s"), ("output", "d"))]
        subprocess.run([*nft, "-f", "-"], input=f"table inet siege {{\n{''.join(chains)}}}\n",
                       text=True, check=True)
        self.once(("cut", host), self.rng.uniform(2, 20),
                  lambda: subprocess.run([*nft, "delete", "table", "inet", "siege"], check=True))

    def do_cut(self, _m, host, _):
        self.rules(host, f"ip TOaddr {arrays.CONTROLLER}")

    def do_apart(self, _m, host, other):
        self.rules(host, f"ip TOaddr 10.77.0.{other[1:]}")

    def do_run(self, _m, host, _):
        path = f"{self.bed.home}/{host}/run/fill"
        if ("run", host) in self.busy:
            return
        arrays.fill(path)
        self.once(("run", host), self.rng.uniform(1, 10), lambda: os.unlink(path))

    def do_disk(self, m, host, _):
        path = f"{self.bed.home}/controller/fill"
        if "disk" in self.busy:
            return
        arrays.fill(path)
        self.once("disk", self.rng.uniform(3, 15), lambda: os.unlink(path))
        host = m[2] if m else host
        if not self.comes(host):
            return
        if not until(lambda: self.lowered(host), 10):
            raise bed.Failed(f"the guests of {host} keep their claim beside its owner")

    def lowered(self, host):
        """Have all guests there the lowest claim, or none of them any more?"""
        top = f"/sys/fs/cgroup/cpu/stint-testbed.{self.bed.env['STINT_TESTBED']}/{host}"
        for path, _, names in os.walk(top):
            for tid in open(f"{path}/tasks").read().split() if "tasks" in names else ():
                with contextlib.suppress(OSError):
                    if comm(tid).startswith("chkmpi") and \
                            os.sched_getscheduler(int(tid)) & 0xf != os.SCHED_IDLE:
                        return False
        return True

    def do_gone(self, _m, host, other):
        first = self.bed.hosts[0]  # whose contract is looked at
        host = other if host == first else host
        if host == first or len(self.bed.hosts) < HOSTS or ("cut", host) in self.busy:
            return
        self.struck |= {int(n.split(".")[0]) for n in self.keepers_of(None, host).values()}
        self.struck |= {m[0] for m in self.moves() if host in m}
        self.gone = host
        self.bed.hosts.remove(host)
        self.due.pop(host)
        kill([self.bed.service(host), *self.keepers_of(None, host)])

    def do_slow(self, _m, host, _):
        if ("slow", host) in self.busy:
            return
        tc = ["nsenter", f"--net={self.bed.home}/{host}/netns", "tc", "qdisc"]
        subprocess.run([*tc, "add", "dev", "eth0", "root", "tbf", "rate", "10mbit", "burst",
                        "32kb", "latency", "400ms"], check=True)
        self.once(("slow", host), self.rng.uniform(3, 15),
                  lambda: subprocess.run([*tc, "del", "dev", "eth0", "root"], check=True))

    def do_opposite(self, *_):
        job, other = self.rng.choice(self.jobs), self.rng.choice(self.jobs)
        try:
            a, b = job.ranks(), other.ranks()
        except bed.Failed:
            return
        if a and b:
            i, k = self.rng.choice(sorted(a)), self.rng.choice(sorted(b))
            if a[i] != b[k]:
                self.by_hand(job, i, b[k])
                self.by_hand(other, k, a[i])

    def comes(self, host):
        """An owner, now."""
        if self.bed.stint("testbed", "owner", host, "here", "--for", "60").returncode:
            return False
        self.counts["returns"] += not self.due[host][1]
        self.due[host] = (time.monotonic() + self.rng.uniform(1, 5), True)
        return True

    def do_arrival(self, m, *_):
        if m:
            self.comes(m[3])

    # ---- all of it

    def step_owners(self):
        super().step_owners()
        self.bother()

    def look_at_jobs(self):
        for j in [j for j in self.jobs if j.process.poll() is not None]:
            print(f"# job {j.number} exit {j.process.returncode}"
                  f"{' struck' if j.number in self.struck else ''}: "
                  f"{j.errors().strip()[-300:]}", flush=True)
        super().look_at_jobs()

    def each_ended_once(self):
        known = {}
        for a in self.bed.ask("history"):
            known.setdefault(a["job"], []).append(a)
        for j in self.bed.jobs:
            told = known.get(j.number, [])
            if len(told) != 1:
                raise bed.Failed(f"job {j.number} has {len(told)} accounts")
            if told[0]["exit"] and not (told[0]["reason"] and told[0]["why"]):
                raise bed.Failed(f"nobody says why job {j.number} failed: {json.dumps(told[0])}")

    def replay(self):
        path = f"{self.bed.dir}/record"
        with open(path, "w") as f:
            subprocess.run([self.bed.exe, "record"], env=self.bed.env, stdout=f, check=True)
        r = self.bed.stint("sim", "--replay", path)
        if r.returncode:
            raise bed.Failed(f"the record gives other plans: {r.stdout[-300:]}{r.stderr[-300:]}")

    def finish(self, before):
        self.over.set()
        self.thread.join()
        self.mend(True)
        for h in self.bed.hosts:
            self.tell_notice(h, "")
        for p in self.hands:
            p.wait(200)
        self.bed.all_up()
        # Nobody removes groups of a host that is gone.
        before |= {w for w in self.bed.things() if f"/{self.gone}/" in w}
        said = super().finish(before)
        self.each_ended_once()
        self.replay()
        return said


def run(b, opts):
    siege = Siege(b, opts)
    try:
        return siege.run()
    except BaseException:
        siege.over.set()
        siege.thread.join()
        siege.mend(True)
        if opts.keep:
            siege.keep("it failed", [])
        raise


def main():
    p = bed.parser()
    p.add_argument("--seconds", type=float, default=300)
    p.add_argument("--strike", type=float, default=4)
    p.add_argument("--only", action="append", choices=WHATS)
    p.add_argument("--keep", help="a folder for the logs, if something is wrong")
    opts = p.parse_args()
    try:
        with Town(opts.build, HOSTS, "--policy=stint") as b:
            print(run(b, opts))
    except bed.Failed as e:
        print(f"FAILED seed {opts.seed}: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main())
