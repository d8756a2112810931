"""Why a gradient arrived and was zero."""

from __future__ import annotations

import ast

from .. import words
from ..graph.model import Source, Value
from ..graph.text import value_text
from ..sentences import PROPERTIES
from .accumulation import may_clear
from .backward_lines import is_given_gradient, may_be_several
from .cause import Cause, Said
from .code import statement_of
from .facts import Edge, Facts
from .fine import has_added_up, last_pass_is_gone, part_of
from .grad_lines import clips, grad_written_at, surely_zeroed_at, zeroed_at
from .numbers import count_zeros
from .parsed import module_of
from .rules import stem
from .settled import BIASES
from .since import changed_since
from .suspects import listed, suspected_hooks
from .underflow import underflow_cause
from .unheld import no_graph
from .walls import wall_cause, wall_of, when

all_zero = PROPERTIES["zero"]


def zero_causes(f: Facts) -> list[Cause]:
    """Why the subject's grad is all zero, or which of its rows are; empty if it is not so."""
    grad = f.subject.grad
    if grad is None or not count_zeros(grad):
        return []
    if not all_zero(grad):
        return unused_rows(f)
    if f.edge is None or not f.is_connected:
        put = _zeroed(f)
        own = Cause("zero_old" if put is None else "zeroed_by", (f.subject.id,), source=put)
        return [own if put is not None or f.loss else no_graph(f)]
    arrived = f.arrived(*f.edge)
    if arrived is not None and not all_zero(arrived):
        return [_zero_now(f, arrived)]
    zeroed = _zeroed(f) or surely_zeroed_at(f.subject.name, f.here) if arrived is None else None
    if zeroed is not None:
        return [Cause("zeroed_by", (f.subject.id,), source=zeroed)]
    gone = last_pass_is_gone(f)
    found = [gone] if gone is not None else _walk(f, f.edge)
    unique = {(c.kind, c.nodes): c for c in found}
    return list(unique.values()) or [_unknown(f), *_may_have_been_written(f)]


def _may_have_been_written(f: Facts) -> list[Cause]:
    """A line that has changed grad since the pass, and may have made the zeros."""
    line = grad_written_at(f.subject.name, f.here) if f.live.grad_changed(f.subject.id) is not None else None
    return [] if line is None else [Cause("clipped" if clips(line) else "grad_written", (f.subject.id,), source=line)]


def _zero_now(f: Facts, arrived: Value) -> Cause:
    """Something arrived, and zero stands there: set to zero since, or added to its opposite."""
    said = {"value": value_text(arrived), "before": "" if f.before is None else value_text(f.before)}
    if f.before is not None and has_added_up(f):
        return Cause("cancelled", (f.subject.id,), said=said)
    zeroed = _zeroed(f) or zeroed_at(f.subject.name, f.here)
    kind = "zeroed_at" if zeroed is not None else "zeroed" if f.knows_before else "zeroed_or_cancelled"
    return Cause(kind, (f.subject.id,), source=zeroed, said=said)


def _zeroed(f: Facts) -> Source | None:
    """The line that has set grad to zero since the last pass: as the graph remembers it, or else as the code reads."""
    changed = f.live.grad_changed(f.subject.id)
    return None if changed is None else changed.source or surely_zeroed_at(f.subject.name, f.here)


def _unknown(f: Facts) -> Cause:
    """Nothing is sure; all those on the way that can make zeros are named: ops, and hooks."""
    assert f.edge is not None
    hooked = {n: words.COMMA.join(hooks) for n in (*f.leading(f.edge), f.edge[0]) if (hooks := f.live.hooks(n))}
    leading = f.leading(f.edge)
    towards = {*leading, f.edge[0]}
    able = {n: can for n in leading if not _only_adds(f, n, towards) and (can := _when(f, n)) is not None}
    beside = [
        *_beside_the_ops(f),
        *dict.fromkeys(words.SUSPECT_HOOK.format(hook=h, node=f.called(n)) for n, h in hooked.items()),
        *([] if hooked else suspected_hooks(f)),
    ]
    said = [*beside, *([listed(f, able.items())] if able else [])]
    is_only = len(able) == 1 and not beside and words.CAN_STRANGE not in able.values()
    kind = "zero_no_suspect" if not said else "zero_only" if is_only else "zero_unknown"
    return Cause(kind, (f.subject.id,), (*hooked, *able), said={"suspects": words.SEMICOLON.join(said)})


def _only_adds(f: Facts, node: str, towards: set[str]) -> bool:
    """The way from the node to the subject is that of a bias, which it multiplies by nothing."""
    ways = [i for i, after in enumerate(f.nodes[node].next_functions) if after.node in towards]
    return bool(ways) and all(any(f.called(node).startswith(op) and i == at for op, at in BIASES) for i in ways)


def _when(f: Facts, node: str) -> str | None:
    """When the node can have made zeros; of a leaf that may have been changed since, nobody knows what it held."""
    now = when(f, node)
    wall = wall_of(f.called(node))
    is_late = wall is not None and any(t.is_leaf and changed_since(f, t.id) for t in f.inputs(node))
    return getattr(words, f"CAN_{wall.kind.upper()}", "") if now is None and wall is not None and is_late else now


