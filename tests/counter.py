#!/usr/bin/python3
"""counter.py [--sum] [FILE]

Says a number, slowly, one after the other, until USR1 comes, and keeps them in
FILE too (in its own /tmp, if none is named), which must have all of them then.
Ends with PASS and how many there were; with --sum, with that of what is on stdin.
"""
import os
import signal
import sys
import time

counting = True


def enough(*_):
    global counting
    counting = False


signal.signal(signal.SIGUSR1, enough)
args = [a for a in sys.argv[1:] if a != "--sum"]
path = args[0] if args else "/tmp/count"
n = 0
while counting:
    with open(path, "a") as f:
        print(n, file=f)
    print("round", n, flush=True)
    n += 1
    time.sleep(0.02)
with open(path) as f:
    if f.read().split() != [str(i) for i in range(n)]:
        sys.exit(f"{path} is spoilt")
# A process that hurries a move puts the rank back.
if os.sched_getscheduler(0) != os.SCHED_OTHER:
    sys.exit("ended in the real-time class")
print("PASS", n)
if "--sum" in sys.argv:
    print(sum(map(int, sys.stdin)))
