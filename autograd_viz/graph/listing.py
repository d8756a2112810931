"""The user's code around the ops of a document: functions and cells with line numbers, and how often each place ran.

# Note [Which code is listed]
Only files that this process has read for its own ops are listed whole, so a document from a file can ask for no other, and only
if their lines are still those that ran. Of other code, the lines that the document itself has are listed, with gaps. Of a
script outside its functions, the lines of the ops are listed, with short gaps filled: a page is handed on, the rest is private.

# Note [One parse at a time]
In CPython 3.11 two threads that parse at once raise SystemError (github.com/python/cpython/issues/106905).

# Note [What is a turn]
A place runs again when other places of the same function ran between. Several ops in a row at one place are several turns if
they are calls of several modules by the function itself, or if the same ops follow one another over and over; else they are one
call of a library that ran several ops.
"""

from __future__ import annotations

import ast
import linecache
import re
import threading
import warnings
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

from .surroundings import Source

MOST_LINES = 400  # of a text that is listed whole
AROUND = 4  # lines around each op in a longer one
CELL = re.compile(r"^<|\bipykernel_\d+\b|__marimo__")  # the file of a notebook's cell
LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Text:
    """A function, or a cell or file outside its functions."""

    file: str
    function: str = ""  # file, function: as in `Source`
    owner: str = ""  # the class of a method, or ""
    lines: list[tuple[int, str]] = field(default_factory=list)  # number and text of each line; numbers may have gaps
    loops: list[tuple[int, int]] = field(default_factory=list)  # first and last line of each loop

    def repeats(self, line: int) -> bool:
        """Can a line run more than once?"""
        return bool(self.function) or any(first <= line <= last for first, last in self.loops)


class _Block(NamedTuple):
    first: int
    last: int
    function: str = ""
    owner: str = ""


class Listing:
    """The texts that contain some places."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self.texts: list[Text] = []  # in the order of their first places
        self.text_of: dict[Source, int] = {}  # by place: the index of the text that contains it
        by_file: dict[str, list[Source]] = defaultdict(list)
        for source in dict.fromkeys(sources):
            by_file[source.file].append(source)
        for file, found in by_file.items():
            self._add(file, found)

    def _add(self, file: str, sources: list[Source]) -> None:
        entry = linecache.cache.get(file, ())  # what this process has read: see Note [Which code is listed]
        lines: list[str] = entry[2] if len(entry) > 2 else []
        ran = ((s.text, "".join(lines[s.line - 1 : s.end_line]).removesuffix("\n")) for s in sources)
        if not all(text and text == there for text, there in ran):
            return self._add_known(file, sources)
        blocks, loops = _structure(lines)
        inside: dict[_Block, list[Source]] = defaultdict(list)
        whole, is_cell = _Block(1, len(lines)), bool(CELL.search(file))
        for source in sources:
            around = (b for b in blocks if b.first <= source.line and source.end_line <= b.last)
            inside[max(around, key=lambda b: b.first, default=whole)].append(source)
        for block, found in inside.items():
            text = [(n, lines[n - 1].rstrip("\n")) for n in _numbers(block, found, is_cell)]
            self._append(Text(file, block.function, block.owner, text, loops), found)

    def _add_known(self, file: str, sources: list[Source]) -> None:
        inside: dict[str, list[Source]] = defaultdict(list)
        for source in sources:
            inside[source.function].append(source)
        for function, found in inside.items():
            known = {s.line + i: line for s in found for i, line in enumerate(s.text.split("\n")) if s.text}
            if known:
                self._append(Text(file, function, "", sorted(known.items()), [(min(known), max(known))]), found)

    def _append(self, text: Text, sources: list[Source]) -> None:
        self.text_of |= dict.fromkeys(sources, len(self.texts))
        self.texts.append(text)


def _structure(lines: list[str]) -> tuple[list[_Block], list[tuple[int, int]]]:
    """The functions and the loops of a file; a file that is not plain Python (a cell with %magics) has none that are known."""
    try:
        tree = parsed("".join(lines))
    except SyntaxError:
        return [], [(1, len(lines))]
    blocks, loops = list[_Block](), list[tuple[int, int]]()
    todo: list[tuple[ast.AST, str]] = [(tree, "")]
    while todo:
        node, owner = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            blocks.append(_Block(first, node.end_lineno or first, node.name, owner))
        elif isinstance(node, LOOPS):
            loops.append((node.lineno, node.end_lineno or node.lineno))
        inner = node.name if isinstance(node, ast.ClassDef) else "" if isinstance(node, ast.FunctionDef) else owner
        todo += [(child, inner) for child in ast.iter_child_nodes(node)]
    return blocks, loops


def _numbers(block: _Block, sources: list[Source], is_cell: bool) -> Sequence[int]:
    if not block.function and not is_cell:
        ran = sorted({n for s in sources for n in range(s.line, s.end_line + 1)})
        gaps = (range(a, b) for a, b in pairwise(ran) if b - a <= AROUND)
        return sorted({*ran, *(n for gap in gaps for n in gap)})[:MOST_LINES]
    if block.last - block.first < MOST_LINES:
        return range(block.first, block.last + 1)
    near = {n for s in sources for n in range(s.line - AROUND, s.end_line + AROUND + 1)}
    return sorted(n for n in near if block.first <= n <= block.last)[:MOST_LINES]


_one_at_a_time = threading.Lock()


@lru_cache(32)
def parsed(text: str) -> ast.Module:
    """The syntax tree of code that has run, to be read only. Python has given its warnings: they are silenced."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