def _beside_the_ops(f: Facts) -> list[str]:
    """What else makes zeros, as far as the code says: a first gradient, passes that cancel. The core has kept both."""
    if f.live.passes():
        return []
    asked = statement_of(f.here)
    is_cleared = asked is None or any(map(may_clear, ast.walk(module_of(asked.node))))
    given = [words.SUSPECT_GRADIENT] if is_given_gradient(f.here) else []
    return [*given, *([words.SUSPECT_PASSES] if may_be_several(f.here) and not is_cleared else [])]


def _walk(f: Facts, edge: Edge) -> list[Cause]:
    """Go towards the loss as long as what arrives is zero; where it is not, somebody made it zero."""
    found, seen, stack = [], {edge}, [edge]
    while stack:
        at = stack.pop()
        senders = f.senders.get(at, [])
        values = {s: f.sent(*s) for s in senders}
        if at in f.starts and not senders:
            first = f.arrived(*at)
            found += [Cause("zero_start", f.loss, (at[0],))] if first is not None and all_zero(first) else []
        elif senders and all(v is not None for v in values.values()) and not all(all_zero(v) for v in values.values() if v):
            found.append(_met(f, at, {s: v for s, v in values.items() if v is not None}))
        else:
            for (node, i), value in values.items():
                if value is not None and not all_zero(value):
                    continue
                cause = _made_zero(f, node, i, value)
                if cause is not None:
                    found.append(cause)
                    continue
                more = [(node, k) for k in range(f.nodes[node].outputs) if (node, k) not in seen]
                seen.update(more)
                stack += more
    return found


def _met(f: Facts, at: Edge, values: dict[tuple[str, int], Value]) -> Cause:
    """Something arrived, and zero is what came of it: a sum of several, or a hook."""
    node, _ = at
    here = _here(f, node)
    parts = tuple(part_of(f, s, i) for s, i in values)
    if len(values) > 1:
        at_name = next((name for t in here if (name := f.tensors[t].name)), f.called(node))
        return Cause("zero_cancel", here, (node,), f.source(node), {"at": at_name, "parts": parts[:4]})
    said: dict[str, Said] = {"node": f.called(node), "parts": parts}
    said["hook"] = words.COMMA.join(f.live.hooks(node)) or "?"
    return Cause("zero_hook", here, (node,), f.source(node), said)


def _here(f: Facts, node: str) -> tuple[str, ...]:
    variable = f.nodes[node].variable
    return tuple(t.id for t in f.results(node)) if variable is None else (variable,)


def _made_zero(f: Facts, node: str, i: int, sent: Value | None) -> Cause | None:
    """The cause, if it is this node that makes zeros of what arrives."""
    arrivals = f.arrivals(node)
    something = any(not all_zero(v) for v in arrivals)
    if not (something and sent is not None):
        return None if arrivals and not something else wall_cause(f, node, i, sure=False)
    known = wall_cause(f, node, i, sure=False) or underflow_cause(f, node, i) or _broadcast(f, node, i)
    return known or _masked_before(f, node, i)


def _broadcast(f: Facts, node: str, i: int) -> Cause | None:
    """The gradient was summed because the operand had been broadcast, and the sum is zero."""
    after = f.nodes[node].next_functions[i]
    target = next((t for t in f.inputs(node) if f.edge_of(t.id) == (after.node, after.index)), None)
    arrived = f.arrivals(node)
    if target is None or not arrived or arrived[0].shape == target.value.shape or f.called(node).startswith(("Mm", "Mv")):
        return None
    elementwise = ("Add", "Sub", "Mul", "Div", "Where", "Expand", "Rsub", "Maximum", "Minimum")
    if not f.called(node).startswith(elementwise):
        return None
    said = {"node": f.called(node), "value": value_text(arrived[0]), "shape": str(target.value.shape)}
    return Cause("zero_broadcast", (target.id,), (node,), f.source(node), said)


def _masked_before(f: Facts, node: str, i: int) -> Cause | None:
    """A node that hands parts of its gradient to several inputs sent a part that was zero already: who made it so?"""
    own, now, seen = wall_cause(f, node, i, sure=True), node, {node}
    while own is not None and own.kind == "zero_sent" and stem(f.called(node)) in ROUTERS:
        before = next((s for k in range(f.nodes[now].outputs) for s in f.senders.get((now, k), ())), None)
        if before is None or before[0] in seen:
            break
        now, k = before
        seen.add(now)
        zeros, there = count_zeros(f.sent(now, k)), f.arrivals(now)
        if zeros and there and not any(map(count_zeros, there)):
            return wall_cause(f, now, k, sure=True)
    return own


ROUTERS = (  # they hand on the zeros that arrive
    "Stack", "Cat", "View", "UnsafeView", "Permute", "Transpose", "T", "Unsqueeze", "Squeeze", "Expand", "Clone",
    "ReshapeAlias", "Repeat", "Flip", "Roll", "Alias", "ToCopy", "ConstantPadNd", "Add", "Sub", "Neg", "Mul",
)  # fmt: skip


def unused_rows(f: Facts) -> list[Cause]:
    """Rows of an embedding (or of anything that is indexed) that no lookup used."""
    rows = f.live.zero_rows(f.subject.id)
    takers = [s for s, _ in f.senders.get(f.edge, ()) if f.called(s).startswith(("Embedding", "Index"))] if f.edge else []
    if not rows or not takers:
        return []
    shown = words.COMMA.join(map(str, rows[:6])) + (f"{words.COMMA}…" if len(rows) > 6 else "")
    return [
        Cause("rows_unused", (f.subject.id,), (takers[0],), f.source(takers[0]), {"rows": shown, "node": f.called(takers[0])})
    ]
