"""The check of losses that have no least value, and that of a loss whose two arguments are exchanged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..causes.cause import Cause
from ..causes.check import MAY, SO, check
from ..causes.code import called_at
from ..causes.facts import Facts
from ..causes.numbers import bounds, number
from ..causes.ops import cause_at, op_of
from ..causes.question import Question
from .layers import weights_of
from .loss import SHAPED
from .signs import MOST, signed

LAYERS = ("Addmm", "Mm", "Convolution")
GROWING = ("Exp", "Pow", "Mul", "MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "Abs", "LinalgVectorNorm")
SCALES = ("Exp", "Softplus")  # divisors that a layer gives, of a spread
LINEAR = (*SHAPED, "Sub", "Add", "Rsub", "Neg", "Mul", "Div")  # what is large stays large through these


@check("AV207", "falls-without-end", {"no_bottom": MAY, "weights_grow": MAY}, of_run=True, first=True)
def no_bottom(f: Facts, q: Question) -> Iterator[Cause]:
    """A square or an exp() of what a layer gives enters the loss with a minus, so the loss has no least value."""
    trained = {f.live.id_of(p) for h in q.holders if h.steps for p in h.leaves} if q.minimizes else set()
    if q.minimizes and q.history.gone:  # what an optimizer had that is gone is not known
        trained |= {f.nodes[n].variable for n in f.pass_nodes}
    trained -= {None}
    if not trained or len({p.source for p in q.passes}) > 1:  # in turns with another loss: an adversary
        return
    found = [*signed(f, lambda node: _is_unclear(f, node))]
    ends = [(node, sign) for node, sign, weighs in found if not (weighs and called_at(f.source(node)) == "log_prob")]
    held = {n for node, sign in ends if sign > 0 and op_of(f, node) in GROWING for n in _layers_in(f, node)}
    for node, sign in ends:
        own = _layers_in(f, node) if sign < 0 and _is_even(f, node) else set()
        if any(weights_of(f, n) & trained for n in own - held):
            yield cause_at(f, "no_bottom", node)
    of_weights = {(_leaf(f, node), sign) for node, sign in ends if op_of(f, node) in GROWING}
    for node, sign in ends:
        leaf = _leaf(f, node) if sign < 0 and _is_even(f, node) else None
        if leaf in trained and leaf is not None and (leaf, 1) not in of_weights:
            yield cause_at(f, "weights_grow", node)


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
    return op == "Exp" or (power > 0 and power % 2 == 0) or (op == "Mul" and len(set(ways)) == 1 < len(ways))


def _layers_in(f: Facts, node: str) -> set[str]:
    """The layers whose results make its input as large as they are. One that is met twice may cancel: `x - x.mean()`."""
    todo, met = [a.node for a in {*f.nodes[node].next_functions}], list[str]()
    for _ in range(MOST):
        n = todo.pop() if todo else None
        op = "" if n is None else op_of(f, n)
        if n is not None and op in LAYERS:
            met.append(n)
        elif n is not None and op in (*LINEAR, "Exp"):
            ways = f.sides(n)
            is_scaled = op == "Div" and len(ways) > 1 and ways[1] is not None and op_of(f, ways[1]) not in SCALES
            todo += [] if is_scaled else ways[: 1 if op == "Div" else None]  # `x / x.norm()` is not large
    return {n for n in met if met.count(n) == 1}


@check(
    "AV211", "arguments-exchanged", {"exchanged": MAY, "exchanged_labels": SO, "exchanged_logs": SO}, of_run=True, first=True
)
def exchanged(f: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """A binary cross entropy or a kl_div that got the targets as its input, and the predictions as its targets."""
    for node in ways:
        op, sent = op_of(f, node), [a.node for a in f.nodes[node].next_functions[:2]]
        if op.startswith("BinaryCrossEntropy") and len(sent) > 1 and sent[0] is None and sent[1] is not None:
            given = next((t.value for t in f.inputs(node) if not t.requires_grad), None)
            is_label = given is not None and bool(given.numbers) and {*given.numbers} <= {0, 1}
            yield cause_at(f, "exchanged_labels" if is_label else "exchanged", node)
        own = sent[0] if op == "Xlogy" and len(sent) > 1 and sent[0] == sent[1] else None  # kl_div: a target and its logarithm
        if own is not None and op_of(f, own) == "LogSoftmax":
            yield cause_at(f, "exchanged_logs", node)
