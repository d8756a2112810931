"""Checks of signs: a loss that the optimizer makes larger, or a term of it; and losses that have no least value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from ... import words
from ...graph.op_names import plain_name
from ..causes.cause import Cause, cause_of
from ..causes.check import MAY, SO, check
from ..causes.code import called_at, mentions
from ..causes.facts import Facts
from ..causes.history import Op
from ..causes.numbers import bounds, number
from ..causes.ops import cause_at, numbers_of, op_of
from ..causes.paths import is_op, leading_from
from ..causes.question import Question
from .layers import weights_of
from .loss import RAW, REGRESSIONS, SHAPED

LOSSES = (*REGRESSIONS, "NllLoss", "NllLoss2D", "KlDiv", "BinaryCrossEntropy", "BinaryCrossEntropyWithLogits", "CtcLoss")
LINEAR = (*SHAPED, "Sub", "Add", "Rsub", "Neg", "Mul", "Div")  # what is large stays large through these
SCALED = ("Mul", "Div")
SIGNED = (*LINEAR, "Mean", "Sum", "Stack", "Cat")
# names of what should fall
LESS = ("cost", "penalt", "regret", "risk", "energy", "latency", "distance", "delay", "drag", "price")
COSTS = (*LESS, "loss(", "losses", "error")
LEFT = re.compile(r"^[\s\w.,]+=(?!=)")  # of an assignment
CLIPPED = {"Maximum": -1, "Minimum": 1}  # the sign with which one of a clipped and a plain ratio is the wrong one
PICKS = ("Gather", "Index")
MOST = 64  # terms of a loss
GROWING = ("Exp", "Pow", "Mul", *REGRESSIONS, "Abs", "LinalgVectorNorm")
DISTANCES = ("Abs", "LinalgVectorNorm", "Cdist", "Softplus", "Relu", "MseLoss")
POSITIVE = ("Exp", "Sigmoid", "Softmax", "Softplus", "Relu", "Abs")
SCALES = ("Exp", "Softplus")  # divisors that a layer gives, of a spread
PRODUCTS, SUMMED = ("mul", "rmul", "dot", "matmul"), ("add", "sum", "mean", "getitem", "div", "truediv", "mul", "dot", "matmul")
PICKING = ("__getitem__", "getitem", "select", "squeeze", "unbind", "view", "reshape")
OF_LABELS = (
    "cross_entropy", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "kl_div",
    "binary_cross_entropy_with_logits", "cosine_embedding_loss", "triplet_margin_loss", "ctc_loss",
)  # fmt: skip  # none is negative
SIGNS = ("minus_loss", "loss_maximized", "plus_log_prob", "plus_entropy", "clip_reversed", "score_lowered", "plus_label")
End = tuple[str, int, str]


@check("AV205", "wrong-sign", dict.fromkeys(SIGNS, MAY), of_run=True)
def wrong_sign(q: Question) -> Iterator[Cause]:
    """The optimizer makes a loss larger: its sign is wrong, or the optimizer maximizes."""
    root = q.last_root
    if root is None or len({p.source for p in q.passes}) > 1:  # in turns with another loss: an adversary
        return
    leaves = q.leaves_of(root)
    users = [h for h in q.holders if h.steps and any(p is leaf for p in h.leaves for leaf in leaves)]
    f = q.facts if users or (q.minimizes and q.history.gone) else None
    own = [type(leaf).__name__ for leaf in leaves for h in users if any(p is leaf for p in h.leaves)]
    is_of_model = bool(q.models) or any(type(leaf).__name__ == "Parameter" for leaf in leaves)
    if own and "Parameter" not in own and is_of_model:  # an input is made worse for a model
        return
    ends = [] if f is None else [*signed(f, lambda node: op_of(q.facts, node) in LOSSES)]
    sign = -1 if users and users[0].maximizes else 1
    kind = users[0].kind if users else "step()"
    if f is not None and ends and all(op_of(f, node) in LOSSES and sign * s < 0 for node, s, _ in ends):
        loss = f.live.called_as(ends[0][0]) or plain_name(op_of(f, ends[0][0]))
        yield cause_of("minus_loss" if sign > 0 else "loss_maximized", root, loss=loss, optimizer=kind)
    if f is not None and sign > 0:
        yield from _of_policy(f)
        labels = [end for end in signed(f, lambda node: _is_pick(f, node)) if _is_of_label(f, end)]
        # exp(r) - 1 - r, an estimate of a divergence, is never negative
        ratios = {n for n, s, w in signed(f, lambda node: op_of(q.facts, node) == "Exp") if labels and s > 0 and not w}
        if labels and all(s > 0 and ratios.isdisjoint(f.leading((node, 0))) for node, s, _ in labels):
            yield cause_at(f, "plus_label", labels[0][0])
        scores = [*signed(f, lambda node: bool(_score(q.facts, node)))]
        if scores and all(_score(f, node) and s > 0 for node, s, _ in scores):
            yield cause_of("score_lowered", root, score=_score(f, scores[0][0]), optimizer=kind)


@check("AV231", "overlap-of-logits", {"overlap_of_logits": MAY}, of_run=True, first=True)
def overlap_of_logits(f: Facts, q: Question) -> Iterator[Cause]:
    """An overlap, as of a dice loss, of what a layer gives: below 0 or above 1 it means nothing."""
    if q.minimizes:
        for node, _, _ in [*signed(f, lambda node: _score(f, node) == "the overlap")]:
            products = [n for n in f.downstream([node]) if op_of(f, n) == "Mul" and None in f.sides(n)]
            top = next((n for n in products if _is_raw(f, n)), None)
            if _score(f, node) == "the overlap" and top is not None:
                yield cause_at(f, "overlap_of_logits", top)


def _is_of_label(f: Facts, end: End) -> bool:
    """Is it the logarithm of the probability of a label: that was picked, or that labels of 0 and 1 pick?"""
    node, _, weighs = end
    if not weighs:
        return _is_pick(f, node)
    made = op_of(f, [*_through(f, node, ("Log", "Add", "Rsub", "Clamp", "ClampMin", *SHAPED))][-1])  # or of 1 minus that
    if op_of(f, node) != "LogSoftmax" and not (op_of(f, node) == "Log" and made in ("Sigmoid", "Softmax")):
        return False
    kept = f.live.kept(weighs, "self" if f.sides(weighs)[0] is None else "other")
    return kept is not None and bool(((kept == 0) | (kept == 1)).all()) and bool(kept.any()) and _is_alone(f, weighs)


def _is_pick(f: Facts, node: str) -> bool:
    """Does it pick elements of a log_softmax()?"""
    return op_of(f, node) in PICKS and op_of(f, [*_through(f, node, (*PICKS, *SHAPED))][-1]) == "LogSoftmax"


def _is_alone(f: Facts, weighs: str) -> bool:
    """Does no other data weigh it on the way to the loss, as a gain does?"""
    for _ in range(MOST):
        if not (after := f.takers(weighs)):
            break
        weighs = after[0]
        if op_of(f, weighs) == "Mul" and any(not t.requires_grad and t.value.shape for t in f.inputs(weighs)):
            return False
    return True


def _is_raw(f: Facts, product: str) -> bool:
    """Are its predictions the result of a layer, and its data a tensor of rows?"""
    made = next((n for n in f.sides(product) if n is not None), None)
    while made is not None and op_of(f, made) in SHAPED:
        made = _next(f, made)
    rows = [t.value.shape for t in f.inputs(product) if not t.requires_grad]
    return made is not None and op_of(f, made) in RAW and any(len(shape) > 1 for shape in rows)


def _score(f: Facts, node: str) -> str:
    """What a term measures, if that is best when it is large: a cosine, or an overlap divided by a sum of two."""
    if f.live.called_as(node) == "cosine_similarity":
        last = [*_through(f, node, ("Sum",))][-1]
        is_trained = None not in f.sides(last)  # two outputs may be meant to differ
        return "" if is_trained else "cosine_similarity"
    sides = f.sides(node) if op_of(f, node) == "Div" else []
    tops = [*_through(f, sides[0], ("Mul", "Add"))] if len(sides) == 2 else []
    sums = [*_through(f, sides[1], ("Add", "Sub"))] if len(sides) == 2 else []
    product = _next(f, tops[-1]) if tops and op_of(f, tops[-1]) == "Sum" else None
    overlaps = f.sides(product) if product is not None and op_of(f, product) == "Mul" else []
    is_of_data = len(overlaps) == 2 and None in overlaps  # predictions times targets
    is_share = is_of_data and len(sums) > 1 and op_of(f, sums[-1]) == "Sum" and _next(f, sums[-1]) in overlaps
    return "the overlap" if is_share else ""


def _next(f: Facts, node: str) -> str | None:
    return next(iter(f.ways_on(node)), None)


def _through(f: Facts, node: str | None, ops: tuple[str, ...]) -> Iterator[str]:
    """A node, and those behind it along the first way, to the first that is none of these ops."""
    while node is not None:
        yield node
        node = _next(f, node) if op_of(f, node) in ops else None


def signed(f: Facts, is_end: Callable[[str], bool]) -> Iterator[End]:
    """What a loss is a sum of: each last node, its sign, and the product with data that weighs it, "" if none does."""
    todo = [(node, 1, "") for node, _ in f.starts]
    for _ in range(MOST):
        if not todo:
            break
        node, sign, weighs = todo.pop()
        op = op_of(f, node)
        if is_end(node) or op not in SIGNED:
            yield node, sign, weighs
            continue
        for i, after in enumerate(f.nodes[node].next_functions):
            if after.node is not None:
                data = [t.value for t in f.others(node, i) if not t.requires_grad]
                rows = [v for v in data if v.shape]  # one number may have any sign, of a reward as well
                numbers = [n for n in numbers_of(f, node) if n is not None]
                least = [*numbers, *((bounds(v) or (1.0, 0.0))[1] for v in rows)]  # data without an element above 0
                if op == "Mul" and (of := _factor_bounds(f, node, i)) is not None:
                    least.append(-1.0 if of[1] <= 0 else 1.0)
                    if of[0] < 0 < of[1]:  # it may have any sign
                        yield node, 0, weighs
                        continue
                is_minus = op in ("Neg", "Rsub") or (op, i) == ("Sub", 1) or (op in SCALED and any(n < 0 for n in least))
                todo.append((after.node, -sign if is_minus else sign, node if op == "Mul" and data else weighs))


def _factor_bounds(f: Facts, node: str, i: int) -> tuple[float, float] | None:
    """Between which numbers the other factor of a product is, if a gradient reaches it; (-1, 1) if that is not known."""
    others = [t for t in f.others(node, i) if t.requires_grad]
    if not others:
        return None
    made, found = f.sides(node)[1 - i], bounds(others[0].value)
    if made is not None and (op_of(f, made) in POSITIVE or _is_even(f, made)):
        return 0.0, 1.0
    kept = f.live.kept(node, "other" if i == 0 else "self")
    return found or ((-1.0, 1.0) if kept is None or not kept.size else (float(kept.min()), float(kept.max())))


def _of_policy(f: Facts) -> Iterator[Cause]:
    """Each log_prob() that data weigh has a plus; or these have a minus, and entropy() or a clipped ratio the wrong sign."""

    def called(node: str) -> str:
        return "log_prob" if _is_pick(f, node) else called_at(f.source(node))

    ends = [*signed(f, lambda node: called(node) in ("log_prob", "entropy"))]
    of_log = [end for end in ends if called(end[0]) == "log_prob"]
    weighted = [end for end in of_log if end[2]]
    if weighted and len(weighted) == len(of_log) and all(sign > 0 for _, sign, _ in weighted):
        is_cost = any(_is_cost(f, end) for end in weighted) or all(_is_negative(f, weighs) for _, _, weighs in weighted)
        yield from () if is_cost else [cause_at(f, "plus_log_prob", weighted[0][0])]
    entropy = next((node for node, sign, weighs in ends if called(node) == "entropy" and sign > 0 and not weighs), None)
    if entropy is not None and weighted and all(sign < 0 for _, sign, _ in weighted):
        yield cause_at(f, "plus_entropy", entropy)
    clipped = next((n for n, sign, _ in ends if CLIPPED.get(op_of(f, n)) == sign and _is_of_clipped_ratio(f, n)), None)
    if clipped is not None:
        yield cause_at(f, "clip_reversed", clipped)


def _is_negative(f: Facts, weighs: str) -> bool:
    """Has its data elements below 0, and none above?"""
    found = [bounds(t.value) for t in f.inputs(weighs) if not t.requires_grad]
    return any(b is not None and b[0] < 0 >= b[1] for b in found)


def _is_cost(f: Facts, end: End) -> bool:
    """Does what weighs it have the name of a cost, or is it computed so in its line?"""
    node, _, weighs = end
    lines = [LEFT.sub("", s.text) for n in (node, weighs) if (s := f.source(n)) is not None]
    names = [f.name_of(t.id) for t in f.inputs(weighs) if not t.requires_grad]
    return any(c in text.lower() for text in (*lines, *names) for c in COSTS)


def _is_of_clipped_ratio(f: Facts, node: str) -> bool:
    """Are its inputs products with data, of a ratio and of the clamped ratio?"""
    inputs = f.ways_on(node)
    ratios = [way for n in inputs if op_of(f, n) == "Mul" for way in f.ways_on(n)]
    clamps = [n for n in ratios if op_of(f, n) == "Clamp" and f.first(n) in ratios]
    return len(inputs) == len(ratios) == 2 and len(clamps) == 1


@check("AV207", "falls-without-end", {"no_bottom": MAY, "weights_grow": MAY, "weight_sinks": MAY}, of_run=True, first=True)
def no_bottom(f: Facts, q: Question) -> Iterator[Cause]:
    """A square or an exp() of what a layer gives enters the loss with a minus, so the loss has no least value."""
    yield from _sinking(q)
    leaves = [p for h in q.holders if h.steps for p in h.leaves] if q.minimizes else []
    trained = {f.live.id_of(p) for p in leaves if not _is_kept_small(q, p)}
    if q.minimizes and q.history.gone:  # what an optimizer had that is gone is not known
        trained |= {f.nodes[n].variable for n in f.pass_nodes}
    trained -= {None}
    if not trained or len({p.source for p in q.passes}) > 1:  # in turns with another loss: an adversary
        return
    found = [*signed(f, lambda node: _is_unclear(f, node))]
    ends = [(node, sign) for node, sign, weighs in found if not (weighs and called_at(f.source(node)) == "log_prob")]
    rising = [node for node, sign in ends if sign > 0 and op_of(f, node) in GROWING]
    held = {n for node in rising for n in _layers_in(f, node)}
    inner = [n for node in rising if (n := _power_in(f, node)) is not None]
    faster = {w for n in inner for m in _layers_in(f, n) for w in weights_of(f, m)}
    for node, sign in ends:
        alone = _layers_in(f, node) - held if sign < 0 and _is_even(f, node) else set()
        faster |= {leaf for n in rising if alone for leaf in _multiplied(f, n)}
        if any(weights_of(f, n) & trained - faster for n in alone) and not _is_divided(f, node):
            yield cause_at(f, "no_bottom", node)
    of_weights = {(_leaf(f, node), sign) for node, sign in ends if op_of(f, node) in GROWING}
    for node, sign in ends:
        leaf = _leaf(f, node) if sign < 0 and _is_even(f, node) else None
        if leaf in trained and leaf is not None and (leaf, 1) not in of_weights:
            yield cause_at(f, "weights_grow", node)


def _is_divided(f: Facts, node: str) -> bool:
    """Is it a part of a quotient of which both sides grow with the same layer?"""
    own = _layers_in(f, node)
    sides = [f.sides(n) for n in f.leading((node, 0)) if op_of(f, n) == "Div"]
    return any(all(s is not None and own & f.downstream([s]).keys() for s in both) for both in sides if len(both) == 2)


def _is_kept_small(q: Question, leaf: Any) -> bool:
    """Does the program write it between steps, as where it is divided by its norm?"""
    began = min(s.number for h in q.holders for s in h.steps)
    return any(e.number > began for e in q.history.events_of(leaf, "written", "data"))


def _sinking(q: Question) -> Iterator[Cause]:
    """A learned weight of a loss, which the optimizer makes small, then negative: nothing else holds it."""
    root, there = q.last_root, q.ops_behind(q.last_root)
    for op in there if root is not None and q.minimizes else ():
        sides = [g for g in op.given if not (is_op(g) and g.cut)] if op.name.strip("_") in PRODUCTS else []
        for own, other in (sides, sides[::-1]) if len(sides) == 2 else ():
            chain, leaf = _of_leaf(own)
            losses = other.given if is_op(other) and other.name in ("stack", "cat") else [other]
            if type(leaf).__name__ != "Parameter" or not all(is_op(g) and g.name in OF_LABELS for g in losses):
                continue
            users = [o for o in there if o not in chain and any(g is leaf or g in chain for g in o.given)]
            after = leading_from(op, [*there]) - {op}
            is_summed = all(o.name.strip("_").removeprefix("i").removeprefix("r") in SUMMED for o in after)
            if is_summed and all(_weighs(o) for o in users) and _is_free(q, leaf):
                yield cause_of("weight_sinks", op, weight=q.name_of(leaf) or words.A_TENSOR)
                return


def _is_free(q: Question, leaf: Any) -> bool:
    """Do optimizers step it along the gradient of this loss alone, and does nothing else write it or its gradient?"""
    if leaf.grad is None and q.last is not None and mentions(q.last.source, ".grad"):
        return False
    owned = [t for t in (leaf, leaf.grad) if t is not None]
    is_written = bool(leaf._backward_hooks) or any(q.history.events_of(t, "set", "written", "data") for t in owned)
    lines = {p.source for p in q.passes if p.root is not None and leaf in q.leaves_of(p.root)}
    return not is_written and len(lines) == 1 and any(h.steps and any(p is leaf for p in h.leaves) for h in q.holders)


def _of_leaf(thing: Any) -> tuple[list[Any], Any]:
    """The ops that only pick of a leaf, and the leaf."""
    chain = list[Any]()
    while is_op(thing) and thing.name in PICKING and len(thing.given) == 1:
        chain.append(thing)
        thing = thing.given[0]
    return chain, None if is_op(thing) else thing


def _weighs(op: Op) -> bool:
    """Is it a product with a loss, or does it pick the weight of one?"""
    return op.name.strip("_") in PRODUCTS or op.name in PICKING


def _leaf(f: Facts, node: str) -> str | None:
    """The leaf that it is computed of, if that is all."""
    leaves = {f.nodes[a.node].variable for a in f.nodes[node].next_functions if a.node is not None}
    return leaves.pop() if len(leaves) == 1 else None


def _is_unclear(f: Facts, node: str) -> bool:
    """Is it a product, or a quotient, whose other factor has no known sign?"""
    op, ways = op_of(f, node), [i for i, a in enumerate(f.nodes[node].next_functions) if a.node is not None]
    if op in ("Add", "Sub"):
        return f.plain(node, "alpha") not in ("", "1", "1.0")
    if op == "Div" and 0 in ways:
        if len(ways) > 1 and _is_of_same_weights(f, *f.ways_on(node)):  # a quotient has bounds
            return True
        return not all(_has_sign(f.others(node, 0)[0].value, False) for _ in f.others(node, 0)[:1])
    if op == "Mul" and len(ways) == 1:
        return not all(_has_sign(t.value, True) for t in f.others(node, ways[0]))
    return op in ("Mul", "Div")


def _has_sign(value: object, either: bool) -> bool:
    found = bounds(value)  # type: ignore[arg-type]
    return found is not None and (found[0] >= 0 < found[1] or (either and found[1] <= 0))


def _is_even(f: Facts, node: str) -> bool:
    """Is it exp(), an even power, or a product of a tensor with itself?"""
    op, ways = op_of(f, node), f.nodes[node].next_functions
    power = (number(f.plain(node, "exponent")) or 0.0) if op == "Pow" else 0.0
    is_square = (power > 0 and power % 2 == 0) or (op == "Mul" and len(set(ways)) == 1 < len(ways))
    return is_square or (op == "Exp" and not _is_lowered(f, f.first(node)))


def _is_lowered(f: Facts, node: str | None) -> bool:
    """Has what exp() gets a minus before what is never negative, as a distance in a kernel? Then it ends at 0, and at 1."""
    sign = 1
    while node is not None and op_of(f, node) in ("Neg", *SCALED, *SHAPED):
        numbers = [n for n in numbers_of(f, node) if n is not None]
        sign = -sign if op_of(f, node) == "Neg" or any(n < 0 for n in numbers) else sign
        node = f.first(node)
    return sign < 0 and node is not None and any(_is_even(f, n) or op_of(f, n) in DISTANCES for n in _near(f, node))


def _near(f: Facts, node: str) -> list[str]:
    """A node, and those behind it through sums, to the results of layers."""
    found, todo = list[str](), [node]
    while todo and len(found) < MOST:
        n = todo.pop()
        found.append(n)
        todo += f.ways_on(n) if op_of(f, n) in (*SIGNED, "Sqrt") else []
    return found


def _power_in(f: Facts, node: str) -> str | None:
    """The even power of which it is another one: what has a minus as the first is small beside it."""
    inner = f.first(node) if op_of(f, node) == "Pow" else None
    while inner is not None and op_of(f, inner) in ("Sum", "Mean", *SHAPED):
        inner = f.first(inner)
    return inner if inner is not None and _is_even(f, inner) else None


def _is_of_same_weights(f: Facts, top: str, below: str) -> bool:
    """Is the divisor computed of weights alone, with a square, and of weights that the dividend has, too?"""
    there = f.downstream([below])
    leaves = {f.nodes[n].variable for n in there} - {None}
    all_of = {f.nodes[n].variable for n in f.downstream([top])}
    is_plain = not any(op_of(f, n) in RAW for n in there) and any(_is_even(f, n) or op_of(f, n) == "Dot" for n in there)
    return bool(leaves) and leaves <= all_of and is_plain and not any(op_of(f, n) == "Sqrt" for n in there)


def _multiplied(f: Facts, node: str) -> set[str | None]:
    """The leaves that a square has twice in one product, as in `(w.T @ w - 1) ** 2`: it grows as their fourth power."""
    found = set[str | None]()
    for n in islice(f.downstream(f.ways_on(node)), MOST):
        sides = f.ways_on(n) if op_of(f, n) in ("Mm", "Bmm", "Mul", "Addmm", "Mv") else []
        of = [{f.nodes[m].variable for m in f.downstream([side])} for side in sides[-2:]]
        found |= of[0] & of[1] if len(of) > 1 else set()
    return found - {None}


def _layers_in(f: Facts, node: str) -> set[str]:
    """The layers whose results make its input as large as they are. One that is met twice may cancel: `x - x.mean()`."""
    todo, met = [a.node for a in {*f.nodes[node].next_functions}], list[str]()
    for _ in range(MOST):
        n = todo.pop() if todo else None
        op = "" if n is None else op_of(f, n)
        if n is not None and op in RAW:
            met.append(n)
        elif n is not None and op in (*LINEAR, "Exp"):
            ways = f.sides(n)
            is_scaled = op == "Div" and len(ways) > 1 and ways[1] is not None and op_of(f, ways[1]) not in SCALES
            todo += [] if is_scaled else ways[: 1 if op == "Div" else None]  # `x / x.norm()` is not large
    return {n for n in met if met.count(n) == 1}


@check(
    "AV211", "arguments-exchanged", {"exchanged": MAY, "exchanged_labels": SO, "exchanged_logs": SO}, of_run=True, first=True
)
def exchanged(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """A binary cross entropy or a kl_div that got the targets as its input, and the predictions as its targets."""
    for node in nodes:
        op, sent = op_of(f, node), [a.node for a in f.nodes[node].next_functions[:2]]
        if op.startswith("BinaryCrossEntropy") and len(sent) > 1 and sent[0] is None and sent[1] is not None:
            given = next((t.value for t in f.inputs(node) if not t.requires_grad), None)
            is_label = given is not None and bool(given.numbers) and {*given.numbers} <= {0, 1}
            yield cause_at(f, "exchanged_labels" if is_label else "exchanged", node)
        own = sent[0] if op == "Xlogy" and len(sent) > 1 and sent[0] == sent[1] else None  # kl_div: a target and its logarithm
        if own is not None and op_of(f, own) == "LogSoftmax":
            yield cause_at(f, "exchanged_logs", node)
