"""faults.py - one-place changes of C code, as `tools/mutate` tries them

faults_of(path) finds them all in one file, by the layout that clang-format gives the code:
binary operators stand between blanks, functions begin and end at the left margin.  Comments,
texts, tables outside of functions, assertions and what is told to a person stay as they are.
"""

import hashlib
import re
from dataclasses import dataclass

# What is only told, or only for memory.
TOLD = re.compile(r"\b(?:assert|static_assert|error_set|error_prefix|log_\w+|warn\w*)\(")
FREED = re.compile(r"(?:free|fclose|close|\w+_(?:free|clear|destroy|close))\(")
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^#(?:\\\n|[^\n])*',
                     re.S | re.M)
OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+",
         "*": "/", "/": "*", "%": "/", "&&": "||", "||": "&&", "+=": "-=", "-=": "+=", "*=": "/=",
         "|=": "&=", "&=": "|="}
WORDS = {"min": "max", "max": "min", "true": "false", "false": "true",
         "usec_add": "usec_sub", "usec_sub": "usec_add"}
HEAD = re.compile(r"(?:else\s+)?(?:if|while|for|switch|for_each\w*|HASH_ITER|DL_FOREACH\w*|LL_FOREACH\w*)"
                  r"\s*(?=\()|else\b|do\b|case [^:]*:|default:|\w+:(?!:)")
DECLARES = re.compile(r"(?:static|const|struct|enum|union|unsigned|register)\b|\w+\s+\**\w+\s*(?:=|\[|;|,|$)|"
                      r"\w+ \*+\w+\s*=|goto\b|typedef\b")


