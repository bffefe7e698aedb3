#!/usr/bin/python3
"""bulk.py - SQLite in one long transaction, to be moved; and who contends

Same contract as check.h.  The database is kept for longer than its cache takes,
so that all of its lock bytes are locked exclusively from the second statement
to the end.  BULK_DIR is a folder that all hosts see; in it `locked` exists
while the lock is held.

    bulk.py contend DIR

opens the database again and again, asks for its lock, to read and to write, and
closes it; one line for each time that it got it while `locked` was there.

    bulk.py probe DIR

asks once, for parts of it too, and reads by SQLite; one line for each that was
had.  The first byte alone, or the others alone, can be had for reading while
they are handed over, and is not asked for.

    bulk.py hold DIR

has that first byte for reading, says HOLDS, and keeps it until it is killed.

    bulk.py wait DIR

the same, but waits for the other bytes, and gives up all if that is a deadlock.
"""
import errno
import fcntl
import os
import signal
import sqlite3
import struct
import sys
import threading
import time

PENDING, SIZE = 0x40000000, 512  # SQLite's lock bytes
STOP = os.environ.get("CHECK_STOP")
END = time.monotonic() + 1
beats = 0


def running():
    return not os.path.exists(STOP) if STOP else time.monotonic() < END


def get(fd, kind, start=PENDING, size=SIZE):
    try:
        fcntl.fcntl(fd, fcntl.F_SETLK,
                    struct.pack("hhqqi4x", kind, os.SEEK_SET, start, size, 0))
    except BlockingIOError:
        return False
    return True


def has_lock():
    """By the kernel's list of locks, and exclusively."""
    for fd in os.listdir("/proc/self/fdinfo"):
        try:
            with open("/proc/self/fdinfo/" + fd) as f:
                if f"{PENDING} {PENDING + SIZE - 1}" in (t := f.read()):
                    return " WRITE " in t
        except FileNotFoundError:
            pass
    return False


def contend(top):
    """SQLite reads the first of these bytes alone, for a moment."""
    nr = 0
    while not os.path.exists(top + "/over"):
        before = os.path.exists(top + "/locked")
        fd = os.open(top + "/bulk.db", os.O_RDWR)
        for kind in fcntl.F_RDLCK, fcntl.F_WRLCK:
            if get(fd, kind) and before and os.path.exists(top + "/locked"):
                print("got in", kind, flush=True)
        os.close(fd)
        nr += 1
        if nr == 1:
            open(top + "/contending", "w").close()
        time.sleep(0.001 if nr % 50 else 0.3)


def probe(top):
    fd = os.open(top + "/bulk.db", os.O_RDWR)
    for what in ((fcntl.F_RDLCK,), (fcntl.F_WRLCK,), (fcntl.F_WRLCK, PENDING, 1),
                 (fcntl.F_WRLCK, PENDING + 1, SIZE - 1)):
        if get(fd, *what):
            print("got", *what)
            get(fd, fcntl.F_UNLCK)
    os.close(fd)
    db = sqlite3.connect(top + "/bulk.db", timeout=0)
    try:
        print("read", db.execute("select count(*) from t").fetchone()[0])
    except sqlite3.OperationalError as e:
        if "locked" not in str(e):
            raise


def hold(top):
    fd = os.open(top + "/bulk.db", os.O_RDWR)
    if not get(fd, fcntl.F_RDLCK, PENDING, 1):
        sys.exit("it cannot be had")
    print("HOLDS", flush=True)
    return fd


def hold_on(top):
    hold(top)
    signal.pause()


def wait(top):
    fd = hold(top)
    try:
        fcntl.lockf(fd, fcntl.LOCK_SH, SIZE - 1, PENDING + 1)
        print("GOT IN", flush=True)
    except OSError as e:
        print("DEADLOCK" if e.errno == errno.EDEADLK else e, flush=True)


def beat():
    global beats
    while running():
        beats += 1
        time.sleep(0.001)


def main():
    os.closerange(3, 1024)  # of who started it
    top = os.environ["BULK_DIR"]
    db = sqlite3.connect(top + "/bulk.db", isolation_level=None, timeout=0)
    db.execute("pragma cache_size = 10")
    db.execute("create table t(n integer primary key, s text)")
    heart = threading.Thread(target=beat)
    heart.start()
    db.execute("begin exclusive")
    open(top + "/locked", "w").close()
    os.write(1, b"READY\n")
    n = 0
    while running():
        db.execute("insert into t values(?, ?)", (n, str(n) * 100))
        n += 1
        if n % 100 == 0:
            time.sleep(0.002)
            if not has_lock():
                sys.exit("FAIL bulk.py: its lock is lost")
    heart.join()
    os.unlink(top + "/locked")
    db.execute("commit")
    if os.environ.get("CHECK_SABOTAGE"):
        db.execute("update t set s = 'x' where n = 3")
    rows = db.execute("select n, s from t order by n").fetchall()
    if rows != [(i, str(i) * 100) for i in range(n)] or not n or not beats:
        sys.exit(f"FAIL bulk.py: {len(rows)} rows, {n} were written")
    if db.execute("pragma integrity_check").fetchone()[0] != "ok":
        sys.exit("FAIL bulk.py: the database is broken")
    os.write(1, b"PASS\n")


if len(sys.argv) > 1:
    {"contend": contend, "probe": probe, "hold": hold_on, "wait": wait}[sys.argv[1]](sys.argv[2])
else:
    main()
