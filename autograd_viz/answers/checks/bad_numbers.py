"""Where the nan or inf in a gradient came from."""

from __future__ import annotations

from ... import words
from ..causes.cause import Cause, cause_of, source_of
from ..causes.check import ASKED, MAY, SO, check
from ..causes.facts import Edge, Facts
from ..causes.numbers import bounds, has_zero, is_zero, text_of, value_with
from ..causes.ops import cause_at, factor_values, factors, given_text, name_of_op, op_of, zeros_behind
from ..causes.question import Question
from ..sentences import PROPERTIES
from .data import TAKERS as LAYERS
from .data import takes_data
from .forward_birth import births_of, forward_births, there_before
from .loss import SHAPED
from .nan_sources import GROWING, ROWS, SAFE, has_negative_base, is_short, is_unsafe, nan_source

UNSCALED = 30.0  # how far inputs go that are not scaled
LEAST_HALF = 2**-25  # float16 rounds what is smaller to 0
NOT_INFINITE = ("born_equal", "born_exponent", "born_singular", "born_std", "born_weightless")  # nan for any gradient
MADE = ("born_*", "forward_*", "given*", "diverged", "nan_of_inf", "inf_to_nan", "zero_times_inf*", "loss_bad*")
LATE = ("given_leaf", "diverged")  # a leaf has it by now, and where it began is not told
MASKS = ("Where", "MaskedFill", "MaskedSelect", "Relu", "Clamp", "Max", "Min", "Index", "Select", "Slice")


GUESSED = ("bad_*", "bad_leaf_scaled", "bad_leaf_diverged")  # an earlier batch may have been another


@check(
    "AV301", "not-finite", {**dict.fromkeys(MADE, SO), "bad_leaf*": SO, **dict.fromkeys(GUESSED, MAY), "changed_since": ASKED}
)
def not_finite(f: Facts, q: Question) -> list[Cause]:
    """nan or inf in a gradient: the op that made it, forward or backward."""
    return [_of_earlier_step(f, q, c) if c.kind in LATE else c for c in _causes(f)]


def births_of_loss(q: Question) -> list[Cause]:
    """The origin of nan or inf in the root of a question; empty if it has none."""
    return [_of_earlier_step(q.facts, q, c) if c.kind in LATE else c for c in forward_births(q.facts)]


def _of_earlier_step(f: Facts, q: Question, cause: Cause) -> Cause:
    """A trained leaf holds nan, and so does all that came of it: which op of the loss may have made it, if one may."""
    leaf = f.tensors[cause.tensors[0]]
    holders = [h for h in q.history.optimizers(q.tensor) if h.steps]
    is_stepped = any(f.live.id_of(p) == leaf.id for h in holders for p in h.leaves)
    is_written = leaf.id == f.subject.id and any(e.number > p.number for p in q.passes[:1] for e in q.events("written"))
    if not (is_stepped or is_written):
        return cause
    what = {"tensor": leaf.name or words.THE_TENSOR, "what": value_with(leaf.value) or cause.said["what"]}
    small = [h for h in holders if 0 < h.eps < LEAST_HALF] if leaf.value.dtype == "float16" else []
    if small:
        return cause_of("bad_leaf_eps", small[0].made, **what, optimizer=small[0].kind, eps=small[0].eps)
    if (origin := _not_of_weights(f)) is not None:
        return origin
    unsafe = sorted((n for n in f.pass_nodes if is_unsafe(f, n)), key=lambda n: (op_of(f, n) in GROWING, op_of(f, n) in ROWS))
    if unsafe:
        op = op_of(f, unsafe[0])
        kind = "bad_leaf_grown" if op in GROWING else "bad_leaf_row" if op in ROWS else "bad_leaf"
        return cause_at(f, kind, unsafe[0], (leaf.id,), **what)
    if not all(op_of(f, n) in SAFE or f.nodes[n].variable is not None or _is_plain(f, n) for n in f.pass_nodes):
        return cause
    inputs = [f.live.kept(n, LAYERS[op_of(f, n)]) for n in f.pass_nodes if op_of(f, n) in LAYERS and takes_data(f, n)]
    most = max((float(abs(x).max()) for x in inputs if x is not None and x.size), default=0.0)
    return Cause(
        "bad_leaf_scaled" if most >= UNSCALED else "bad_leaf_diverged", (leaf.id,), said={**what, "most": f"{most:.4g}"}
    )


