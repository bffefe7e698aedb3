"""orte.py - bare Open MPI over the hosts of a testbed

mpirun runs in the first host; what it would start by ssh in the others is
started by `stint testbed exec`."""
import os
import subprocess

import common  # noqa: F401 (it says where bed is)

AGENT = """#!/bin/sh
host=h${1##*.}
shift
exec "$STINT" testbed exec "$host" sh -c "$*"
"""


class Orte:
    """A program that runs, one rank per host."""

    def __init__(self, b, hosts, argv):
        agent = os.path.join(b.dir, "agent")
        with open(agent, "w") as f:
            f.write(AGENT)
        os.chmod(agent, 0o755)
        addresses = ",".join(f"10.77.0.{h[1:]}:1" for h in hosts)
        self.mpirun = subprocess.Popen(
            [b.exe, "testbed", "exec", hosts[0], "mpirun.openmpi",
             "--allow-run-as-root", "--mca", "plm_rsh_agent", agent, "--mca",
             "btl", "self,tcp", "--mca", "btl_tcp_if_include", "eth0", "--mca",
             "oob_tcp_if_include", "eth0", "--bind-to", "none", "--map-by",
             "node", "--host", addresses, "-np", str(len(hosts)), *argv],
            env=dict(b.env, STINT=b.exe), text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def lines(self):
        """What the program prints."""
        yield from self.mpirun.stdout

    def end(self):
        """If mpirun is ended it ends its ranks, wherever they are."""
        self.mpirun.terminate()
        self.mpirun.wait()
