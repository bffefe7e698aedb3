"""common.py - what the benchmarks of moves share"""
import json
import os
import statistics
import subprocess
import sys

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
