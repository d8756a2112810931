"""What a gradient is the sum of."""

from __future__ import annotations

from .. import words
from ..graph.text import nested, number_text, value_text
from .cause import Cause, Part, Said
from .facts import Facts
from .numbers import nearly

MOST = 4  # parts that are named


def sum_causes(f: Facts, wrong: bool) -> list[Cause]:
    """Which nodes brought what in the last pass, what a hook made of it, and whether something was there before.

    Args:
        f: the graph.
        wrong: something else has been said already; then only what is missing from that is said.
    """
    grad = f.subject.grad
    if f.edge is None or grad is None:
        return []
    if not f.is_connected:
        return [] if wrong else [Cause("grad_from_elsewhere", (f.subject.id,))]
    gone = last_pass_is_gone(f)
    if gone is not None:
        return [gone]
    found = [] if wrong else [*_parts(f), *_hooked(f)]
    arrived = f.arrived(*f.edge)
    same_shape = arrived is not None and arrived.shape == grad.shape
    if arrived is None or not grad.numbers or not arrived.numbers or not same_shape or nearly(grad.numbers, arrived.numbers):
        return found
    return [*found, _not_what_arrived(f)]


def last_pass_is_gone(f: Facts) -> Cause | None:
    """What arrived last at a leaf was not sent by the graph at hand: that pass went through one that nobody holds any more."""
    if f.edge is None or f.edge in f.starts:
        return None
    met, arrived = f.met(f.edge), f.arrived(*f.edge)
    if met is None or arrived is None or not arrived.numbers or nearly(met.numbers, arrived.numbers):
        return None
    if f.live.hooks(f.edge[0]):
        return None
    return Cause("graph_gone", (f.subject.id,), said={"value": value_text(arrived)})


def _parts(f: Facts) -> list[Cause]:
    """One cause: the sum, or the one node that it came from."""
    assert f.edge is not None
    senders = f.senders.get(f.edge, [])
    if not senders:
        return [Cause("is_root", (f.subject.id,), (f.edge[0],))]
    nodes, source = tuple(n for n, _ in senders), f.source(senders[0][0])
    if len(senders) == 1:
        return [Cause("came_from", (f.subject.id,), nodes, source, {"node": f.called(nodes[0])})]
    if all(f.sent(*s) is None for s in senders):
        names = words.COMMA.join(f.called(n) for n, _ in senders[:MOST])
        return [Cause("paths", (f.subject.id,), nodes, source, {"count": str(len(senders)), "nodes": names})]
    parts = [part_of(f, node, i) for node, i in senders[:MOST]]
    said: dict[str, Said] = {"count": str(len(senders)), "parts": tuple(parts)}
    return [Cause("sum_of", (f.subject.id,), nodes, source, said)]


def part_of(f: Facts, node: str, i: int) -> Part:
    """What a node sent along next_functions[i]."""
    value, at = f.sent(node, i), f.source(node)
    return Part("?" if value is None else value_text(value), f.called(node), "?" if at is None else str(at.line))


def _hooked(f: Facts) -> list[Cause]:
    """A hook at the subject changed what met there."""
    assert f.edge is not None
    met, arrived = f.met(f.edge), f.arrived(*f.edge)
    if met is None or arrived is None or not arrived.numbers or nearly(met.numbers, arrived.numbers):
        return []
    hooks = words.COMMA.join(f.live.hooks(f.edge[0])) or "?"
    said = {"hook": hooks, "before": value_text(met), "after": value_text(arrived)}
    return [Cause("hook_changed", (f.subject.id,), (f.edge[0],), said=said)]


def _not_what_arrived(f: Facts) -> Cause:
    """What stands in grad is not what came last: earlier passes, or a change by hand."""
    assert f.edge is not None
    grad, arrived = f.subject.grad, f.arrived(*f.edge)
    assert grad is not None and arrived is not None
    rest = [g - a for g, a in zip(grad.numbers, arrived.numbers, strict=True)]
    words = nested([number_text(r) for r in rest], grad.shape)
    said = {"value": value_text(arrived), "rest": words if len(words) <= 40 else value_text(grad)}
    several = len(f.live.passes()) > 1
    return Cause("accumulated" if several else "accumulated_or_edited", (f.subject.id,), (f.edge[0],), said=said)
