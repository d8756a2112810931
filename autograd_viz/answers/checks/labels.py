"""Checks of numbers that mean something else: labels 0 and 1 in place of 1 and -1, and whole numbers that were lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from ...graph.model import Value
from ..causes.cause import Cause, cause_of
from ..causes.check import MAY, check
from ..causes.code import spelling
from ..causes.facts import Facts
from ..causes.numbers import bounds, count_zeros
from ..causes.ops import cause_at, op_of

PAIRS = ("cosine_embedding_loss", "hinge_embedding_loss")
SIGNED = (*PAIRS, "margin_ranking_loss", "soft_margin_loss")
INSIDE = 8  # nodes of one such loss


@check("AV213", "labels-not-signs", {"not_signs": MAY}, of_run=True)
def not_signs(numbers: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """A loss that takes the labels 1 and -1, and got 0 and 1: it does not count the zeros, or takes them for both."""
    for node in ways:
        loss = numbers.live.called_as(node)
        if loss in SIGNED and _has_zeros(numbers, node, loss):
            yield cause_at(numbers, "not_signs", node, loss=loss)
            return


def _has_zeros(f: Facts, node: str, loss: str) -> bool:
    """Do its labels contain 0, and only one of 1 and -1? What it has saved tells."""
    inside, todo = list[str](), [node]
    while todo and len(inside) < INSIDE:  # the distance of the pairs comes after these
        n = todo.pop(0)
        inside.append(n)
        same = [a.node for a in f.nodes[n].next_functions if a.node is not None and f.source(a.node) == f.source(node)]
        todo += [a for a in same if not f.live.called_as(a) and a not in inside]
    if loss in PAIRS:  # `target == 1` and `target == -1`, or `target != 1` and `target != -1`
        asked = [v for n in inside if op_of(f, n) == "Where" and (v := f.saved(n, "condition")) is not None]
        counts = [prod(v.shape) - count_zeros(v) for v in asked]
        is_sum = len(asked) == 2 and sum(counts) != prod(asked[0].shape)
        return is_sum and (max(counts) == prod(asked[0].shape) if loss == PAIRS[1] else 0 in counts)
    saved = ("target",) if loss == "soft_margin_loss" else ("self", "other")
    given = [v for n in inside if op_of(f, n) in ("Mul", "SoftMarginLoss") and (v := f.saved(n, *saved)) is not None]
    return any(map(_is_zero_or_one, given[:1]))


def _is_zero_or_one(value: Value) -> bool:
    """Has it zeros, and else only 1, or only -1?"""
    found = bounds(value)
    return found is not None and count_zeros(value) > 0 and {*found} in ({0.0, 1.0}, {-1.0, 0.0})


@check("AV219", "whole-numbers-lost", {"wrapped": MAY, "floored": MAY}, of_run=True)
def whole_numbers_lost(numbers: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """Data that were computed in uint8, which wraps around: 100 - 128 is 228; or that a whole division made 0."""
    f = numbers
    for node in ways:
        for saved in f.nodes[node].saved:
            is_float = saved.state == "kept" and saved.value is not None and "float" in saved.value.dtype
            lost = f.live.lost(node, saved.name) if is_float else None
            if lost is not None:
                yield cause_of(lost.kind, lost, op=spelling(lost))
                return
