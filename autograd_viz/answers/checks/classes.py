"""Checks of classes: one that ignore_index leaves out, weights that follow the counts, cosines times a temperature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ...graph.text import number_text
from ..causes.cause import Cause
from ..causes.check import MAY, check
from ..causes.facts import Facts
from ..causes.ops import cause_at, numbers_of, op_of
from .shapes import CALLS

SEQUENCES = ("Embedding", "EmbeddingBag")  # targets are tokens, and one of them is padding
FLAT = (*CALLS, "flatten", "argmax", "max")
FEW, ENOUGH, RATIO = 4, 16, 2.0  # columns; targets; the largest weight, as a multiple of the smallest
COLD = 0.5  # the largest temperature


@check("AV220", "class-left-out", {"class_left_out": MAY}, of_run=True, first=True)
def class_left_out(f: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """An ignore_index that is one of the classes: the loss leaves out each sample of that class."""
    nodes = [*ways]
    if any(op_of(f, n) in SEQUENCES for n in nodes):
        return
    for node in nodes:
        targets = f.live.kept(node, "target") if op_of(f, node) == "NllLoss" else None
        left = int(f.plain(node, "ignore_index") or -1)
        classes = next((t.value.shape[-1] for t in f.inputs(node) if len(t.value.shape) == 2), 0)
        made = None if targets is None else f.live.data_made(node, "target")
        is_flat = made is not None and made.name in FLAT
        if targets is None or is_flat or not 0 <= left < classes:
            continue
        count, size = int((targets == left).sum()), len(targets)
        if 0 < count < size:
            yield cause_at(f, "class_left_out", node, left=str(left), count=str(count), size=str(size))


@check("AV224", "weights-follow-counts", {"weights_of_counts": MAY, "pos_weight_of_counts": MAY}, of_run=True, first=True)
def weights_of_counts(f: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """Class weights that are largest for the most frequent classes: rare classes count even less."""
    for node in ways:
        if said := _pos_weight(f, node):
            yield cause_at(f, "pos_weight_of_counts", node, None, **said)
        targets, weights = (
            f.live.kept(node, n) if op_of(f, node).startswith("NllLoss") else None for n in ("target", "weight")
        )
        if targets is None or weights is None or targets.size < ENOUGH or weights.min() <= 0:
            continue
        counts = np.bincount(targets.ravel()[targets.ravel() >= 0], minlength=len(weights))[: len(weights)]
        order = np.argsort(weights, kind="stable")
        is_uneven = weights.max() >= RATIO * weights.min() and counts.max() >= RATIO * max(counts.min(), 1)
        if is_uneven and bool((np.diff(counts[order]) >= 0).all()) and _is_share(weights, counts):
            most = int(weights.argmax())
            weight, count, size = number_text(float(weights[most])), str(counts[most]), str(targets.size)
            yield cause_at(f, "weights_of_counts", node, most=str(most), weight=weight, count=count, size=size)


def _pos_weight(f: Facts, node: str) -> dict[str, str]:
    """The pos_weight, the positive and all labels, if it is about how often there are positive for one negative."""
    if not op_of(f, node).endswith("WithLogits"):
        return {}
    labels, given = (f.live.kept(node, name) for name in ("target", "pos_weight"))
    if labels is None or given is None or given.size != 1 or labels.size < ENOUGH or not {*np.unique(labels)} <= {0.0, 1.0}:
        return {}
    count, size, weight = int(labels.sum()), labels.size, float(given.reshape(-1)[0])
    share = count / max(size - count, 1)
    is_uneven = 0 < share <= 1 / RATIO or share >= RATIO
    is_share = is_uneven and abs(weight - share) <= share / 4
    return {"weight": number_text(weight), "count": str(count), "size": str(size)} if is_share else {}


def _is_share(weights: Any, counts: Any) -> bool:
    """Are the weights about as large, compared with each other, as the counts?"""
    return bool(np.corrcoef(weights, counts)[0, 1] > 1 - 1 / ENOUGH)


@check("AV222", "temperature-multiplied", {"temperature_multiplied": MAY}, of_run=True, first=True)
def temperature_multiplied(f: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """Cosines that a temperature below 1 multiplies before a cross entropy: all rows get almost the same probability."""
    for node in ways:
        before = f.ways_on(node) if op_of(f, node) == "LogSoftmax" else []
        by = next((n for n in before if op_of(f, n) == "Mul"), None)
        factor = next((x for x in numbers_of(f, by) if x is not None and 0 < x <= COLD), None) if by is not None else None
        result = f.live.kept(node, "result") if factor is not None else None
        users = {op_of(f, s) for s in f.takers(node)}
        if by is None or factor is None or result is None or result.ndim != 2 or "NllLoss" not in users:
            continue
        spread = float((result.max(1) - result.min(1)).max())
        if result.shape[1] >= FEW and spread <= 2 * factor and _are_cosines(f, by):
            yield cause_at(f, "temperature_multiplied", by, factor=number_text(factor))


def _are_cosines(f: Facts, by: str) -> bool:
    """Are they the products of rows that were divided by their norms?"""
    node = next((a.node for a in f.nodes[by].next_functions if a.node is not None), None)
    made = f.ways_on(node) if node is not None else []
    made += [a.node for n in made if op_of(f, n) in ("T", "Transpose") for a in f.nodes[n].next_functions if a.node is not None]
    return node is not None and (op_of(f, node) == "Div" or any(op_of(f, n) == "Div" for n in made))
