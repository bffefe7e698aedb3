#!/usr/bin/python3
"""many.py - very many jobs through one controller, which may not grow

    many.py [--jobs N] [--build DIR]

N jobs (a million) that do nothing come in arrays to a testbed of four hosts, two arrays
at a time.  The accounts of a tenth of them are kept, so that the store has stopped
growing after a fifth.  From then on

 - controller and agents do not grow, in memory or descriptors, nor does the store;
 - nothing is left of any job: processes, control groups, links, files, mounts (bed.py);
 - every job has ended well, and the last tenth of them have their accounts, one each.
"""
import os
import sys
import time

import bed

ARRAY = 1000
GROWTH = 4 << 20  # bytes that an allocator may take for itself all the same
CLOSED_LATE = 8   # descriptors: connections and timers of what has just ended


def size(folder):
    return sum(os.path.getsize(os.path.join(path, name))
               for path, _, names in os.walk(folder) for name in names)


def measured(b):
    """What may not grow, by name: the value, and by how much it may all the same."""
    found = {"the store": (size(f"{b.home}/controller"), 4 * GROWTH)}
    for name, memory in b.memory().items():
        found[f"the memory of {name}"] = memory, GROWTH
        found[f"the descriptors of {name}"] = \
            len(os.listdir(f"/proc/{b.service(name)}/fd")), CLOSED_LATE
    return found


def asked(b, *args):
    r = b.stint(*args, timeout=3600)
    if r.returncode:
        raise bed.Failed(f"{args[0]}: exit {r.returncode}: {r.stderr.strip()}")
    return r.stdout.split()[-1] if r.stdout else None


def through(b, jobs):
    """They are submitted, an array before the one before it has ended, and all end well."""
    before = None
    for _ in range(jobs // ARRAY):
        array = asked(b, "submit", "--array", f"1-{ARRAY}", "true")
        if before:
            asked(b, "wait", before)
        before = array
    asked(b, "wait", before)


def grown(before, after):
    return [f"{what}: {was} -> {after[what][0]}"
            for what, (was, more) in before.items() if after[what][0] > was + more]


def work(b, jobs):
    kept = jobs // 10
    b.restart("controller", f"--accounts={kept}", f"--record={kept}")
    b.stint("run", "true")
    things = b.things()
    began = time.monotonic()
    through(b, jobs // 5)
    b.nothing_new(things)
    before = measured(b)
    through(b, jobs - jobs // 5)
    took = time.monotonic() - began
    b.nothing_new(things)
    trouble = grown(before, measured(b))
    if trouble:
        raise bed.Failed("; ".join(trouble))
    accounts = [j["job"] for j in b.ask("history")]
    if len(set(accounts)) != len(accounts) or not kept <= len(accounts) <= 1.1 * kept:
        raise bed.Failed(f"{len(accounts)} accounts of {len(set(accounts))} jobs, not {kept}")
    return f"{jobs} jobs, {jobs / took:.0f} a second; " + ", ".join(
        f"{what} {was}" for what, (was, _) in before.items())


def main():
    p = bed.parser(seed=False)
    p.add_argument("--jobs", type=int, default=1000000)
    opts = p.parse_args()
    if opts.jobs < 10 * ARRAY:
        p.error(f"--jobs: at least {10 * ARRAY}")
    return bed.main(opts, lambda b: work(b, opts.jobs), 4, what=f"{opts.jobs} jobs")


if __name__ == "__main__":
    sys.exit(main())
