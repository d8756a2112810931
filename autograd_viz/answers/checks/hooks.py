"""What the user's hooks and Functions did to a gradient: they stopped it, or changed it. The shape of the graph hides that."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from ... import words
from ...graph.text import value_text
from ..causes.cause import Cause
from ..causes.facts import Edge, Facts
from ..causes.numbers import nearly
from ..causes.ops import cause_at, name_of_op
from .blocking import MODULE_HOOK

MOST = 2  # hooks that the answer names


def stop(f: Facts) -> Cause | None:
    """The node on a way from the loss to the subject that a gradient reached, and that sent none on; None if unknown."""
    node = None if f.edge is None else _stop(f, f.edge)
    if node is None or f.edge is None:
        return None
    is_next = any(sender == node for sender, _ in f.senders.get(f.edge, ()))
    return _cause(f, "nothing_sent" if is_next else "nothing_passed_on", node)


def stop_before(f: Facts, node: str) -> Cause | None:
    """The same for a Function that got no gradient: it is given zeros instead. The node of a module's hook is given None."""
    if f.nodes[node].rule != "user" or f.called(node).startswith(MODULE_HOOK) or _is_reached(f, node):
        return None
    before = next((s for e in f.edges_at(node) if (s := _stop(f, e)) is not None), None)
    return None if before is None else _cause(f, "zero_of_none", before, after=name_of_op(f, node))


def _cause(f: Facts, kind: str, node: str, **said: str) -> Cause:
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
            if node not in but and f.sent(node, i) is None:
                yield node
                queue += [e for e in f.edges_at(node) if e not in seen]
                seen.update(f.edges_at(node))


def _was_called(f: Facts, node: str) -> bool:
    sends = range(len(f.nodes[node].next_functions))
    return f.live.has_run(node) is True or any(f"next:{node}.{i}" in f.past for i in sends)


def _is_reached(f: Facts, node: str) -> bool:
    """Did the pass start there, or was a gradient sent there?"""
    return any(e in f.starts or any(f.sent(*s) is not None for s in f.senders.get(e, ())) for e in f.edges_at(node))


def hook_causes(f: Facts) -> list[Cause]:
    """Hooks that changed what the subject's gradient was computed from."""
    if f.edge is None or not f.is_connected:
        return []
    found = []
    for node in (*f.leading(f.edge), *([f.edge[0]] if f.edge in f.starts else [])):
        hooks = words.COMMA.join(f.live.hooks(node))
        changed = next((c for e in f.edges_at(node) if hooks and (c := _change(f, e)) is not None), None)
        if changed is not None:
            found.append(cause_at(f, "hook_on_way", node, (), hook=hooks, before=changed[0], after=changed[1]))
    return found[:MOST] or _shared(f)


def _change(f: Facts, edge: Edge) -> tuple[str, str] | None:
    """The sum there, and what hooks made of it, if that differs."""
    met, arrived = f.met(edge), f.arrived(*edge)
    if arrived is None or not arrived.numbers:
        return None
    if edge in f.starts and edge not in f.senders:
        is_other = len(arrived.numbers) == 1 and arrived.numbers[0] != 1
        return ("1.0", value_text(arrived)) if is_other else None
    return None if met is None or nearly(met.numbers, arrived.numbers) else (value_text(met), value_text(arrived))


def _shared(f: Facts) -> list[Cause]:
    """The pass seems not to have started with 1, as a hook has written into memory that gradients share."""
    hooks = words.COMMA.join(dict.fromkeys(h for node in f.pass_nodes for h in f.live.hooks(node)))
    for edge in f.starts:
        changed = _change(f, edge) if hooks else None
        if changed is not None and edge not in f.senders:
            return [cause_at(f, "start_not_one", edge[0], f.loss, hook=hooks, after=changed[1])]
    return []
