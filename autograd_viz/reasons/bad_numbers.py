"""Where nan and inf were born."""

from __future__ import annotations

import math

from .. import words
from ..graph.model import Op, Tensor, Value
from ..graph.text import shape_text, value_text
from ..sentences import PROPERTIES
from .backward_lines import backward_line
from .cause import Cause
from .facts import Edge, Facts
from .hazards import hazard_of, value_with
from .lines import changed_line
from .numbers import bounds, has_zero, is_known, number
from .walls import range_text

MOST = 4  # suspects that are named
FILLS = ("MaskedFill", "Where", "MaskedScatter", "Fill")  # ops that put numbers where the user wants them
INFINITE_AT_0 = ("Div", "Reciprocal", "Rsqrt", "Pow", "Log", "Xlogy", "Digamma", "Polygamma")  # ops, where they are infinite
INFINITE = ("Log1p", "Logit", "Atanh", "Erfinv", "Tan", "Lgamma", "Std", "Var", "Softmax", "LogSoftmax", "Fill", "Full")
MASKS = ("Where", "MaskedFill", "MaskedSelect", "Relu", "Clamp", "Max", "Min", "Index", "Select", "Slice")


def bad_causes(f: Facts) -> list[Cause]:
    """Where the nan, or else the inf, in the subject's grad came from; empty if it holds none."""
    name = value_with(f.subject.grad, ("nan", "inf"))
    if name is None:
        return []
    forward = forward_birth(f)
    if forward is not None:
        return [forward]
    if f.edge is None or not f.is_connected:
        return [Cause("bad_elsewhere" if f.loss else "no_graph", (f.subject.id,), said={"what": name})]
    arrived = f.arrived(*f.edge)
    if arrived is not None and value_with(arrived, ("nan", "inf")) is None:
        return [Cause("bad_old", (f.subject.id,), said={"what": name})]
    suspects = _suspects(f, list(f.leading(f.edge)))
    return _walk(f, f.edge, name) or [
        Cause("bad_unknown", (f.subject.id,), said={"what": name, "suspects": suspects or words.NONE_OF_THEM})
    ]


# -- the forward pass -------------------------------------------------------------------------------------------------


def bad_loss(f: Facts) -> list[Cause]:
    """The gradient is fine, and the loss is not."""
    born = forward_birth(f) if f.is_connected else None
    return [] if born is None else [born]


def forward_birth(f: Facts) -> Cause | None:
    """What brought nan or inf into the forward pass, if the loss itself is nan or inf: back from there, to where it began."""
    at = next((r for r in f.loss if value_with(f.tensors[r].value, ("nan", "inf"))), None)
    while at is not None:
        op, value = f.makers.get(at), f.tensors[at].value
        if op is None:
            if not _changed_since(f, at):
                return _there_before(f, at)
            return None if _suspects(f, list(f.passed)) else diverged(f)
        inputs = [f.tensors[o.tensor] for o in op.inputs if o.tensor is not None]
        before = next((t.id for t in inputs if value_with(t.value, ("nan",))), None) or next(
            (t.id for t in inputs if value_with(t.value, ("inf",)) and not _is_meant(f, t)), None
        )
        if before is None and not all(is_known(t.value) for t in inputs):
            suspects = _suspects(f, list(f.passed))
            said = {"what": value_with(value, ("nan", "inf")) or "nan", "suspects": suspects or words.NONE_OF_THEM}
            return _given(f) or (None if suspects else diverged(f)) or Cause("loss_bad", f.loss, said=said)
        if before is None:
            said = {"what": value_with(value, ("nan", "inf")) or "nan", "op": op.name, "inputs": _of(f, op)}
            ids = tuple(o for o in op.outputs if o is not None)
            kind = "forward_overflow" if _overflows(op, value, [t.value for t in inputs]) else "forward_born"
            return Cause(kind, ids, () if op.node is None else (op.node,), op.source, said)
        at = before
    return None


