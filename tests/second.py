#!/usr/bin/env python3
"""second.py POLICY[:k=v,...] TRACE PROCS - a second, tiny implementation
second.py trace SEED JOBS PROCS SCALE - a trace to play, its times multiplied by SCALE

The schedule that a policy makes, by its definition and by nothing of Stint's: lists
that are gone through from the start at every instant.  Prints a line a job, in the
order (submit, id): id,start,end.  TRACE is in the Standard Workload Format, clean
(sorted, complete, estimates not below run times).

At one instant: all ends, then all arrivals, then one pass (spec: simulation.md §9).
"""

import random
import sys


class Job:
    def __init__(self, field):
        f = [int(x) for x in field]
        self.id, self.submit, self.run = f[0], f[1], f[3]
        self.size, self.estimate, self.user = f[7], f[8], f[11]
        self.start = self.end = None
        self.slot = None


class Machine:
    """What a pass sees: the time, the waiting jobs in order, the running ones, free
    processors."""

    def __init__(self, procs):
        self.procs = self.free = procs
        self.now, self.waiting, self.running = 0, [], []
        self.early = False

    def start(self, job):
        assert job.size <= self.free and job.start is None
        self.free -= job.size
        job.start, job.end = self.now, self.now + job.run
        self.waiting.remove(job)
        self.running.append(job)


def play(jobs, machine, policy):
    """Every job's start and end."""
    todo = list(jobs)
    while todo or machine.running or machine.waiting:
        times = [j.end for j in machine.running] + [j.submit for j in todo[:1]]
        times += policy.timers(machine)
        machine.now = min(t for t in times)
        machine.early = False
        for j in [j for j in machine.running if j.end == machine.now]:
            machine.running.remove(j)
            machine.free += j.size
            machine.early |= j.run < j.estimate
            policy.ended(machine, j)
        while todo and todo[0].submit == machine.now:
            machine.waiting.append(todo[0])
            policy.arrived(machine, todo.pop(0))
        policy.decide(machine)


class Policy:
    def timers(self, m):
        return []

    def ended(self, m, job):
        pass

    def arrived(self, m, job):
        pass


def shadow(m, head):
    """When head can start by the estimates of running jobs, and what it leaves over."""
    free, at = m.free, m.now
    for j in sorted(m.running, key=lambda j: j.start + j.estimate):
        if free >= head.size:
            break
        free, at = free + j.size, j.start + j.estimate
    free = m.free + sum(j.size for j in m.running if j.start + j.estimate <= at)
    return at, free - head.size


def in_order(m, order, fit, fill=None):
    """Heads of the order start while they fit; for those behind the first that does not,
    see fit."""
    order = list(order)
    while order and order[0].size <= m.free:
        m.start(order.pop(0))
    if not order or fit == "block":
        return
    head, rest = order[0], order[1:]
    at, extra = shadow(m, head)
    for j in sorted(rest, key=fill) if fill else rest:
        if j.size > m.free:
            continue
        if fit == "skip" or m.now + j.estimate <= at:
            m.start(j)
        elif j.size <= extra:
            extra -= j.size
            m.start(j)


class Scored(Policy):
    """By decreasing score(m, job); ties by arrival."""

    default = "easy"

    def __init__(self, fit=None, fill="fcfs"):
        self.fit, self.fill = fit or self.default, FILL[fill]

    def score(self, m, job):
        return 0

    def decide(self, m):
        order = sorted(m.waiting, key=lambda j: (-self.score(m, j), j.submit, j.id))
        in_order(m, order, self.fit, self.fill)


FILL = {
    "fcfs": None,
    "sjf": lambda j: (j.estimate, j.submit, j.id),
    "smallest": lambda j: (j.size, j.submit, j.id),
    "largest": lambda j: (-j.size, j.submit, j.id),
}


class Sjf(Scored):
    """The shortest estimate first."""

    default = "block"

    def score(self, m, job):
        return -job.estimate


class Lxf(Scored):
    """Expansion factor: (wait + estimate) / estimate."""

    def score(self, m, job):
        return (m.now - job.submit + job.estimate) / job.estimate


class Wfp(Scored):
    """WFP3: (wait / estimate) cubed, times the processors."""

    def score(self, m, job):
        return ((m.now - job.submit) / job.estimate) ** 3 * job.size


