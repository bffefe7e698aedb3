#!/usr/bin/python3
"""victims.py - programs that nobody here wrote, moved at random

    victims.py [--moves N] [--seed N] [--parallel N] [--only REGEX]
               [--longest SECONDS] [--minutes N] [--ranks N] [LIST...]

LISTs (those beside this file) say what to run: a line is NAME, RANKS,
FOOD, KEEP and COMMAND, with tabs between.  FOOD is what comes on standard input
until all moves are done (jobs.py), or late if nothing does and MPI calls are to
begin late (dawdle.c), or -; KEEP a regular expression of the lines of output that
are the same each time (of them its groups, if it has some), or -; a word that
begins with @ is a path from where the list is, with % one below the folder that
VICTIMS names.  What is not installed is skipped: the program, and, if a script starts
it, what `env NEEDS=PROGRAM` before that names.

VICTIMS=DIR adds what somebody has put into a folder, which must not lie in /tmp,
where a rank does not see it: its *.list, MPICH's own tests (suite.py), and each
program below it that is told by SIGTERM when to verify (told.py).  Ends with a
table; the exit status is 1 if a program did otherwise than when it is not moved.
"""
import argparse
import collections
import concurrent.futures
import glob
import os
import re
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, d) for d in ("", "../mpi", "../move")]
import jobs  # noqa: E402
import suite  # noqa: E402
import told  # noqa: E402
from bed import Bed, Failed  # noqa: E402
from drive import adopt_orphans  # noqa: E402


LISTS = ("small.list", "programs.list", "apps.list", "osu.list", "nas.list",
         "mpi4py.list")


def victims_of(path, folder):
    where = os.path.dirname(os.path.abspath(path)) + "/"
    with open(path) as f:
        return [jobs.Victim.of_line(line, where, folder) for line in f
                if line.strip() and not line.startswith("#")]


def victims_below(folder):
    found = [v for path in sorted(glob.glob(os.path.join(folder, "*.list")))
             for v in victims_of(path, folder)]
    return found + [jobs.Victim(name, ranks, "late", suite.KEEP, argv)
                    for name, ranks, argv in suite.below(folder)]


def told_below(top):
    return sorted(os.path.join(path, n) for path, _, names in os.walk(top)
                  for n in names if told.is_told(os.path.join(path, n)))


class Table:
    def __init__(self):
        self.states, self.lock = collections.Counter(), threading.Lock()
        print("%-24s %-10s %5s %9s  %s" % (
            "PROGRAM", "RESULT", "MOVES", "WORST ms", "WHY"), flush=True)

    def add(self, name, result):
        state, moves, worst, words = result
        with self.lock:
            self.states[state] += 1
            print("%-24s %-10s %5d %9.1f  %s" % (
                name, state, moves, worst / 1000, words), flush=True)

    def status(self):
        print(", ".join(f"{n} {state}" for state, n in
                        sorted(self.states.items())))
        return 1 if self.states["WRONG"] or not self.states["as unmoved"] else 0


def run_jobs(opts, table, victims):
    """Side by side on one testbed."""
    if not victims:
        return
    hosts = max(3, max(v.ranks for v in victims) + 1)
    with Bed(opts.build, hosts) as bed, \
            concurrent.futures.ThreadPoolExecutor(opts.parallel) as pool:
        def one(v):
            if time.monotonic() > opts.end:
                return table.add(v.name, ("skipped", 0, 0, "no time left"))
            return table.add(v.name, jobs.run(bed, v, opts.moves, opts.seed,
                                              opts.longest))
        list(pool.map(one, victims))


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=os.environ.get("STINT_BUILD", "build"))
    p.add_argument("--moves", type=int, default=5)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--parallel", type=int, default=2)
    p.add_argument("--longest", type=float, default=300,
                   help="seconds that a program may be moved, and then go on")
    p.add_argument("--only", type=re.compile, metavar="REGEX")
    p.add_argument("--minutes", type=float, default=float("inf"),
                   help="begin none after that")
    p.add_argument("--ranks", type=int, default=9,
                   help="skip what wants more of them")
    p.add_argument("list", nargs="*")
    opts = p.parse_args()
    opts.build = os.path.abspath(opts.build)
    opts.end = time.monotonic() + 60 * opts.minutes
    return opts


def main():
    opts = options()
    folder = os.environ.get("VICTIMS")
    folder = folder and os.path.abspath(folder)
    lists = opts.list or [os.path.join(HERE, name) for name in LISTS]
    victims = [v for path in lists for v in victims_of(path, folder)]
    programs = []
    if folder and not opts.list:
        victims += victims_below(folder)
        programs = told_below(folder)

    def wanted(name):
        return not opts.only or opts.only.search(name)
    table = Table()
    try:
        run_jobs(opts, table, [v for v in victims if wanted(v.name) and
                               v.ranks <= opts.ranks])
    except Failed as e:
        print(f"victims: {e}", file=sys.stderr)
        return 1
    adopt_orphans()
    for path in programs:
        if wanted(os.path.basename(path)):
            table.add(os.path.basename(path),
                      told.run(opts.build, path, opts.moves, opts.seed))
    return table.status()


if __name__ == "__main__":
    sys.exit(main())
