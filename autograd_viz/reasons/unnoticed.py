"""What changed a gradient without a trace in the graph's shape: hooks on the way, and values changed behind autograd's back."""

from __future__ import annotations

from .. import words
from ..graph.model import Tensor
from ..graph.text import value_text
from .cause import Cause
from .changes import data_written
from .facts import Edge, Facts
from .numbers import nearly
from .rules import stem_of
from .suspects import FACTORS

MOST = 2  # hooks that are named


def unnoticed_causes(f: Facts) -> list[Cause]:
    """Hooks that changed what the subject's gradient was computed from, and writes to `.data` between forward and backward."""
    if f.edge is None or not f.is_connected:
        return []
    return [*_hooks(f)[:MOST], *written_causes(f)]


def _hooks(f: Facts) -> list[Cause]:
    assert f.edge is not None
    found = []
    nodes = [*f.leading(f.edge), *([f.edge[0]] if f.edge in f.starts else [])]
    for node in nodes:
        hooks = words.COMMA.join(f.live.hooks(node))
        changed = next((c for k in range(f.nodes[node].outputs) if hooks and (c := _change(f, (node, k))) is not None), None)
        if changed is not None:
            said = {"node": f.called(node), "hook": hooks, "before": changed[0], "after": changed[1]}
            found.append(Cause("hook_on_way", (), (node,), f.source(node), said))
    return found or _shared(f)


def _change(f: Facts, edge: Edge) -> tuple[str, str] | None:
    """What met there and what hooks made of it, if that is something else."""
    met, arrived = f.met(edge), f.arrived(*edge)
    if arrived is None or not arrived.numbers:
        return None
    if edge in f.starts and edge not in f.senders:
        is_first = len(arrived.numbers) == 1 and arrived.numbers[0] == 1
        return None if is_first or len(arrived.numbers) > 1 else ("1.0", value_text(arrived))
    same = met is None or nearly(met.numbers, arrived.numbers)
    return None if same or met is None else (value_text(met), value_text(arrived))


def _shared(f: Facts) -> list[Cause]:
    """The pass seems to have started with something else than 1: a hook has written into memory that gradients share."""
    hooks = [h for node in f.passed for h in f.live.hooks(node)]
    for edge in f.starts:
        changed = _change(f, edge) if hooks else None
        if changed is not None and edge not in f.senders:
            said = {"hook": words.COMMA.join(dict.fromkeys(hooks)), "after": changed[1]}
            return [Cause("start_not_one", f.loss, (edge[0],), f.source(edge[0]), said)]
    return []


def written_causes(f: Facts) -> list[Cause]:
    """A tensor that a node on the way had saved was written to through `.data`, which its version does not show."""
    if f.edge is None or not f.is_connected:
        return []
    ran = [p.source for p in f.live.passes() if p.source is not None]
    found = []
    leading = f.leading(f.edge)
    for node in leading:
        at = f.source(node)
        if at is None:
            continue
        for t in _used_for(f, node, {*leading, f.edge[0]}):
            line = data_written(t.name, f.here, at, ran) if t.name is not None else None
            if line is not None:
                said = {"tensor": t.name or "", "node": f.called(node)}
                found.append(Cause("data_written", (t.id,), (node,), line, said))
    return found[:1]


def _used_for(f: Facts, node: str, towards: set[str]) -> list[Tensor]:
    """The operands that the node's gradient towards these nodes is computed with: of a product, the other factors."""
    if stem_of(f, node) not in FACTORS:
        return f.inputs(node)
    ways = [i for i, after in enumerate(f.nodes[node].next_functions) if after.node in towards]
    return list({t.id: t for i in ways for t in f.others(node, i)}.values())
