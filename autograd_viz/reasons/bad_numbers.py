"""Where nan and inf were born."""

from __future__ import annotations

from .. import words
from ..graph.model import Source, Tensor, Value
from ..graph.text import value_text
from ..sentences import PROPERTIES
from .cause import Cause
from .facts import Edge, Facts
from .forward_birth import births_of, forward_births
from .grad_lines import clips, grad_written_at
from .hazards import has_negative_base, hazard_of, value_with
from .numbers import bounds, has_zero
from .rules import stem_of
from .since import changed_since
from .suspects import FACTORS, suspects
from .unheld import no_graph
from .walls import ADDED, between, range_text

MASKS = ("Where", "MaskedFill", "MaskedSelect", "Relu", "Clamp", "Max", "Min", "Index", "Select", "Slice")


def bad_causes(f: Facts) -> list[Cause]:
    """Where the nan, or else the inf, in the subject's grad came from; empty if it holds none."""
    name = value_with(f.subject.grad, ("nan", "inf"))
    if name is None:
        return []
    forward = forward_births(f)
    if forward:
        return [*forward, *_changed_since_pass(f, name)]
    if f.edge is None or not f.is_connected:
        own = Cause("bad_elsewhere", (f.subject.id,), said={"what": name}) if f.loss else no_graph(f, name)
        return (_written_since(f) if not f.loss else []) or [own]
    arrived = f.arrived(*f.edge)
    if arrived is not None and value_with(arrived, (name,)) is None:
        other = value_with(arrived, ("inf",))
        return [_not_arrived(f, name, arrived), *(_walk(f, f.edge, other) if other is not None else [])]
    could = suspects(f, list(f.leading(f.edge)))
    kind = "bad_unknown" if could else "bad_no_suspect"
    unknown = Cause(kind, (f.subject.id,), said={"what": name, "suspects": could})
    clipped = [c for c in _written_since(f) if c.kind == "clipped" and arrived is None and name == "nan"]
    return [*_walk(f, f.edge, name), *clipped] or [unknown, *_written_since(f)]


def _changed_since_pass(f: Facts, name: str) -> list[Cause]:
    """What is to be said besides what the loss holds: what arrived was something else, or may have been."""
    arrived = f.arrived(*f.edge) if f.edge is not None else None
    if arrived is not None:
        return [] if value_with(arrived, (name,)) else [_not_arrived(f, name, arrived)]
    return [c for c in _written_since(f) if c.kind == "clipped"]


def _not_arrived(f: Facts, name: str, arrived: Value) -> Cause:
    """What arrived has none: it was there before, or a line has changed grad since."""
    said = {"what": name, "value": value_text(arrived)}
    line = _line_since(f)
    kind = "bad_old" if line is None else "bad_clipped" if clips(line) else "bad_since"
    return Cause(kind, (f.subject.id,), source=line, said=said)


def _written_since(f: Facts) -> list[Cause]:
    """A line has changed grad since the pass, and may have made it."""
    line = _line_since(f)
    return [] if line is None else [Cause("clipped" if clips(line) else "grad_written", (f.subject.id,), source=line)]


def _line_since(f: Facts) -> Source | None:
    changed = f.live.grad_changed(f.subject.id)
    return (None if changed is None else changed.source) or grad_written_at(f.subject.name, f.here)


def bad_loss(f: Facts) -> list[Cause]:
    """The gradient is fine, and the loss is not."""
    found = forward_births(f) if f.is_connected else []
    grad = f.subject.grad
    is_number = grad is not None and value_with(grad, ("nan", "inf")) is None and not PROPERTIES["zero"](grad)
    is_nan = any(PROPERTIES["nan"](f.tensors[t].value) for t in f.loss)
    return [*found, Cause("loss_bad_finite", f.loss)] if found and is_number and is_nan else found


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
        for node, i in bad or [s for s, v in values.items() if v is None]:
            factor = _bad_factor(f, node, i)
            if factor is not None and not f.holds(name, node):
                found += _spoiled(f, node, factor)
                continue
            there = [(node, k) for k in range(f.nodes[node].outputs)]
            if (f.arrivals(node) and not f.holds(name, node)) or (not f.arrivals(node) and _brought_about(f, node, i)):
                found += _born(f, node, i, name)
            else:
                stack += [e for e in there if e not in seen]
                seen.update(there)
    return found


def _met(f: Facts, at: Edge, name: str) -> Cause:
    node = at[0]
    hooks = f.live.hooks(node)
    kind = "bad_hook" if hooks else "bad_sum"
    return Cause(kind, (), (node,), f.source(node), {"what": name, "node": f.called(node), "hook": words.COMMA.join(hooks)})


def _bad_factor(f: Facts, node: str, i: int) -> Tensor | None:
    """The tensor, with nan or inf in the forward pass, by which what arrives is multiplied for next_functions[i]."""
    op = stem_of(f, node)
    bias = f.inputs(node)[:1] if op in ADDED else []
    others = f.others(node, i) if op in FACTORS else []
    bad = (t for t in others if t not in bias and value_with(t.value, ("nan", "inf")))
    return next((t for t in bad if not changed_since(f, t.id)), None)


def _spoiled(f: Facts, node: str, factor: Tensor) -> list[Cause]:
    """The product, and where its factor had got it."""
    what = value_with(factor.value, ("nan", "inf")) or "nan"
    said = {"node": f.called(node), "what": what, "factor": factor.name or words.A_TENSOR}
    return [Cause("born_factor", (factor.id,), (node,), f.source(node), said), *births_of(f, factor.id)]


def _brought_about(f: Facts, node: str, i: int) -> bool:
    hazard = hazard_of(f, node)
    return hazard is not None and (hazard.holds(f, node) is True or has_negative_base(f, node, i))


def _born(f: Facts, node: str, i: int, name: str) -> list[Cause]:
    """The op, the reason, and what sent a zero into it or an inf."""
    hazard = hazard_of(f, node)
    kind = hazard.kind if hazard is not None and hazard.holds(f, node) is not False else "born_other"
    range_of_input = bounds(f.input(node))
    if kind == "born_sqrt" and range_of_input is not None and range_of_input[0] < 0:
        kind = "born_negative_root"
    kind = "born_exponent" if has_negative_base(f, node, i) else kind
    if name == "nan" and f.holds("inf", node):
        found = [c for k in range(f.nodes[node].outputs) for c in _walk(f, (node, k), "inf")]
        return found or [Cause("born_other", (), (node,), f.source(node), _said(f, node, name))]
    ids = tuple(t.id for t in f.inputs(node))
    born = Cause(kind, ids, (node,), f.source(node), _said(f, node, name))
    mask = _mask_behind(f, node) if name == "nan" and any(map(has_zero, f.arrivals(node))) else None
    return [born] if mask is None else [born, mask]


def _said(f: Facts, node: str, name: str) -> dict[str, str]:
    is_open = name == "nan" and stem_of(f, node) == "Sqrt" and not f.arrivals(node)  # 1/0 is inf, and 0 * 1/0 is nan
    inputs = f.plain(node, "self") or _given_to(f, node)
    return {"what": "nan / inf" if is_open else name, "node": f.called(node), "inputs": inputs}


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


def _given_to(f: Facts, node: str) -> str:
    """The range of its input; of a square root whose result alone is known, that of the squares."""
    value, result = f.input(node), bounds(f.result(node))
    if value is None and result is not None and f.called(node).startswith("SqrtBackward"):
        return between(result[0] ** 2, result[1] ** 2)
    return range_text(value) if value is not None else words.NOT_KEPT
