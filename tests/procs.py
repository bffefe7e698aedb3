"""procs.py - processes, and the named points of a move, for the fault sweeps"""
import contextlib
import os
import re
import signal
import sys
import time

FAULT_H = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "../src/move/wire/fault.h")


def fault_points():
    """The names in src/move/wire/fault.h that every move passes, in that order: without
    those of the handover of locks, which tests/14-locks.bats strikes."""
    with open(FAULT_H) as f:
        names = re.findall(r'X\([A-Z_]+,\s*"([a-z-]+)"\)', f.read())
    return [n for n in names if "-locks-" not in n]


def until(what, seconds=300):
    """Returns what test() returns once that is true, None if it does not become true."""
    end = time.monotonic() + seconds
    while True:
        value = what()
        if value:
            return value
        if time.monotonic() > end:
            return None
        time.sleep(0.02)


def read_proc(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as f:
            return f.read().decode(errors="replace")
    except OSError:
        return ""


def stat_of(pid):
    """(state, parent) of a process, None if there is none."""
    fields = read_proc(pid, "stat").rpartition(")")[2].split()
    return None if not fields or fields[0] in "ZX" \
        else (fields[0], int(fields[1]))


def is_ahead(pid):
    """Has a move put a thread of the process ahead of others (src/core/hurry.h)?"""
    with contextlib.suppress(OSError):
        for tid in os.listdir(f"/proc/{pid}/task"):
            f = read_proc(pid, f"task/{tid}/stat").rpartition(")")[2].split()
            if f and f[0] not in "ZX" and (f[16] == "-20" or f[38] == "1"):
                return True
    return False


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children(pid):
    return [p for p in all_pids() if (stat_of(p) or (0, 0))[1] == pid]


def descendants(pid):
    """Its children and their children."""
    found = children(pid)
    return found + [p for child in found for p in descendants(child)]


def exit_on_term():
    """SIGTERM ends this program by way of every `finally`, but only once: `timeout` sends
    it to us, and then to our whole group."""
    def end_once(*_):
        heed_no_term()
        sys.exit(143)
    signal.signal(signal.SIGTERM, end_once)


def heed_no_term():
    """For a process that cleans up; the programs that it starts obey SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: None)


def kill(pids, sig=signal.SIGKILL):
    """A process that has ended meanwhile is not missed."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sig)


def end(pids):
    """Kill them; on return all that they had open is closed."""
    kill(pids)
    if not until(lambda: not any(map(stat_of, pids))):
        raise TimeoutError(f"{pids} were killed and do not end")


def comm(pid):
    return read_proc(pid, "comm").strip()


def processes(*words):
    """Living processes whose command line has all these words."""
    found = []
    for pid in all_pids():
        line = read_proc(pid, "cmdline")
        if line and all(w in line for w in words) and stat_of(pid) and \
                pid != os.getpid():
            found.append(pid)
    return found


def memory(pid):
    """The resident bytes of a process that it shares with no other; 0 if there is none."""
    for line in read_proc(pid, "status").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0
