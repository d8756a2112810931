"""How often each place of the code ran, and which time each op is: loops, and functions that are called more than once.

# Note [What is a turn]
A place runs again when other places of the same function ran between. Several ops in a row at one place are several turns, or
one call of a library that ran several ops. They are turns if they are calls of several modules by the function itself, or if
the same ops follow one another over and over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple


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
