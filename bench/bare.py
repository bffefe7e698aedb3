"""bare.py - an MPI program over the hosts of a testbed without Stint"""
import threading

import common
import bed
import hydra
import orte

LONGEST = 300  # seconds


def read(program, name, until, seen=lambda: None):
    """
    What it printed, up to the line that begins so; then it is ended: MPI_Finalize of Debian's
    MPICH may never return over UCX and TCP.  seen() is called when that line has come.
    """
    out = []
    alarm = threading.Timer(LONGEST, program.end)
    alarm.start()
    for line in program.lines():
        out.append(line)
        if line.startswith(until):
            seen()
            break
    alarm.cancel()
    program.end()
    if not out or not out[-1].startswith(until):
        raise bed.Failed(f"{name}: no result: " + "".join(out))
    return "".join(out)


def run(b, hosts, argv, until, seen=lambda: None):
    """What it printed, one rank a host."""
    kind = orte.Orte if common.MPI == "openmpi" else hydra.Hydra
    return read(kind(b, hosts, argv), f"bare {common.MPI}", until, seen)
