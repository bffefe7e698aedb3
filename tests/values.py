#!/usr/bin/python3
"""values.py - every option and every setting, with a value that it cannot have

    values.py [--stint FILE]

The rest of each line is right, so it is the value that must be refused: exit
status 2, one line that says why, nothing on standard output, and before anything
is done.  Each option that --help shows with a value is here, or among FREE, whose
values are names that only the file system, the network or the controller knows.
The settings of configuration files are tried alike; the line says which it is.
"""
import argparse
import os
import subprocess
import sys
import tempfile

from options import commands, options

INSTANTS = ["", "x", "-1h", "0", "25:00", "2026-13-01 10:00", ":"]
TIMES = ["", "x", "-1", "5q", "9" * 30 + "s"]
ABOVE0 = TIMES + ["0", "0s"]
NUMBERS = ["", "x", "-1", "9" * 20, "1.5"]
COUNTS = NUMBERS + ["0"]
AFTERS = ["", "x", "0", "-1", "ok:", "bogus:1", "afterok:1", "1,", ",1", "1:x", "ok:any:1", "1,1", "9" * 30, "1.5", "7[]", "7[x]", "7[3", "[3]", "7[3],7[1-4]", "7[0-1000]"]
ARRAYS = ["", "x", "1-", "-1", "3-1", "1,", "1,1", "1-5:0", "1%0", "1%", "1-200000", "0-4%x", "1:2"]
FILES = ["", "a/", "%", "%q", "x" * 1025]
WARNS = ["", "x", "USR1", "USR1@", "x@1s", "USR1@x", "USR1@10s"]
NAMES = ["", "a/b", "x" * 65, "a\nb", "\x1b[2J"]
SIZES = ["", "x", "-1", "5q", "9" * 20, "0", "1k"]
HOSTS = ["", "x", "5y3", "0x1", "1x0", "-1x1", "1x", "1x1,", "1xnan", "99999999x1"]
POLICIES = ["", "easi", "fcfs:a=b", "easy:fill=what"]
SPEEDUPS = ["", "bogus", "linear:x=1", "misp:low=x", "misp:low=0.9,high=0.8",
            "table:", "table:points=0@1", "misp:kind=odd"]
WORKLOADS = ["", "bogus", "ismail:a=1", "ismail:sizes=x"]
LOADS = ["", "x", "0", "-1", "nan", "1e999"]
ADDRESSES = ["", "x", "1.2.3.4", "unix:", "127.0.0.1:99999"]
CPUS = ["", "x", "-1", "0", "0.009", "nan", "inf", "2000", "1,2", " 1"]
OUTPUTS = SIZES[:-1]
PERCENTS = ["", "x", "-1", "nan", "1001"]
WORDS = ["", "bogus"]
SIGNALS = ["", "x", "0", "-1", "99", "1.5"]
PAGINGS = ["x", "page=x", "page=-1", "bogus=1"]
TERMS = ["", "x", "bogus=1", "quiet=x", "quiet=-1", "disturb=0"]
KEYS = ["", "x", "host/", "user/", "other/x", "host"]
POOLS = ["", "x", "1.2.3/8", "1.2.3.4/33", "10.0.0.0/31", "10.0.0.0", "10.0.0.1/8",
         "10.0.0.0/7", "0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/8", "255.0.0.0/8"]

FREE = {"measured", "key", "config", "log", "out", "record", "results", "figures", "events", "swf",
        "replay", "gantt", "out-swf", "out-owners", "plot", "series", "svg", "run-dir", "state-dir",
        "uplink", "output", "activity", "guests-of", "owners", "calendar", "cgroup"}
FREE_OF = {"keeper": {"for"}}  # ... and of these commands alone
CLIENT = {"controller": ADDRESSES}
COSTS = {"migrate-cost": TIMES, "rank-cost": TIMES, "resize-cost": TIMES}

