#!/usr/bin/python3
"""hostile.py - what an authenticated peer may do to who receives its process

    hostile.py [--runs N] [--seed S] [--program WORDS]... [--keep-going]

A real move is recorded on its way; then its frames are sent to a fresh
`stint move receive` again and again, each time spoilt otherwise, with correct
check sums: frames out of order, doubled, left out, under another type; fields
of HELLO, MAP, STATE and FDS with other numbers, names and counts, missing or a
thousandfold; ranges over the landing area, the vdso and the top; cut streams.
Run R of seed S is always the same one; --seed S+R --runs 1 repeats it.

The receiver must say in one line what is wrong and end with a failure, or land
what it got and wait for COMMIT; never end by a signal or a sanitizer's
report, never hang, never leave a process.
"""
import argparse
import ctypes
import ctypes.util
import os
import random
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from drive import Failed, adopt_orphans, exit_on_term, kill_orphans

HEAD = struct.Struct("<IHHQQ")
HELLO, MAP, UNMAP, ZAP, PAGES = 1, 2, 3, 4, 5
FRAME_H = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "../../src/move/wire/frame.h")
xxh = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
xxh.XXH3_64bits.restype = ctypes.c_uint64
xxh.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def frame_types():
    """Names to numbers, read from the header itself."""
    with open(FRAME_H) as f:
        names = re.search(r"enum frame_type \{(.*?)\}", f.read(), re.S)
    found = re.findall(r"FRAME_([A-Z]+)\b", names.group(1))
    return {name: i + 1 for i, name in enumerate(
        n for n in found if n != "TYPES")}


TYPES = frame_types()


# ---- frames

def split(stream):
    """[(type, payload)] and the head's magic and version."""
    frames, at, first = [], 0, None
    while at < len(stream):
        magic, version, kind, size, _ = HEAD.unpack_from(stream, at)
        first = first or (magic, version)
        at += HEAD.size
        frames.append((kind, stream[at:at + size]))
        at += size
    return frames, first


def join(frames, first):
    return b"".join(HEAD.pack(*first, kind, len(p),
                              xxh.XXH3_64bits(p, len(p))) + p
                    for kind, p in frames)


# ---- protobuf without its descriptions

