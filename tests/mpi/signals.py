#!/usr/bin/python3
"""signals.py - a signal comes while its rank changes hosts

    signals.py [--build DIR]

The move's engine stands still at a named point, and the keeper takes no signal
then: it must be taken once the rank runs, here or there, also when the controller
that holds it is killed meanwhile and started again.  The program ends well by that
signal, and by nothing else.
"""
import os
import shutil
import signal
import sys

import bed
from faults import Case
from procs import stat_of, until

# (where the engine stands, what happens to it, where the rank is then, whether the
# controller is struck as well)
CASES = [("source-unplugged", signal.SIGCONT, "h2", False),
         ("source-unplugged", signal.SIGKILL, "h1", False),
         ("dest-ready", signal.SIGCONT, "h2", True)]


def try_one(b, point, blow, host, restart):
    case = Case(b, f"{point}:source-engine:stop", "count")
    where = "h1" if point.startswith("source") else "h2"
    try:
        case.fault(f"{point}:stop")
        case.start()
        engine = until(lambda: [p for p in case.engine(where)
                                if (stat_of(p) or "-")[0] == "T"])
        if not engine:
            raise bed.Failed("the move never came to that point")
        case.job.kill("-s", "USR1")
        # Each request waits for the one before it: the keeper has refused that.
        before = len(case.made())
        case.info()
        if restart:
            b.restart("controller")
            until(case.info)
        os.kill(engine[0], blow)
        if case.job.wait() or "PASS" not in case.job.text():
            raise bed.Failed("it ended without its result: " +
                             case.job.errors().strip()[-300:])
        at = case.info()["ranks"][0]["host"]
        if at != host or len(case.made()) < before:
            raise bed.Failed(f"it was on {at}, and not on {host}")
        print(f"ok {point}, then {blow.name}: taken on {host}")
    finally:
        case.fault("")
        if case.migrate:
            case.migrate.kill()
            case.migrate.wait()
        shutil.rmtree(case.dir, ignore_errors=True)


def main():
    p = bed.parser(seed=False)
    opts = p.parse_args()
    b = bed.Bed(opts.build, 3)
    b.env["STINT_FAULT"] = f"@{b.dir}/fault"
    b.env["STINT_STANDSTILL"] = "1000"  # no watch ends what we stop
    try:
        with b:
            for point, blow, host, restart in CASES:
                try_one(b, point, blow, host, restart)
    except bed.Failed as e:
        print(f"FAILED {point}, then {blow.name}: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