@dataclass
class Fault:
    """Text from..to of the file becomes other things: edits, which keep the lines' numbers."""

    file: str
    line: int
    kind: str
    edits: list
    was: str = ""
    now: str = ""

    def __str__(self):
        return f"{self.file}:{self.line}: {self.kind}: {self.was}  =>  {self.now}"

    def apply(self, text):
        for a, b, new in reversed(self.edits):
            lines = text.count("\n", a, b) - new.count("\n")
            text = text[:a] + new + "\n" * lines + text[b:]
        return text


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def closing(text, at):
    """The end of what the bracket at that place opens."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if not depth:
            return i
    return len(text) - 1


def code_of(text):
    """The same text, with blanks for all that is left alone."""
    code = COMMENT.sub(lambda m: blank(m[0]), text)
    for m in reversed(list(TOLD.finditer(code))):
        end = closing(code, m.end() - 1)
        code = code[:m.end()] + blank(code[m.end():end]) + code[end:]
    return code


def bodies(code):
    for m in re.finditer(r"^\{$.*?^\}$", code, re.S | re.M):
        yield m.start() + 1, m.end() - 1


def operators(code, a, b):
    for m in re.finditer(r"(?<=[ \t])([<>=!]=|[<>]|&&|\|\||[-+*|&]=|[-+*/%])(?=[ \n])", code[a:b]):
        yield "operator", [(a + m.start(), a + m.end(), OTHER[m[0]])]
    for m in re.finditer(r"\b(?:" + "|".join(WORDS) + r")\b(?=[^\w])", code[a:b]):
        if m[0] in ("true", "false") or code[a + m.end()] == "(":
            yield "word", [(a + m.start(), a + m.end(), WORDS[m[0]])]


def constants(code, a, b):
    for m in re.finditer(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", code[a:b]):
        size = code[a + m.start() - 1] == "[" and len(m[0]) > 1
        if size:
            continue
        around = [f"{float(m[0]) * 1.25:g}"] if "." in m[0] else [str(int(m[0]) + 1)]
        if m[0].isdigit() and int(m[0]) > 0:
            around.append(str(int(m[0]) - 1))
        for n in around:
            yield "constant", [(a + m.start(), a + m.end(), n)]


def conditions(code, a, b):
    for m in re.finditer(r"\b(?:if|while) \(", code[a:b]):
        at = a + m.end()
        yield "negated", [(at, at, "!("), (closing(code, at - 1), closing(code, at - 1), ")")]
    for m in re.finditer(r"(?<=[ (\t])!(?=[\w(])", code[a:b]):
        yield "negated", [(a + m.start(), a + m.end(), "")]


def arguments(code, at):
    """Where each begins and ends, of a call whose bracket is at that place."""
    end, start, depth, found = closing(code, at), at + 1, 0, []
    for i in range(at + 1, end + 1):
        if i == end or (code[i] == "," and not depth):
            found.append((start, i))
            start = i + 1
        depth += (code[i] in "([{") - (code[i] in ")]}")
    return [(s + len(code[s:e]) - len(code[s:e].lstrip()), e) for s, e in found]


def swapped(code, a, b):
    for m in re.finditer(r"\b(?!if\b|for|while\b|switch\b|return\b|sizeof\b|min\b|max\b|xcalloc\b|xreallocarray\b)\w+\(", code[a:b]):
        args = arguments(code, a + m.end() - 1)
        for (s, e), (t, f) in zip(args, args[1:]):
            x, y = code[s:e], code[t:f]
            if x.strip() and y.strip() and x != y and x[0] != ".":
                yield "swapped", [(s, e, (t, f)), (t, f, (s, e))]


def statements(code, a, b):
    """Of each: where it begins, behind what decides whether it runs, and its semicolon."""
    start, i = a, a
    while i < b:
        c = code[i]
        if c in "([" or (c == "{" and (code[i - 1] == ")" or code[i - 2:i] in ("= ", "=\n"))):
            i = closing(code, i)
        elif c in "{}":
            start = i + 1
        elif c == ";":
            yield behind_heads(code, start, i), i
            start = i + 1
        i += 1


def behind_heads(code, at, end):
    while True:
        at += len(code[at:end]) - len(code[at:end].lstrip())
        m = HEAD.match(code, at, end)
        if not m:
            return at
        at = m.end()
        if code[at:at + 1] == "(":
            at = closing(code, at) + 1


def removed(code, a, b):
    for s, e in statements(code, a, b):
        what = code[s:e]
        last = not code[e + 1:b].strip()
        if (not what.strip() or DECLARES.match(what) or FREED.match(what) or "(void)" in what[:6] or
                (what.startswith("return") and last) or TOLD.match(what)):
            continue
        yield "removed", [(s, e, "")]


KINDS = (operators, constants, conditions, swapped, removed)


def shown(text, edits):
    """The lines of that place, on one, with what comes there."""
    at = text.rfind("\n", 0, edits[0][0]) + 1
    said = ""
    for a, b, new in edits:
        said, at = said + text[at:a] + new, b
    return " ".join((said + text[at:text.find("\n", at)]).split())


def faults_of(tree, path):
    with open(f"{tree}/{path}") as f:
        text = f.read()
    code = code_of(text)
    for a, b in bodies(code):
        for kind in KINDS:
            for name, edits in kind(code, a, b):
                edits = [(s, e, " ".join(text[slice(*new)].split()) if isinstance(new, tuple) else new)
                         for s, e, new in edits]
                yield Fault(path, text.count("\n", 0, edits[0][0]) + 1, name, edits,
                            shown(text, [(s, e, text[s:e]) for s, e, _ in edits]), shown(text, edits))


def rank(*words):
    return hashlib.sha256("\0".join(map(str, words)).encode()).digest()


def sample(tree, paths, seed, kinds=None):
    """For each line its faults, best tried in that order, and lines in an order that the seed
    decides.  What is changed elsewhere does not change either: a line is known by its text."""
    chosen = []
    for path in paths:
        lines, seen = {}, {}
        for f in faults_of(tree, path):
            if not kinds or f.kind in kinds:
                lines.setdefault(f.line, []).append(f)
        for faults in lines.values():
            text = faults[0].was
            seen[text] = seen.get(text, 0) + 1
            by = (seed, path, text, seen[text])
            faults.sort(key=lambda f: (rank(*by, f.kind), rank(*by, f.now)))
            chosen.append((rank(*by), faults))
    return [faults for _, faults in sorted(chosen, key=lambda c: c[0])]
