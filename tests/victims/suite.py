"""suite.py - MPICH's own tests, as somebody has built them below a folder

Its testlist files (test/mpi of its source; none of it is here) name a program, its
number of processes and what else it needs on each line:

    NAME N [arg=WORD]... [env=NAME=VALUE]... [KEY=VALUE]...

Each program that is there becomes a victim whose MPI calls begin late (dawdle.c);
one that is right prints "No Errors".  Those that are not meant to are left out: known
failures of MPICH (xfail), and what tests a launcher by how it ends (resultTest).
"""
import os

KEEP = "(?i)No Errors"


def lines_of(path):
    """(name, processes, pairs) of what a testlist names."""
    with open(path) as f:
        for line in f:
            words = line.split("#")[0].split()
            if len(words) > 1 and words[1].isdigit():
                yield words[0], int(words[1]), [
                    w.split("=", 1) for w in words[2:] if "=" in w]


def named(pairs, key):
    return [value for k, value in pairs if k == key]


def tests_of(path, top):
    """(name, processes, argv), each one once."""
    where = os.path.dirname(path)
    tests = {}
    for name, ranks, pairs in lines_of(path):
        program = os.path.join(where, name)
        if ranks < 2 or not os.access(program, os.X_OK) or \
                named(pairs, "xfail") or named(pairs, "resultTest"):
            continue
        args = named(pairs, "arg")
        key = "/".join([os.path.relpath(program, top), str(ranks), *args])
        env = named(pairs, "env")
        tests[key] = key, ranks, [*(["env", *env] if env else []), program,
                                  *args]
    return list(tests.values())


def below(top):
    """All testlists below a folder, whatever links lead there."""
    return [t for path, _, names in sorted(os.walk(top, followlinks=True))
            if "testlist" in names
            for t in tests_of(os.path.join(path, "testlist"), top)]