@lru_cache(512)
def parsed_expression(text: str) -> ast.expr | None:
    """The syntax tree of one expression; None of anything else."""
    try:
        [statement] = parsed(text.strip()).body
    except (SyntaxError, ValueError):
        return None
    return statement.value if isinstance(statement, ast.Expr) else None


class Ran(NamedTuple):
    """One op at its place."""

    place: Hashable  # of the expression, in any form
    text: Hashable  # of the function, in any form
    owner: str  # the class of the function, or ""
    name: str
    module: str  # name, module: as in `Op`
    repeats: bool  # can the place run more than once?


def turns_of(ran: Sequence[Ran], classes: Mapping[str, str]) -> list[tuple[int, int]]:
    """For each op, in order, its turn at its place (from 1), and how many there are. `classes`: of modules, by path."""
    last: dict[Hashable, Hashable] = {}
    together: dict[Hashable, list[list[int]]] = defaultdict(list)  # ops in a row, by place
    for i, op in enumerate(ran):
        if last.get(op.text) != op.place:
            together[op.place].append([])
        together[op.place][-1].append(i)
        last[op.text] = op.place
    found = [(1, 1)] * len(ran)
    for runs in together.values():
        turns = [turn for run in runs for turn in _split(run, ran, classes)]
        for number, turn in enumerate(turns, 1):
            for i in turn:
                found[i] = (number, len(turns))
    return found


def _split(run: list[int], ran: Sequence[Ran], classes: Mapping[str, str]) -> Iterator[list[int]]:
    """The turns in a row of ops at one place: see Note [What is a turn]."""
    if not ran[run[0]].repeats:
        yield run
        return
    for _, same in groupby(run, key=lambda i: _called(ran[i], classes)):
        part = list(same)
        whats = [(ran[i].name, ran[i].module) for i in part]
        size = next(n for n in range(1, len(part) + 1) if len(part) % n == 0 and whats == whats[:n] * (len(part) // n))
        yield from (part[k : k + size] for k in range(0, len(part), size))


def _called(op: Ran, classes: Mapping[str, str]) -> str:
    """The module that the function itself called."""
    around = [path for path in prefixes(op.module) if path in classes]
    own = [k for k, path in enumerate(around) if op.owner and classes[path] == op.owner]
    return next(iter(around[own[-1] + 1 if own else 0 :]), "")


def prefixes(path: str) -> list[str]:
    """The paths of a module and of those around it, from the outermost: "", "layers", "layers.0"."""
    parts = path.split(".") if path else []
    return [".".join(parts[:k]) for k in range(len(parts) + 1)]


def assigned(file: str, attribute: str) -> Source | None:
    """The only line of a file that assigns an attribute; None if there are more, or none."""
    texts = enumerate((t.rstrip("\n") for t in linecache.getlines(file)), start=1)
    found = [Source(file, k, k, 0, len(t), t) for k, t in texts if re.search(rf"\.{attribute}\s*=[^=]", t)]
    return found[0] if len(found) == 1 else None
