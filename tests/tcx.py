#!/usr/bin/python3
"""tcx.py LINK: the names of the BPF programs at its ingress (tcx), a line each.
tcx.py LINK hold: hang one more there that lets all pass, until it is killed.
(The bpftool of the distribution is older than tcx.)"""
import ctypes
import os
import signal
import socket
import struct
import sys

BPF, TCX_INGRESS, SCHED_CLS = 321, 46, 3  # x86_64
PROG_LOAD, PROG_FD_BY_ID, OBJ_INFO, PROG_QUERY, LINK_CREATE = 5, 13, 15, 16, 28
LET_PASS = struct.pack("<BBhi", 0xb7, 0, 0, -1) + struct.pack("<Q", 0x95)
libc = ctypes.CDLL(None, use_errno=True)


def bpf(cmd, attr):
    attr = ctypes.create_string_buffer(attr, 144)
    r = libc.syscall(BPF, cmd, attr, 144)
    if r < 0:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e))
    return r, attr.raw


def name_of(prog):
    fd, _ = bpf(PROG_FD_BY_ID, struct.pack("<I", prog))
    info = ctypes.create_string_buffer(256)
    bpf(OBJ_INFO, struct.pack("<IIQ", fd, 80, ctypes.addressof(info)))
    os.close(fd)
    return info.raw[64:80].rstrip(b"\0").decode()


def programs(link):
    ids = (ctypes.c_uint32 * 64)()
    try:
        _, attr = bpf(PROG_QUERY, struct.pack(
            "<IIIIQI", link, TCX_INGRESS, 0, 0, ctypes.addressof(ids), 64))
    except FileNotFoundError:
        return []
    return [name_of(i) for i in ids[:struct.unpack_from("<I", attr, 24)[0]]]


def hold(link):
    insn, gpl = ctypes.create_string_buffer(LET_PASS), ctypes.c_char_p(b"GPL")
    prog, _ = bpf(PROG_LOAD, struct.pack(
        "<IIQQ", SCHED_CLS, len(LET_PASS) // 8, ctypes.addressof(insn),
        ctypes.cast(gpl, ctypes.c_void_p).value))
    bpf(LINK_CREATE, struct.pack("<III", prog, link, TCX_INGRESS))
    signal.pause()


index = socket.if_nametoindex(sys.argv[1])
if sys.argv[2:] == ["hold"]:
    hold(index)
print("\n".join(programs(index)))
