#!/usr/bin/python3
"""doubt.py - who decides where a rank is, when its two keepers cannot

    doubt.py [SCENARIO]...

On one testbed of three hosts, for each scenario a counting program is moved
from h1 to h2 and the move is stopped at a named point (src/move/wire/fault.h).
Then parties are killed, or kept away, and come back.  In the end the job goes
on in exactly one copy, on the host that `stint ps` says, each step made once
and printed once; or it has failed and says why, and no copy is left.  While
nobody can know, `stint ps` says "undecided" and what to do.
"""
import os
import subprocess
import sys
import time

import bed
from parties import Cluster, Move, ensure, things
from procs import kill, processes


# The scenarios; their names are those of the functions

def link_lost_after_the_record(c, m):
    """The source has written its record and is away: undecided until it is back."""
    c.no_agent("h1")
    m.kill_engine("h2")
    m.undecided("h1", "start the agent")
    m.go()
    c.agent("h1")
    m.runs_at("h2")


def link_lost_before_the_record(c, m):
    """The source's engine dies before it has decided: the rank stays."""
    c.no_agent("h1")
    m.kill_engine("h2")
    m.undecided("h1", "start the agent")
    m.kill_engine("h1")
    c.agent("h1")
    m.runs_at("h1")


def controller_restarted(c, m):
    """Undecided before the controller was killed and after; then both agents come back."""
    c.no_agent("h1")
    m.kill_engine("h2")
    m.undecided("h1")
    c.no_controller()
    c.controller()
    m.undecided("h1", "start the agent")
    c.no_agent("h2")
    m.go()
    c.agent("h1")
    c.agent("h2")
    m.runs_at("h2")
    m.told(0, "moved from h1 to h2")


def everything_restarted(c, m):
    """Agents and controller die at once; the source answers that the rank stays."""
    m.kill_engine("h2")
    c.no_agent("h1")
    c.no_agent("h2")
    c.no_controller()
    m.kill_engine("h1")
    c.controller()
    c.agent("h2")
    m.undecided("h1")
    c.agent("h1")
    m.runs_at("h1")


def source_host_comes_back_with_its_record(c, m):
    """All of h1 died after the record; its agent answers from the disk."""
    m.kill_engine("h2")
    c.crash("h1")
    m.undecided("h1", "start the agent")
    c.agent("h1")
    m.runs_at("h2")
    m.told(0, "moved from h1 to h2", "did not tell how long")


def source_host_dies_when_the_copy_runs(c, m):
    """The rank runs at h2, whether or not h1 ever says so."""
    c.crash("h1")
    m.runs_at("h2")
    c.agent("h1")
    m.told(0, "moved from h1 to h2")


def source_host_is_given_up_when_the_copy_runs(c, m):
    """h1's record is of no use to anybody, and is removed when h1 comes back."""
    c.crash("h1")
    c.no_controller()
    c.controller("2s")
    m.told(0, "moved from h1 to h2", "did not tell how long")
    if not m.records("h1"):
        raise bed.Failed("h1 has no record")
    c.agent("h1")
    ensure(lambda: not m.records("h1"),
           lambda: f"left on h1: {m.records('h1')}")
    m.runs_at("h2")
    c.no_controller()
    c.controller()


def source_host_is_gone_and_the_rank_moves_on(c, m):
    """Nobody waits for h1, which has nothing to say when it comes back."""
    c.crash("h1")
    m.runs_at("h2")
    m.on_to("h3")
    m.told(0, "moved from h1 to h2", "did not tell how long")
    m.runs_at("h3")
    c.agent("h1")
    m.job.move(0, "h1")
    m.runs_at("h1")


def source_agent_is_away_and_the_rank_moves_on(c, m):
    """The copy at h1 stands still until its keeper is told that the rank has left."""
    c.no_agent("h1")
    m.kill_engine("h1")
    ensure(m.settled, lambda: f"not settled: {m.info()}")
    m.on_to("h3")
    m.told(0, "moved from h1 to h2", "did not tell how long")
    c.agent("h1")
    m.runs_at("h3")


def agent_away(c, m):
    """The rank runs on, and is not lost."""
    m.go()
    m.told(0, "moved from h1 to h2")
    c.no_agent("h2")
    ensure(lambda: m.rank()["state"] == "silent",
           lambda: f"not silent: {m.rank()}")
    if "start the agent" not in m.rank()["why"]:
        raise bed.Failed(f"why: {m.rank()}")
    c.agent("h2")
    m.runs_at("h2")


