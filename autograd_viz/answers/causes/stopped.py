"""Where a gradient stopped: a backward that returned None."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from .blocking import MODULE_HOOK
from .cause import Cause
from .facts import Edge, Facts
from .ops import name_of_op


def stopped(f: Facts) -> Cause | None:
    """The node on a way from the loss to the subject that a gradient reached, and that sent none on; None if unknown."""
    node = None if f.edge is None else _stop(f, f.edge)
    if node is None:
        return None
    kind = "nothing_sent" if any(sender == node for sender, _ in f.senders.get(f.edge or ("", 0), ())) else "nothing_passed_on"
    return cause_of(f, kind, node)


def stopped_before(f: Facts, node: str) -> Cause | None:
    """The same for a Function that got no gradient: it is given zeros instead."""
    if f.nodes[node].rule != "user" or _is_reached(f, node):
        return None
    before = next((s for k in range(f.nodes[node].outputs) if (s := _stop(f, (node, k))) is not None), None)
    return None if before is None else cause_of(f, "zero_of_none", before, after=name_of_op(f, node))


def cause_of(f: Facts, kind: str, node: str, **said: str) -> Cause:
    """A cause that names a node, at the line where its backward is written."""
    if f.called(node).startswith(MODULE_HOOK):
        return Cause("nothing_of_hook", (), (node,))
    return Cause(kind, (), (node,), f.live.written_at(node), {"op": name_of_op(f, node), **said})


def _stop(f: Facts, edge: Edge) -> str | None:
    """The nearest such node before an edge. If nothing is known: the only Function there, if all ways go through it."""
    ways = f.leading(edge)
    if any(_was_called(f, node) for node in ways):
        return next((n for n in _before(f, edge) if _was_called(f, n) and _is_reached(f, n)), None)
    functions = [node for node in ways if f.nodes[node].rule == "user"]
    is_alone = len(functions) == 1 and not any(n == start for n in _before(f, edge, *functions) for start, _ in f.starts)
    return functions[0] if is_alone else None


def _before(f: Facts, edge: Edge, *but: str) -> Iterator[str]:
    """The nodes that sent nothing towards an edge, the nearest first, without what is behind some."""
    seen, queue = {edge}, deque([edge])
    while queue:
        for node, i in f.senders.get(queue.popleft(), ()):
            if node in but or f.sent(node, i) is not None:
                continue
            yield node
            before = [(node, k) for k in range(f.nodes[node].outputs)]
            queue += [e for e in before if e not in seen]
            seen.update(before)


def _was_called(f: Facts, node: str) -> bool:
    sends = range(len(f.nodes[node].next_functions))
    return f.live.has_run(node) is True or any(f"next:{node}.{i}" in f.past for i in sends)


def _is_reached(f: Facts, node: str) -> bool:
    """Did the pass start there, or was a gradient sent there?"""
    outputs = [(node, k) for k in range(f.nodes[node].outputs)]
    return any(e in f.starts or any(f.sent(*s) is not None for s in f.senders.get(e, ())) for e in outputs)