def _is_meant(f: Facts, t: Tensor) -> bool:
    """An inf that was put there, as a mask before softmax is, or that came with a tensor of constants."""
    op = f.makers.get(t.id)
    return not t.requires_grad if op is None else op.name in FILLS


def _changed_since(f: Facts, leaf: str) -> bool:
    """What a leaf holds now is not what the pass was run with: a step, or a write, came after it."""
    t = f.tensors[leaf]
    ran = backward_line(f.here)
    return t.requires_grad and t.name is not None and ran is not None and changed_line(t.name, f.here, ran) is not None


def diverged(f: Facts) -> Cause | None:
    """Leaves hold it now, since an optimizer's step at the latest: after one such step all later losses have it."""
    leaves = [id for id in f.tensors if id in f.behind_loss and id not in f.makers]
    bad = {id: what for id in leaves if (what := value_with(f.tensors[id].value, ("nan", "inf")))}
    named = [id for id in bad if f.tensors[id].requires_grad and f.tensors[id].name is not None and _changed_since(f, id)]
    if not named:
        return None
    step = changed_line(f.tensors[named[0]].name or "", f.here, backward_line(f.here))
    what = value_with(f.tensors[f.loss[0]].value, ("nan", "inf")) or bad[named[0]]
    names = [f.tensors[id].name or "" for id in named[:MOST]] + ["…"] * (len(named) > MOST)
    said = {"what": what, "leaves": words.COMMA.join(names)}
    return Cause("diverged", tuple(named), source=step, said=said)


def _there_before(f: Facts, leaf: str) -> Cause:
    """A tensor that no op made holds it."""
    t = f.tensors[leaf]
    said = {"what": value_with(t.value, ("nan", "inf")) or "nan", "tensor": t.name or words.THE_TENSOR}
    users = [op.node for op in f.users.get(leaf, ()) if op.node is not None]
    return Cause("given_leaf" if t.requires_grad else "given", (leaf,), tuple(users[:1]), t.source, said)


def _given(f: Facts) -> Cause | None:
    """A leaf that the loss was computed from holds it."""
    leaves = [id for id in f.behind_loss if f.makers.get(id) is None and value_with(f.tensors[id].value, ("nan", "inf"))]
    leaf = next((id for id in leaves if not _changed_since(f, id)), None)
    return None if leaf is None else _there_before(f, leaf)


def _suspects(f: Facts, nodes: list[str]) -> str:
    """The nodes whose rules (or ops) can make nan or inf, and are not known not to have."""
    can = [n for n in nodes if (h := hazard_of(f, n)) is not None and (h.holds(f, n) is not False or _is_late(f, n))]
    names = [f.called(n) for n in can]
    return words.COMMA.join(list(dict.fromkeys(names))[:MOST])


def _is_late(f: Facts, node: str) -> bool:
    """The leaf that the node was given holds nan now, as a step may have left it: nobody knows what it held."""
    given = f.inputs(node)[:1]
    return any(t.id not in f.makers and value_with(t.value, ("nan", "inf")) is not None for t in given)


def _of(f: Facts, op: Op) -> str:
    return "; ".join(_shown(f.tensors[o.tensor].value) if o.tensor is not None else o.text for o in op.inputs)


def _shown(value: Value) -> str:
    """The elements; of many the shape and the range."""
    text = value_text(value)
    return text if text != shape_text(value.shape) or bounds(value) is None else f"{text}: {range_text(value)}"


def _overflows(op: Op, value: Value, inputs: list[Value]) -> bool:
    """It made inf of finite numbers, and not because it is infinite where they are."""
    numbers = [n for o in op.inputs if o.tensor is None and (n := number(o.text)) is not None]
    is_finite = all(map(math.isfinite, numbers)) and not any(value_with(v, ("nan", "inf")) for v in inputs)
    at_zero = op.name.startswith(INFINITE_AT_0) and (0.0 in numbers or any(map(has_zero, inputs)))
    return is_finite and value_with(value, ("nan", "inf")) == "inf" and not at_zero and not op.name.startswith(INFINITE)


