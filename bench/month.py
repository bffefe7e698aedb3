"""month.py FILE: a month of 60 owned hosts as an activity script

People come and go by the law of src/sim/workload/owners_law.h with its defaults,
as agents would have recorded it that look every 2 s."""
import math
import random
import sys

HOSTS, DAYS, SAMPLE = 60, 30, 2
IDLE, IDLE_SIGMA, PEOPLE = 180, 2.2, 0.6
BUSY, BUSY_SIGMA, COMPUTE, BURST, GAP, NIGHT = 300, 1.2, 0.2, 20, 180, 3


def sample(t):
    return int(t / SAMPLE) * SAMPLE


def bursts(rng, begin, end):
    """Load by computing, while somebody types."""
    t = begin + rng.expovariate(1 / GAP)
    while t < end:
        until = t + rng.expovariate(1 / BURST)
        yield t, "load", 1
        yield min(until, end), "load", 0
        t = until + rng.expovariate(1 / GAP)


def busy(rng, begin, end):
    if rng.random() < COMPUTE:
        return [(begin, "load", 1), (end, "load", 0)]
    return [(begin, "owner", "here"), (begin, "keyboard", "busy"),
            *bursts(rng, begin, end),
            (end, "keyboard", "idle"), (end, "owner", "away")]


def person(rng):
    idle = math.log(IDLE * rng.lognormvariate(0, PEOPLE))
    t = 0
    while True:
        night = 1 if 9 <= t % 86400 / 3600 < 19 else NIGHT
        t += SAMPLE + rng.lognormvariate(idle, IDLE_SIGMA) * night
        if t >= DAYS * 86400:
            return
        end = t + SAMPLE + rng.lognormvariate(math.log(BUSY), BUSY_SIGMA)
        yield from busy(rng, t, end)
        t = end


rng = random.Random(1)
lines = [(sample(t), f"h{h + 1}", what, value)
         for h in range(HOSTS) for t, what, value in person(rng)]
with open(sys.argv[1], "w") as f:
    f.write("time,host,what,value\n")
    for line in sorted(lines, key=lambda x: x[0]):
        f.write("%d,%s,%s,%s\n" % line)
