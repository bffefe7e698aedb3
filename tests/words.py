#!/usr/bin/python3
"""words.py - jobs of hostile words, and what every command prints of them

    words.py [--stint FILE]

On the testbed of the environment jobs are submitted whose program, arguments, folder,
variables and files have names that a terminal would obey, that are no UTF-8, overlong,
or out of their folder.  What must come of it: no command prints a byte to people that
a terminal obeys, none prints JSON that is none, all are one line where one is meant;
the rank itself gets every byte as it was given; and who is refused is told so in a line.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

WORDS = [b"\x1b[2J\x1b]0;owned\x07", b"a\nb\r\tc", b"\xff\xfe\x80", b"\xc2\x9b31m", b"\x9b2J",
         b"\xc0\x80\xe0\x80\x80", b"\xed\xa0\x80", b"\xe2\x80\xae\xe2\x81\xa6gnp.exe", b"%s%n%x",
         b"\"\\\\';${IFS}`id`", b"=1+1", b"-x", b"..", b"\x01\x02\x7f", "\u00e4\U0001f426".encode(),
         b"[1-9]", b"x" * 200]

# What a terminal obeys: as core/plain.h has it, and here from the Unicode tables.
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

SHOW = b"import os, sys; os.write(1, b'\\0'.join([*map(os.fsencode, sys.argv[1:]), os.environb[b'WORD'], os.getcwdb()]))"


class Bad(Exception):
    pass


class Words:
    def __init__(self, exe, folder):
        self.exe, self.folder = os.fsencode(exe), os.fsencode(folder)

    def run(self, *args, **kw):
        return subprocess.run([self.exe, *args], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=300, **kw)

    @staticmethod
    def plain(what, text, lines=None):
        """Nothing in it that a terminal obeys, in UTF-8 or, as bytes, in 8 bits."""
        shown = text.decode(errors="surrogateescape")
        if OBEYED.search(shown) or re.search("[\udc80-\udc9f]", shown):
            raise Bad(f"{what}: a terminal would obey {text!r}")
        if text and not text.endswith(b"\n"):
            raise Bad(f"{what}: no whole line: {text!r}")
        if lines is not None and text.count(b"\n") != lines:
            raise Bad(f"{what}: {text.count(10)} lines, not {lines}: {text!r}")

    def listed(self, *args, lines=None):
        """What that command says, to people and to programs."""
        r = self.run(*args)
        # The record has tabs, as its format says.
        self.plain(args, r.stdout.replace(b"\t", b" ") if args[0] == b"record" else r.stdout, lines)
        self.plain(args, r.stderr)
        if b"--csv" in args or b"--swf" in args or args[0] in (b"output", b"record"):
            return
        r = self.run(*args, b"--json")
        if r.returncode:
            raise Bad(f"{args}: {r.stderr!r}")
        for line in r.stdout.splitlines():
            json.loads(line.decode())  # in strict UTF-8

    def refused(self, *args, status=(1, 2, 126, 127)):
        r = self.run(*args)
        self.plain(args, r.stderr, 1)
        if r.returncode not in status or r.stdout:
            raise Bad(f"{args}: exit {r.returncode}, {r.stdout!r}, {r.stderr!r}")

    # ---- jobs

    def job(self, word):
        """One that has it everywhere, and that is through."""
        cwd = os.path.join(self.folder, b"in-" + word.replace(b"/", b"_"))
        os.makedirs(cwd, exist_ok=True)
        r = self.run(b"run", b"-x", b"WORD=" + word, b"--wdir", cwd, b"python3", b"-S", b"-c", SHOW,
                     word, word, b"")
        if r.returncode or r.stdout.split(b"\0") != [word, word, b"", word, cwd]:
            raise Bad(f"{word!r}: the rank had {r.stdout!r}, {r.stderr!r}")

    def program(self, word):
        """A program of that name, there and not there."""
        path = os.path.join(self.folder, b"bin-" + word)
        self.refused(b"run", path)
        with open(path, "wb") as f:
            f.write(b"#!/bin/sh\nexit 7\n")
        self.refused(b"run", path, status=[126])
        os.chmod(path, 0o755)
        self.refused(b"run", path, word, status=[7])

    def name(self, word):
        """As the job's own name, which is refused, or told."""
        r = self.run(b"submit", b"--hold", b"-J", word, b"true", word)
        self.plain("a name", r.stderr)
        if not r.returncode:
            job = r.stdout.strip()
            self.listed(b"why", job)
            self.listed(b"jobs", job, lines=2)
            self.run(b"cancel", job)
        elif not OBEYED.search(word.decode(errors="ignore")) and len(word) < 64 and b"/" not in word:
            if not re.search("[\udc80-\udc9f]", word.decode(errors="surrogateescape")):
                raise Bad(f"{word!r} is no name: {r.stderr!r}")

    def gone(self, word):
        """Its folder is removed before it starts: the job fails, and says it."""
        cwd = os.path.join(self.folder, b"gone-" + word)
        os.mkdir(cwd)
        r = self.run(b"submit", b"--hold", b"--wdir", cwd, b"true")
        os.rmdir(cwd)
        job = r.stdout.strip()
        self.run(b"release", job)
        r = self.run(b"wait", job)
        self.plain("wait", r.stderr, 1)
        if not r.returncode:
            raise Bad(f"{word!r}: a folder that is not there")
        self.listed(b"jobs", job, lines=3)

    def hosts(self, word):
        self.refused(b"run", b"--hosts", word, b"true")
        self.refused(b"owner", b"status", word)
        self.refused(b"migrate", b"1.0", word)
        self.refused(b"jobs", word, status=[2])

    # ---- files

    def prints_to(self, pattern, *options):
        """The exit status of the submit, or of the job."""
        r = self.run(b"submit", *options, b"-o", pattern, b"echo", b"printed",
                     cwd=os.path.join(self.folder, b"inside"))
        self.plain(pattern, r.stderr)
        if r.returncode:
            return r.returncode
        job = r.stdout.strip()
        r = self.run(b"wait", job)
        self.plain(pattern, r.stderr)
        self.listed(b"jobs", job)
        self.listed(b"output", job)
        self.listed(b"history")
        return r.returncode

    def files(self):
        inside, outside = (os.path.join(self.folder, n) for n in (b"inside", b"outside"))
        os.mkdir(inside)
        os.mkdir(outside)
        os.symlink(outside, os.path.join(inside, b"way"))
        os.symlink(os.path.join(outside, b"file"), os.path.join(inside, b"link"))
        os.symlink(b"/proc/self/cwd", os.path.join(inside, b"magic"))
        os.mkfifo(os.path.join(inside, b"fifo"))
        for pattern in (b"link", b"fifo", b"x%j/../../outside/f", b"x%j/way", b"magic", b"%x/f%j",
                        b"x" * 300, b"%x%x%x%x%x%x/" * 80 + b"f", b"nowhere/%j"):
            if not self.prints_to(pattern, b"-J", b".."):
                raise Bad(f"{pattern!r} was printed to")
        if os.listdir(outside):
            raise Bad(f"outside there is {os.listdir(outside)}")
        # Where its user has written the link, it is meant.
        if self.prints_to(b"way/file") or os.listdir(outside) != [b"file"]:
            raise Bad("a folder that is a link is one")
        for word in WORDS:
            self.prints_to(b"f-" + word)
            self.prints_to(b"g-%x", b"-J", word)
        for name in os.listdir(inside):
            if OBEYED.search(name.decode(errors="replace")):
                raise Bad(f"a file {name!r}")

    # ---- all of it

    def lists(self):
        jobs = [json.loads(line)["job"] for line in self.run(b"ps", b"-a", b"--json").stdout.splitlines()]
        for args in ((b"ps",), (b"ps", b"-a"), (b"hosts",), (b"history",), (b"history", b"--csv"),
                     (b"history", b"--swf"), (b"record",), (b"top", b"--once"),
                     (b"owner", b"status", b"--all")):
            self.listed(*args)
        # A line each, and one for each rank: of one rank all.
        for j in jobs:
            self.listed(b"jobs", b"%d" % j, lines=3 if self.started(j) else 2)
            self.listed(b"why", b"%d" % j)
        rows = self.run(b"history", b"--csv").stdout.count(b"\n")
        if rows != len(jobs) + 1:
            raise Bad(f"{rows} rows of {len(jobs)} jobs")
        return len(jobs)

    def started(self, job):
        j = json.loads(self.run(b"ps", b"-a", b"%d" % job, b"--json").stdout)
        return bool(j["state"] != "waiting")

    def play(self):
        for word in WORDS:
            self.job(word)
            self.program(word)
            self.name(word)
            self.gone(word)
            self.hosts(word)
        self.files()
        return self.lists()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--stint", default="build/src/cmd/stint")
    opts = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="stint-words-", dir="/var/tmp") as folder:
        began = time.monotonic()
        try:
            n = Words(os.path.abspath(opts.stint), folder).play()
        except Bad as e:
            sys.exit(f"FAILED {e}")
        print(f"ok {n} jobs in {time.monotonic() - began:.0f} s")


main()
