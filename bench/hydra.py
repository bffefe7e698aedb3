"""hydra.py - bare MPICH over the hosts of a testbed

mpiexec runs in the first host and says which proxy it wants where; each is
started in its host by hand, as ssh would on real ones."""
import re
import subprocess

import common  # noqa: F401 (it says where bed and procs are)
import procs

ENV = ["env", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=eth0"]


class Hydra:
    """A program that runs, one rank per host."""

    def __init__(self, b, hosts, argv):
        addresses = ",".join(f"10.77.0.{h[1:]}" for h in hosts)
        self.bed, self.hosts, self.started = b, hosts, []
        self.mpiexec = self.start(
            hosts[0], "mpiexec.mpich", "-launcher", "manual", "-hosts",
            addresses, "-iface", "eth0", "-n", str(len(hosts)), "-ppn", "1",
            *argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def start(self, host, *argv, stdout=subprocess.DEVNULL,
              stderr=subprocess.DEVNULL):
        p = subprocess.Popen(
            [self.bed.exe, "testbed", "exec", host, *ENV, *argv],
            env=self.bed.env, text=True, stdin=subprocess.DEVNULL,
            stdout=stdout, stderr=stderr)
        self.started.append(p)
        return p

    def lines(self):
        """What the program prints."""
        for line in self.mpiexec.stdout:
            m = re.match(r"HYDRA_LAUNCH: (.*?--proxy-id (\d+))\s*$", line)
            if m:
                self.start(self.hosts[int(m.group(2))], *m.group(1).split())
            elif not line.startswith("HYDRA_LAUNCH"):
                yield line

    def end(self):
        """In this order, because a process that is killed first cannot end those it
        started."""
        ranks = [p for q in self.started if q.poll() is None
                 for p in procs.descendants(q.pid)]
        for q in reversed(self.started):
            q.kill()
        procs.end(ranks)
        for q in self.started:
            q.wait()
