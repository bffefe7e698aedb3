#!/usr/bin/python3
"""tidy.py - kill a testbed's parties in any order; `down` leaves nothing

    tidy.py [--rounds N] [--seed X] [--build DIR] [--verbose]

In each round a testbed comes up, jobs run on it and a rank moves; then `up`,
some of its controller, agents, keepers, inits, ranks and clients are killed with
-9 (or stopped) in an order and at times from the seed, an agent may be just
starting again, and `down` itself is killed, perhaps more than once.  Then

 - `stint testbed down` ends with 0, and so does a second one;
 - there is no process of it: by cgroup, network namespace, command line or
   environment; no cgroup, mount (in any mount namespace) or file; nobody holds one
   of its network namespaces, and this one has the links it had.
"""
import glob
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import bed
from procs import all_pids, comm, read_proc, stat_of, until


def netns(path):
    """The inode number of the network namespace there; None if there is none."""
    try:
        st = os.stat(path)
    except OSError:
        return None
    return st.st_ino if st.st_dev == os.stat("/proc/self/ns/net").st_dev \
        else None


class Round:
    def __init__(self, build, number, seed, verbose):
        self.exe = os.path.join(os.path.abspath(build), "src/cmd/stint")
        self.rng = random.Random(seed * 100003 + number)
        self.verbose = verbose
        self.name = f"tidy{os.getpid()}"
        self.dir = tempfile.mkdtemp(prefix="stint-tidy-")
        self.home = f"{self.dir}/beds/{self.name}"
        self.env = dict(os.environ, STINT_TESTBED=self.name,
                        STINT_TESTBED_DIR=f"{self.dir}/beds")
        self.ours = []  # children that we must reap
        # Its number, with the namespace held open: else it would soon be another's.
        self.namespaces = {netns("/proc/self/ns/net"): -1}
        self.story = []

    def tell(self, what):
        self.story.append(what)
        if self.verbose:
            print(f"  {what}", flush=True)

    def begin(self, *args):
        p = subprocess.Popen([self.exe, *args], env=self.env,
                             stdin=subprocess.DEVNULL, start_new_session=True,
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        self.ours.append(p)
        return p

    def stint(self, *args):
        return subprocess.run([self.exe, *args], env=self.env, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=200)

    # ---- what belongs to it

    def members(self):
        """Every process of the testbed, by any of its marks."""
        found = []
        for p in all_pids():
            if p == os.getpid() or not stat_of(p):
                continue
            if f"stint-testbed.{self.name}/" in read_proc(p, "cgroup") or \
                    self.namespaces.get(netns(f"/proc/{p}/ns/net"), -1) >= 0 \
                    or self.dir in read_proc(p, "cmdline") + \
                    read_proc(p, "environ"):
                found.append(p)
        return found

    def held_members(self):
        """With a descriptor each: a pid may be another process's a moment later."""
        held = []
        for p in self.members():
            try:
                held.append((p, os.pidfd_open(p)))
            except ProcessLookupError:
                pass
        still = set(self.members())
        for p, fd in held:
            if p not in still:
                os.close(fd)
        return [(p, fd) for p, fd in held if p in still]

    def hold(self, path):
        try:
            fd = os.open(path, os.O_RDONLY)
        except OSError:
            return
        number = netns(f"/proc/self/fd/{fd}")
        if number is None or number in self.namespaces:
            os.close(fd)
        else:
            self.namespaces[number] = fd

    def look(self):
        """Remember the network namespaces that the testbed has now."""
        for path in glob.glob(f"{self.home}/h*/netns") + \
                [f"{self.home}/lan"] + \
                [f"/proc/{p}/ns/net" for p in self.members()]:
            self.hold(path)

    def left(self):
        """What the testbed has; "" if there is nothing."""
        for p in self.members():
            return f"process {p} {comm(p)} {read_proc(p, 'stat')[:60]}"
        for path, dirs, _ in os.walk("/sys/fs/cgroup"):
            for d in dirs:
                if d == f"stint-testbed.{self.name}":
                    return f"cgroup {path}/{d}"
        if os.path.exists(self.home):
            return f"file {self.home}"
        for p in all_pids():
            for line in read_proc(p, "mountinfo").splitlines():
                held = line.split()[3]
                if self.dir in line or held.startswith("net:[") and \
                        self.namespaces.get(int(held[5:-1]), -1) >= 0:
                    return f"mount of {p} {comm(p)}: {line}"
        return ""

    # ---- what is done to it

    def up(self):
        up = self.begin("testbed", "up", "3", *self.rng.choice(
            [[], [], [], ["--bridge"], ["--bare"]]))
        if self.rng.random() < 0.4:
            after = self.rng.random() ** 2 * 0.8
            time.sleep(after)
            self.look()
            up.kill()
            self.tell(f"up killed after {after:.3f} s")
        up.wait(100)

    def work(self):
        """Run jobs and a move, and sometimes start an agent anew."""
        if not os.path.exists(f"{self.home}/client.conf"):
            return
        for _ in range(self.rng.randint(0, 2)):
            self.begin("run", "-n", str(self.rng.randint(1, 3)),
                       "sh", "-c", "trap '' TERM; while :; do sleep 1; done")
        time.sleep(self.rng.random())
        if self.rng.random() < 0.5:
            self.begin("migrate", "1.0", "h3")
            self.tell("a rank moves")
            time.sleep(self.rng.random() * 0.2)

    def agent_again(self):
        host = self.rng.choice(["h1", "h2", "h3"])
        self.begin("testbed", "exec", host, self.exe, "agent",
                   *bed.agent_options(self.home, host))
        self.tell(f"agent of {host} again")

    def strike(self):
        """Kill or stop some of its processes, in any order."""
        victims = self.held_members()
        self.rng.shuffle(victims)
        for p, fd in victims[:self.rng.randint(0, len(victims))]:
            sig = self.rng.choice([signal.SIGKILL] * 5 + [signal.SIGSTOP])
            self.tell(f"{signal.Signals(sig).name} {p} {comm(p)}")
            try:
                signal.pidfd_send_signal(fd, sig)
            except ProcessLookupError:
                pass
            if self.rng.random() < 0.1:
                self.agent_again()
            if self.rng.random() < 0.3:
                time.sleep(self.rng.random() * 0.05)
        for _, fd in victims:
            os.close(fd)

    def down_killed(self):
        down = self.begin("testbed", "down")
        if self.rng.random() < 0.3:
            self.agent_again()
        after = self.rng.random() ** 2 * 0.6
        time.sleep(after)
        down.kill()
        down.wait()
        self.tell(f"down killed after {after:.3f} s")

    def down(self):
        r = self.stint("testbed", "down")
        if r.returncode:
            raise bed.Failed(f"down: {r.stderr.strip()}")

    def run(self):
        try:
            self.up()
            self.look()
            self.work()
            self.look()
            self.strike()
            while self.rng.random() < 0.5:
                self.down_killed()
            self.down()
            self.down()
            for p in self.ours:  # clients wait for a controller
                p.kill()
                p.wait()
            if not until(lambda: not self.left(), 60):
                raise bed.Failed(f"left behind: {self.left()}")
        finally:
            for p in self.ours:
                p.kill()
                p.wait()
            for fd in self.namespaces.values():
                if fd >= 0:
                    os.close(fd)
            if not os.path.exists(self.home):
                shutil.rmtree(self.dir)


def links():
    with open("/proc/net/dev") as f:
        return sorted(line.split(":")[0].strip() for line in f)


def main():
    p = bed.parser()
    p.add_argument("--rounds", type=int, default=20)
    p.add_argument("--verbose", action="store_true")
    opts = p.parse_args()
    before = links()
    for n in range(opts.rounds):
        r = Round(opts.build, n, opts.seed, opts.verbose)
        try:
            r.run()
            if links() != before:
                raise bed.Failed(f"left behind: links {links()}")
        except (bed.Failed, subprocess.TimeoutExpired) as e:
            print(f"FAILED seed {opts.seed}, round {n}: {e}\n  " +
                  "\n  ".join(r.story[-40:]))
            return 1
    print(f"ok {opts.rounds} testbeds killed in any order, seed {opts.seed}: "
          "nothing left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
