"""Checks of numbers that mean something else: labels 0 and 1 in place of 1 and -1, and whole numbers that were lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from ...graph.model import Value
from ..causes.cause import Cause, cause_of
from ..causes.check import MAY, check
from ..causes.code import spelling
from ..causes.facts import Facts
from ..causes.history import Event
from ..causes.numbers import bounds, count_zeros
from ..causes.ops import cause_at, op_of

PAIRS = ("cosine_embedding_loss", "hinge_embedding_loss")
SIGNED = (*PAIRS, "margin_ranking_loss", "soft_margin_loss")
TAKERS = {"Addmm": "mat1", "Mm": "self", "Convolution": "input"}
LEVELING = {"sub": 0, "softmax": 1, "layer_norm": 0}  # the number that they make of one element
INSIDE = 8  # nodes of one such loss


@check("AV213", "labels-not-signs", {"not_signs": MAY}, of_run=True, first=True)
def not_signs(f: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """A loss that takes the labels 1 and -1, and got 0 and 1: it does not count the zeros, or takes them for both."""
    for node in ways:
        loss = f.live.called_as(node)
        if loss in SIGNED and _has_zeros(f, node, loss):
            yield cause_at(f, "not_signs", node, loss=loss)


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


MOST_LEFT = {"cast_to_zero": 0.0, "scaled_twice": 1.01 / 255}
LOST = dict.fromkeys(
    ("wrapped", "floored", "cast_to_zero", "argmax_of_one", "constant_input", "scaled_twice", "channels_viewed"), MAY
)


@check("AV219", "whole-numbers-lost", LOST, of_run=True, first=True)
def whole_numbers_lost(f: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """Data that lost what they say: uint8 wraps around, 100 - 128 is 228; a whole division, a cast or a mean may make all 0."""
    for node in ways:
        for saved in f.nodes[node].saved:
            is_float = saved.state == "kept" and saved.value is not None and "float" in saved.value.dtype
            is_target = saved.state == "kept" and saved.name == "target"
            lost = f.live.lost(node, saved.name) if is_float or is_target else None
            most = None if lost is None else MOST_LEFT.get(lost.kind)
            if lost is not None and (most is None or _is_within(f, node, saved.name, most)):
                yield cause_of(lost.kind, lost, op=spelling(lost))
        made = f.live.data_made(node, "target") if op_of(f, node) in ("NllLoss", "NllLoss2D") else None
        targets = f.live.kept(node, "target") if made is not None and made.name == "argmax" else None
        if made is not None and targets is not None and targets.size == prod(made.detail) > 1:
            yield cause_of("argmax_of_one", made, op=made.name)
        if (made := _constant_input(f, node)) is not None:
            yield cause_of("constant_input", made, op=spelling(made))


def _is_within(f: Facts, node: str, saved: str, most: float) -> bool:
    """Is what arrived at the op still so small? Sums may have made something else of it."""
    kept = f.live.kept(node, saved)
    return kept is not None and kept.size > 1 and float(abs(kept).max()) <= most


def _constant_input(f: Facts, node: str) -> Event | None:
    """What made one number of all elements that a first layer gets: `x - x.mean(1)` of one column, or a softmax of one."""
    saved = TAKERS.get(op_of(f, node))
    made = f.live.data_made(node, saved) if saved is not None else None
    level = LEVELING.get(made.name.strip("_")) if made is not None else None
    kept = f.live.kept(node, saved) if saved is not None and level is not None else None
    return made if kept is not None and kept.size > 1 and bool((kept == level).all()) else None
