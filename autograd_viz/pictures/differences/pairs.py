"""Which tensors of two documents belong together.

# Note [Pairs]
Ops are matched by module, name and place: the longest common part of both sequences. Ops that have moved are matched with the
next one alike. Modules without a partner of their path are matched by class, shapes and place, which is a guess and told as
one. Tensors follow from ops: their results, then what they take. The results of modules, parameters by name and the roots are
matched too, so that a region that was compiled into one node still has its ends. An open region does not tell the order of what
an op takes, and lacks ops that pass gradients on as they are. There, tensors follow only from results of ops of one name.

Where ops have changed places, one takes what another made: ``(q / 2) @ k`` and ``(q @ k) / 2``. Such an op has another value
in each document, and that is no difference. It is left out; what follows is compared again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from ...graph.listing import prefixes
from ...graph.model import Document, Op

UNWRITTEN = ("Empty", "NewEmpty")  # ops whose results hold what was in memory before
FILLING = {"Bernoulli", "Exponential", "Fill", "Normal", "Random", "Uniform", "Zero"}  # ops that ignore what they overwrite


class Pairs(NamedTuple):
    """What belongs together."""

    tensors: Mapping[str, str]  # ids in the first document and in the second
    ops: Mapping[int, int]  # indices, likewise
    only: tuple[tuple[int, ...], tuple[int, ...]]  # ops with a backward node that the other document does not have, for each
    renamed: Mapping[str, str]  # paths of modules in the first, and what they were guessed to be in the second
    moved: frozenset[str]  # tensors of the first whose op takes, in the second, what another op made


def pairs_of(a: Document, b: Document) -> Pairs:
    """Match two documents."""
    renamed = _renamed(a, b)
    ops = _matched([(renamed.get(o.module, o.module), o.name) for o in a.ops], [(o.module, o.name) for o in b.ops])
    found = _Tensors(a)
    for i, j in sorted(ops.items()):
        found.add(a.ops[i].outputs, b.ops[j].outputs)
    leaves = {name: id for id, name in _leaves(b, {}).items()}
    mine = _leaves(a, renamed)
    found.add([*mine], [leaves.get(name) for name in mine.values()])
    for i, j in sorted(ops.items()):
        x, y = a.ops[i].inputs, b.ops[j].inputs
        if len(x) == len(y) and not _is_opened(a.ops[i], b.ops[j]):
            found.add([o.tensor for o in x], [o.tensor for o in y])
    ends, own = _results(b), _results(a)
    for path, (op, result) in own.items():
        other, end = ends.get(renamed.get(path, path), (op, None))
        if op.name == other.name or not _is_opened(op, other):
            found.add([result], [end])
    found.add(a.roots, b.roots)
    taken = {*ops.values()}
    only_a = tuple(i for i, op in enumerate(a.ops) if op.node is not None and i not in ops)
    only_b = tuple(j for j, op in enumerate(b.ops) if op.node is not None and j not in taken)
    return Pairs(found.pairs, ops, (only_a, only_b), renamed, _moved(a, b, ops, found.pairs))


def _is_opened(*ops: Op) -> bool:
    return any(op.reason == "opened" for op in ops)


def _moved(a: Document, b: Document, ops: Mapping[int, int], tensors: Mapping[str, str]) -> frozenset[str]:
    made = [{t for i in of for t in d.ops[i].outputs} for d, of in ((a, ops), (b, ops.values()))]
    found = set[str]()
    for i, j in ((i, j) for i, j in ops.items() if not _is_opened(a.ops[i], b.ops[j])):
        taken = zip(a.ops[i].inputs, b.ops[j].inputs, strict=False)
        known = [(tensors.get(x.tensor or ""), x.tensor, y.tensor) for x, y in taken]
        if any(p not in (None, y) and x in made[0] and y in made[1] for p, x, y in known):
            found.update(t for t in a.ops[i].outputs if t is not None and t not in a.roots)
    return frozenset(found)


class _Tensors:
    """Pairs of tensors, each tensor at most once."""

    def __init__(self, a: Document) -> None:
        self._unwritten = {t for op in a.ops if op.name.startswith(UNWRITTEN) for t in op.outputs}
        self._unwritten |= {o.tensor for op in a.ops if op.name in FILLING for o in op.inputs[:1]}
        self.pairs: dict[str, str] = {}
        self._taken: set[str] = set()

    def add(self, a: Sequence[str | None], b: Sequence[str | None]) -> None:
        """Tensors that stand at the same places."""
        for x, y in zip(a, b, strict=False):
            if x is not None and y is not None and not (x in self.pairs or x in self._unwritten or y in self._taken):
                self.pairs[x] = y
                self._taken.add(y)


def _matched(a: Sequence[object], b: Sequence[object]) -> dict[int, int]:
    """Places in two sequences: their longest common parts, then what has moved."""
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    found = {block.a + k: block.b + k for block in blocks for k in range(block.size)}
    left: dict[object, list[int]] = defaultdict(list)
    for j in sorted(set(range(len(b))) - set(found.values()), reverse=True):
        left[b[j]].append(j)
    for i in range(len(a)):
        if i not in found and left[a[i]]:
            found[i] = left[a[i]].pop()
    return found


def _renamed(a: Document, b: Document) -> dict[str, str]:
    """Modules of the first document whose path the second does not have, and their guessed partners."""
    paths = [[m.path for m in d.modules] for d in (a, b)]
    alone = [[p for p in mine if p not in set(others)] for mine, others in (paths, paths[::-1])]
    keys = [[looks.get(p) for p in mine] for mine, looks in zip(alone, map(_looks, (a, b)), strict=True)]
    return {alone[0][i]: alone[1][j] for i, j in _matched(*keys).items()}


def _looks(document: Document) -> dict[str, object]:
    """What a module is known by, if its name is not: its class, and the shapes of its own parameters."""
    known, shapes = paths_in(document), defaultdict[str, list[tuple[int, ...]]](list)
    for t in document.tensors:
        if t.is_leaf and t.requires_grad and t.name:
            shapes[owner(t.name, known)].append(t.value.shape)
    return {m.path: (m.name, m.path.count("."), *shapes[m.path]) for m in document.modules}


def owner(name: str, known: Container[str]) -> str:
    """The path of the module of a parameter. Its name may begin with the variable that holds the model."""
    path = name.rpartition(".")[0]
    return path if path in known else path.partition(".")[2]


def paths_in(document: Document) -> frozenset[str]:
    """The paths of its modules."""
    return frozenset(m.path for m in document.modules)


def _leaves(document: Document, renamed: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Leaves that have names: the path of their module and the rest, without the variable that holds the model."""
    known = paths_in(document)
    named = [(t.id, t.name, owner(t.name, known)) for t in document.tensors if t.is_leaf and t.name]
    return {id: (renamed.get(path, path), name.rpartition(".")[2]) for id, name, path in named}


def _results(document: Document) -> dict[str, tuple[Op, str]]:
    """The last op of each module, and what it returned: a result that others use."""
    found: dict[str, tuple[Op, str]] = {}
    for op in document.ops:
        made = next((t for t in op.outputs if t is not None), None)
        if made is not None:
            found |= dict.fromkeys(prefixes(op.module) if op.module else (), (op, made))
    return found