def take_varint(p, at):
    value = shift = 0
    while True:
        if at >= len(p) or shift > 63:
            raise ValueError
        value |= (p[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if p[at - 1] < 128:
            return value, at


def put_varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def fields(p):
    """[(number, wire type, value)]; raises ValueError if it is no message."""
    found, at = [], 0
    while at < len(p):
        key, at = take_varint(p, at)
        wire = key & 7
        if wire == 0:
            value, at = take_varint(p, at)
        elif wire in (1, 5):
            n = 8 if wire == 1 else 4
            value, at = p[at:at + n], at + n
        elif wire == 2:
            n, at = take_varint(p, at)
            value, at = p[at:at + n], at + n
            if len(value) != n:
                raise ValueError
        else:
            raise ValueError
        if at > len(p) or not key >> 3:
            raise ValueError
        found.append((key >> 3, wire, value))
    return found


def message(found):
    out = []
    for number, wire, value in found:
        out.append(put_varint(number << 3 | wire))
        if wire == 0:
            out.append(put_varint(value))
        elif wire == 2:
            out.append(put_varint(len(value)) + value)
        else:
            out.append(value)
    return b"".join(out)


class Spoiler:
    """Spoils a recorded move in a way that depends on a seed."""

    def __init__(self, frames, seed):
        self.rng = random.Random(seed)
        self.frames = list(frames)
        self.numbers = [0, 1, 2, 7, 255, 4095, 4096, 65536, 1 << 20, 1 << 31,
                        (1 << 31) - 1, 1 << 32, 1 << 47, (1 << 47) - 4096,
                        (1 << 48), 1 << 56, 1 << 63, (1 << 64) - 1,
                        (1 << 64) - 4096, (1 << 64) - 9]
        for kind, p in frames:
            if kind == TYPES["MAP"]:
                self.numbers += [v for v in self.all_numbers(p) if v > 4096]

    def all_numbers(self, p):
        try:
            found = fields(p)
        except ValueError:
            return []
        return [v for f in found for v in
                ([f[2]] if f[1] == 0 else
                 self.all_numbers(f[2]) if f[1] == 2 else [])]

    def number(self, old):
        return self.rng.choice([
            lambda: self.rng.choice(self.numbers),
            lambda: old + self.rng.choice([-4096, -1, 1, 4096]),
            lambda: self.rng.getrandbits(self.rng.choice([8, 16, 32, 64])),
        ])()

    def text(self, old):
        return self.rng.choice([
            lambda: b"", lambda: b"/", lambda: b"/etc/shadow",
            lambda: b"../" * 40 + b"etc/passwd", lambda: b"a" * 5000,
            lambda: b"%s%n" * 9, lambda: old + old, lambda: old[:-1],
            lambda: old[:len(old) // 2],
            lambda: self.rng.randbytes(len(old)),
            lambda: self.rng.randbytes(self.rng.randrange(64)),
            lambda: b"\0" * max(1, len(old)), lambda: b"/proc/1/mem",
            lambda: self.flip(old)])()

    def flip(self, p):
        if not p:
            return b"\0"
        p = bytearray(p)
        for _ in range(self.rng.randint(1, 4)):
            p[self.rng.randrange(len(p))] = self.rng.choice(
                [0, 1, 127, 128, 255, self.rng.randrange(256)])
        return bytes(p)

    def spoil_message(self, p):
        try:
            found = fields(p)
        except ValueError:
            return self.text(p)
        if not found:
            return self.text(p)
        i = self.rng.randrange(len(found))
        number, wire, value = found[i]
        way = self.rng.random()
        if way < 0.06:
            del found[i]
        elif way < 0.12:
            found[i:i] = [found[i]] * self.rng.choice([1, 2, 70, 1000, 70000])
        elif way < 0.15:
            self.rng.shuffle(found)
        elif way < 0.18:
            found[i] = (self.rng.randint(1, 40), wire, value)
        elif wire == 0:
            found[i] = (number, wire, self.number(value))
        elif wire == 2:
            found[i] = (number, wire, self.spoil_message(value)
                        if self.rng.random() < 0.8 else self.text(value))
        else:
            found[i] = (number, wire, self.rng.randbytes(len(value)))
        return message(found)

    def spoil_ranges(self, p, step):
        """An address or a length in whole words."""
        at = self.rng.randrange(max(1, min(len(p), 4096) // step)) * step
        return p[:at] + struct.pack(
            "<Q", self.number(0) & ((1 << 64) - 1)) + p[at + 8:]

    def spoil_payload(self):
        kinds = {k for k, _ in self.frames}
        kind = self.rng.choice(sorted(kinds))
        i = self.rng.choice([i for i, f in enumerate(self.frames)
                             if f[0] == kind])
        p = self.frames[i][1]
        if kind in (TYPES[n] for n in ("UNMAP", "ZAP", "PAGES", "SYNC",
                                       "DONE")):
            p = self.spoil_ranges(p, 8) if p else p
        elif self.rng.random() < 0.93:
            p = self.spoil_message(p)
        else:
            p = self.flip(p)
        self.frames[i] = (kind, p)

    def spoil_order(self):
        f, rng = self.frames, self.rng
        i, j = rng.randrange(len(f)), rng.randrange(len(f))
        way = rng.randrange(6)
        if way == 0:
            f[i], f[j] = f[j], f[i]
        elif way == 1:
            f.insert(j, f[i])
        elif way == 2:
            del f[i]
        elif way == 3:
            f[i] = (rng.choice(list(TYPES.values())), f[i][1])
        elif way == 4:
            f[i:i] = [f[i]] * rng.choice([10, 300])
        else:
            start, end = sorted(self.number(0) & ~4095 for _ in range(2))
            f.insert(i, (rng.choice([TYPES["UNMAP"], TYPES["ZAP"]]),
                         struct.pack("<QQ", start & ((1 << 64) - 1),
                                     end & ((1 << 64) - 1))))

    def spoilt(self, first):
        for _ in range(self.rng.choice([1, 1, 1, 2, 3, 6])):
            if not self.frames:
                break
            if self.rng.random() < 0.8:
                self.spoil_payload()
            else:
                self.spoil_order()
        stream = join(self.frames, first)
        if self.rng.random() < 0.05:  # cut off, or with a wrong byte
            stream = stream[:self.rng.randrange(len(stream) + 1)] \
                if self.rng.random() < 0.5 else self.flip(stream)
        return stream


# ---- what must always be refused, and how

def without_done(frames):
    return [f for f in frames if f[0] != TYPES["DONE"]]


def with_odd_thread(frames):
    """The last thread has more vector state than the others."""
    kind, p = frames[-1]
    state = fields(p)
    threads = [i for i, f in enumerate(state) if f[0] == 2]
    if len(threads) < 2:
        return None
    last = threads[-1]
    thread = [(n, wire, v + bytes(8192) if n == 3 else v)
              for n, wire, v in fields(state[last][2])]
    state[last] = (2, 2, message(thread))
    return frames[:-1] + [(kind, message(state))]


REFUSED = [
    (without_done, "STATE before DONE"),
    (with_odd_thread, "malformed thread"),
]


# ---- both ends

class Receiver:
    def __init__(self, stint, plain_dir):
        env = dict(os.environ, ASAN_OPTIONS="exitcode=99:detect_leaks=0:" +
                   os.environ.get("ASAN_OPTIONS", ""))
        self.errors = tempfile.TemporaryFile(
            "w+", dir=plain_dir, errors="replace")
        self.p = subprocess.Popen(
            [stint, "move", "receive", "--listen", "127.0.0.1:0",
             "--plaintext", "--once"], stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=self.errors, env=env,
            start_new_session=True)
        line = self.p.stdout.readline()
        if not line.startswith("listening "):
            raise Failed(f"receive: {line}{self.said()}")
        host, _, port = line.split()[1].rpartition(":")
        self.address = (host, int(port))

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def close(self):
        if self.p.poll() is None:
            self.p.kill()
        self.p.wait()
        self.p.stdout.close()
        self.errors.close()


def relay(listener, to, record):
    """Passes one connection through, and keeps what its beginner sends."""
    a, _ = listener.accept()
    b = socket.create_connection(to)
    while True:
        for s in select.select([a, b], [], [])[0]:
            data = s.recv(1 << 20)
            if not data:
                a.close()
                b.close()
                return
            if s is a:
                record.append(data)
            (b if s is a else a).sendall(data)


def record_move(stint, argv, work):
    """The bytes that the source of a real move sends."""
    receiver = Receiver(stint, work)
    out = open(os.path.join(work, "program"), "wb")
    program = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
        start_new_session=True, cwd=work,
        env=dict(os.environ, CHECK_STOP=os.path.join(work, "stop"),
                 CHECK_DIR=work))
    out.close()
    listener = socket.create_server(("127.0.0.1", 0))
    data = []
    thread = threading.Thread(target=relay, daemon=True, args=(
        listener, receiver.address, data))
    thread.start()
    end = time.monotonic() + 120
    while b"READY" not in open(os.path.join(work, "program"), "rb").read():
        if program.poll() is not None or time.monotonic() > end:
            raise Failed("the program is not ready")
        time.sleep(0.02)
    r = subprocess.run([stint, "move", str(program.pid), "--to",
                        "127.0.0.1:%d" % listener.getsockname()[1],
                        "--plaintext"], capture_output=True, text=True,
                       stdin=subprocess.DEVNULL, timeout=120)
    program.kill()
    program.wait()
    if r.returncode:
        raise Failed(f"the move to record: {r.stderr}")
    receiver.close()
    kill_orphans()
    listener.close()
    return b"".join(data)


def drain(s, ready):
    """Read what the receiver sends; READY is the last that it sends unasked."""
    got = b""
    try:
        while True:
            data = s.recv(65536)
            if not data:
                return
            got += data
            frames, rest = [], got
            while len(rest) >= HEAD.size:
                kind, size = HEAD.unpack_from(rest)[2:4]
                if len(rest) < HEAD.size + size:
                    break
                frames.append(kind)
                rest = rest[HEAD.size + size:]
            got = rest
            if TYPES["READY"] in frames or TYPES["ABORT"] in frames:
                ready.append(TYPES["READY"] in frames)
                return
    except OSError:
        return


def attack(stint, stream, work):
    """Send the move; returns what happened to the receiver: "landed" or its one line."""
    receiver = Receiver(stint, work)
    try:
        s = socket.create_connection(receiver.address)
        s.settimeout(60)
        ready = []
        thread = threading.Thread(target=drain, args=(s, ready), daemon=True)
        thread.start()
        try:
            s.sendall(stream)
            s.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        try:
            status = receiver.p.wait(120)
        except subprocess.TimeoutExpired:
            raise Failed("the receiver hangs") from None
        thread.join(60)
        s.close()
        # first it says from whom it takes a process
        said = re.sub(r"^stint move: a process may come from .*\n", "", receiver.said()).strip()
        if status < 0 or status == 99 or "Sanitizer" in said or \
                "runtime error" in said:
            raise Failed(f"the receiver ended with {status}: {said[:3000]}")
        if status == 0:
            raise Failed("the receiver says that all went well")
        if len(said.split("\n")) != 1 or re.search("[\0-\x1f\x7f]", said):
            raise Failed(f"not one line, or controls in it: {said[:3000]!r}")
        return "landed" if ready and ready[0] else \
            said.split("receive: ", 1)[-1]
    finally:
        receiver.close()
        kill_orphans()


def campaign(opts, argv):
    stint = os.path.join(opts.build, "src/cmd/stint")
    seen, failed = {}, 0
    with tempfile.TemporaryDirectory(prefix="stint-hostile-") as work:
        frames, first = split(record_move(stint, argv, work))
        frames = [f for f in frames if f[0] != TYPES["COMMIT"]]
        whole = attack(stint, join(frames, first), work)
        if whole != "landed":
            raise Failed(f"the unspoilt record does not land: {whole}")
        for spoil, want in REFUSED:
            spoilt = spoil(frames)
            if spoilt is None:  # the moves of this program cannot show it
                continue
            said = attack(stint, join(spoilt, first), work)
            if want not in said:
                raise Failed(f"{spoil.__name__}: {said}, not {want!r}")
        for run in range(opts.runs):
            seed = opts.seed + run
            try:
                said = attack(stint, Spoiler(frames, seed).spoilt(first), work)
            except Failed as e:
                failed += 1
                print(f"FAILED {' '.join(opts.program)} seed {seed}: {e}",
                      flush=True)
                if not opts.keep_going:
                    break
                continue
            said = re.sub(r"\b(0x[0-9a-f]+|[0-9a-f]*[0-9][0-9a-f]*)\b", "N",
                          said)
            seen[said] = seen.get(said, 0) + 1
            if opts.verbose:
                print(f"# {seed}: {said}", flush=True)
    if not failed:
        print(f"ok {os.path.basename(argv[0])}: {opts.runs} streams, "
              f"{len(seen)} different answers, "
              f"{seen.get('landed', 0)} landed all the same")
    return failed


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=os.environ.get("STINT_BUILD", "build"))
    p.add_argument("--runs", type=int, default=100)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--keep-going", action="store_true")
    p.add_argument("--verbose", action="store_true")
    p.add_argument("program", nargs="+")
    opts = p.parse_args()
    adopt_orphans()
    exit_on_term()
    try:
        argv = [os.path.abspath(opts.program[0]), *opts.program[1:]]
        return 1 if campaign(opts, argv) else 0
    except (Failed, subprocess.TimeoutExpired) as e:
        print(f"FAILED {e}", file=sys.stderr)
        return 1
    finally:
        kill_orphans()


if __name__ == "__main__":
    sys.exit(main())