# command: (the options and words of a line that is right, the values)
LINES = {
    "run": (["true"], {**CLIENT, "hosts": ["", ",", "a,", ",a", "a,,b", "a:2"],
                       "memory": SIZES, "ranks": COUNTS + ["1-", "-2", "2-1", "5000"],
                       "pids-limit": COUNTS, "cpus": CPUS, "output-limit": OUTPUTS, "time": ABOVE0,
                       "wdir": ["", "/nonexistent", "/etc/passwd"],
                       "after": AFTERS, "at-end": ["", "x" * 4097], "name": NAMES, "limit": ABOVE0, "warn": WARNS, "output": FILES, "error": FILES, "export": ["", "=x", "NO_SUCH_VARIABLE"]}),
    "submit": (["true"], {**CLIENT, "array": ARRAYS, "hosts": ["", ",", "a,"], "memory": SIZES,
                          "ranks": COUNTS + ["1-"], "pids-limit": COUNTS, "cpus": CPUS, "output-limit": OUTPUTS, "time": ABOVE0,
                          "wdir": ["", "/nonexistent"], "after": AFTERS, "at-end": ["", "x" * 4097], "name": NAMES, "limit": ABOVE0, "warn": WARNS, "output": FILES, "error": FILES,
                          "export": ["", "=x", "NO_SUCH_VARIABLE"]}),
    "attach": (["1"], CLIENT), "cancel": (["1"], CLIENT), "hold": (["1"], CLIENT),
    "release": (["1"], CLIENT), "requeue": (["1"], CLIENT), "wait": (["1"], CLIENT),
    "audit": ([], {**CLIENT, "since": INSTANTS, "user": [""]}),
    "jobs": ([], CLIENT), "history": ([], {**CLIENT, "from": NUMBERS + ["0"], "since": INSTANTS, "until": INSTANTS, "user": [""]}), "output": (["1"], {**CLIENT, "rank": NUMBERS}),
    "update": (["1"], {**CLIENT, "after": AFTERS, "limit": ABOVE0, "time": ABOVE0, "name": NAMES, "memory": SIZES,
                        "hosts": ["", ",", "a,", "a:2"], "pids-limit": COUNTS, "cpus": CPUS, "output-limit": OUTPUTS}),
    "ps": ([], CLIENT), "hosts": ([], CLIENT), 
    "drain": (["h1"], {**CLIENT, "by": ABOVE0 + ["25:00", "18:30x", "2026-13-01 10:00", "2030-02-31 10:00", "2020-01-01 10:00", ":"], "reason": ["", "a\nb", "\x1b[2J", "x" * 201]}),
    "undrain": (["h1"], CLIENT), "why": (["1"], CLIENT), "record": ([], CLIENT),
    "top": ([], {**CLIENT, "delay": ABOVE0, "frames": COUNTS, "sort": WORDS}),
    "owner": (["status", "--all"], {**CLIENT, "for": ABOVE0}),
    "trace": (["generate", "--workload=lublin", "--output=-"], {
        "load": LOADS, "jobs": COUNTS, "procs": COUNTS, "replication": NUMBERS,
        "seed": NUMBERS, "workload": WORKLOADS, "from": WORDS, "every": ABOVE0,
        "days": COUNTS, "extra-columns": WORDS}),
    "migrate": (["1.0", "h1"], {**CLIENT, "budget": ABOVE0}),
    "kill": (["1"], {**CLIENT, "signal": SIGNALS}),
    "controller": (["--state-dir=s", "--listen=127.0.0.1:0"], {
        "admin-submits": WORDS, "show-arguments": WORDS, "client-grace": TIMES,
        "kill-grace": TIMES, "lost-after": ABOVE0 + ["1e-9s"], "enrol": KEYS, "revoke": KEYS,
        "history": NUMBERS, "accounts": COUNTS, "accounts-for": TIMES, "keep-output": SIZES + ["2G"], "record": NUMBERS, "min-uid": NUMBERS, "ready-fd": NUMBERS,
        "user-connections": COUNTS, "user-jobs": COUNTS,
        "user-ranks": COUNTS, "listen": ADDRESSES,
        "policy": POLICIES, "pool": POOLS}),
    "store": (["copy", "f"], CLIENT),
    "agent": (["--controller=127.0.0.1:1", "--key=none", "--run-dir=r"], {
        "address": ["", "x", "1.2.3", "1.2.3.4.5", "::1", "0.0.0.0"],
        "controller": ADDRESSES, "cores": COUNTS, "score": COUNTS, "fast-path": WORDS,
        "net": WORDS, "memory-default": SIZES, "memory-max": SIZES,
        "pids-default": COUNTS, "pids-max": COUNTS, "cpus-default": CPUS[:-1], "cpus-max": CPUS[:-1], "min-uid": NUMBERS,
        "min-gid": NUMBERS, "ready-fd": NUMBERS, "report-every": ABOVE0 + ["1ms"],
        "load-average": TIMES, "prolog": ["", "prolog", "./prolog", "sh -c true"], "epilog": ["", "epilog"],
        "prolog-limit": ABOVE0 + ["61s"]}),
    "keeper": (["--run-dir=r", "1.0"], {
        "epoch": NUMBERS, "min-uid": NUMBERS, "min-gid": NUMBERS, "nursery": NUMBERS,
        "ready-fd": NUMBERS, "limits": ["", "x", "1,2,3", "1,2,3,4,5", "1,2,3,4,5,6,7", "a,b,c,d", "-1,0,0,0"]}),
    "mapstates": ([], {"format": WORDS, "hosts": HOSTS, "limit": COUNTS,
                       "maxsize": COUNTS, "minsize": COUNTS, "policy": POLICIES}),
    "testbed": (["up", "2"], {
        "name": ["", "a b", "../x", "a/b", "x" * 25], "policy": POLICIES,
        "cpus": ["", "x", "0", "-1", "1,", ",1", "nan", "101", "1,1,1"],
        "speed": ["", "x", "0", "-1", "1,", ",1", "nan", "1025", "1,1,1"],
        "memory": SIZES + ["1M", "1G,", "1G,x", "1G,1G,1G"],
        "faster": PERCENTS[:-1] + ["0"], "for": ABOVE0, "from": TIMES}),
    "move": (["1", "--to=127.0.0.1:1"], {
        "budget": ABOVE0, "deadline": ABOVE0, "to": ADDRESSES[:2] + ["1.2.3.4", "[::1", "127.0.0.1:0"],
        "listen": ["127.0.0.1:0"]}),  # which does not go together with a PID
    "sim": (["-p", "fcfs", "-w", "ismail", "-n", "2"], {
        **COSTS, "hosts": HOSTS, "load": LOADS, "jobs": COUNTS, "policy": POLICIES,
        "procs": COUNTS, "replication": NUMBERS, "seed": NUMBERS, "speedup": SPEEDUPS,
        "workload": WORKLOADS, "extra-columns": WORDS, "paging": PAGINGS,
        "host-memory": SIZES[:5], "rank-memory": SIZES[:5], "link": SIZES[:6],
        "term": TERMS, "window": ["", "x", "1", ":x", "5:4", "1:1", "-1:5"]}),
    "sweep": (["-p", "fcfs", "-w", "ismail", "-n", "501"], {
        **COSTS, "hosts": HOSTS, "load": LOADS + ["1:2", "2:1:1", "1:2:0"],
        "jobs": COUNTS, "policy": POLICIES, "procs": COUNTS, "speedup": SPEEDUPS,
        "seed": NUMBERS, "workload": WORKLOADS, "workers": COUNTS,
        "level": PERCENTS + ["0"], "max": COUNTS, "min": COUNTS, "precision": PERCENTS,
        "se-precision": PERCENTS, "metric": WORDS, "paging": PAGINGS,
        "extra-columns": WORDS}),
    "size": ([], {
        "slowdown": PERCENTS[:-1] + ["0.9"], "delays-a-day": COUNTS, "confidence": PERCENTS + ["0", "2", "49"],
        "workload": WORKLOADS, "load": LOADS, "quiet": TIMES, "migrate-cost": TIMES,
        "runs": COUNTS + ["1"], "max": COUNTS, "workers": COUNTS, "seed": NUMBERS,
        "by": WORDS, "owners": ["x", "idle", "idle=-1", "night=0.5", "idle=1,idle=2"]}),
    "reproduce": (["schnor:S-4a"], {"workers": COUNTS, "seed": NUMBERS}),
    "policies": ([], {}),
    "compare": (["a", "b"], {"by": WORDS, "metric": WORDS, "procs": COUNTS, "skip": NUMBERS}),
}


