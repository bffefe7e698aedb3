#!/usr/bin/python3
"""pychk.py - a Python program with threads, sqlite and files, to be moved.

Same contract as check.h: READY, then PASS or FAIL; CHECK_STOP, CHECK_DIR,
CHECK_SABOTAGE.  The database is opened without locks, as this process alone
uses it; with the argument "wal" it holds POSIX locks all the time.
"""
import hashlib
import os
import queue
import random
import shutil
import sqlite3
import sys
import tempfile
import threading
import time

STOP = os.environ.get("CHECK_STOP")
WAL = "wal" in sys.argv
END = time.monotonic() + 1


def running():
    return not os.path.exists(STOP) if STOP else time.monotonic() < END


def digest(n):
    return hashlib.sha256(str(n).encode()).hexdigest()


def fail(text):
    os.write(1, f"FAIL pychk.py: {text}\n".encode())
    os._exit(1)


def guarded(fn):
    def body(*args):
        try:
            fn(*args)
        except BaseException as e:  # a thread must not die unnoticed
            fail(f"{fn.__name__}: {e!r}")
    return body


@guarded
def produce(q):
    n = 0
    while running():
        q.put((n, digest(n)), timeout=30)
        n += 1
        if n % 50 == 0:
            time.sleep(0.002)
    q.put(None)


@guarded
def consume(q, path, result):
    """Whatever comes out of the queue is written into the database, in order."""
    db = sqlite3.connect(f"file:{path}?nolock={0 if WAL else 1}", uri=True,
                         isolation_level=None)
    db.execute(f"pragma journal_mode={'wal' if WAL else 'persist'}")
    db.execute("pragma synchronous=off")
    db.execute("create table t (n integer primary key, digest text)")
    rows, done = 0, False
    while not done:
        db.execute("begin")
        for _ in range(20):
            item = q.get(timeout=30)
            if item is None:
                done = True
                break
            db.execute("insert into t values (?, ?)", item)
            rows += 1
        db.execute("commit")
    db.close()
    result.append(rows)


@guarded
def churn(seed):
    """Dictionaries, strings and big integers that grow and shrink."""
    rng = random.Random(seed)
    while running():
        d = {rng.randrange(1 << 60): os.urandom(8) for _ in range(500)}
        copy = dict(d)
        big = 3 ** 2000
        if copy != d or big % 7 != pow(3, 2000, 7):
            raise ValueError("memory is wrong")
        time.sleep(0.005)


def main():
    scratch = tempfile.mkdtemp(dir=os.environ.get("CHECK_DIR"))
    path = os.path.join(scratch, "rows.db")
    q, result = queue.Queue(100), []
    threads = [threading.Thread(target=produce, args=(q,)),
               threading.Thread(target=consume, args=(q, path, result)),
               threading.Thread(target=churn, args=(1,)),
               threading.Thread(target=churn, args=(2,))]
    for t in threads:
        t.start()
    os.write(1, b"READY\n")
    for t in threads:
        t.join()
    db = sqlite3.connect(path)
    if os.environ.get("CHECK_SABOTAGE"):
        db.execute("update t set digest = 'x' where n = 3")
    if db.execute("pragma integrity_check").fetchone()[0] != "ok":
        fail("the database is broken")
    n = 0
    for row in db.execute("select n, digest from t order by n"):
        if row != (n, digest(n)):
            fail(f"row {row} is not number {n}")
        n += 1
    if n != result[0] or n == 0:
        fail(f"{n} rows, {result[0]} were written")
    db.close()
    shutil.rmtree(scratch)
    os.write(1, b"PASS\n")


if __name__ == "__main__":
    sys.exit(main())
