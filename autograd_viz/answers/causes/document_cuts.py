"""Where a document shows that a tensor was detached from the roots. It is for pictures whose graph is asked nothing else."""

from __future__ import annotations

from collections.abc import Iterable

from ... import words
from ...graph.model import Document, Op
from ...graph.op_names import plain_name
from .answer import sentence
from .cause import Cause
from .facts import Facts, takes_the_shape
from .paths import closure


def cut_sentences(document: Document, tensors: Iterable[str]) -> dict[str, str]:
    """Where the path to a tensor was detached, for those of the tensors that get no gradient."""
    f: Facts | None = None
    found = {}
    for id in tensors:
        f = f or Facts(document, id, {}, None, tuple(document.roots))
        if id in f.behind_loss:
            cuts = cuts_of(f.about(id))
            found[id] = sentence(cuts[0], f.tensors[id].name or words.THE_TENSOR) if cuts else ""
    return found


def cuts_of(f: Facts) -> list[Cause]:
    """The ops where gradients from the loss would have to pass, and cannot.

    The comparison in `z * (z > 0).float()` does not count: its result reaches the loss only through a product with z.
    """
    there, ends, stack = {f.subject.id}, list[Op](), [f.subject.id]
    while stack:
        id = stack.pop()
        for op in f.users.get(id, ()):
            if takes_the_shape(op):
                continue
            ways = () if op.node is None else f.nodes[op.node].next_functions
            is_passed = any((a.node, a.index) == f.edge_of(id) for a in ways)
            new = [o for o in op.outputs if o is not None and o not in there] if is_passed else []
            ends += [] if new or {*op.outputs} <= there else [op]
            there.update(new)
            stack += new
    beside = closure((t for t in f.loss if t not in there), lambda t: (o for o in f.operands(t) if o not in there))
    return [_cut_at(f, op) for op in ends if beside.keys() & {*op.outputs}]


def _cut_at(f: Facts, op: Op) -> Cause:
    kind = "path_cut_no_grad" if op.reason == "no_grad" else "path_cut_detach" if op.name == "Detach" else "path_cut_op"
    return Cause(kind, (f.subject.id,), () if op.node is None else (op.node,), op.source, {"op": f"{plain_name(op.name)}()"})
