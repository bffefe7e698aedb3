"""bare.py - an MPI program over the hosts of a testbed without Stint"""
import common
import hydra
import orte


def run(b, hosts, argv, until):
    """What it printed, one rank a host, up to the line that begins so."""
    if common.MPI == "openmpi":
        return orte.run(b, hosts, argv)
    return hydra.run(b, hosts, argv, until)