def source_host_comes_back_without_a_record(c, m):
    """All of h1 died before the record: nobody has the rank any more."""
    m.kill_engine("h2")
    c.crash("h1")
    m.undecided("h1", "start the agent")
    c.agent("h1")
    m.failed("lost")
    m.told(1, "is lost, which was on h1")
    if m.rank()["state"] != "lost":
        raise bed.Failed(f"not lost: {m.rank()}")


def source_host_never_comes_back(c, m):
    """The rank is given up after lost-after, also by a controller that was restarted."""
    m.kill_engine("h2")
    c.crash("h1")
    m.undecided("h1", "start the agent")
    c.no_controller()
    c.controller("2s")
    m.failed("lost", "does not answer")
    c.no_controller()
    c.controller()
    c.agent("h1")


def destination_died_before_anybody_knew(c, m):
    """There is a record, the destination's keeper is gone, and nobody noticed that."""
    c.no_controller()
    m.kill_keeper("h2")
    kill(processes("\0agent\0", f"{c.home}/h2/run"))
    c.controller()
    c.agent("h2")
    m.go()
    m.failed("lost")


def killed_while_undecided(c, m):
    """stint kill ends the copy that is held as well."""
    c.no_agent("h1")
    m.kill_engine("h2")
    m.undecided("h1")
    m.job.kill("-s", "KILL")
    c.agent("h1")
    m.failed("killed")


def stale_copy_of_an_older_move(c, m):
    """A copy that was turned down must not be taken for that of a later move."""
    m.kill_engine("h2")
    m.undecided("has decided")
    c.no_agent("h2")
    m.kill_engine("h1")
    ensure(m.settled, lambda: f"not settled: {m.info()}")
    c.no_agent("h1")
    c.agent("h1")
    m.migrate("h3")

    def begun():
        if m.migrations[-1].poll() is not None:  # its keeper had not been heard yet
            m.migrate("h3")
        return m.stopped()
    m.engine = ensure(begun, m.said)  # this engine is struck as well, as its keeper asked
    m.go()
    ensure(lambda: m.rank()["host"] == "h3", m.said)
    c.no_controller()
    c.controller()
    c.agent("h2")
    m.runs_at("h3")


SCENARIOS = {
    link_lost_after_the_record: "source-recorded",
    link_lost_before_the_record: "source-held",
    controller_restarted: "source-recorded",
    everything_restarted: "source-ready",
    source_host_comes_back_with_its_record: "source-recorded",
    source_host_comes_back_without_a_record: "source-held",
    source_host_dies_when_the_copy_runs: "source-committed",
    source_host_is_given_up_when_the_copy_runs: "source-committed",
    source_host_is_gone_and_the_rank_moves_on: "source-committed",
    source_agent_is_away_and_the_rank_moves_on: "source-committed",
    agent_away: "source-recorded",
    source_host_never_comes_back: "source-held",
    destination_died_before_anybody_knew: "source-recorded",
    killed_while_undecided: "source-recorded",
    stale_copy_of_an_older_move: "source-held",
}


def tell_logs(c):
    for path in sorted(os.listdir(c.home)):
        if path.endswith(".log"):
            with open(f"{c.home}/{path}", errors="replace") as f:
                for line in f.read().splitlines()[-12:]:
                    print(f"  {path}: {line}")


def play(c, scenario, point):
    t = time.monotonic()
    before = things(c)
    m = Move(c, point)
    try:
        scenario(c, m)
        if m.job.process.poll() is None:
            m.finish()
        ensure(lambda: not things(c) - before,
               lambda: f"left behind: {things(c) - before}")
        print(f"ok {scenario.__name__} {time.monotonic() - t:.1f}", flush=True)
        return 0
    except (bed.Failed, subprocess.TimeoutExpired) as e:
        print(f"FAILED {scenario.__name__}: {e}", flush=True)
        tell_logs(c)
        return 1
    finally:
        m.close()


def main():
    names = sys.argv[1:] or [s.__name__ for s in SCENARIOS]
    todo = {s: p for s, p in SCENARIOS.items() if s.__name__ in names}
    failed = len(set(names)) - len(todo)
    with bed.Bed(os.environ.get("STINT_BUILD", "build"), 3) as b, \
            Cluster(b) as c:
        for scenario, point in todo.items():
            failed += play(c, scenario, point)
    left = processes(c.home)
    if left:
        print(f"FAILED: left behind: {left}")
    return 1 if failed or left else 0


if __name__ == "__main__":
    sys.exit(main())
