"""Where a module is called again, right after the call before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from ...graph.guess import ONE
from ...graph.paths import Path, Way
from .index import Index

MOST = 8  # calls, one right after the other, that are told apart
CELL = "Cell"  # what the names of LSTMCell, GRUCell, RNNCell end with
CONTAINER = "Sequential"  # runs its parts in their order, each once

_Row = tuple[str, Path, tuple[str, ...]]


def restarts(index: Index, ways: Sequence[Way], is_guessed: bool) -> dict[int, Path]:
    """By op at which another call of a module begins right after the one before: the module's path. A recording does not tell
    two such calls apart. They are equal op by op, use the same parameters, and do not feed each other; and the module has not
    one place only that calls it. A layer of PyTorch's takes each of its parameters once.
    """
    modules = [m for m in index.document.modules if m.path]
    again = {m.path for m in modules if (m.name == CONTAINER if is_guessed else m.source is None)}
    layers = {tuple(m.path.split(".")) for m in modules if ONE.fullmatch(m.name) or m.name.endswith(CELL)}
    if not again and not layers:
        return {}
    paths = [tuple([part for part in way if isinstance(part, str)]) for way in ways]
    leaves = (tuple([t.id for t in taken if index.is_part(t)]) for taken in index.taken)
    rows = [(op.name, path, own) for op, path, own in zip(index.document.ops, paths, leaves, strict=True)]
    found = dict[int, Path]()
    for path, first, last in _runs(paths, layers.union(tuple(path.split(".")) for path in again)):
        size = _size(index, rows, first, last)
        begin = next((leaves[0] for *_, leaves in rows[first:last] if leaves), "")
        taking = [i for i in range(first, last) if begin in rows[i][2]]
        for at in taking[1:] if path in layers else range(first + size, last, size):
            found[at] = min(found.get(at, path), path, key=len)
    return found


def _runs(paths: Sequence[Path], meant: Collection[Path]) -> Iterator[tuple[Path, int, int]]:
    """Where ops of a module follow each other."""
    first = dict[Path, int]()
    for i, (before, path) in enumerate(pairwise([(), *paths, ()])):
        for k in range(1, len(before) + 1):
            if path[:k] != before[:k] and before[:k] in first:
                yield before[:k], first.pop(before[:k]), i
        for k in range(1, len(path) + 1):
            if path[:k] in meant:
                first.setdefault(path[:k], i)


def _size(index: Index, rows: Sequence[_Row], first: int, last: int) -> int:
    """How long the equal stretches are that do not feed each other; each uses parameters. Or all of it."""
    for turns in range(MOST, 1, -1):
        size, rest = divmod(last - first, turns)
        if rest or not size or rows[first] != rows[first + size] or rows[first : last - size] != rows[first + size : last]:
            continue
        makers = ((i, index.maker.get(t.id, -1)) for i in range(first, last) for t in index.taken[i])
        is_apart = all(m < first or (m - first) // size == (i - first) // size for i, m in makers)
        if is_apart and any(leaves for *_, leaves in rows[first : first + size]):
            return size
    return last - first