# -- the backward pass ------------------------------------------------------------------------------------------------


def _walk(f: Facts, edge: Edge, name: str) -> list[Cause]:
    """Go towards the loss as long as what arrives has it; where nothing that arrives has it, it was born."""
    found: list[Cause] = []
    seen, stack = {edge}, [edge]
    while stack and not found:
        at = stack.pop()
        values = {s: f.sent(*s) for s in f.senders.get(at, ())}
        bad = [s for s, v in values.items() if v is not None and PROPERTIES[name](v)]
        if not values and at in f.starts and f.holds(name, at[0]):
            found.append(Cause("bad_start", f.loss, (at[0],), said={"what": name}))
        if values and not bad and None not in values.values():
            found.append(_met(f, at, name))
        for node, _ in bad or [s for s, v in values.items() if v is None]:
            there = [(node, k) for k in range(f.nodes[node].outputs)]
            if (f.arrivals(node) and not f.holds(name, node)) or (not f.arrivals(node) and _brought_about(f, node)):
                found += _born(f, node, name)
            else:
                stack += [e for e in there if e not in seen]
                seen.update(there)
    return found


def _met(f: Facts, at: Edge, name: str) -> Cause:
    node = at[0]
    hooks = f.live.hooks(node)
    kind = "bad_hook" if hooks else "bad_sum"
    return Cause(kind, (), (node,), f.source(node), {"what": name, "node": f.called(node), "hook": words.COMMA.join(hooks)})


def _brought_about(f: Facts, node: str) -> bool:
    hazard = hazard_of(f, node)
    return hazard is not None and hazard.holds(f, node) is True


def _born(f: Facts, node: str, name: str) -> list[Cause]:
    """The op, the reason, and what sent a zero into it or an inf."""
    hazard = hazard_of(f, node)
    kind = hazard.kind if hazard is not None and hazard.holds(f, node) is not False else "born_other"
    range_of_input = bounds(f.input(node))
    if kind == "born_sqrt" and range_of_input is not None and range_of_input[0] < 0:
        kind = "born_negative_root"
    if name == "nan" and f.holds("inf", node):
        found = [c for k in range(f.nodes[node].outputs) for c in _walk(f, (node, k), "inf")]
        return found or [Cause("born_other", (), (node,), f.source(node), _said(f, node, name))]
    ids = tuple(t.id for t in f.inputs(node))
    born = Cause(kind, ids, (node,), f.source(node), _said(f, node, name))
    mask = _mask_behind(f, node) if name == "nan" and any(map(has_zero, f.arrivals(node))) else None
    return [born] if mask is None else [born, mask]


def _said(f: Facts, node: str, name: str) -> dict[str, str]:
    return {"what": name, "node": f.called(node), "inputs": range_text(f.input(node))}


def _masks(f: Facts, node: str, i: int) -> bool:
    """The node keeps something out: by its nature, or as a product with a mask of zeros and ones."""
    if not f.called(node).startswith("Mul"):
        return f.called(node).startswith(MASKS)
    others = [t.value for t in f.others(node, i)] or [v for v in (f.input(node, 1 - i),) if v is not None]
    return any(v.numbers and {*v.numbers} <= {0, 1} for v in others)


def _mask_behind(f: Facts, node: str) -> Cause | None:
    """The op that kept the bad branch out of the result, and so sent the zero that is multiplied by infinity."""
    now, seen = node, {node}
    while True:
        before = next((s for k in range(f.nodes[now].outputs) for s in f.senders.get((now, k), ())), None)
        if before is None or before[0] in seen:
            return None
        now, i = before
        seen.add(now)
        sent = f.sent(now, i)
        there = f.arrivals(now)
        if sent is not None and has_zero(sent) and there and not any(map(has_zero, there)) and _masks(f, now, i):
            return Cause("zero_times_inf", (), (now,), f.source(now), {"node": f.called(now), "born": f.called(node)})
