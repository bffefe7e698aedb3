#!/usr/bin/python3
"""drive.py - run one program and move it with `stint move` while it runs

    drive.py [--moves N] [--pause S] [--refuse WORDS | --fail POINT] [--json]
             -- PROGRAM ...

The program is one of this directory: it says READY, is moved N times to and
fro between two network namespaces made here, each time by a `stint move
receive` in the other one, is told to verify by its stop file and says PASS.
Exit status 0 only if all of that happened.  With --refuse the move must be
refused before the freeze with one of the words of the regular expression, and
the program must pass all the same; with --fail it fails at that point
(src/move/wire/fault.h) of the sending side, and the program goes on.
"""
import argparse
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from procs import exit_on_term, stat_of  # noqa: E402


class Failed(Exception):
    pass


def adopt_orphans():
    """A process that has landed outlives its receiver, by design: it becomes our child."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(36, 1, 0, 0, 0):  # PR_SET_CHILD_SUBREAPER
        raise OSError(ctypes.get_errno(), "prctl")


def kill_orphans():
    path = f"/proc/self/task/{os.getpid()}/children"
    while True:
        with open(path) as f:
            pids = f.read().split()
        if not pids:
            return
        for pid in pids:
            os.kill(int(pid), signal.SIGKILL)
            os.waitpid(int(pid), 0)


class Hosts:
    """Two network namespaces joined by a veth pair, held by two sleepers.

    With a file as boot_id the second one seems to run another kernel, whose
    clocks began elsewhere.  With a directory as files that is an empty one on
    the second host, and the first one's is at files.source."""

    def __init__(self, boot_id, files=None):
        self.sleepers = []
        self.namespaces = [["--net"], ["--net"]]
        for i in range(2):
            make, before = ["--net"], ""
            if i and boot_id:
                self.namespaces[i] += ["--time", "--mount"]
                make += ["--time", "--monotonic", "1000000", "--boottime",
                         "2000000", "--mount"]
                before = ("mount --bind " + boot_id +
                          " /proc/sys/kernel/random/boot_id && ")
            elif i and files:
                self.namespaces[i] += ["--mount"]
                make += ["--mount"]
                before = (f"mount --bind {files} {files}.source && "
                          f"mount -t tmpfs none {files} && ")
            p = subprocess.Popen(["unshare", *make, "--", "sh", "-c",
                                  before + "echo && exec sleep infinity"],
                                 stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE)
            p.stdout.readline()  # it is in its namespace now
            p.stdout.close()
            self.sleepers.append(p)
        a, b = (p.pid for p in self.sleepers)
        self.ip(0, "link", "add", "eth0", "index", "7", "type", "veth",
                "peer", "name", "eth0", "index", "9", "netns", str(b))
        for i in range(2):
            self.ip(i, "link", "set", "lo", "up")
            self.ip(i, "addr", "add", f"{self.address(i)}/24", "dev", "eth0")
            self.ip(i, "link", "set", "eth0", "up")

    def address(self, i):
        return f"10.77.0.{i % 2 + 1}"

    def enter(self, i):
        return ["nsenter", "-t", str(self.sleepers[i % 2].pid),
                *self.namespaces[i % 2], "--"]

    def ip(self, i, *args):
        subprocess.run(self.enter(i) + ["ip", *args], check=True)

    def close(self):
        for p in self.sleepers:
            p.kill()
            p.wait()


