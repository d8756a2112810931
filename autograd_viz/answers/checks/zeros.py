"""Why a gradient arrived and was zero."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ... import words
from ...graph.model import Value
from ...graph.text import value_text
from ..causes.cause import Cause, source_of
from ..causes.check import ASKED, MAY, SO, check
from ..causes.facts import Edge, Facts
from ..causes.numbers import added, count_zeros, has_zero, is_zero, nearly, text_of
from ..causes.ops import cause_at, numbers_of, op_of, zeros_behind
from ..causes.question import Question
from .blocking import seen_block, sure_block, underflow
from .hooks import stop_before
from .sizes import no_effect

NO_FAULT = (  # sums that cancel, zeros up to rounding, and what happened after the pass
    "zero_summed", "zero_sent", "zero_factor", "zero_cancel", "zero_broadcast", "zero_normed", "zero_shifted",
    "rows_unused", "zero_old", "zero_since", "zeroed*", "zero_reached", "graph_gone",
)  # fmt: skip
BOUNDED = ("zero_relu", "zero_clamp", "zero_apart")
TAKERS = ("Select", "Slice", "Index", "View", "ReshapeAlias", "Squeeze", "Unsqueeze", "Unbind", "Split")  # of elements
MOST_PARTS, MOST_ROWS = 4, 6  # parts, rows that the answer names
BROADCASTING = ("Add", "Sub", "Mul", "Div", "Where", "Expand", "Rsub", "Maximum", "Minimum")
ROUTERS = (  # they pass on the zeros that arrive
    "Stack", "Cat", "View", "UnsafeView", "Permute", "Transpose", "T", "Unsqueeze", "Squeeze", "Expand", "Clone",
    "ReshapeAlias", "Repeat", "Flip", "Roll", "Alias", "ToCopy", "ConstantPadNd", "Add", "Sub", "Neg", "Mul",
)  # fmt: skip


@check("AV302", "all-zero", {**dict.fromkeys(NO_FAULT, ASKED), "zero_single": SO, "zero_*": MAY, "cancelled": MAY})
def all_zero(f: Facts, q: Question) -> list[Cause]:
    """A gradient that is all zero: the op that passed none on, or a sum that cancels."""
    grad = f.subject.grad
    if (found := no_effect(f)) or grad is None or not count_zeros(grad):
        return found
    if not is_zero(grad):
        return _rows_without(f)
    arrived, ids = f.arrived_last, (f.subject.id,)
    if f.edge is None or not f.is_connected or (arrived is not None and not is_zero(arrived)):
        return [_not_arrived(f, arrived)]
    if f.comes_from_elsewhere:
        root = words.COMMA.join(f.tensors[id].name or words.THE_TENSOR for id in f.loss)
        return [Cause("graph_gone", ids, said={"value": text_of(arrived), "root": root})]
    found = list({(c.kind, c.nodes): c for c in _walk(f, f.edge)}.values())
    is_done = any(h.steps for h in q.optimizers) and f.loss and all(is_zero(f.tensors[t].value) for t in f.loss)
    if is_done and any(c.kind in BOUNDED for c in found):  # as a hinge loss is, once all margins are kept
        return [Cause("zero_reached", ids, source=found[0].source, said=found[0].said)]
    return found or [Cause("not_recorded", ids)]


@check("AV303", "norm-of-one", {"norm_of_one": SO, "mean_of_one": MAY}, of_run=True, first=True)
def norm_of_one(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """A layer norm over one element: it is its own mean, so the result is the bias whatever the input is."""
    for node in nodes:
        is_layer = op_of(f, node) == "NativeLayerNorm" and f.plain(node, "normalized_shape") in ("(1,)", "[1]", "1")
        sizes = [f.plain(node, name) for name in ("group", "C", "HxW")] if op_of(f, node) == "NativeGroupNorm" else []
        if is_layer or (sizes and sizes[0] == sizes[1] and sizes[2] == "1"):
            yield cause_at(f, "norm_of_one", node)
        sides = f.sides(node) if op_of(f, node) == "Sub" else []
        mean = sides[1] if len(sides) == 2 else None
        if mean is not None and op_of(f, mean) == "Mean" and f.nodes[mean].next_functions[0].node == sides[0]:
            lengths = [int(n) for n in re.findall(r"\d+", f.plain(mean, "self_sym_sizes"))]
            dims = [int(n) for n in re.findall(r"-?\d+", f.plain(mean, "dim"))]
            if dims and all(-len(lengths) <= d < len(lengths) and lengths[d] == 1 for d in dims):
                yield cause_at(f, "mean_of_one", node)


def _not_arrived(f: Facts, arrived: Value | None) -> Cause:
    """Its grad is zero, and the last pass of this graph did not bring it."""
    if f.is_changed:
        return Cause("changed_since", (f.subject.id,))
    said, source = {"value": text_of(arrived)}, source_of(f.live.grad_changed(f.subject.id))
    total = None if arrived is None or f.before is None else added([f.before, arrived])
    if total is not None and f.subject.grad is not None and nearly(f.subject.grad.numbers, total):
        kind, said["before"] = "cancelled", text_of(f.before)
    elif source is not None:
        kind = "zeroed_by" if arrived is None else "zeroed_at"
    elif arrived is not None:
        is_known = f.edge is not None and f"before:{f.edge[0]}" in f.past  # a stepper has seen it
        kind = "zeroed" if is_known else "zero_since"
    else:
        kind = "zero_old" if f.loss else "not_recorded"
    return Cause(kind, (f.subject.id,), source=None if kind == "cancelled" else source, said=said)


def _walk(f: Facts, edge: Edge) -> list[Cause]:
    """Go towards the loss while the arriving gradient is zero. The node that receives a non-zero gradient made the zeros."""
    found, seen, stack = [], {edge}, [edge]
    while stack:
        at = stack.pop()
        sent = f.sent_along(at)
        values = {s: v for s, v in sent.items() if v is not None}
        if at in f.starts and at not in f.senders:
            if not is_zero(f.arrived(*at)):
                return []  # a path on which no node is known to make zeros
            found.append(Cause("zero_start", f.loss, (at[0],)))
        elif values and len(values) == len(sent) and not all(map(is_zero, values.values())):
            found.append(_met(f, at, values))
        else:
            for node, i in (s for s, v in sent.items() if v is None or is_zero(v)):
                if (cause := _made_zero(f, node, i)) is not None:
                    found.append(cause)
                    continue
                if any(not is_zero(v) for v in f.arrivals(node)):
                    return []  # a gradient arrived there, and what was sent is unknown
                more = [e for e in f.edges_at(node) if e not in seen]
                seen.update(more)
                stack += more
    return found


def _met(f: Facts, at: Edge, values: dict[Edge, Value]) -> Cause:
    """Non-zero gradients arrived, and gave zero: a sum of several, or a hook."""
    node, variable = at[0], f.nodes[at[0]].variable
    here = tuple(t.id for t in f.results(node)) if variable is None else (variable,)
    total, hooks = f.met(at), words.COMMA.join(f.live.hooks(node))
    if len(values) > 1 and (not hooks or (total is not None and is_zero(total))):
        name = next((name for t in here if (name := f.tensors[t].name)), f.called(node))
        shown = [*values.items()][:MOST_PARTS]
        parts = " + ".join(f"{value_text(v)} {words.FROM_NODE.format(node=f.called(n))}" for (n, _), v in shown)
        sides = _two_sides(f, at, {s for s, _ in values})
        if sides is not None and (variable is None or _is_ratio_of_one(f, sides)):
            return cause_at(f, "zero_two_sides", sides, at=name)
        if (added := _added_back(f, {s for (s, _), v in values.items() if not is_zero(v)})) is not None:
            return cause_at(f, "zero_added_back", added, at=name)
        return cause_at(f, "zero_cancel", node, here, at=name, parts=parts)
    if total is None and len(values) > 1:  # their sum may be zero, and the hook may only look
        return Cause("not_recorded", (f.subject.id,))
    value = next(iter(values.values())) if total is None else total
    return cause_at(f, "zero_hook", node, here, hook=hooks or "?", value=value_text(value))


def _is_ratio_of_one(f: Facts, node: str) -> bool:
    """Is it a difference of which exp() makes 1 everywhere? Both of its sides are the same, and both are trained."""
    after = next(iter(f.takers(node)), None)
    result = f.live.kept(after, "result") if after is not None and op_of(f, after) == "Exp" else None
    return result is not None and bool((result == 1).all())


def _added_back(f: Facts, senders: set[str]) -> str | None:
    """The sum that adds to a difference what the difference takes away: `hard - soft + soft`."""
    by = {op_of(f, s): s for s in senders}
    given = f.sides(by["Add"]) if by.keys() == {"Add", "Sub"} else []
    return by["Add"] if by.get("Sub") in given else None


def _two_sides(f: Facts, at: Edge, senders: set[str]) -> str | None:
    """The nearest difference or quotient of two things, each of which sends one of the two gradients that cancel at an op."""
    for node in f.leading(at) if len(senders) == 2 else ():
        ways = [f.downstream([a.node]).keys() & senders for a in f.nodes[node].next_functions if a.node is not None]
        if op_of(f, node) in ("Sub", "Div", "Rsub") and [*map(len, ways)] == [1, 1] and ways[0] != ways[1]:
            return node
    return None


def _made_zero(f: Facts, node: str, i: int) -> Cause | None:
    arrivals = f.arrivals(node)
    if (before := stop_before(f, node)) is not None:
        return before
    if arrivals and all(map(is_zero, arrivals)):
        return None
    sure = sure_block(f, node, i)
    if sure is not None and op_of(f, node) == "Mul" and sure.kind in ("zero_factor", "zero_tensor"):
        return _bounded_factor(f, node, i) or sure
    if sure is not None or not arrivals or f.sent(node, i) is None:
        return sure
    return underflow(f, node, i) or _broadcast(f, node, i) or seen_block(f, *_masked_before(f, node, i))


def _bounded_factor(f: Facts, node: str, i: int) -> Cause | None:
    """The relu or clamp that made the zero factor, as of boxes that do not overlap."""
    made = next((side for k, side in enumerate(f.sides(node)) if k != i and side is not None), node)
    while made != node and op_of(f, made) in TAKERS and f.ways_on(made):
        made = f.ways_on(made)[0]
    found = sure_block(f, made, 0) if made != node else None
    return found if found is not None and found.kind in BOUNDED else None


def _broadcast(f: Facts, node: str, i: int) -> Cause | None:
    """The gradient was summed because the operand had been broadcast, and the sum is zero."""
    after, arrived = f.nodes[node].next_functions[i], f.arrivals(node)[0]
    target = next((t for t in f.inputs(node) if f.edge_of(t.id) == (after.node, after.index)), None)
    if target is None or arrived.shape == target.value.shape or op_of(f, node) not in BROADCASTING:
        return None
    return cause_at(f, "zero_broadcast", node, (target.id,), value=value_text(arrived), shape=str(target.value.shape))


def _masked_before(f: Facts, node: str, i: int) -> Edge:
    """The edge whose zeros this node passed on. The node splits its gradient, and this part was zero before."""
    hides_zeros = any(has_zero(t.value) for t in f.others(node, i)) or 0.0 in numbers_of(f, node)
    passes_on = op_of(f, node) in ROUTERS and not (op_of(f, node) == "Mul" and hides_zeros)
    return next(zeros_behind(f, node), (node, i)) if passes_on else (node, i)


def _rows_without(f: Facts) -> list[Cause]:
    """Rows of an embedding (or of any indexed tensor) that got no gradient."""
    rows = f.live.zero_rows(f.subject.id)
    senders = f.senders.get(f.edge, ()) if f.edge is not None else ()
    taker = next((s for s, _ in senders if op_of(f, s).startswith(("Embedding", "Index"))), None)
    if not rows or taker is None:
        return []
    shown = words.COMMA.join([*map(str, rows[:MOST_ROWS]), *["…"] * (len(rows) > MOST_ROWS)])
    return [cause_at(f, "rows_unused", taker, (f.subject.id,), rows=shown)]
