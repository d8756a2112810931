"""The check of losses with a margin: those that are inside out, and those that pull what they should push."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import numpy as np

from ..causes.cause import Cause
from ..causes.check import MAY, check
from ..causes.code import expression_at
from ..causes.facts import Facts
from ..causes.numbers import bounds
from ..causes.ops import cause_at, op_of
from ..causes.question import Question
from .loss import SHAPED
from .signs import End, signed

BOUNDED, MOST = ("Relu", "Clamp", "ClampMin"), 12
NORMS, PAIRED = ("Norm", "LinalgVectorNorm", "Pow", "Abs"), ("Cdist", "EuclideanDist", "PairwiseDistance", "Dist")
MEASURED = (*NORMS, *SHAPED, "Sum", "Mean", "Sqrt", "Add", "Clamp", "ClampMin", "Mul")  # how a difference becomes a distance
NEGATIVE, POSITIVE = re.compile(r"neg|(?:\b|_|d)a?n\b"), re.compile(r"pos|(?:\b|_|d)a?p\b")
KINDS = ("margin_subtracted", "margin_pulls", "hinge_reversed", "negative_pulled", "positive_sunk", "same_pair")


@check("AV226", "margin-inside-out", dict.fromkeys(KINDS, MAY), of_run=True)
def margin_inside_out(f: Facts, q: Question) -> Iterator[Cause]:
    """A loss with a margin that is inside out: it pulls what it should push apart, or is 0 before the margin is kept."""
    if q.minimizes:
        yield from _of_scores(f)
    ends = [end for end in signed(f, lambda node: op_of(f, node) in (*BOUNDED, "Pow")) if end[1] > 0]
    for end in ends if q.minimizes else ():
        hinge = _hinge(f, end[0])
        taken = None if hinge is None else f.first(hinge)
        if taken is not None and _is_of_one_pair(f, taken):
            yield cause_at(f, "same_pair", taken)
            return
        sign = 0 if taken is None else _constant(f, q, taken)
        inner = f.first(taken) if taken is not None and sign else taken
        if hinge is None or inner is None:
            continue
        sides = f.sides(inner) if op_of(f, inner) == "Sub" else []
        if len(sides) == 2 and all(s is not None and _distance(f, s) for s in sides):
            yield from _of_two(f, hinge, inner, sign)
        elif sign < 0 and _is_signed_score(f, inner):
            yield cause_at(f, "hinge_reversed", hinge)
        elif sign < 0 and _distance(f, inner) and any(_pulls(f, inner, end, other) for other in ends):
            yield cause_at(f, "margin_pulls", hinge)


def _is_of_one_pair(f: Facts, node: str) -> bool:
    """Is it the difference of two distances that are equal in every row?"""
    sides = f.ways_on(node) if op_of(f, node) == "Sub" else []
    under = [f.first(side) if op_of(f, side) == "Add" else side for side in sides]
    kept = [f.live.kept(n, "result") for n in under if n is not None and op_of(f, n) in NORMS[:2]]
    one, other = kept if len(kept) == 2 else (None, None)
    return one is not None and other is not None and one.size > 1 and np.array_equal(one, other)


def _hinge(f: Facts, node: str) -> str | None:
    """The op that is 0 below 0, itself or under a power."""
    for _ in range(2):
        op = op_of(f, node)
        if op in BOUNDED:
            is_floor = op == "Relu" or (f.plain(node, "min") in ("0", "0.0") and not f.plain(node, "max"))
            return node if is_floor else None
        before = f.first(node) if op == "Pow" else None
        if before is None:
            break
        node = before
    return None


def _constant(f: Facts, q: Question, node: str) -> int:
    """The sign of a positive number, or of a name that holds one, that a sum or a difference adds to what is trained."""
    edges, op = f.nodes[node].next_functions, op_of(f, node)
    if op not in ("Add", "Sub") or not edges or edges[0].node is None or any(a.node is not None for a in edges[1:]):
        return 0
    found = expression_at(f.source(node))
    right = found.right if isinstance(found, ast.BinOp) else None
    value = right.value if isinstance(right, ast.Constant) else q.names.get(right.id) if isinstance(right, ast.Name) else None
    is_margin = isinstance(right, ast.Name | ast.Attribute) and "margin" in ast.unparse(right)
    is_positive = isinstance(value, int | float) and value > 0
    return (1 if op == "Add" else -1) if is_positive or (value is None and is_margin) else 0


def _distance(f: Facts, node: str | None) -> bool:
    """Is it the length of a difference of two results, or its square?"""
    is_measured = False
    for _ in range(MOST):
        if node is None:
            return False
        op, edges = op_of(f, node), f.nodes[node].next_functions
        if op in PAIRED or (op == "Sub" and is_measured and len(edges) == 2 and all(a.node is not None for a in edges)):
            return True
        if op not in MEASURED or (op == "Mul" and len({*edges}) > 1):
            return False
        is_measured |= op in NORMS or op == "Mul"
        node = f.first(node)
    return False


def _of_scores(f: Facts) -> Iterator[Cause]:
    """`-logsigmoid(negative - positive)` of products of rows: what is called negative gets the larger score."""
    for node, sign, _ in signed(f, lambda node: op_of(f, node) in ("LogSigmoid", "Softplus")):
        difference = f.first(node) if sign == (-1 if op_of(f, node) == "LogSigmoid" else 1) else None
        sides = f.sides(difference) if difference and op_of(f, difference) == "Sub" else []
        if difference is None or len(sides) != 2 or not all(s is not None and _is_product(f, s) for s in sides):
            continue
        first = (True, False) if op_of(f, node) == "LogSigmoid" else (False, True)
        if _called(expression_at(f.source(difference))) == [first, first[::-1]]:
            yield cause_at(f, "positive_sunk", node)
            return


def _is_product(f: Facts, node: str) -> bool:
    """Is it a sum over the products of two results, row by row?"""
    before = f.first(node) if op_of(f, node) == "Sum" else None
    edges = f.nodes[before].next_functions if before is not None and op_of(f, before) == "Mul" else ()
    return len({*edges}) == 2 and all(a.node is not None for a in edges)


def _called(found: ast.expr | None) -> list[tuple[bool, bool]]:
    """Of both sides of a difference: is it called negative, is it called positive?"""
    texts = [ast.unparse(side) for side in (found.left, found.right)] if isinstance(found, ast.BinOp) else []
    return [(bool(NEGATIVE.search(t)), bool(POSITIVE.search(t))) for t in texts]


def _of_two(f: Facts, hinge: str, difference: str, sign: int) -> Iterator[Cause]:
    """The margin is taken away from a difference of distances; or what is called negative stands first in it."""
    if sign < 0:
        yield cause_at(f, "margin_subtracted", hinge)
        return
    found = expression_at(f.source(difference))
    called = _called(found)
    if isinstance(found, ast.Call) and f.live.called_as(hinge) in ("", "triplet_margin_loss") and len(found.args) > 2:
        called = _called(ast.BinOp(found.args[1], ast.Sub(), found.args[2]))
    if called == [(True, False), (False, True)]:
        yield cause_at(f, "negative_pulled", hinge)


def _is_signed_score(f: Facts, node: str) -> bool:
    """Is it a product of a result with labels, 1 and -1?"""
    ways = f.sides(node) if op_of(f, node) == "Mul" else []
    if len(ways) != 2 or None not in ways:
        return False
    kept = f.live.kept(node, "self" if ways[0] is None else "other")
    data = next((t.value for t in f.inputs(node) if not t.requires_grad), None)
    found = bounds(data) if kept is None else (float(kept.min()), float(kept.max()))
    return found == (-1.0, 1.0) and (kept is None or bool((np.abs(kept) == 1).all()))


def _pulls(f: Facts, distance: str, end: End, other: End) -> bool:
    """Does another term with other weights, which are 1 where those are 0, count the same distance?"""
    if other[0] == end[0] or not end[2] or not other[2] or distance not in f.downstream([other[0]]):
        return False
    weights = [f.live.kept(n, "self" if f.first(n) is None else "other") for n in (end[2], other[2])]
    is_other = end[2] != other[2] and _hinge(f, other[0]) is None
    return is_other and (any(w is None for w in weights) or bool((weights[0] + weights[1] == 1).all()))
