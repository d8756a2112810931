"""What a gradient is the sum of."""

from __future__ import annotations

from dataclasses import replace

from .. import words
from ..graph.model import Value
from ..graph.text import nested, number_text, value_text
from .backward_lines import is_started_from
from .cause import Cause, Part, Said
from .code import statement_of
from .cuts import loss_names, runs_its_own_pass
from .facts import Facts
from .grad_lines import assigned_at, assigned_since, grad_written_at, last_clearing
from .numbers import added, nearly
from .unheld import no_graph, other_roots

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
        return [] if wrong else [_from_elsewhere(f)]
    gone = last_pass_is_gone(f)
    if gone is not None:
        return [gone]
    found = [] if wrong else [*_parts(f), *_hooked(f)]
    arrived = f.arrived(*f.edge)
    same_shape = arrived is not None and arrived.shape == grad.shape
    if arrived is None or not grad.numbers or not arrived.numbers or not same_shape or nearly(grad.numbers, arrived.numbers):
        return found
    of_last = [replace(c, kind="sum_of_arrived") if c.kind == "sum_of" else c for c in found]
    return [*of_last, _not_what_arrived(f)]


def _from_elsewhere(f: Facts) -> Cause:
    """Nothing leads from the loss to the subject, whose grad is there."""
    inside = runs_its_own_pass(f)
    if inside is not None:
        return replace(inside, kind="came_inside")
    if f.subject.grad is not None and {*f.subject.grad.numbers} == {1.0} and is_started_from(f.subject.name, f.here):
        return Cause("is_root", (f.subject.id,))
    put = assigned_at(f.subject.name, f.here)
    if put is not None:
        return Cause("assigned", (f.subject.id,), source=put)
    return Cause("grad_from_elsewhere", (f.subject.id,)) if f.loss else no_graph(f)


def last_pass_is_gone(f: Facts) -> Cause | None:
    """What arrived last at a leaf was not sent by the graph at hand: that pass went through one that nobody holds any more."""
    if f.edge is None or f.edge in f.starts:
        return None
    met, arrived = f.met(f.edge), f.arrived(*f.edge)
    if met is None or arrived is None or not arrived.numbers or nearly(met.numbers, arrived.numbers):
        return None
    if f.live.hooks(f.edge[0]):
        return None
    return Cause(
        "graph_gone", (f.subject.id,), said={"value": value_text(arrived), "met": value_text(met), "root": loss_names(f)}
    )


def _parts(f: Facts) -> list[Cause]:
    """One cause: the sum, or the one node that it came from."""
    assert f.edge is not None
    senders = f.senders.get(f.edge, [])
    if not senders:
        return [Cause("is_root", (f.subject.id,), (f.edge[0],))]
    nodes, source = tuple(n for n, _ in senders), f.source(senders[0][0])
    if all(f.live.has_run(n) is False for n in nodes):
        return [Cause("grad_before", (f.subject.id,), nodes, said={"root": loss_names(f)})]
    if not f.may_have_run:
        return [
            Cause("grad_before_or_kept", (f.subject.id,), nodes, source, {"node": f.called(nodes[0]), "root": loss_names(f)})
        ]
    seen = [s for s in senders if f.sent(*s) is not None and f.live.has_run(s[0])]
    if len(senders) > 1 and seen and len(seen) < len(senders) and all(f.live.has_run(n) is not False for n, _ in seen):
        senders = seen  # the others have not run: a stepper has seen those that did
        nodes, source = tuple(n for n, _ in senders), f.source(senders[0][0])
    if len(senders) == 1:
        kind = "came_from_too" if f.live.has_run(nodes[0]) is None and other_roots(f) else "came_from"
        return [Cause(kind, (f.subject.id,), nodes, source, {"node": f.called(nodes[0])})]
    if all(f.sent(*s) is None for s in senders):
        names = words.COMMA.join(f.called(n) for n, _ in senders[:MOST])
        return [Cause("paths", (f.subject.id,), nodes, source, {"count": str(len(senders)), "nodes": names})]
    parts = [part_of(f, node, i) for node, i in senders[:MOST]]
    more = f"{words.PLUS}…" if len(senders) > MOST else ""
    said: dict[str, Said] = {"count": str(len(senders)), "parts": tuple(parts), "more": more}
    return [Cause("sum_of", (f.subject.id,), nodes, source, said)]


def part_of(f: Facts, node: str, i: int) -> Part:
    """What a node sent along next_functions[i]."""
    value = f.sent(node, i)
    return Part("?" if value is None else value_text(value), f.at(node))


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
    ids, nodes = (f.subject.id,), (f.edge[0],)
    put = assigned_since(f.subject.name, f.here)
    if put is not None:
        return Cause("assigned_over", ids, nodes, put, {"value": value_text(arrived)})
    if f.knows_before and _is_multiple(grad, arrived):
        return Cause("added_since", ids, nodes, said={"value": value_text(arrived)})
    if f.knows_before and not has_added_up(f):
        return Cause("edited", ids, nodes, said={"value": value_text(arrived), "times": _times(grad, arrived)})
    rest = [g - a for g, a in zip(grad.numbers, arrived.numbers, strict=True)]
    shown = nested([number_text(r) for r in rest], grad.shape)
    said = {
        "value": value_text(arrived),
        "rest": shown if len(shown) <= 40 else value_text(grad),
        "times": _times(grad, arrived),
    }
    changed = f.live.grad_changed(f.subject.id)
    if changed is not None and changed.source is not None:
        return Cause("written_since", ids, nodes, changed.source, said)
    if f.knows_before or _have_added_up(f):
        return Cause("accumulated", ids, nodes, said=said)
    return Cause("scaled" if said["times"] else "accumulated_or_edited", ids, nodes, said=said)


def _have_added_up(f: Facts) -> bool:
    """Passes through this graph have added to grad, which no line clears or changes."""
    asked, name = statement_of(f.here), f.subject.name
    is_touched = asked is None or last_clearing(name, asked) is not None or grad_written_at(name, f.here) is not None
    return not is_touched and len([p for p in f.live.passes() if p.root]) > 1


def _is_multiple(grad: Value, arrived: Value) -> bool:
    """Grad is a whole number of times what arrived: other passes through the same graph have added as much."""
    pairs = [(g, a) for g, a in zip(grad.numbers, arrived.numbers, strict=True) if a]
    times = pairs[0][0] / pairs[0][1] if pairs else 0
    is_whole = not isinstance(times, complex) and times > 1.5 and abs(times - round(times)) < 1e-5
    return is_whole and nearly(grad.numbers, tuple(times * a for a in arrived.numbers))


def has_added_up(f: Facts) -> bool:
    """Grad is what a stepper saw there before, and what arrived."""
    grad, arrived = f.subject.grad, None if f.edge is None else f.arrived(*f.edge)
    total = None if f.before is None or arrived is None else added([f.before, arrived])
    return total is not None and grad is not None and nearly(grad.numbers, total)


def _times(grad: Value, arrived: Value) -> str:
    """The factor in words, if every element is the same part of what arrived, as clipping leaves it."""
    pairs = [(g, a) for g, a in zip(grad.numbers, arrived.numbers, strict=True) if a]
    factors = [g / a for g, a in pairs if not isinstance(g, complex) and not isinstance(a, complex)]
    is_same = bool(factors) and len(pairs) == len(factors) and nearly(tuple(factors), (factors[0],) * len(factors))
    return words.TIMES.format(factor=number_text(factors[0])) if is_same and 0 < factors[0] < 1 else ""
