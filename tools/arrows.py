"""arrows.py - what tools/check-arrows and tools/arrows-picture know of src/"""

import collections
import json
import os
import re
import subprocess
import sys

TABLE = "tools/arrows"


class Table:
    """tools/arrows: self.units in its order, self.uses by unit, self.circles."""

    def __init__(self):
        self.units, self.uses, self.circles = [], {}, []
        with open(TABLE) as f:
            text = re.sub(r"#.*", "", f.read())
        for line in re.sub(r"\n[ \t]+(?=\S)", " ", text).splitlines():
            if line.strip():
                self.read(line.strip())

    def read(self, line):
        name, colon, rest = line.partition(":")
        if not colon:
            sys.exit(f"{TABLE}: no colon in: {line}")
        if name.startswith("circle "):
            self.circles.append((name.split()[1], set(rest.split())))
            return
        self.uses[name] = {name}
        for word in rest.split():
            base = word.removesuffix("/*")
            found = {u for u in self.units
                     if u == word or word != base and (u + "/").startswith(base + "/")}
            if not found:
                sys.exit(f"{TABLE}: {word} is not above the line of {name}")
            self.uses[name] |= found
        self.units.append(name)

    def unit(self, path):
        """The unit of a path below src/: the longest name that holds it, or None."""
        while path and path not in self.uses:
            path = os.path.dirname(path)
        return path or None


def room(unit):
    return unit.split("/")[0]


def is_test(path):
    """Tests, what they share, and the libraries made up for them."""
    return re.match(r"(test_|testing\.|fake_)", os.path.basename(path)) is not None


def sources():
    """Paths below src/ of all C files."""
    out = subprocess.check_output(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src/*.c", "src/*.h"],
        text=True)
    return [p.removeprefix("src/") for p in out.split() if os.path.exists(p)]


def includes(path):
    """What it includes of ours, as paths below src/; generated headers, too."""
    with open("src/" + path) as f:
        found = re.findall(r'^#include "(.*)"', f.read(), re.M)
    return [i if "/" in i else os.path.join(os.path.dirname(path), i) for i in found]


def objects(build):
    """By path below src/, its object; generated files have the path of their .proto."""
    try:
        with open(build + "/compile_commands.json") as f:
            commands = json.load(f)
    except FileNotFoundError:
        sys.exit(f"check-arrows: {build} is not built; run make")
    found = {}
    for c in commands:
        path = os.path.relpath(os.path.join(c["directory"], c["file"]))
        path = path.removeprefix(os.path.relpath(build) + "/")
        if path.startswith("src/") and not is_test(path):
            found.setdefault(path.removeprefix("src/"), os.path.join(build, c["output"]))
    missing = [o for o in found.values() if not os.path.exists(o)]
    if missing:
        sys.exit(f"check-arrows: {missing[0]} is not built; run make")
    return found


def calls(build):
    """{(user, definer): {symbol}} of what objects define and others use."""
    by_object = {os.path.relpath(o): p for p, o in objects(build).items()}
    out = subprocess.check_output(["nm", "-g", "--print-file-name", *by_object], text=True)
    definers, users = collections.defaultdict(set), []
    for line in out.splitlines():
        where, rest = line.split(":", 1)
        kind, symbol = rest.split()[-2:]
        if kind in "Uwv":
            users.append((where, symbol))
        else:
            definers[symbol].add(where)
    found = collections.defaultdict(set)
    for user, symbol in users:
        there = [d for d in definers[symbol] if linked(user, d)]
        # What several define is main(), or the like.
        if len(there) == 1:
            found[by_object[user], by_object[there[0]]].add(symbol)
    return found


def linked(user, definer):
    """Can they meet?  Not where the definer is in a shared library, such as the one
    whose poll() goes into ranks, and the user is not."""
    target = os.path.dirname(definer)
    return not target.endswith(".so.p") or os.path.dirname(user) == target


def circles(edges):
    """Sets of more than one node that lead to each other (Tarjan)."""
    to = collections.defaultdict(list)
    for a, b in edges:
        to[a].append(b)
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for n in to[node]:
            if n not in index:
                visit(n)
            if n in stack:
                low[node] = min(low[node], low[n])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(set(stack[at:]))
            del stack[at:]

    for node in list(to):
        if node not in index:
            visit(node)
    return found