class Drive:
    def __init__(self, opts):
        self.opts = opts
        self.stint = os.path.abspath(
            os.path.join(opts.build, "src/cmd/stint"))
        self.dir = tempfile.mkdtemp(prefix="stint-drive-")
        for name in "files", "files.source":
            os.mkdir(self.path(name))
        self.hosts = Hosts(self.make_boot_id(),
                           opts.there and self.path("files"))
        self.last = None  # the receiver of the last move
        self.secret = ["--plaintext"] if opts.plaintext else self.make_key()
        self.at = 0  # which of them the program is in
        self.children = []  # every process started here, with its output
        self.pid = 0  # the program's pid, as seen from here
        self.reports = []

    def make_boot_id(self):
        if not self.opts.clocks:
            return None
        with open("/proc/sys/kernel/random/boot_id") as f:
            boot_id = f.read()
        with open(self.path("boot_id"), "w") as f:
            f.write(boot_id if self.opts.clocks == "same"
                    else "other-" + boot_id)
        return f.name

    def make_key(self):
        with open(self.path("key"), "w") as f:
            os.fchmod(f.fileno(), 0o600)
            f.write(f"drive {os.urandom(32).hex()}\n")
        return ["--key", self.path("key")]

    def path(self, name):
        return os.path.join(self.dir, name)

    def start(self, name, argv, fault=None):
        env = dict(os.environ, CHECK_STOP=self.path("stop"),
                   CHECK_DIR=self.path("files"))
        env.pop("STINT_FAULT", None)
        if self.opts.interrupt:  # no watch ends what we stop
            env["STINT_STANDSTILL"] = "1000"
        if fault:
            env["STINT_FAULT"] = fault
        out = open(self.path(name), "ab")  # for appending, as what has moved appends as well
        p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out,
                             stderr=subprocess.STDOUT, env=env,
                             start_new_session=True)
        out.close()
        self.children.append((name, p))
        return p

    def text(self, name):
        with open(self.path(name), errors="replace") as f:
            return f.read()

    def wait_for(self, name, p, pattern, seconds=300):
        """Wait for a match in the output of a child, and return it."""
        end, nap = time.monotonic() + seconds, 0.002
        while True:
            ended = p.poll() is not None
            m = re.search(pattern, self.text(name), re.M)
            if m:
                return m
            if ended:
                raise Failed(f"{name} ended with {p.returncode}")
            if time.monotonic() > end:
                raise Failed(f"{name}: waited in vain for {pattern}")
            time.sleep(nap)
            nap = min(nap * 1.3, 0.05)

    def begin(self):
        # The process's parent must be in the same namespaces as the process.
        p = self.start("program", self.hosts.enter(0) +
                       ["sh", "-c", '"$@" & echo PID $!; wait $!', "sh",
                        *self.opts.program])
        m = self.wait_for("program", p, r"^PID (\d+)$")
        self.pid = int(m.group(1))
        try:
            self.wait_for("program", p, "^READY$", 300)
        except Failed:
            if p.returncode == 77:
                print(self.text("program"), end="")
                sys.exit(77)
            raise

    def receiver(self, n, fault=None):
        name = f"receive-{n}"
        to = self.at + 1
        p = self.start(name, self.hosts.enter(to) +
                       [self.stint, "move", "receive", "--json", "--listen",
                        f"{self.hosts.address(to)}:0", *self.secret], fault)
        m = self.wait_for(name, p, r"^listening (\S+)$")
        return name, p, m.group(1)

    def send(self, address, fault=None, meanwhile=None):
        env = dict(os.environ)
        env.pop("STINT_FAULT", None)
        if self.opts.interrupt:  # no watch ends what we stop
            env["STINT_STANDSTILL"] = "1000"
        if fault:
            env["STINT_FAULT"] = fault
        argv = self.hosts.enter(self.at) + [
            self.stint, "move", str(self.pid), "--to", address, "--json",
            *self.secret, *self.opts.option]
        with subprocess.Popen(argv, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL, env=env) as p:
            try:
                if meanwhile:
                    meanwhile(p)
                out, err = p.communicate(timeout=300)
            except BaseException:
                p.kill()
                raise
        return subprocess.CompletedProcess(argv, p.returncode, out, err)

    def wait_stopped(self, p):
        """The engine stops itself at its fault."""
        end = time.monotonic() + 300
        while True:
            with open(f"/proc/{p.pid}/stat") as f:
                if f.read().split(") ")[1][0] == "T":
                    return
            if p.poll() is not None or time.monotonic() > end:
                raise Failed("it does not come to its fault")
            time.sleep(0.002)

    def interrupt(self, pid):
        for part in self.opts.interrupt.split(","):
            first, *last = map(int, part.split("-"))
            for sig in range(first, (last or [first])[0] + 1):
                os.kill(pid, sig)

    def interrupt_copy(self, receiver):
        """The process stands before its release: now the signals are sent."""
        def children(pid):
            with open(f"/proc/{pid}/task/{pid}/children") as f:
                return f.read().split()

        def comm(pid):
            with open(f"/proc/{pid}/comm") as f:
                return f.read().strip()

        self.wait_stopped(receiver)
        copy, = [c for nest in children(receiver.pid) for c in children(nest)
                 if comm(c) != "stint-lander"]
        self.interrupt(int(copy))
        receiver.send_signal(signal.SIGCONT)

    def answer_late(self, sender, receiver):
        """Once, with clocks that are old by then; without delay from then on."""
        self.wait_stopped(receiver)
        time.sleep(0.5)
        while sender.poll() is None:
            receiver.send_signal(signal.SIGCONT)
            time.sleep(0.002)

    def move(self, n):
        if self.opts.late_answer:
            name, p, address = self.receiver(n, "dest-answers:stop")
            s = self.send(address, None, lambda s: self.answer_late(s, p))
        elif self.opts.interrupt:
            name, p, address = self.receiver(n, "dest-ready:stop")
            s = self.send(address, None, lambda _: self.interrupt_copy(p))
        else:
            name, p, address = self.receiver(n)
            s = self.send(address)
            # The program says "now": it is told to go on, and may be asked again.
            for again in range(20):
                if "cannot be stopped now" not in s.stderr:
                    break
                p.wait(300)
                name, p, address = self.receiver(f"{n}.{again}")
                s = self.send(address)
        if s.returncode:
            raise Failed(f"move {n}: {s.stderr.strip() or f'ended with {s.returncode}'}")
        there = self.wait_for(name, p, r'^(\{"outcome".*\})$').group(1)
        self.pid = json.loads(there)["pid"]
        self.at += 1
        report = json.loads(s.stdout)
        self.reports.append(report)
        if self.opts.json:
            print(json.dumps(report), flush=True)
        self.last = name

    def copy_files(self):
        """What the other host has of the program's files, changed."""
        subprocess.run(self.hosts.enter(self.at + 1) +
                       ["sh", "-ec", f"cd {self.path('files')}; "
                        "cp -a ../files.source/. .; cd *; " +
                        self.opts.there], check=True)

    def check(self, words):
        p = subprocess.run(self.hosts.enter(self.at) +
                           [self.stint, "move", "check", str(self.pid)],
                           text=True, stderr=subprocess.PIPE, timeout=300)
        if p.returncode == 0 or not re.search(words, p.stderr):
            raise Failed(f"check says otherwise: {p.stderr.strip()}")

    def refuse(self, n, words):
        if self.opts.check:
            self.check(words)
        name, p, address = self.receiver(n)
        if self.opts.there:
            self.copy_files()
        # if the move got as far as the freeze, it would say that it failed there
        s = self.send(address, "source-frozen:error")
        p.wait(300)
        if s.returncode == 0:
            raise Failed("it was moved, and should have been refused")
        if not re.search(words, s.stderr):
            raise Failed(f"refused without {words}: {s.stderr.strip()}")
        if len(s.stderr.strip().splitlines()) != 1:
            raise Failed(f"more than a line: {s.stderr.strip()}")
        if p.returncode == 0:
            raise Failed("the receiver says that all went well")

    def fail(self, n, point):
        name, p, address = self.receiver(n)

        def signals_and_no_peer(sender):
            self.wait_stopped(sender)
            self.interrupt(self.pid)
            p.kill()
            p.wait(60)
            sender.send_signal(signal.SIGCONT)

        if self.opts.interrupt:
            s = self.send(address, f"{point}:stop", signals_and_no_peer)
        else:
            s = self.send(address, f"{point}:error")
            p.wait(300)
        if s.returncode == 0 or not (self.opts.interrupt or
                                     point in s.stderr):
            raise Failed(f"it did not fail at {point}: {s.stderr.strip()}")

    def finish(self):
        open(self.path("stop"), "w").close()
        # The program ends as a child of the last receiver, or of us; each earlier receiver
        # ended when the process had left it.
        name, p = [c for c in self.children
                   if c[0] == "program" or c[0] == self.last][-1]
        try:
            status = p.wait(self.opts.timeout)
        except subprocess.TimeoutExpired:
            raise Failed("it does not end") from None
        # Its output is still the file that it had before all moves.
        lines = (self.text("program") + self.text(name)).split("\n")
        if status or "PASS" not in lines:
            raise Failed(f"{name} ended with {status}")

    def cleanup(self):
        for name, p in self.children:
            if p.poll() is None:
                try:
                    os.killpg(p.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                p.wait()
        self.hosts.close()
        kill_orphans()
        if self.opts.keep:
            print(f"kept: {self.dir}", file=sys.stderr)
        else:
            shutil.rmtree(self.dir, ignore_errors=True)

    def run(self):
        self.begin()
        for n in range(self.opts.moves):
            time.sleep(self.opts.pause)
            if self.opts.refuse:
                self.refuse(n, self.opts.refuse)
            elif self.opts.fail:
                self.fail(n, self.opts.fail)
            else:
                self.move(n)
        time.sleep(self.opts.pause)
        self.finish()

    def trouble(self):
        """What the programs printed, for whoever reads the failure."""
        for name, _ in self.children[:1] + self.children[1:][-2:]:
            for line in self.text(name).splitlines()[-5:]:
                if not re.match(r'(PID|READY|listening|{"outcome)', line):
                    print(f"  {name}: {line}", file=sys.stderr)


def options(argv=None):
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=os.environ.get("STINT_BUILD", "build"))
    p.add_argument("--moves", type=int, default=3)
    p.add_argument("--pause", type=float, default=0.05)
    p.add_argument("--timeout", type=float, default=300)
    p.add_argument("--refuse", metavar="WORDS")
    p.add_argument("--check", action="store_true",
                   help="stint move check must say the same")
    p.add_argument("--fail", metavar="POINT")
    p.add_argument("--there", metavar="COMMAND",
                   help="the second host has copies of the program's files, "
                   "which this shell command changes")
    p.add_argument("--interrupt", metavar="FIRST-LAST,...",
                   help="the program gets these signals while the copy stands "
                   "before its release, or at the POINT of --fail, where the "
                   "receiver dies then")
    p.add_argument("--clocks", choices=["same", "other"],
                   help="the second host's clocks began elsewhere, by a time "
                   "namespace (same boot id) or as those of another kernel")
    p.add_argument("--late-answer", action="store_true",
                   help="the receiver's first answer takes half a second")
    p.add_argument("--option", action="append", default=[],
                   help="more for the sending side, as --option=--budget=5ms")
    p.add_argument("--plaintext", action="store_true",
                   help="move without a key, unencrypted")
    p.add_argument("--json", action="store_true")
    p.add_argument("--keep", action="store_true")
    p.add_argument("program", nargs="+")
    return p.parse_args(argv)


def main():
    opts = options()
    adopt_orphans()
    exit_on_term()
    d = Drive(opts)
    try:
        d.run()
        return 0
    except (Failed, subprocess.TimeoutExpired) as e:
        print(f"FAILED after {len(d.reports)} moves: {e}", file=sys.stderr)
        d.trouble()
        return 1
    finally:
        d.cleanup()


if __name__ == "__main__":
    sys.exit(main())
