#!/usr/bin/python3
"""values.py - every option of every command, with a value that it cannot have

    values.py [--stint FILE]

The rest of each line is right, so it is the value that must be refused: exit
status 2, one line that says why, nothing on standard output, and before anything
is done.  Each option that --help shows with a value is here, or among FREE, whose
values are names that only the file system, the network or the controller knows.
"""
import argparse
import subprocess
import sys

from options import commands, options

TIMES = ["", "x", "-1", "5q", "9" * 30 + "s"]
ABOVE0 = TIMES + ["0", "0s"]
NUMBERS = ["", "x", "-1", "9" * 20, "1.5"]
COUNTS = NUMBERS + ["0"]
SIZES = ["", "x", "-1", "5q", "9" * 20, "0", "1k"]
HOSTS = ["", "x", "5y3", "0x1", "1x0", "-1x1", "1x", "1x1,", "1xnan", "99999999x1"]
POLICIES = ["", "easi", "fcfs:a=b", "easy:fill=what"]
SPEEDUPS = ["", "bogus", "linear:x=1", "misp:low=x", "misp:low=0.9,high=0.8",
            "table:", "table:points=0@1", "misp:kind=odd"]
WORKLOADS = ["", "bogus", "ismail:a=1", "ismail:sizes=x"]
LOADS = ["", "x", "0", "-1", "nan", "1e999"]
ADDRESSES = ["", "x", "1.2.3.4", "unix:", "127.0.0.1:99999"]
PERCENTS = ["", "x", "-1", "nan", "1001"]
WORDS = ["", "bogus"]
SIGNALS = ["", "x", "0", "-1", "99", "1.5"]
KEYS = ["", "x", "host/", "user/", "other/x", "host"]

FREE = {"key", "config", "log", "out", "record", "results", "figures", "events", "swf",
        "replay", "gantt", "out-swf", "plot", "series", "svg", "run-dir", "state-dir",
        "uplink"}
CLIENT = {"controller": ADDRESSES}
COSTS = {"migrate-cost": TIMES, "rank-cost": TIMES, "resize-cost": TIMES}

