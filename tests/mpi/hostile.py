#!/usr/bin/python3
"""hostile.py - ranks that lie to their keepers (liar.py), beside a job that does not

    hostile.py [HOW]...

For each way to lie: nobody's memory grows beyond a bound, the other job's fences
and keys stay its own, the controller answers, and afterwards nothing is left.
"""
import os
import sys
import time

import bed
from procs import memory, processes, until

LIAR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "liar.py")
MIB = 1 << 20
# More than each had before.  A keeper may hold all the keys that there can be, and once
# more as answers (src/pmi/pmi.h), other processes a few unions of a barrier.
KEEPER, SERVICE = 200 * MIB, 80 * MIB
ANSWERS = 30  # seconds: this bounds not the speed, but that there is an answer


# What both ranks print in the end.
CASES = {
    "half_a_line": "said",
    "line_without_end": "hung up",
    "nonsense": "hung up",
    "spawn_without_end": "said",
    "a_million_keys": "taken 1024\n",
    "keys_of_each_barrier": "said",
    "answers_unread": "",
    "fences_without_rest": "said",
    "barrier_within": "hung up",
    "names_of_others": "got 0 blobs 4\n",
}


class Watch:
    """Of all processes of a bed: the most memory that a process of each kind had."""

    def __init__(self, b):
        self.bed = b
        self.most = {"keeper": 0, "service": 0}

    def look(self):
        now = {"keeper": max(map(memory, processes("keeper", self.bed.home)),
                             default=0),
               "service": max(self.bed.memory().values())}
        for sort, size in now.items():
            self.most[sort] = max(self.most[sort], size)
        return True

    def check(self, before):
        for sort, bound in (("keeper", KEEPER), ("service", SERVICE)):
            if self.most[sort] > before[sort] + bound:
                raise bed.Failed(f"a {sort} grew from {before[sort] // MIB} to "
                                 f"{self.most[sort] // MIB} MiB")


def rounds(job):
    return job.text().count("round")


def answers(b):
    begun = time.monotonic()
    b.ask("ps")
    if time.monotonic() - begun > ANSWERS:
        raise bed.Failed("the controller does not answer")


def run(b, how, honest, before):
    says, watch = CASES[how], Watch(b)
    job = b.start(2, LIAR, how)
    n = rounds(honest)

    def over():
        watch.look()
        return rounds(honest) > n + 20 and \
            job.text().count(says) >= (2 if says else 0)
    if not until(over, 300):
        raise bed.Failed(f"it should say {says}: {job.text()[-300:]}"
                         f"{job.errors()[-300:]}")
    answers(b)
    watch.look()
    job.kill()
    job.wait()
    if "wrong" in honest.text():
        raise bed.Failed(f"another job has {honest.text()[-500:]}")
    watch.check(before)
    print(f"ok {how}: keeper {watch.most['keeper'] // MIB} MiB, service "
          f"{watch.most['service'] // MIB} MiB", flush=True)


def codes_of_others(b):
    """An exit code that is nonsense is an error, in one line."""
    r = b.stint("run", "-n", "2", LIAR, "other_codes")
    if r.returncode != 1 or "called MPI_Abort with code 1" not in r.stderr or \
            r.stderr.count("\n") != 1:
        raise bed.Failed(f"other_codes: {r.returncode}, {r.stderr[-300:]}")
    print("ok other_codes", flush=True)


def main():
    failed = 0
    with bed.Bed(os.environ.get("STINT_BUILD", "build"), 2) as b:
        honest = b.start(2, LIAR, "secret")
        honest.wait_for("round")
        watch = Watch(b)
        watch.look()
        things = b.things()
        for how in sys.argv[1:] or [*CASES, "other_codes"]:
            try:
                if how in CASES:
                    run(b, how, honest, watch.most)
                else:
                    codes_of_others(b)
            except bed.Failed as e:
                failed += 1
                print(f"FAILED {how}: {e}", flush=True)
        honest.kill()
        honest.wait()
        b.nothing_new(things)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