class Multifactor(Scored):
    """Slurm: age, fair share 2^(-U/S) with S = 1 / users, and size."""

    def __init__(self, age="1000", fair="10000", size="1000", half_life="604800",
                 max_age="604800", fit=None):
        super().__init__(fit)
        self.age, self.fair, self.size = float(age), float(fair), float(size)
        self.half, self.max_age = float(half_life), float(max_age)
        self.done, self.users = [], set()

    def arrived(self, m, job):
        self.users.add(job.user)

    def ended(self, m, job):
        self.done.append(job)

    def used(self, m, job):
        """Processor seconds; those used t seconds ago count 2^(-t/half)."""
        end = min(m.now, job.end)
        # The integral of size * 2^(-(now - t)/half) from start to end.
        tau = self.half / 0.6931471805599453
        return job.size * tau * (2 ** (-(m.now - end) / self.half)
                                 - 2 ** (-(m.now - job.start) / self.half))

    def decide(self, m):
        self.use = {}
        for j in self.done + m.running:
            self.use[j.user] = self.use.get(j.user, 0) + self.used(m, j)
        self.total = sum(self.use.values())
        super().decide(m)

    def score(self, m, job):
        share = self.use.get(job.user, 0) / self.total if self.total else 0
        return (self.age * min(1, (m.now - job.submit) / self.max_age)
                + self.fair * 2 ** (-share * len(self.users))
                + self.size * job.size / m.procs)


class Nqs(Policy):
    """Schnor 1997 section 1.6.1: FIFO queues, aging by the hour, block priority."""

    def __init__(self, short="3600", medium="14400", age="0.1", block="15"):
        self.limits = [int(short), int(medium), float("inf")]
        self.age, self.block = float(age), float(block)

    def priority(self, m, job):
        base = (12, 11, 10)[self.queue(job)]
        return base + self.age * (m.now - job.submit) / 3600

    def queue(self, job):
        return [job.estimate <= l for l in self.limits].index(True)

    def decide(self, m):
        stuck = set()
        while True:
            heads = {}
            for j in m.waiting:
                heads.setdefault(self.queue(j), j)
            heads = [j for q, j in heads.items() if q not in stuck]
            if not heads:
                return
            j = min(heads, key=lambda j: (-self.priority(m, j), j.submit, j.id))
            if j.size <= m.free:
                m.start(j)
            elif self.priority(m, j) >= self.block:
                return
            else:
                stuck.add(self.queue(j))


def holes(m, taken):
    """Free processors as steps (time, free), after what runs and (start, job)s."""
    change = {}
    for j in m.running:
        end = j.start + j.estimate
        change[end] = change.get(end, 0) + j.size
    for at, j in taken:
        change[at] = change.get(at, 0) - j.size
        change[at + j.estimate] = change.get(at + j.estimate, 0) + j.size
    free = m.free + change.pop(m.now, 0)
    steps = [(m.now, free)]
    for t in sorted(change):
        free += change[t]
        steps.append((t, free))
    return steps


def earliest(steps, job):
    """The first start at which job's processors are free for its estimate."""
    for i, (at, free) in enumerate(steps):
        if free < job.size:
            continue
        if all(f >= job.size for t, f in steps[i:] if t < at + job.estimate):
            return at
    raise AssertionError("the machine is too small")


class Conservative(Policy):
    """
    The textbook (Mu'alem and Feitelson 2001): a reservation at arrival; after an end
    that came early, in the order of the queue, each job's is put into the earliest
    hole.  slots=kinds: jobs of one size and estimate have their reservations in
    common; then, kind by kind in the order of their first jobs, each hole from the
    earliest on is taken by the last reservation of the kind that it betters.
    """

    def __init__(self, slots="jobs", depth="-1"):
        self.kinds = slots == "kinds"
        self.depth = int(depth) if int(depth) >= 0 else float("inf")

    def timers(self, m):
        return [j.slot for j in m.waiting if j.slot is not None]

    def reserved(self, m, but=None):
        return [(j.slot, j) for j in m.waiting if j.slot is not None and j is not but]

    def decide(self, m):
        if m.early:
            self.improve_kinds(m) if self.kinds else self.improve(m)
        self.due(m)
        for j in list(m.waiting):
            if j.slot is None and len(self.reserved(m)) < self.depth:
                j.slot = earliest(holes(m, self.reserved(m)), j)
                self.due(m)
        for j in [j for j in m.waiting if j.slot is None]:
            if earliest(holes(m, self.reserved(m)), j) == m.now:
                j.slot = m.now
                self.due(m)

    def due(self, m):
        for j in [j for j in m.waiting if j.slot == m.now]:
            m.start(j)

    def improve(self, m):
        for j in [j for j in m.waiting if j.slot is not None]:
            j.slot = earliest(holes(m, self.reserved(m, j)), j)

    def improve_kinds(self, m):
        kinds = {}
        for j in m.waiting:
            if j.slot is not None:
                kinds.setdefault((j.size, j.estimate), []).append(j)
        for kind in kinds.values():
            while self.improve_kind(m, kind):
                pass

    def improve_kind(self, m, kind):
        best = None
        for j in kind:
            at = earliest(holes(m, self.reserved(m, j)), j)
            if at < j.slot:
                best = min(best or (at, 0), (at, -j.slot))
        if not best:
            return False
        slots = sorted(j.slot for j in kind)
        slots.remove(-best[1])
        for j, slot in zip(kind, sorted(slots + [best[0]])):
            j.slot = slot
        return True