# Names that may be anything, but must exist.
NAMES = {"controller": ["state-dir"], "agent": ["key", "run-dir"], "client": ["key"]}
# Options that are no settings of a configuration file.
NOT_SETTINGS = {"enrol", "revoke", "ready-fd"}


def wrong_line(exe, section, name, value):
    """A configuration file with that line is refused, with the number of the line."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "client.conf")
        with open(path, "w") as f:
            f.write(f"; as it should not be\n[{section}]\n{name} = {value}\n")
        words = ["hosts"] if section == "client" else [section, f"--config={path}"]
        r = subprocess.run([exe, *words], capture_output=True, timeout=300, text=True,
                           env={**os.environ, "STINT_TESTBED": d}, stdin=subprocess.DEVNULL)
    if r.returncode != 2 or r.stdout or \
            r.stderr.count("\n") != 1 or f"{path}:3: " not in r.stderr:
        return f"exit status {r.returncode}: {r.stderr[:200]!r}"
    return ""


def settings():
    """Section, name and value of each line that must be refused."""
    for section in ("controller", "agent"):
        for name, values in LINES[section][1].items():
            if name not in NOT_SETTINGS:
                yield from ((section, name, v) for v in values)
    yield from (("client", "controller", a) for a in ADDRESSES)
    for section, names in NAMES.items():
        yield from ((section, name, "") for name in names)
        yield section, "no-such-setting", "1"


def wrong(exe, words):
    try:
        r = subprocess.run([exe, *words], capture_output=True, timeout=300,
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
        free = FREE | FREE_OF.get(name, set())
        known = {o for o, valued in options(exe, name) if valued} - free
        if known != set(values) - free:
            bad += 1
            print(f"FAILED {name}: {sorted(known ^ (set(values) - free))} are not in both")
        for option, those in values.items():
            for value in those:
                line = [name, f"--{option}={value}", *words]
                # of several values the last one counts, or they are added up
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
    for section, name, value in settings():
        why, n = wrong_line(exe, section, name, value), n + 1
        if why:
            bad += 1
            print(f"FAILED {why}: [{section}] {name} = {value!r}")
    print(f"{n} command lines and files, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
