"""capsules.py - an MPI program over the hosts of a testbed under Stint, read as the bare one
is: nobody looks every few milliseconds how far it is, which on two cores would keep its ranks
from their work"""
import subprocess

import bare


class Capsules:
    """A program that runs, one rank per host."""

    def __init__(self, b, hosts, argv):
        self.client = subprocess.Popen(
            [b.exe, "run", f"-n{len(hosts)}", "--hosts", ",".join(hosts),
             *argv], env=b.env, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def lines(self):
        """What the program prints."""
        yield from self.client.stdout

    def end(self):
        """A client that is told to end ends its job."""
        self.client.terminate()
        self.client.wait()


def run(b, hosts, argv, until):
    """As bare.run()."""
    return bare.read(Capsules(b, hosts, argv), "under Stint", until)
