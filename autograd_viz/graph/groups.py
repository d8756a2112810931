"""A document's ops as a tree of groups, each of which can be drawn as one box.

# Note [Groups are stretches]
A group is a stretch of consecutive ops: its results never come back, so a graph of groups has no cycle, and its backward nodes
are a stretch of the backward pass. A module that is called twice is two groups. Groups come from module paths and scopes, then
from repetition (twelve equal blocks, a loop), then from position: no group has more than `MOST` items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath

from .model import Document, Op
from .paths import Path, module_paths
from .repeats import repeats
from .surroundings import Source

MOST = 24  # items of one group
WHOLE = 60  # ops of a graph that is drawn whole at first
WHOLE_NODES = 100  # and backward nodes: a leaf has one too
CROWD = 60  # leaves of one op: more are hidden with it
BUDGET = 30  # boxes of a picture at first, with groups opened
FEW = 3  # names in a title
LONGEST = 20  # letters of a function's name


def few(names: Sequence[str]) -> str:
    """The first few in a row: "Mul, Add, …"."""
    return ", ".join([*names[:FEW], *["…"] * (len(names) > FEW)])


@dataclass(frozen=True, slots=True)
class Group:
    """Consecutive ops of a document."""

    id: str  # "g0", "g1", …
    kind: str  # "module" (or scope), "repeat", its "turn", "run" (by position), "crowd" (an op with very many leaves), or "all"
    title: str  # "encoder.layers.0", "layers.0 … layers.5", "lines 3 – 4", "Mul", "ops 1 – 400"
    first: int
    last: int  # first, last: its ops are ``document.ops[first:last]``
    items: tuple[Group | int, ...]  # groups, and indices of ops that are in no group
    count: int = 1  # of a repetition, how many turns
    name: str = ""  # what follows the title: the class of a module, the line of a repeated op

    @property
    def groups(self) -> Iterable[Group]:
        """The groups directly in it."""
        return (item for item in self.items if isinstance(item, Group))


_Draft = tuple[Path, list[Group | int]]  # a module's call that has not ended yet


def group_tree(document: Document) -> Group:
    """The whole document as a group of kind "all"."""
    return _Builder(document).tree()


class _Builder:
    def __init__(self, document: Document) -> None:
        self.document, self.ops = document, document.ops
        self._signatures: dict[object, int] = {}
        self._made: dict[str, int] = {}  # id of a group -> its signature
        self._results = {t for op in self.ops for t in op.outputs if t is not None}
        self._shapes = {t.id: t.value.shape for t in document.tensors}
        self.paths = module_paths(document)
        self.classes = {m.path: m.name for m in document.modules if m.name}
        self._files = {op.source.file for op in document.ops if op.source is not None}

    def tree(self) -> Group:
        open: list[_Draft] = [((), [])]
        for i, path in enumerate(self.paths):
            while path[: len(open[-1][0])] != open[-1][0]:
                self._close(open)
            while len(open[-1][0]) < len(path):
                open.append((path[: len(open[-1][0]) + 1], []))
            open[-1][1].append(self._crowd(i))
        while len(open) > 1:
            self._close(open)
        return self._group("all", "", self._tidied(open[0][1], ()))

    def _crowd(self, i: int) -> Group | int:
        """An op that takes very many leaves is a group, which hides them."""
        if len(self.ops[i].inputs) <= CROWD:
            return i
        leaves = {o.tensor for o in self.ops[i].inputs if o.tensor is not None} - self._results
        return self._group("crowd", f"{self.ops[i].name}, {len(leaves):,} leaves", [i]) if len(leaves) > CROWD else i

    def _close(self, open: list[_Draft]) -> None:
        """The last call of `open` ends. A call of one op or module becomes that item; `layers` is `layers.0 … layers.5`."""
        path, inside = open.pop()
        items, title = self._tidied(inside, path), ".".join(path)
        name = self.classes.get(title, "")
        if len(items) > 1:
            whole: Group | int = self._group("module", title, items, name=name)
        elif isinstance(items[0], Group) and not items[0].title.startswith(title):
            whole = self._group("module", title, list(items[0].items), name=name)
        else:
            whole = items[0]
        open[-1][1].append(whole)

    def _tidied(self, items: list[Group | int], path: Path) -> list[Group | int]:
        """The items with repetitions as groups, and no more of them than a group may have."""
        found, at = list[Group | int](), 0
        for r in repeats([self._signature(item) for item in items]):
            turns = [items[k : k + r.period] for k in range(r.start, r.end, r.period)]
            found += [*items[at : r.start], self._repeat(turns, path)]
            at = r.end
        return self._bounded(found + items[at:], self._ops_title)

    def _repeat(self, turns: list[list[Group | int]], path: Path) -> Group:
        bounded = partial(self._bounded, title=self._ops_title)
        each = [t[0] if len(t) == 1 else self._group("turn", few(self._names(t, path)), bounded(t)) for t in turns]
        first, last = ({_span(item)[k]: i for i, item in enumerate(each, 1)} for k in (0, 1))

        def turns_title(part: list[Group | int]) -> str:
            return f"{first[_span(part[0])[0]]:,} – {last[_span(part[-1])[1]]:,} of {len(each):,}"

        modules = [g.title for g in each if isinstance(g, Group) and g.kind == "module"]
        lone = [item for item in turns[0] if isinstance(item, int)]
        title, name = self._title_of_turns(modules, lone, path, self._names(turns[0], path))
        return self._group("repeat", title, self._bounded(each, turns_title), count=len(turns), name=name)

    def _title_of_turns(self, modules: Sequence[str], turn: Sequence[int], path: Path, names: Sequence[str]) -> tuple[str, str]:
        """Title of a repetition, and the text after it: of paths of modules, or of the lone ops and names of its first turn."""
        if modules:
            first, last = modules[0], modules[-1]
            classes = {self.classes.get(m, "") for m in modules}
            return (f"{first} … {last}" if first != last else first), classes.pop() if len(classes) == 1 else ""
        lines = self._lines([s for i in turn if self.paths[i] == path and (s := self.ops[i].source) is not None])
        return (names[0], lines) if len(names) == 1 else (lines or few(names), "")

    def _title_of_op(self, i: int, path: Path) -> str:
        """Title of an op in `path`: the class of the module, if the module has only this op."""
        inner = self.classes.get(".".join(self.paths[i])) if self.paths[i] != path else None
        return inner or self.ops[i].name

    def _lines(self, sources: Sequence[Source]) -> str:
        """`line 3`, `rollout, lines 3 – 4`, `train.py:3`; nothing if they are in several files."""
        files = {s.file for s in sources}
        if len(files) != 1:
            return ""
        first, last, file = min(s.line for s in sources), max(s.line for s in sources), files.pop()
        place = f"{first}" if first == last else f"{first} – {last}"
        if len(self._files) > 1 and not file.startswith("<") and "ipykernel" not in file:
            return f"{PurePath(file).name}:{place}"
        functions = {s.function for s in sources}
        function = f"{name}, " if len(functions) == 1 and len(name := functions.pop()) in range(1, LONGEST) else ""
        return f"{function}line {place}" if first == last else f"{function}lines {place}"

    def _bounded(self, items: list[Group | int], title: Callable[[list[Group | int]], str]) -> list[Group | int]:
        """Items in groups by position, nested until no group has too many."""
        while len(items) > MOST:
            parts = [items[k : k + MOST] for k in range(0, len(items), MOST)]
            items = [self._group("run", title(p), p) if len(p) > 1 else p[0] for p in parts]
        return items

    def _group(self, kind: str, title: str, items: list[Group | int], count: int = 1, name: str = "") -> Group:
        signature = self._interned((kind == "module", *(self._signature(item) for item in items)))
        first, last = (_span(items[0])[0], _span(items[-1])[1]) if items else (0, 0)
        group = Group(f"g{len(self._made)}", kind, title, first, last, tuple(items), count, name)
        self._made[group.id] = signature
        return group

    def _signature(self, item: Group | int) -> int:
        """A number that equal items share."""
        if isinstance(item, Group):
            return self._made[item.id]
        op = self.ops[item]
        place = None if op.source is None else (op.source.file, op.source.line)
        return self._interned((op.name, place, tuple([self._shapes[t] for t in op.outputs if t is not None])))

    def _interned(self, thing: object) -> int:
        return self._signatures.setdefault(thing, len(self._signatures))

    def _names(self, items: list[Group | int], path: Path) -> list[str]:
        return [item.name or item.title if isinstance(item, Group) else self._title_of_op(item, path) for item in items]

    def _ops_title(self, items: list[Group | int]) -> str:
        return f"ops {_span(items[0])[0] + 1:,} – {_span(items[-1])[1]:,}"


def _span(item: Group | int) -> tuple[int, int]:
    """The index of its first op, and that after its last."""
    return (item.first, item.last) if isinstance(item, Group) else (item, item + 1)


def opened_first(root: Group, budget: int = BUDGET) -> frozenset[str]:
    """The groups that are open at first: modules, the largest first, within `budget` boxes; a group that is the only item."""
    opened, boxes = {root.id}, len(root.items)
    waiting = [g for g in root.groups if g.kind == "module"]
    while waiting:
        largest = max(waiting, key=lambda g: g.last - g.first)
        waiting.remove(largest)
        if boxes == 1 or boxes + len(largest.items) - 1 <= budget:
            boxes += len(largest.items) - 1
            opened.add(largest.id)
            waiting += [g for g in largest.groups if g.kind == "module"]
    return frozenset(opened)


def kinds_of(ops: Iterable[Op]) -> dict[str, int]:
    """How often each op occurs, the most frequent first."""
    return dict(sorted(Counter(op.name for op in ops).items(), key=lambda item: (-item[1], item[0])))
