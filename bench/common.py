"""common.py - what the benchmarks of moves share"""
import json
import os
import select
import signal
import statistics
import subprocess
import sys
import time

BUILD = os.environ.get("STINT_BUILD") or sys.exit("STINT_BUILD is not set")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MPI = os.environ.get("MPI", "mpich")  # or openmpi
STINT = os.path.join(BUILD, "src/cmd/stint")
sys.path.insert(0, os.path.join(ROOT, "tests/move"))
sys.path.insert(0, os.path.join(ROOT, "tests/mpi"))


def check(name):
    return os.path.join(BUILD, "tests/move/check-" + name)


def mpi(name, which=MPI):
    """The path of a program of tests/mpi, or of the example solver, built with that MPI."""
    if which == "openmpi":
        return os.path.join(BUILD, "tests/mpi", name + "-openmpi")
    folder = "examples" if name == "heat" else "tests/mpi"
    return os.path.join(BUILD, folder, name)


def say(what, value, unit, peer=None, ratio=None, n=1, **more):
    """Print one result; ratio is the value over the peer's, or over the bound."""
    line = {"what": what, "value": round(value, 3), "unit": unit,
            "peer": peer, "ratio": None if ratio is None else round(ratio, 3),
            "n": n}
    print(json.dumps({**line, **more}), flush=True)


def median(values):
    return statistics.median(values)


def run(argv, **kw):
    kw.setdefault("timeout", 300)
    return subprocess.run(argv, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, **kw)


def spawned(words, env, patience=600):
    """What a program prints, as bytes. By posix_spawn(): to fork this process takes as long as
    a short job."""
    theirs, ours = os.pipe2(os.O_CLOEXEC)
    files = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
             (os.POSIX_SPAWN_DUP2, ours, 1)]
    pid = os.posix_spawn(words[0], words, env, file_actions=files)
    os.close(ours)
    pieces, end = [], time.monotonic() + patience
    with open(theirs, "rb", buffering=0) as f:
        while select.select([f], [], [], max(0, end - time.monotonic()))[0]:
            pieces.append(f.read(1 << 16))
            if not pieces[-1]:
                break
        else:
            os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    if status:
        sys.exit("%s: wait status %d" % (" ".join(words), status))
    return b"".join(pieces)
