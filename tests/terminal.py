#!/usr/bin/env python3
"""terminal.py UTMP USER [HOST] - somebody who is logged in at a terminal

Opens a pseudo-terminal with a program that reads from it, notes it in the file
UTMP as login does, and types what comes as lines on standard input; what the
program has read of it is printed.  At its end they log out.
"""
import os
import pty
import struct
import sys
import time

USER_PROCESS, DEAD_PROCESS = 7, 8


def note(path, kind, line, user, host):
    now = int(time.time())
    entry = struct.pack("hxxi32s4s32s256shhiii4i20x", kind, os.getpid(), line.encode(),
                        line[-4:].encode(), user.encode(), host.encode(), 0, 0, 0, now, 0,
                        0, 0, 0, 0)
    with open(path, "ab" if kind == USER_PROCESS else "r+b") as f:
        f.write(entry)


def main(path, user, host=""):
    keys, shell = pty.openpty()
    line = os.ttyname(shell).removeprefix("/dev/")
    # Nobody has used it for an hour.
    os.utime(shell, (time.time() - 3600, time.time() - 3600))
    child = os.fork()
    if not child:
        os.close(keys)
        os.dup2(shell, 0)
        os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
        os.execvp("cat", ["cat"])
    os.close(shell)
    note(path, USER_PROCESS, line, user, host)
    print(line, flush=True)
    for text in sys.stdin:
        os.write(keys, text.encode())
    os.close(keys)
    os.waitpid(child, 0)
    note(path, DEAD_PROCESS, line, user, host)


if __name__ == "__main__":
    main(*sys.argv[1:])
