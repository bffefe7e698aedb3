#!/usr/bin/python3
"""soak.py - move the ranks of a running MPI job that checks every byte

    soak.py [--moves N] [--ranks N] [--build DIR]

Ranks of chkmpi are moved at random to hosts of a testbed, N times; then the
job is told to end and must have found no wrong byte and exit with 0.
"""
import argparse
import os
import random
import sys
import time

import bed


def pick(rng, job, hosts):
    ranks = job.ranks()
    rank = rng.choice(sorted(ranks))
    return rank, rng.choice([h for h in hosts if h != ranks[rank]])


def soak(opts):
    rng = random.Random(opts.seed)
    chkmpi = os.path.abspath(os.path.join(opts.build, "tests/mpi/chkmpi"))
    reports = []
    with bed.Bed(opts.build, opts.ranks + 1) as b:
        job = b.start(opts.ranks, chkmpi, "--seconds", "1000000", "--seed",
                      str(opts.seed))
        job.wait_for("round", 120)
        for n in range(opts.moves):
            rank, host = pick(rng, job, b.hosts)
            try:
                reports.append(job.move(rank, host))
            except bed.Failed as e:
                raise bed.Failed(f"move {n}, rank {rank} to {host}: {e}; "
                                 f"{job.errors()[-500:]}") from None
            if job.process.poll() is not None:
                raise bed.Failed(f"the job ended: {job.errors()[-500:]}")
            time.sleep(opts.pause)
        job.kill("-s", "USR1")
        status = job.wait()
        if status or "PASS" not in job.text():
            raise bed.Failed(f"exit {status}: {job.text()[-200:]}"
                             f"{job.errors()[-500:]}")
        summary = job.text().strip().splitlines()[-1]
    ms = sorted(r["downtime_us"] / 1000 for r in reports)
    print(f"ok {len(ms)} moves of a rank of {opts.ranks}, {summary}; downtime "
          f"median {ms[len(ms) // 2]:.1f} ms, worst {ms[-1]:.1f} ms")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=os.environ.get("STINT_BUILD", "build"))
    p.add_argument("--moves", type=int, default=20)
    p.add_argument("--ranks", type=int, default=4)
    p.add_argument("--pause", type=float, default=0.05)
    p.add_argument("--seed", type=int, default=1)
    try:
        soak(p.parse_args())
    except bed.Failed as e:
        print(f"FAILED {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
