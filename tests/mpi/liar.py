#!/usr/bin/python3
"""liar.py - a rank that speaks PMI to its keeper, and lies; for hostile.py

    liar.py HOW     HOW is a function below

Prints "said" when it has said all, or what it got, and then waits to be ended.
"""
import os
import random
import socket
import sys
import time

RANK, SIZE = int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])
keeper = socket.socket(fileno=int(os.environ["PMI_FD"]))
lines = keeper.makefile("rb")


def say(text):
    keeper.sendall(text if isinstance(text, bytes) else text.encode())


def ask(text):
    say(text + "\n")
    return lines.readline().decode().strip()


def init():
    ask("cmd=init pmi_version=1 pmi_subversion=1")
    return ask("cmd=get_my_kvsname").rpartition("=")[2]


def put(name, key, value):
    return ask(f"cmd=put kvsname={name} key={key} value={value}")


def fence(command="barrier_in"):
    """All lines of the answer."""
    answer = [ask(f"cmd={command}").encode()]
    while not answer[-1].startswith((b"cmd=fence_out", b"cmd=barrier_out")):
        answer.append(lines.readline())
        if not answer[-1]:
            raise BrokenPipeError
    return answer


def hung_up():
    """Send until the keeper refuses more."""
    try:
        while keeper.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
    print("hung up", flush=True)


def half_a_line():
    init()
    say("cmd=put kvsname=")


def line_without_end():
    init()
    try:
        for _ in range(1 << 10):
            say(b"cmd=put " + b"x" * (1 << 14))
    except (BrokenPipeError, ConnectionResetError):
        pass
    hung_up()


def nonsense():
    init()
    try:
        say(random.Random(RANK).randbytes(1 << 20))
    except (BrokenPipeError, ConnectionResetError):
        pass
    hung_up()


def spawn_without_end():
    """Nothing of the lines of this connection may be kept."""
    init()
    say("mcmd=spawn\n")
    for _ in range(1 << 10):
        say(b"argument=" + b"y" * 3000 + b"\n" + b"=\n" * 1000)


def a_million_keys():
    name = init()
    taken = sum(" rc=0 " in put(name, f"key{i}.{RANK}", "v" * 1000)
                for i in range(20000))
    for i in range(980):  # the other answers are not worth reading one by one
        say("".join(f"cmd=put kvsname={name} key=more{i}.{j} value=v\n"
                    for j in range(1000)))
        for _ in range(1000):
            taken += b" rc=0 " in lines.readline()
    print("taken", taken, flush=True)


def keys_of_each_barrier():
    """Put as many keys as are allowed, and then ask for all of them, as blobs."""
    name = init()
    try:
        for i in range(16):
            for j in range(1000):
                put(name, f"blob.{RANK}.{1000 * i + j}", "+" + "f" * 1000)
            fence("fence_in")
    except BrokenPipeError:
        hung_up()


def answers_unread():
    name = init()
    put(name, "big", "z" * 1000)
    try:
        for _ in range(200):
            say(f"cmd=get kvsname={name} key=big\n" * 1000)
    except (BrokenPipeError, ConnectionResetError):
        pass


def fences_without_rest():
    """Large unions, as fast as possible, for as long as they are accepted."""
    name = init()
    print("said", flush=True)
    for i in range(1 << 30):
        for j in range(50):
            put(name, f"k{RANK}.{j}", f"{i}." + "w" * 1000)
        fence()


def barrier_within():
    init()
    say("cmd=barrier_in\ncmd=barrier_in\ncmd=fence_in\n")
    hung_up()


def names_of_others():
    """Ask for spaces, ranks and keys that do not exist, or belong to another job."""
    name = init()
    told = []
    for other in ("1-0", "1", "2", name + "x", name[:-1], "..", "*", "%s%n",
                  f"{name}/../1", str(2**64)):
        for key in ("secret", "blob.0.0", "P0-businesscard", "*"):
            told.append(ask(f"cmd=get kvsname={other} key={key}"))
            told.append(put(other, key, "mine"))
    put(name, "blob.4294967295.0", ".ffff")
    put(name, f"blob.{SIZE}.0", ".eeee")
    put(name, f"blob.{RANK}.0", "+" + "ab" * 400)
    put(name, f"blob.{RANK}.1", "-nothing")
    told += fence("fence_in")
    told = [t if isinstance(t, str) else t.decode() for t in told]
    print("got", sum(" rc=0 " in t + " " and "_out" not in t for t in told),
          "blobs", sum(t.startswith("cmd=blob") for t in told), flush=True)


def other_codes():
    init()
    say("cmd=abort exitcode=99999999999999999999 error_msg=" + "e" * 3000 +
        "\n" + "cmd=abort\n" * 1000)


def secret():
    """A rank that does not lie: it holds what others must not get, until it is told to end."""
    name = init()
    print("name", name, flush=True)
    put(name, "secret", "treasure")
    while True:
        put(name, f"blob.{RANK}.0", ".abcdef")
        whole = fence("fence_in")
        got = ask(f"cmd=get kvsname={name} key=secret")
        if len(whole) != SIZE + 1 or "value=treasure" not in got or \
                any(b"abcdef" not in w for w in whole[:-1]):
            print("wrong", whole, got, flush=True)
        print("round", flush=True)
        time.sleep(0.05)


globals()[sys.argv[1]]()
print("said", flush=True)
while True:
    time.sleep(1000)
