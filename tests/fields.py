#!/usr/bin/python3
"""fields.py - does a page describe what --json prints?

    COMMAND --json | fields.py PAGE [--all]

Each line of standard input must be a JSON object, and all names in it must be
named by PAGE (.Va); with --all the other way round, too.
"""
import json
import re
import sys

# the members of these are the columns of --tsv, or the arguments of a reason
BY_NAME = ("metrics", "targets", "numbers", "now_numbers")


def names(value):
    if isinstance(value, list):
        return set().union(*map(names, value))
    if not isinstance(value, dict):
        return set()
    found = set(value)
    for name, v in value.items():
        found |= names(list(v.values()) if name in BY_NAME else v)
    return found


def described(page):
    with open(page) as f:
        lines = re.findall(r"^\.(?:It )?Va (.*)$", f.read(), re.M)
    return set(re.findall(r"[a-z][a-z0-9_]*", " ".join(lines)))


def main():
    objects = [json.loads(line) for line in sys.stdin]
    printed = names(objects)
    page = described(sys.argv[1])
    if not objects or not all(isinstance(o, dict) for o in objects):
        sys.exit("not objects, one a line")
    if printed - page:
        sys.exit(f"{sys.argv[1]} does not name {printed - page}")
    if "--all" in sys.argv and page - printed:
        sys.exit(f"{sys.argv[1]} names {page - printed}")


main()