def _not_of_weights(f: Facts) -> Cause | None:
    """What the loss took nan from in any case: data that hold it, or labels that are longer than their input."""
    data = (t for n in f.pass_nodes for t in f.inputs(n) if not t.requires_grad and value_with(t.value))
    if (given := next((t.id for t in data if f.live.made_of_data(t.id) is not None), None)) is not None:
        return there_before(f, given)
    short = next((n for n in f.pass_nodes if is_short(f, n)), None)
    return None if short is None else cause_at(f, "forward_short", short)


def _is_plain(f: Facts, node: str) -> bool:
    """Is it a softmax of what a layer gives, of which nothing is masked, or a loss that leaves no target out?"""
    if op_of(f, node) == "NllLoss":
        targets = f.live.kept(node, "target")
        return targets is not None and not (targets == int(f.plain(node, "ignore_index") or -100)).any()
    before = next(iter(f.ways_on(node)), None)
    while before is not None and op_of(f, before) in SHAPED:
        before = next(iter(f.ways_on(before)), None)
    return op_of(f, node) in ROWS and before is not None and op_of(f, before) in ("Addmm", "Convolution")


def _causes(f: Facts) -> list[Cause]:
    name = value_with(f.subject.grad)
    if not name:
        return []
    arrived = f.arrived_last if f.is_connected else None
    later = [_not_arrived(f, name)] if arrived is not None and not value_with(arrived, (name,)) else []
    if forward := forward_births(f):
        return [*forward, *later]
    if f.edge is None or not f.is_connected:
        return [_not_arrived(f, name)]
    other = value_with(arrived, ("inf",)) if later else name
    found = [*later, *(_walk(f, f.edge, other) if other else [])]
    return found or [Cause("not_recorded", (f.subject.id,))]


def _not_arrived(f: Facts, name: str) -> Cause:
    """The last pass of this graph did not make it. It was there before, or a line has changed grad since."""
    if f.is_changed:
        return Cause("changed_since", (f.subject.id,))
    arrived, source = f.arrived_last, source_of(f.live.grad_changed(f.subject.id))
    if arrived is None:
        kind = "bad_written" if source is not None else "bad_elsewhere" if f.loss else "not_recorded"
    elif value_with(f.before, (name,)):
        kind = "bad_old"
    elif source is None:
        kind = "inf_to_nan" if value_with(arrived, ("inf",)) else "bad_elsewhere"
    else:
        kind = "bad_since"
    return Cause(kind, (f.subject.id,), source=source, said={"what": name, "value": text_of(arrived)})


def bad_loss(q: Question) -> list[Cause]:
    """The gradient is finite, and the loss is not."""
    f, grad = q.facts, q.facts.subject.grad
    found = births_of_loss(q) if f.is_connected else []
    is_number = grad is not None and not value_with(grad) and not is_zero(grad)
    is_nan = any(PROPERTIES["nan"](f.tensors[t].value) for t in f.loss)
    return [*found, Cause("loss_bad_finite", f.loss)] if found and is_number and is_nan else found


