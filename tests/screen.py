#!/usr/bin/env python3
"""screen.py ROWS COLUMNS COMMAND... - what a person sees of a command at a terminal

Runs it at a pseudo-terminal of that size, and obeys lines of standard input:

    wait TEXT       until it is on the screen
    gone TEXT       until it is not
    key KEY         press it
    size R C        the terminal gets another size
    show            print the screen
    end             wait for the command's end, and print its exit status
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

PATIENCE = 90


class Screen:
    """Of all escape sequences only those that `stint` writes are obeyed."""

    def __init__(self, fd, rows, columns):
        self.fd, self.bytes = fd, b""
        self.resize(rows, columns)

    def resize(self, rows, columns):
        self.lines, self.row, self.column = [""] * rows, 0, 0
        self.rows, self.columns = rows, columns
        self.homes = 0  # the first frame after that may still have the former size
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def put(self, c):
        if self.column >= self.columns:
            assert self.homes < 2, "a line is too long: " + self.lines[self.row]
            return
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[:self.column] + c + line[self.column + 1:]
        self.column += 1

    def obey(self, part):
        if part == "\r":
            self.column = 0
        elif part == "\n":
            assert self.row + 1 < self.rows or self.homes < 2, "it scrolls"
            self.row = min(self.row + 1, self.rows - 1)
        elif part == "\033[H":
            self.row = self.column = 0
            self.homes += 1
        elif part == "\033[K":
            self.lines[self.row] = self.lines[self.row][:self.column]
        elif part == "\033[J":
            self.obey("\033[K")
            self.lines[self.row + 1:] = [""] * (self.rows - self.row - 1)
        elif part == "\033[2J":
            self.lines = [""] * self.rows
        else:
            assert part >= " ", repr(part)
            self.put(part)

    def read(self):
        """Read what is there; False: nothing more will come."""
        if not select.select([self.fd], [], [], 0.1)[0]:
            return True
        try:
            self.bytes += os.read(self.fd, 65536)
        except OSError:
            return False
        whole = re.match(rb"(?s)(?:\033\[[0-9]*[A-Z]|[^\033])*", self.bytes).group()
        self.bytes = self.bytes[len(whole):]
        for part in re.findall(r"(?s)\033\[[0-9]*[A-Z]|.", whole.decode()):
            self.obey(part)
        return True

    def until(self, what):
        end = time.monotonic() + PATIENCE
        while not what():
            if not self.read() or time.monotonic() > end:
                sys.exit("never came true; on the screen is\n" + self.text())

    def text(self):
        return "\n".join(self.lines).rstrip("\n")


def main(rows, columns, *command):
    pid, fd = pty.fork()
    if not pid:
        os.execvp(command[0], command)
    screen = Screen(fd, int(rows), int(columns))
    for line in sys.stdin:
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "wait":
            screen.until(lambda: rest in screen.text())
        elif word == "gone":
            screen.until(lambda: rest not in screen.text())
        elif word == "key":
            os.write(fd, rest.encode())
        elif word == "size":
            screen.resize(*map(int, rest.split()))
        elif word == "show":
            print(screen.text(), flush=True)
        elif word == "end":
            while screen.read():
                pass
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


main(*sys.argv[1:])
