"""hydra.py - bare MPICH over the hosts of a testbed

mpiexec runs in the first host and says which proxy it wants where; each is
started in its host by hand, as ssh would on real ones."""
import re
import subprocess
import threading

import common  # noqa: F401 (it says where bed is)
import bed

ENV = ["env", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=eth0"]


def run(b, hosts, argv, until, seconds=300):
    """All that the program printed up to the line that begins with until, one
    rank a host.  Then it is ended: MPI_Finalize of this MPICH may never
    return over UCX and TCP."""
    addresses = ",".join(f"10.77.0.{h[1:]}" for h in hosts)
    p = subprocess.Popen([b.exe, "testbed", "exec", hosts[0], *ENV,
                          "mpiexec.mpich", "-launcher", "manual", "-hosts",
                          addresses, "-iface", "eth0", "-n", str(len(hosts)),
                          "-ppn", "1", *argv],
                         env=b.env, text=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    alarm = threading.Timer(seconds, p.kill)
    alarm.start()
    started, out = [p], []
    for line in p.stdout:
        m = re.match(r"HYDRA_LAUNCH: (.*?--proxy-id (\d+))\s*$", line)
        if m:
            started.append(subprocess.Popen(
                [b.exe, "testbed", "exec", hosts[int(m.group(2))], *ENV,
                 *m.group(1).split()], env=b.env, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        elif not line.startswith("HYDRA_LAUNCH"):
            out.append(line)
        if line.startswith(until):
            break
    else:
        out.append("(no result)")
    alarm.cancel()
    for q in reversed(started):
        q.kill()  # its program ends with the testbed
        q.wait()
    p.stdout.close()
    if out[-1] == "(no result)":
        raise bed.Failed("bare MPICH: " + "".join(out))
    return "".join(out)
