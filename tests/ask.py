#!/usr/bin/python3 -IS
"""ask.py SHAPE EXPRESSION VALUE SECONDS COMMAND... - ask about the JSON of a command

Runs COMMAND, which prints one JSON object a line, and prints the value of a Python
EXPRESSION about the objects, which it sees as SHAPE says:

    one    j is the first object
    all    j is the list of all
    jobs   j has jobs by number, and hosts(NUMBER) is where its ranks are
    hosts  h has hosts by name

and now_us() is the time of day.

With SECONDS, its exit status says whether that is VALUE instead, and it asks again for
as long if it is not yet.  A test asks often until something comes true: this process
stays, so that each time costs no more than the COMMAND.  For the same reason it uses no
library: to import json takes longer than all that is asked for here.

A COMMAND that fails answers nothing, whatever it printed: that is never VALUE.
"""
import os
import sys
import time

shape, expression, wanted, seconds, *command = sys.argv[1:]


class Failed(Exception):
    pass


def output_of_command():
    reads, writes = os.pipe()  # the command has it only as its output
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_DUP2, writes, 1)])
    os.close(writes)
    with open(reads, encoding="utf-8", errors="replace") as f:
        text = f.read()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status:
        raise Failed(f"{' '.join(command)}: exit status {status}")
    return text


def parse(line):
    # JSON is Python except for these three words, and is printed by our own programs.
    return eval(line, {"true": True, "false": False, "null": None})


def look():
    objects = [parse(line) for line in output_of_command().splitlines()]
    if shape == "jobs":
        j = {i["job"]: i for i in objects}
        names = {"hosts": lambda n: sorted(r["host"] for r in j[n]["ranks"])}
    elif shape == "hosts":
        j = {i["host"]: i for i in objects}
        names = {"h": j}
    else:
        j = objects if shape == "all" else objects[0]
        names = {}
    names["now_us"] = lambda: time.time() * 1e6
    value = eval(expression, {"j": j, **names})
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def waited():
    end = time.monotonic() + float(seconds)
    nap = 0.02
    while True:
        try:
            if look() == wanted:
                return True
        except (Failed, IndexError, KeyError):  # there is no such job or host yet, or no answer
            pass
        if time.monotonic() > end:
            return False
        time.sleep(nap)
        nap = min(nap * 1.5, 0.2)


if seconds:
    sys.exit(not waited())
try:
    print(look())
except Failed as e:
    sys.exit(f"ask.py: {e}")
