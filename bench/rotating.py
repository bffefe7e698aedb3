"""rotating.py - rotating background load (Overeinder 2000 section 7.6.3)

Four ranks on the first of six test hosts; something else computes on one host
after the other, for so long each, round and round until the job is over.  Each
run has a testbed of its own, so that no load is remembered from the one before."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import common
import bed

RANKS, HOSTS = 4, 6
OURS = ("cg", "ep", "ft", "is", "lu", "mg")


class Program:
    """The program: a kernel of ours, the heat solver, or one of the NAS's."""

    def __init__(self, name, folder):
        self.name, self.steps = name, 0
        self.fixed = None  # the work of a binary was fixed when it was built
        if folder:
            self.fixed = os.path.join(folder, name)
        if self.fixed and not os.access(self.fixed, os.X_OK):
            sys.exit(f"decider: {self.fixed}: no such program")

    def argv(self):
        if self.fixed:
            return [self.fixed]
        if self.name == "heat":
            return [common.mpi("heat"), "-q", "-n", "2048", "-r", "1000000",
                    "-i", str(self.steps)]
        return [os.path.join(common.BUILD, "bench/kernels"), self.name,
                str(self.steps)]

    def calibrate(self, speed, seconds):
        """So many steps take that long when nothing disturbs them."""
        if self.fixed:
            return
        self.steps, enough = 4, min(3, seconds / 3)
        while True:
            try:
                took = run(self, "spread", speed, 0)["seconds"]
            except bed.Short:
                took = 0
            if took > enough:
                break
            # Start-up is in it, too: never the whole way at once.
            self.steps *= round(min(20, max(3, 1.5 * enough / (took + 0.01))))
        self.steps = max(1, round(self.steps * seconds / took))


def script(path, load):
    """An activity script: one host after the other is loaded for so many seconds."""
    with open(path, "w") as f:
        f.write("time,host,what,value\n")
        for n in range(3000):
            f.write(f"{n * load},h{n % HOSTS + 1},load,1\n")
            f.write(f"{(n + 1) * load},h{n % HOSTS + 1},load,0\n")
    return path


def seconds_of(text):
    m = re.search(r"(?:^[a-z]+: |Time in seconds *= *)([0-9.]+)", text, re.M)
    if not m:
        raise bed.Failed(f"it does not say how long it took: {text[-300:]}")
    return float(m.group(1))


def result_of(text):
    """The part of the output that must be the same in each run."""
    m = re.search(r"^result .*|^ *Verification *=.*", text, re.M)
    if not m or "UNSUCCESSFUL" in m.group(0):
        raise bed.Failed(f"no result, or a wrong one: {text[-300:]}")
    return m.group(0)


def keep_record(b, job, name):
    """What the decider saw and did, for somebody who wants to know why."""
    folder = os.environ.get("KEEP")
    if not folder:
        return
    for words in (["record"], ["why", str(job.number)]):
        with open(os.path.join(folder, f"{name}.{words[0]}"), "w") as f:
            f.write(b.stint(*words).stdout)


def moves_of(b, job):
    return sum(r["moves"] for j in b.ask("ps", "-a", str(job.number))
               for r in j["ranks"])


def put_first(b):
    """Lower the priority of all else that runs on this machine, as far as possible, below
    that of the test hosts and their controller."""
    name = b.env["STINT_TESTBED"]
    for path in glob.glob(f"/sys/fs/cgroup/cpu/stint-testbed.{name}"):
        with open(f"{path}/cpu.shares", "w") as f:
            f.write("65536")
    for path in glob.glob(f"/sys/fs/cgroup/stint-testbed.{name}/cpu.weight"):
        with open(path, "w") as f:
            f.write("10000")
    for tid in os.listdir(f"/proc/{b.service('controller')}/task"):
        os.setpriority(os.PRIO_PROCESS, int(tid), -15)


def set_average(b, average):
    """The time over which agents average the load that the policy is told."""
    for h in b.hosts:
        with open(f"{b.home}/{h}/stint.conf", "a") as f:
            f.write(f"[agent]\nload-average = {average}\n")
        b.restart(h)
        log = f"{b.home}/{h}/agent.log"
        if not bed.until(lambda: open(log).read().count(" connected") > 1):
            raise bed.Failed(f"the agent of {h} does not come back")
    if not bed.until(lambda: all(h["state"] == "up" for h in b.ask("hosts"))):
        raise bed.Failed("the agents do not come back")


def run(program, policy, speed, load, average=None):
    """One run: its seconds, its result, its moves, and how many hosts were loaded."""
    with bed.Bed(common.BUILD, HOSTS, f"--speed={speed}",
                 f"--policy={policy}") as b:
        put_first(b)
        if average:
            set_average(b, average)
        job = b.start(RANKS, *program.argv(),
                      hosts=b.hosts[:RANKS])
        began, player = time.monotonic(), None
        if load:
            player = subprocess.Popen(
                [b.exe, "testbed", "play", script(b.dir + "/load", load)],
                env=b.env, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL)
        try:
            if job.wait(1800):
                raise bed.Failed(job.errors())
            periods = (time.monotonic() - began) / load if load else 0
        finally:
            if player:
                player.terminate()
                player.wait()
        keep_record(b, job, f"{program.name}-{policy.partition(':')[0]}-{load}")
        text = job.text() + job.errors()
        return {"seconds": seconds_of(text), "result": result_of(text),
                "moves": moves_of(b, job), "periods": periods}


def simulate(policy, seconds, load, folder):
    """The seconds of the same job among the same loads in the simulator."""
    swf = os.path.join(folder, "job.swf")
    with open(swf, "w") as f:
        f.write(f"; MaxProcs: {HOSTS}\n1 0 -1 {seconds:.0f} {RANKS} -1 -1 "
                f"{RANKS} -1 -1 1 1 1 -1 1 -1 -1 -1\n")
    r = common.run([common.STINT, "sim", "-p", policy, "--swf", swf,
                    "--speedup=linear", f"--hosts={HOSTS}x1x1", "--no-terms",
                    f"--activity={script(folder + '/load', load)}",
                    "--link=100M", "--precopy", "--migrate-cost=50ms",
                    "--rank-cost=800ms", "--rank-memory=16M", "--json"])
    if r.returncode:
        raise bed.Failed(r.stderr.strip())
    return json.loads(r.stdout)["response"]["mean"]


def foretell(policy, seconds, load):
    """What bench/decider measures, as the simulator has it; None: no load came so soon."""
    seconds = round(seconds)
    with tempfile.TemporaryDirectory() as folder:
        with_it, without = (simulate(p, seconds, load, folder)
                            for p in (policy, "spread"))
    if without == seconds:
        return None
    return round((with_it - seconds) / (without - seconds), 3)


def machine():
    with open("/proc/cpuinfo") as f:
        model = re.search(r"model name\s*: (.*)", f.read())
    return {"cpus": os.cpu_count(), "model": model.group(1) if model else "",
            "kernel": os.uname().release, "load": os.getloadavg()[0]}


def save(path, line):
    """A line of a results file: what was measured, when, and where."""
    if not path:
        return
    line = {"date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "machine": machine(), **line}
    with open(path, "a") as f:
        f.write(json.dumps(line) + "\n")
