#!/usr/bin/python3
"""scratch.py - uses its own /tmp and /dev/shm until USR1, and checks all of it

For ranks in a capsule, which moves meanwhile: files that are reopened by name,
a database that stays open, a library and shared memory mapped from there, locks,
links, a working directory, a deleted file.  Says PASS.
"""
import ctypes
import fcntl
import glob
import mmap
import os
import select
import shutil
import signal
import sqlite3
import sys
import tempfile
import time

TOP = "/tmp/scratch"
on = True


def enough(*_):
    global on
    on = False


def check(ok, what):
    if not ok:
        sys.exit(f"FAIL {what}")


def library():
    """A copy of a library, mapped from the tree."""
    path = glob.glob("/lib/x86_64-linux-gnu/libm.so.6")[0]
    shutil.copy(path, TOP + "/libown.so")
    lib = ctypes.CDLL(TOP + "/libown.so")
    lib.cbrt.restype = ctypes.c_double
    lib.cbrt.argtypes = [ctypes.c_double]
    return lib


def shared_memory():
    fd = os.open("/dev/shm/own", os.O_RDWR | os.O_CREAT, 0o600)
    os.ftruncate(fd, 1 << 20)
    return mmap.mmap(fd, 1 << 20)


def in_child(work):
    """Evaluate it in another process, which does not have our locks."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except (BlockingIOError, sqlite3.OperationalError):
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def can_lock(path):
    return in_child(lambda: fcntl.lockf(open(path, "r+"),
                                        fcntl.LOCK_EX | fcntl.LOCK_NB))


def can_begin(path):
    return in_child(lambda: sqlite3.connect(path, timeout=0).execute(
        "begin immediate"))


def main():
    signal.signal(signal.SIGUSR1, enough)
    os.makedirs(TOP + "/a/b", mode=0o700)
    os.chdir(TOP + "/a")
    db = sqlite3.connect(TOP + "/own.db", isolation_level=None)
    db.execute("create table t (i integer)")
    lib, shm = library(), shared_memory()
    log = open("log", "a+")
    fcntl.flock(log, fcntl.LOCK_EX)
    held = open("held", "w")
    fcntl.lockf(held, fcntl.LOCK_EX)
    long = sqlite3.connect(TOP + "/long.db", isolation_level=None)
    long.execute("create table t (i integer)")
    long.execute("begin immediate")
    deleted = tempfile.TemporaryFile(dir="/tmp")
    with open("b/file", "w") as f:
        f.write("content")
    os.link("b/file", "link")
    os.symlink("b/file", "soft")
    os.mkfifo("fifo")
    os.chmod("fifo", 0o622)
    both = os.open("fifo", os.O_RDWR)
    os.write(both, b"in the pipe")
    os.mkfifo("silent")
    reader = os.open("silent", os.O_RDONLY | os.O_NONBLOCK)
    poll = select.poll()
    poll.register(reader)
    os.utime("link", (1000, 2000.5))
    os.chmod("b", 0o500)
    print("all is there", flush=True)
    i = 0
    while on:
        db.execute("insert into t values (?)", (i,))
        check(db.execute("select count(*), sum(i) from t").fetchone() ==
              (i + 1, i * (i + 1) // 2), "database")
        long.execute("insert into t values (?)", (i,))
        print(i, file=log, flush=True)
        deleted.write(b"x")
        deleted.flush()
        check(os.fstat(deleted.fileno()).st_size == i + 1, "deleted file")
        with open(f"{TOP}/new.{i}", "w") as f:
            f.write(str(i))
        if i > 2:
            os.rename(f"{TOP}/new.{i - 1}", f"b.{i % 3}")
        shm[i % len(shm)] = i % 251
        check(all(shm[k] == k % 251 for k in range(i + 1)), "shared memory")
        with open("/dev/shm/own", "rb") as f:
            check(f.read(i + 1) == bytes(k % 251 for k in range(i + 1)),
                  "shared memory by its name")
        check(abs(lib.cbrt(27.0) - 3) < 1e-9, "library")
        st = os.stat("b/file")
        check(st.st_nlink == 2 and st.st_mtime == 2000.5 and
              st.st_ino == os.stat("link").st_ino, "link")
        check(os.readlink("soft") == "b/file", "soft link")
        check(os.stat("fifo").st_mode & 0o170777 == 0o010622, "fifo")
        check(os.stat("b").st_mode & 0o777 == 0o500, "mode")
        check(not poll.poll(0), "pipe that nobody has written to yet")
        i += 1
        time.sleep(0.002)
    check(open("log").read() == "".join(f"{k}\n" for k in range(i)), "log")
    check(open("soft").read() == "content", "file")
    check(not glob.glob(TOP + "/.stint*") + glob.glob("/tmp/.stint*"),
          "something of Stint's is left")
    check(os.read(both, 100) == b"in the pipe", "named pipe")
    os.close(os.open("silent", os.O_WRONLY))
    check(poll.poll(0) == [(reader, select.POLLHUP)], "pipe after a writer")
    check(not can_lock("held"), "lock by fcntl")
    check(not can_begin(TOP + "/long.db"), "transaction")
    long.execute("commit")
    check(can_begin(TOP + "/long.db"), "transaction, after it")
    other = open("log")
    try:
        fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
        check(False, "lock")
    except BlockingIOError:
        pass
    print("PASS")


main()