# command: (the options and words of a line that is right, the values)
LINES = {
    "run": (["true"], {**CLIENT, "hosts": ["", ",", "a,", ",a", "a,,b", "a:2"],
                       "memory": SIZES, "ranks": COUNTS + ["1-", "-2", "2-1", "5000"],
                       "pids-limit": COUNTS, "time": ABOVE0,
                       "wdir": ["", "/nonexistent", "/etc/passwd"],
                       "export": ["", "=x", "NO_SUCH_VARIABLE"]}),
    "ps": ([], CLIENT), "hosts": ([], CLIENT), "drain": (["h1"], CLIENT),
    "undrain": (["h1"], CLIENT), "why": (["1"], CLIENT), "record": ([], CLIENT),
    "migrate": (["1.0", "h1"], {**CLIENT, "budget": ABOVE0}),
    "kill": (["1"], {**CLIENT, "signal": SIGNALS}),
    "controller": (["--state-dir=s", "--listen=127.0.0.1:0"], {
        "admin-submits": WORDS, "show-arguments": WORDS, "client-grace": TIMES,
        "kill-grace": TIMES, "lost-after": TIMES, "enrol": KEYS, "revoke": KEYS,
        "history": NUMBERS, "record": NUMBERS, "min-uid": NUMBERS, "ready-fd": NUMBERS,
        "user-connections": COUNTS, "user-jobs": COUNTS,
        "user-ranks": COUNTS, "listen": ADDRESSES,
        "policy": POLICIES, "pool": ["", "x", "1.2.3/8", "1.2.3.4/33", "10.0.0.0/31"]}),
    "agent": (["--controller=127.0.0.1:1", "--key=none", "--run-dir=r"], {
        "address": ["", "x", "1.2.3", "1.2.3.4.5", "::1", "0.0.0.0"],
        "controller": ADDRESSES, "cores": COUNTS, "score": COUNTS, "fast-path": WORDS,
        "net": WORDS, "memory-default": SIZES, "memory-max": SIZES,
        "pids-default": COUNTS, "pids-max": COUNTS, "min-uid": NUMBERS,
        "min-gid": NUMBERS, "ready-fd": NUMBERS, "report-every": ABOVE0 + ["1ms"]}),
    "keeper": (["--run-dir=r", "1.0"], {
        "epoch": NUMBERS, "min-uid": NUMBERS, "min-gid": NUMBERS, "ready-fd": NUMBERS,
        "limits": ["", "x", "1,2,3", "1,2,3,4,5", "a,b,c,d", "-1,0,0,0"]}),
    "mapstates": ([], {"format": WORDS, "hosts": HOSTS, "limit": COUNTS,
                       "maxsize": COUNTS, "minsize": COUNTS, "policy": POLICIES}),
    "testbed": (["up", "2"], {
        "name": ["", "a b", "../x", "a/b", "x" * 25], "policy": POLICIES,
        "cpus": ["", "x", "0", "-1", "1,", ",1", "nan", "101", "1,1,1"],
        "speed": ["", "x", "0", "-1", "1,", ",1", "nan", "1025", "1,1,1"]}),
    "move": (["1", "--to=127.0.0.1:1"], {
        "budget": ABOVE0, "to": ADDRESSES[:2] + ["1.2.3.4", "[::1", "127.0.0.1:0"],
        "listen": ["127.0.0.1:0"]}),  # which does not go with a PID
    "sim": (["-p", "fcfs", "-w", "ismail", "-n", "2"], {
        **COSTS, "hosts": HOSTS, "load": LOADS, "jobs": COUNTS, "policy": POLICIES,
        "procs": COUNTS, "replication": NUMBERS, "seed": NUMBERS, "speedup": SPEEDUPS,
        "workload": WORKLOADS, "extra-columns": WORDS}),
    "sweep": (["-p", "fcfs", "-w", "ismail", "-n", "501"], {
        **COSTS, "hosts": HOSTS, "load": LOADS + ["1:2", "2:1:1", "1:2:0"],
        "jobs": COUNTS, "policy": POLICIES, "procs": COUNTS, "speedup": SPEEDUPS,
        "seed": NUMBERS, "workload": WORKLOADS, "workers": COUNTS,
        "level": PERCENTS + ["0"], "max": COUNTS, "min": COUNTS, "precision": PERCENTS,
        "se-precision": PERCENTS, "metric": WORDS}),
    "reproduce": (["schnor:S-4a"], {"workers": COUNTS, "seed": NUMBERS}),
    "policies": ([], {}),
}


def wrong(exe, words):
    try:
        r = subprocess.run([exe, *words], capture_output=True, timeout=100,
                           stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "it was done"
    said = r.stderr.decode(errors="replace")
    if r.returncode != 2 or r.stdout or said.count("\n") != 1:
        return f"exit status {r.returncode}: {said[:200]!r}"
    return ""


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--stint", default="build/src/cmd/stint")
    exe, bad, n = p.parse_args().stint, 0, 0
    for name in commands(exe):
        words, values = LINES[name]
        known = {o for o, valued in options(exe, name) if valued} - FREE
        if known != set(values) - FREE:
            bad += 1
            print(f"FAILED {name}: {sorted(known ^ (set(values) - FREE))} are not in both")
        for option, those in values.items():
            for value in those:
                line = [name, f"--{option}={value}", *words]
                # the last of several holds, or they are added up
                if any(w.startswith(f"--{option}=") for w in words):
                    line = [name, *words, f"--{option}={value}"]
                elif name == "testbed":
                    line[1:1] = ["--name=values-py"] if option != "name" else []
                elif name in ("sim", "sweep") and option in ("policy", "workload", "jobs"):
                    line = [name, *words, f"--{option}={value}"]
                why, n = wrong(exe, line), n + 1
                if why:
                    bad += 1
                    print(f"FAILED {why}: stint {line!r}")
    print(f"{n} command lines, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
