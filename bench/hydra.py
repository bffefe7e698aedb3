"""hydra.py - bare MPICH over the hosts of a testbed

mpiexec runs in the first host and says which proxy it wants where; each is
started in its host by hand, as ssh would on real ones."""
import re
import subprocess

import common  # noqa: F401 (it says where bed is)
import bed

ENV = ["env", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=eth0"]


def run(b, hosts, argv, seconds=600):
    """All that the program printed, stdout and stderr; one rank a host."""
    addresses = ",".join(f"10.77.0.{h[1:]}" for h in hosts)
    p = subprocess.Popen([b.exe, "testbed", "exec", hosts[0], *ENV,
                          "mpiexec.mpich", "-launcher", "manual", "-hosts",
                          addresses, "-iface", "eth0", "-n", str(len(hosts)),
                          "-ppn", "1", *argv],
                         env=b.env, text=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    proxies, out = [], []
    for line in p.stdout:
        m = re.match(r"HYDRA_LAUNCH: (.*?--proxy-id (\d+))\s*$", line)
        if m:
            proxies.append(subprocess.Popen(
                [b.exe, "testbed", "exec", hosts[int(m.group(2))], *ENV,
                 *m.group(1).split()], env=b.env, stdin=subprocess.DEVNULL))
        elif not line.startswith("HYDRA_LAUNCH"):
            out.append(line)
    status = p.wait(seconds)
    for q in proxies:
        q.wait(60)
    if status:
        raise bed.Failed(f"bare MPICH ended with {status}: {''.join(out)}")
    return "".join(out)
