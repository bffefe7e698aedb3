"""tested.py - a copy of the tree, and the tests run in it (tools/mutants, tools/mutate)"""

import filecmp
import json
import os
import shutil
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(tree, *argv, limit=1800):
    """Ends all of it where it takes too long, and lets bats clean up."""
    env = dict(os.environ, STINT_BUILD=tree + "/build")
    env.setdefault("STINT_SHARED", os.path.realpath(HERE + "/../shared"))
    p = subprocess.Popen(argv, cwd=tree, env=env, stdin=subprocess.DEVNULL, start_new_session=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    code = None
    for sig in signal.SIGTERM, signal.SIGKILL:
        try:
            out, _ = p.communicate(timeout=limit)
            return subprocess.CompletedProcess(argv, code or p.returncode, out)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, sig)
            code, limit = 124, 30
        except BaseException:  # this script is to end: the test's hosts and programs, too
            os.killpg(p.pid, signal.SIGTERM)
            p.communicate()
            raise
    return subprocess.CompletedProcess(argv, code, b"")


def unit_tests(tree):
    """Those that meson knows, by their names."""
    with open(tree + "/build/meson-info/intro-tests.json") as f:
        return {t["name"]: t for t in json.load(f)}


def command(tree, test):
    if ".bats" in test:
        path, _, which = test.partition(" ")
        return ["bats", path, *(["-f", which] if which else [])]
    if test.startswith("check-"):
        name, *words = test.split()
        return ["tests/move/drive.py", "--moves", "3", "--", f"{tree}/build/tests/move/{name}", *words]
    t = unit_tests(tree)[test]
    return ["env", *(f"{k}={v}" for k, v in t["env"].items()), *t["cmd"]]


def same(a, b):
    return os.path.lexists(b) and not os.path.islink(a) and filecmp.cmp(a, b, shallow=False)


def copy_tree(tree, *options):
    """What is there already gets what has changed since, as files that are new."""
    os.chmod(tree, 0o755)  # some tests are other users'
    files = subprocess.check_output(["git", "ls-files", "-z"], cwd=HERE).decode().split("\0")
    for name in filter(None, files):
        here, there = f"{HERE}/{name}", f"{tree}/{name}"
        if not os.path.lexists(here) or same(here, there):
            continue
        os.makedirs(os.path.dirname(there), exist_ok=True)
        if os.path.islink(there):
            os.unlink(there)
        shutil.copy(here, there, follow_symlinks=False)
    done = run(tree, "meson", "setup", "build", "-Dwerror=false", *options)
    if done.returncode:
        sys.exit(done.stdout.decode())