class Dynamic:
    """
    Ismail 1995 section 4.3, linear speedup: at each arrival and end all processors are
    divided anew, what a job has left to do going on at so much a second.
    """

    def divide(self, procs, jobs):
        raise NotImplementedError

    def play(self, jobs, procs):
        todo, here, now = list(jobs), [], 0
        while todo or here:
            ends = [now + j.left / j.n for j in here if j.n]
            then = min(ends + [j.submit for j in todo[:1]])
            for j in here:
                j.left -= j.n * (then - now)
            now = then
            for j in [j for j in here if j.left <= 1e-4]:
                j.end = now
                here.remove(j)
            while todo and todo[0].submit <= now + 1e-4:
                todo[0].left, todo[0].n = todo[0].size * todo[0].run, 0
                here.append(todo.pop(0))
            some = here[:procs]  # one processor at least: the earliest
            for j, n in zip(some, self.divide(procs, some)):
                j.n = n
                j.start = now if j.start is None else j.start


def hand_out(jobs, share, left):
    """One each to those that lack some, again and again."""
    while left > 0 and any(n < j.size for j, n in zip(jobs, share)):
        for i, j in enumerate(jobs):
            if left and share[i] < j.size:
                share[i] += 1
                left -= 1
    return share


class Deqp(Dynamic):
    """Each min(n, P/M); the rest one by one in the order of increasing n."""

    def divide(self, procs, jobs):
        order = sorted(jobs, key=lambda j: (j.size, j.submit, j.id))
        share = [min(j.size, procs // len(jobs)) for j in order]
        share = dict(zip(order, hand_out(order, share, procs - sum(share))))
        return [share[j] for j in jobs]


class Dprop(Dynamic):
    """
    Each max(1, n/ff), ff = max(1, T/P); the rest to the earliest, one each.  If that
    one is more than there are, the largest share gives one up, of equals the latest.
    """

    def divide(self, procs, jobs):
        total = max(procs, sum(j.size for j in jobs))
        share = [max(1, j.size * procs // total) for j in jobs]
        while sum(share) > procs:
            i = max(range(len(jobs)), key=lambda i: (share[i], i))
            share[i] -= 1
        return hand_out(jobs, share, procs - sum(share))


POLICIES = {
    "deqp": Deqp,
    "dprop": Dprop,
    "easy": Scored,
    "sjf": Sjf,
    "lxf": Lxf,
    "wfp": Wfp,
    "multifactor": Multifactor,
    "nqs": Nqs,
    "conservative": Conservative,
    "backfill": Conservative,
}


def trace(seed, jobs, procs, scale):
    """Ties, bursts, estimates that are right, too long, and far too long."""
    r = random.Random(seed)
    t = 0
    print(f"; MaxProcs: {procs}")
    for i in range(1, jobs + 1):
        t += r.choice([0, 0, 1, 5, 20, 60]) * scale * r.randint(1, 3)
        size = r.choice([1, 1, 2, 3, 4, 8, procs // 2, r.randint(1, procs)])
        run = r.choice([10, 30, 100, 300, r.randint(1, 400)]) * scale
        estimate = max(run, r.choice([run, run, 2 * run, 500 * scale, 1000 * scale]))
        print(i, t, -1, run, size, -1, -1, size, estimate, -1, 1, r.randint(1, 4), "1 -1 1 -1 -1 -1")


def number(x):
    return x if isinstance(x, int) else f"{x:.2f}"


def main():
    if sys.argv[1] == "trace":
        trace(*map(int, sys.argv[2:]))
        return
    name, _, text = sys.argv[1].partition(":")
    params = dict(kv.split("=") for kv in text.split(",") if kv)
    params = {k.replace("-", "_"): v for k, v in params.items()}
    with open(sys.argv[2]) as f:
        jobs = [Job(line.split()) for line in f if line[0] != ";"]
    jobs.sort(key=lambda j: (j.submit, j.id))
    policy, procs = POLICIES[name](**params), int(sys.argv[3])
    if isinstance(policy, Dynamic):
        policy.play(jobs, procs)
    else:
        play(jobs, Machine(procs), policy)
    for j in jobs:
        print(f"{j.id},{number(j.start)},{number(j.end)}")


if __name__ == "__main__":
    main()
