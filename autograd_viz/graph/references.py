"""Do the ids of a document and a trace that come from a file name what is there?"""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import DocumentError
from .model import Document
from .trace import Trace


def check_references(document: Document, trace: Trace) -> None:
    """Refuse ids that are there twice or name nothing.

    Raises:
        DocumentError: says which and where.
    """
    tensors = _ids("tensor", (t.id for t in document.tensors))
    ops = _ids("op", (o.id for o in document.ops))
    nodes = {n.id: n for n in document.nodes}
    _ids("node", (n.id for n in document.nodes))
    for t in document.tensors:
        _known(f"tensor {t.id}", nodes, [t.grad_fn])
        _known(f"tensor {t.id}", tensors, t.shares)
    for o in document.ops:
        _known(f"op {o.id}", tensors, [*(i.tensor for i in o.inputs), *o.outputs])
        _known(f"op {o.id}", nodes, [o.node])
    for n in document.nodes:
        _known(f"node {n.id}", nodes, (f.node for f in n.next_functions))
        _known(f"node {n.id}", tensors, [n.variable, *(s.tensor for s in n.saved)])
        _known(f"node {n.id}", ops, [n.op])
    _known("a statement", tensors, (s.tensor for s in document.statements))
    _known("the roots", tensors, document.roots)
    for k, step in enumerate(trace.steps, 1):
        _known(f"step {k}", nodes, [step.node])
        if len(step.grad_inputs) != len(nodes[step.node].next_functions):
            raise DocumentError(
                f"step {k} has {len(step.grad_inputs)} grad_inputs, {step.node} another number of next_functions"
            )
        _known(f"step {k}", tensors, [step.accumulation.tensor if step.accumulation else None])
    for engine in (trace.start, *(s.engine for s in trace.steps)):
        _known("the engine", nodes, (*engine.queue, *(w.node for w in engine.waiting)))


def _ids(kind: str, ids: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for id in ids:
        if id in found:
            raise DocumentError(f"{kind} {id} is there twice")
        found.add(id)
    return found


def _known(where: str, known: Iterable[str], ids: Iterable[str | None]) -> None:
    for id in ids:
        if id is not None and id not in known:
            raise DocumentError(f"{where} names {id!r:.40}, which is not there")
