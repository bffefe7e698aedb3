#!/usr/bin/python3
"""options.py - nonsense on the command line of every command

    options.py [--stint FILE] [--runs N] [--seed X]

Options of each command (as its --help tells them) get values that nobody means.
An option that no command has stands at the end of every line, so nothing is ever
done.  What must come of it: exit status 2, one line that says why, nothing on
standard output, and no signal.
"""
import argparse
import random
import re
import subprocess
import sys

VALUES = ["", " ", "-1", "0", "00", "1e999", "nan", "-inf", "0x10", "1,2,,3", ",",
          "9" * 30, "9" * 400, "x" * 5000, "%s%n%n", "\x1b[2J", "a\nb", "=", ":",
          "a:b", "a:=", "a=b", "..", "/", "/dev/null/x", "[::1", "[::1]:99999",
          "unix:", "unix:" + "y" * 200, "1.2.3.4:0", "-", "--", "h1,h1", "é",
          "1-", "2-1", "easy:", "easy:x=1", "spread:oversubscribe=perhaps",
          "poisson:rate=", "1s1", "18446744073709551616", "1.5.5", "+3"]


def stint(exe, *args):
    return subprocess.run([exe, *args], capture_output=True, timeout=300,
                          stdin=subprocess.DEVNULL)


def commands(exe):
    text = stint(exe, "--help").stdout.decode()
    names = re.findall(r"^  ([a-z]+) ", text, re.M)
    assert len(names) > 10, text
    return names


def options(exe, name):
    """(option, whether it takes a value)."""
    text = stint(exe, name, "--help").stdout.decode()
    return [(o, bool(v)) for o, v in
            re.findall(r"^ {2,6}(?:-.(?:=\S+)?, )?--([a-z][a-z-]+)(\[?=\S+)?", text, re.M)
            # --config reads a file; what is wrong in it is no misuse of the command line
            if o not in ("help", "usage", "version", "config")]


def line(rng, name, known):
    words = [name]
    for _ in range(rng.randint(1, 3)):
        if known and rng.random() < 0.8:
            option, valued = rng.choice(known)
            words.append(f"--{option}={rng.choice(VALUES)}" if valued or
                         rng.random() < 0.1 else f"--{option}")
        elif name not in ("run", "submit"):  # the words after it begin another command line
            # given as a value, not as the end of options
            words.append(rng.choice([v for v in VALUES if v[:1] != "-"]))
    return words + ["--no-such-option"]


def wrong(r):
    said = r.stderr.decode(errors="replace").splitlines()
    if r.returncode != 2:
        return f"exit status {r.returncode}"
    if len(said) != 1 or not said[0].startswith("stint"):
        return f"{len(said)} lines"
    if r.stdout:
        return "something on standard output"
    if re.search(rb"[\x00-\x08\x0b-\x1f]", r.stderr):
        return "a control character"
    return ""


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--stint", default="build/src/cmd/stint")
    p.add_argument("--runs", type=int, default=300)
    p.add_argument("--seed", type=int, default=1)
    opts = p.parse_args()
    rng, bad = random.Random(opts.seed), 0
    known = {c: options(opts.stint, c) for c in commands(opts.stint)}
    for n in range(opts.runs):
        name = list(known)[n % len(known)]
        words = line(rng, name, known[name])
        r = stint(opts.stint, *words)
        why = wrong(r)
        if why:
            bad += 1
            print(f"FAILED {why}: stint {words!r}: "
                  f"{r.stderr.decode(errors='replace')[:300]!r}")
    print(f"{opts.runs} command lines of {len(known)} commands, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
