"""Hooks on the path that changed a gradient: the shape of the graph does not show them."""

from __future__ import annotations

from ... import words
from ...graph.text import value_text
from .cause import Cause
from .facts import Edge, Facts
from .numbers import nearly
from .ops import cause_at

MOST = 2  # hooks that the answer names


def unnoticed_causes(f: Facts) -> list[Cause]:
    """Hooks that changed what the subject's gradient was computed from."""
    if f.edge is None or not f.is_connected:
        return []
    found = []
    for node in (*f.leading(f.edge), *([f.edge[0]] if f.edge in f.starts else [])):
        hooks = words.COMMA.join(f.live.hooks(node))
        changed = next((c for k in range(f.nodes[node].outputs) if hooks and (c := _change(f, (node, k))) is not None), None)
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
    same = met is None or nearly(met.numbers, arrived.numbers)
    return None if same or met is None else (value_text(met), value_text(arrived))


def _shared(f: Facts) -> list[Cause]:
    """The pass seems not to have started with 1, as a hook has written into memory that gradients share."""
    hooks = words.COMMA.join(dict.fromkeys(h for node in f.passed for h in f.live.hooks(node)))
    for edge in f.starts:
        changed = _change(f, edge) if hooks else None
        if changed is not None and edge not in f.senders:
            return [cause_at(f, "start_not_one", edge[0], f.loss, hook=hooks, after=changed[1])]
    return []
