"""contest.py - one job among owners who come and go, under what different systems
do for owners (doc/design/61), and in the simulator

The same script of owners (stint-activity(5)) drives test hosts and simulator.
While an owner is there, bench/interactive works at that host: its delay is what
that owner bears."""
import json
import os
import subprocess
import sys
import tempfile
import time

import common
import bed
import rotating

HOSTS, RANKS, SPEED = 4, 2, round(0.9 * os.cpu_count() / 4, 2)
SECONDS = int(os.environ.get("SECONDS", 24))  # of the job, when nobody disturbs it
STAY, EACH = 8, 16  # how long an owner stays, and after how long the next one comes
# The hosts to which owners come: never all at once, and twice where the ranks begin.
VISITS = [0, 1, 0, 2, 3, 1, 2, 0, 3, 1, 2, 3] * 4

WAYS = {"moves": "stint", "begins anew": "stint:leave=anew,gain=100",
        "stands still": "stint:leave=still,gain=100",
        "stays": "stint:leave=not,gain=100"}
# The terms of a testbed's hosts, as `stint testbed up` writes them.
TERMS = ["quiet=0", "load=any", "memory=0", "disturb=1000", "give-back=10min"]


# What an owner's work takes of a host: a fifth of a processor.
LOAD = round(0.2 / SPEED, 3)


def script(path, load=0):
    """Add the load of owners who work to a script that has none of it."""
    with open(path, "w") as f:
        f.write("time,host,what,value\n")
        for host in range(HOSTS):  # in this order, so that all are known
            f.write(f"0,h{host + 1},owner,away\n")
        for n, host in enumerate(VISITS):
            f.write(f"{3 + n * EACH},h{host + 1},owner,here\n")
            if load:
                f.write(f"{3 + n * EACH},h{host + 1},load,{load}\n")
                f.write(f"{3 + n * EACH + STAY - 1},h{host + 1},load,0\n")
            f.write(f"{3 + n * EACH + STAY},h{host + 1},owner,away\n")
    return path


def ahead(b, host, on):
    """Hosts share this machine's processors: what an owner feels is to be their own host's, not
    what the job does at the others.  So theirs comes first while they work."""
    name = b.env["STINT_TESTBED"]
    for file, first, usual in (("cpu.shares", 262144, 1024),
                               ("cpu.weight", 10000, 100)):
        for top in ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup"):
            path = f"{top}/stint-testbed.{name}/{host}/{file}"
            if os.path.exists(path):
                with open(path, "w") as f:
                    f.write(str(first if on else usual))


def owner(b, host, seconds):
    ahead(b, host, True)
    return subprocess.Popen(
        [b.exe, "testbed", "exec", host,
         os.path.join(common.BUILD, "bench/interactive"), str(seconds)],
        env=b.env, text=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)


def owners_delay(processes):
    """The mean time in microseconds until a millisecond's work is done."""
    rows = []
    for p in processes:
        out, _ = p.communicate()
        rows += [tuple(map(int, line.split())) for line in out.splitlines()]
    return sum(late + took for _, late, took in rows) / max(len(rows), 1)


def visit(b, job):
    """The owners' work, at the times of the script, until the job is over."""
    began, at_work = time.monotonic(), []
    last = None
    for n, host in enumerate(VISITS):
        comes = began + 3 + n * EACH
        while time.monotonic() < comes and job.process.poll() is None:
            time.sleep(0.02)
        if job.process.poll() is not None:
            break
        if last:
            ahead(b, last, False)
        last = f"h{host + 1}"
        at_work.append(owner(b, last, STAY - 1))
    return at_work