def _walk(f: Facts, edge: Edge, name: str) -> list[Cause]:
    """Go towards the loss while the arriving gradient has it. It was born where no arriving gradient has it."""
    found: list[Cause] = []
    seen, stack = {edge}, [edge]
    while stack and not found:
        at = stack.pop()
        sent = f.sent_along(at)
        bad = [s for s, v in sent.items() if value_with(v, (name,))]
        if not sent and at in f.starts and f.holds(name, at[0]):
            found.append(Cause("bad_start", f.loss, (at[0],), said={"what": name}))
        if sent and not bad and None not in sent.values():
            is_of_inf = name == "nan" and any(value_with(v, ("inf",)) for v in sent.values())  # inf - inf
            births = _walk(f, at, "inf") if is_of_inf else []
            found += [c for c in births if c.kind.startswith("born")] or [_met(f, at, name)]
        for node, i in bad or [s for s, v in sent.items() if v is None]:
            factor = next((t for t in factors(f, node, i) if value_with(t.value)), None)  # bad in the forward pass
            if factor is not None and not f.holds(name, node):
                said = {"what": value_with(factor.value), "factor": factor.name or words.A_TENSOR}
                found += [*births_of(f, factor.id), cause_at(f, "born_factor", node, (factor.id,), **said)]
            elif _is_born(f, node, i, name):
                found += _born(f, node, i, name)
            else:
                stack += [e for e in f.edges_at(node) if e not in seen]
                seen.update(f.edges_at(node))
    return found


def _is_born(f: Facts, node: str, i: int, name: str) -> bool:
    """Did the node make it? What arrived had none; or, if that is unknown, its values prove that it makes some."""
    source = nan_source(f, node)
    if f.arrivals(node):
        return not f.holds(name, node)
    return source is not None and (source.holds(f, node) is True or has_negative_base(f, node, i))


def _met(f: Facts, at: Edge, name: str) -> Cause:
    hooks = words.COMMA.join(f.live.hooks(at[0]))
    kind = "bad_hook" if hooks or len(f.senders[at]) == 1 else "bad_sum"
    return cause_at(f, kind, at[0], (), what=name, hook=hooks or "?")


def _born(f: Facts, node: str, i: int, name: str) -> list[Cause]:
    """The op, the reason, and the op that sent a zero or an inf into it: it kept the bad branch out of the result."""
    if name == "nan" and f.holds("inf", node):
        return [c for e in f.edges_at(node) for c in _walk(f, e, "inf")] or [_at(f, "born_other", node, name)]
    born = _at(f, _kind(f, node, i), node, name)
    is_infinite = name == "nan" and born.kind not in NOT_INFINITE and any(map(has_zero, f.arrivals(node)))
    mask = next((at for at in zeros_behind(f, node) if _masks(f, *at)), None) if is_infinite else None
    if mask is None:
        return [born]
    kind = "zero_times_inf_product" if op_of(f, mask[0]) == "Mul" else "zero_times_inf"
    return [born, cause_at(f, kind, mask[0], (), born=name_of_op(f, node))]


def _kind(f: Facts, node: str, i: int) -> str:
    source, given = nan_source(f, node), bounds(f.input(node))
    is_negative = (given is not None and given[0] < 0) or (given is None and bool(value_with(f.result(node), ("nan",))))
    if has_negative_base(f, node, i):
        return "born_exponent"
    if source is None or source.holds(f, node) is False:
        return "born_other"
    return "born_negative_root" if source.kind == "born_sqrt" and is_negative else source.kind


def _at(f: Facts, kind: str, node: str, name: str) -> Cause:
    pole = "-1" if op_of(f, node) == "Log1P" else "0"
    is_open = name == "nan" and op_of(f, node) == "Sqrt" and not f.arrivals(node)  # 1/0 is inf, and 0 * 1/0 is nan
    what = "nan / inf" if is_open else name
    return cause_at(f, kind, node, what=what, pole=pole, given=given_text(f, node))


def _masks(f: Facts, node: str, i: int) -> bool:
    """Does the node block something: by its nature, or as a product with a mask of zeros and ones?"""
    if op_of(f, node) != "Mul":
        return f.called(node).startswith(MASKS)
    return any(v.numbers and {*v.numbers} <= {0, 1} for v in factor_values(f, node, i))
