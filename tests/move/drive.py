#!/usr/bin/python3
"""drive.py - run one program and move it with `stint move` while it runs

    drive.py [--moves N] [--pause S] [--refuse WORDS] [--json] -- PROGRAM ...

The program is one of this directory: it says READY, is moved N times from one
`stint move receive` to the next on this machine, is told to verify by its
stop file and says PASS.  Exit status 0 only if all of that happened.  With
--refuse the move must be refused with one of the words of the regular
expression, and the program must pass all the same.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time


class Failed(Exception):
    pass


class Drive:
    def __init__(self, opts):
        self.opts = opts
        self.stint = os.path.join(opts.build, "src/cmd/stint")
        self.dir = tempfile.mkdtemp(prefix="stint-drive-")
        self.children = []  # every process started here, with its output
        self.pid = 0  # the program, as seen from here
        self.reports = []

    def path(self, name):
        return os.path.join(self.dir, name)

    def start(self, name, argv, fault=None):
        env = dict(os.environ, CHECK_STOP=self.path("stop"),
                   CHECK_DIR=self.dir)
        env.pop("STINT_FAULT", None)
        if fault:
            env["STINT_FAULT"] = fault
        out = open(self.path(name), "wb")
        p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out,
                             stderr=subprocess.STDOUT, env=env,
                             start_new_session=True)
        out.close()
        self.children.append((name, p))
        return p

    def text(self, name):
        with open(self.path(name), errors="replace") as f:
            return f.read()

    def wait_for(self, name, p, pattern, seconds=60):
        """The match once the output of a child has it."""
        end = time.monotonic() + seconds
        while True:
            ended = p.poll() is not None
            m = re.search(pattern, self.text(name), re.M)
            if m:
                return m
            if ended:
                raise Failed(f"{name} ended with {p.returncode}")
            if time.monotonic() > end:
                raise Failed(f"{name}: waited in vain for {pattern}")
            time.sleep(0.002)

    def begin(self):
        p = self.start("program", self.opts.program)
        self.pid = p.pid
        try:
            self.wait_for("program", p, "^READY$", 300)
        except Failed:
            if p.returncode == 77:
                print(self.text("program"), end="")
                sys.exit(77)
            raise

    def receiver(self, n, fault=None):
        name = f"receive-{n}"
        p = self.start(name, [self.stint, "move", "receive", "--json",
                              "--listen", "127.0.0.1:0"], fault)
        m = self.wait_for(name, p, r"^listening (\S+)$")
        return name, p, m.group(1)

    def send(self, address, fault=None):
        env = dict(os.environ)
        env.pop("STINT_FAULT", None)
        if fault:
            env["STINT_FAULT"] = fault
        argv = [self.stint, "move", str(self.pid), "--to", address, "--json"]
        argv += self.opts.option
        return subprocess.run(argv, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env=env, timeout=300)

    def move(self, n):
        name, p, address = self.receiver(n)
        s = self.send(address)
        if s.returncode:
            raise Failed(f"move {n}: {s.stderr.strip()}")
        there = self.wait_for(name, p, r'^(\{"outcome".*\})$').group(1)
        self.pid = json.loads(there)["pid"]
        report = json.loads(s.stdout)
        self.reports.append(report)
        if self.opts.json:
            print(json.dumps(report), flush=True)

    def refuse(self, n, words):
        name, p, address = self.receiver(n)
        s = self.send(address)
        p.wait(60)
        if s.returncode == 0:
            raise Failed("it was moved, and should have been refused")
        if not re.search(words, s.stderr):
            raise Failed(f"refused without {words}: {s.stderr.strip()}")
        if len(s.stderr.strip().splitlines()) != 1:
            raise Failed(f"more than a line: {s.stderr.strip()}")
        if p.returncode == 0:
            raise Failed("the receiver says that all went well")

    def finish(self):
        open(self.path("stop"), "w").close()
        # The program ends as a child of the last receiver, or of us; each
        # receiver before that one ended when its process had left it.
        name, p = [c for c in self.children
                   if c[0] == "program" or c[0] == f"receive-{self.last}"][-1]
        try:
            status = p.wait(self.opts.timeout)
        except subprocess.TimeoutExpired:
            raise Failed("it does not end") from None
        text = self.text(name)
        if status or "PASS" not in text.split("\n"):
            raise Failed(f"{name} ended with {status}: {text.strip()}")

    def cleanup(self):
        for name, p in self.children:
            if p.poll() is None:
                try:
                    os.killpg(p.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                p.wait()
        if self.opts.keep:
            print(f"kept: {self.dir}", file=sys.stderr)
        else:
            shutil.rmtree(self.dir, ignore_errors=True)

    def run(self):
        self.last = -1
        self.begin()
        for n in range(self.opts.moves):
            time.sleep(self.opts.pause)
            if self.opts.refuse:
                self.refuse(n, self.opts.refuse)
            else:
                self.move(n)
                self.last = n
        time.sleep(self.opts.pause)
        self.finish()

    def trouble(self):
        """What the programs said, for whoever reads the failure."""
        for name, _ in self.children[-3:]:
            for line in self.text(name).splitlines()[-5:]:
                print(f"  {name}: {line}", file=sys.stderr)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=os.environ.get("STINT_BUILD", "build"))
    p.add_argument("--moves", type=int, default=3)
    p.add_argument("--pause", type=float, default=0.05)
    p.add_argument("--timeout", type=float, default=120)
    p.add_argument("--refuse", metavar="WORDS")
    p.add_argument("--option", action="append", default=[],
                   help="more for the sending side, as --option=--budget=5ms")
    p.add_argument("--json", action="store_true")
    p.add_argument("--keep", action="store_true")
    p.add_argument("program", nargs="+")
    d = Drive(p.parse_args())
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