def live(program, policy):
    """One live run: the seconds of the job, its moves, and the delay that owners felt."""
    with bed.Bed(common.BUILD, HOSTS, f"--speed={SPEED}",
                 f"--policy={policy}") as b:
        rotating.put_first(b)
        job = b.start(RANKS, *program.argv(), hosts=["h1", "h2"],
                      options=["--requeue"])
        began = time.monotonic()
        player = subprocess.Popen(
            [b.exe, "testbed", "play", script(b.dir + "/owners")], env=b.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            at_work = visit(b, job)
            if job.wait(600):
                raise bed.Failed(job.errors())
            took = time.monotonic() - began
        finally:
            player.terminate()
            player.wait()
        return {"seconds": took, "owners": owners_delay(at_work),
                "moves": rotating.moves_of(b, job)}


def undisturbed(program):
    """The seconds of the same job if no owner comes, with as many ranks as in live()."""
    with bed.Bed(common.BUILD, HOSTS, f"--speed={SPEED}",
                 "--policy=spread") as b:
        rotating.put_first(b)
        job = b.start(RANKS, *program.argv(), hosts=["h1", "h2"])
        began = time.monotonic()
        if job.wait(600):
            raise bed.Failed(job.errors())
        return time.monotonic() - began


def calm():
    """The delay that owners feel without a guest."""
    with bed.Bed(common.BUILD, 1, f"--speed={SPEED}") as b:
        rotating.put_first(b)
        return owners_delay([owner(b, "h1", 5)])


def move_costs(program):
    """What a move of that job's ranks costs, as options of the simulator."""
    reports = []
    with bed.Bed(common.BUILD, HOSTS, f"--speed={SPEED}") as b:
        rotating.put_first(b)
        job = b.start(RANKS, *program.argv(), hosts=["h1", "h2"])
        for to in ("h3", "h4", "h3", "h4", "h3"):
            reports.append(job.move(0, to))
        job.kill("-9")
        job.wait()
    link, held = 100e6, common.median([r["bytes_held"] for r in reports])
    total, still = (common.median([r[k] / 1e6 for r in reports])
                    for k in ("total_us", "downtime_us"))
    return [f"--link={link:.0f}", "--precopy", f"--rank-memory={held:.0f}",
            f"--rank-cost={max(0, total - held / link):.3f}s",
            f"--migrate-cost={still:.4f}s"]


def simulate(policy, seconds, folder, load, *costs):
    """The response time of the same job in the simulator."""
    swf = os.path.join(folder, "job.swf")
    with open(swf, "w") as f:
        f.write(f"; MaxProcs: {HOSTS}\n1 0 -1 {seconds:.0f} {RANKS} -1 -1 "
                f"{RANKS} -1 -1 1 1 1 -1 1 -1 -1 -1\n")
    r = common.run([common.STINT, "sim", "-p", policy, "--swf", swf, "--hosts",
                    f"{HOSTS}x1x1", "--requeue", "--speedup=linear",
                    f"--activity={script(folder + '/owners.csv', load)}", "--json",
                    *[f"--term={t}" for t in TERMS], *costs])
    if r.returncode:
        raise bed.Failed(r.stderr.strip())
    return json.loads(r.stdout)["response"]["mean"]


def tell(way, policy, program, unloaded, nobody, costs):
    run = live(program, policy)
    with tempfile.TemporaryDirectory() as folder:
        sim = simulate(policy, unloaded, folder, LOAD, *costs)
        # The policies whose moves cost nothing.
        oracle = simulate("stint", unloaded, folder, 0)
    common.say(f"a job among owners: it {way}", run["seconds"], "s",
               f"an oracle, {oracle:.1f} s", run["seconds"] / oracle, 1,
               moves=run["moves"], predicted=sim,
               predicted_to_measured=round(sim / run["seconds"], 3),
               owners_us=round(run["owners"]),
               owners_to_nobody=round(run["owners"] / nobody, 2))


def compare():
    program, nobody = rotating.Program("heat", None), calm()
    # A job of more ranks, which is done so much sooner.
    program.calibrate(SPEED, SECONDS * RANKS / rotating.RANKS)
    unloaded = undisturbed(program)
    costs = move_costs(program)
    print(f"# undisturbed {unloaded:.1f} s; moves: {' '.join(costs)}",
          file=sys.stderr)
    for way in os.environ.get("WAYS", ",".join(WAYS)).split(","):
        tell(way, WAYS[way], program, unloaded, nobody, costs)
