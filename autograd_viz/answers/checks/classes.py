"""Checks of classes, and of rows that a contrastive loss compares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..causes.cause import Cause
from ..causes.check import MAY, SO, check
from ..causes.code import called_at
from ..causes.facts import Facts
from ..causes.ops import cause_at, numbers_of, op_of
from .sequences import CALLS

SEQUENCES = ("Embedding", "EmbeddingBag")  # targets are tokens, and one of them is padding
FLAT = (*CALLS, "flatten", "argmax", "max")
FEW, ENOUGH, RATIO = 4, 16, 2.0  # columns; targets; the largest weight, as a multiple of the smallest
NORMS = ("LinalgVectorNorm", "Norm")
COLD = 0.5  # the largest temperature
SCALED, PRODUCTS = ("Mul", "Div", "Sub", "Neg"), ("Mm", "Bmm", "Cdist", "EuclideanDist")
SHAPED = ("T", "Transpose", "Permute", "View", "UnsafeView", "ReshapeAlias", "Unsqueeze", "Expand", "Clone")
UNKNOWN = "?"  # the text of an operand that nobody has kept
MOST = 24  # nodes of one cosine_similarity()


@check("AV220", "class-left-out", {"class_left_out": MAY}, of_run=True, first=True)
def class_left_out(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """An ignore_index that is one of the classes: the loss leaves out each sample of that class."""
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
            yield cause_at(f, "class_left_out", node, left=left, count=count, size=size)


@check("AV237", "blank-in-targets", {"blank_in_targets": SO}, of_run=True, first=True)
def blank_in_targets(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """Targets of a CTC loss that hold the blank, which stands between characters and is none."""
    for node in nodes:
        targets = f.live.kept(node, "targets") if op_of(f, node) == "CtcLoss" else None
        if targets is None:
            continue
        blank, lengths = int(f.plain(node, "blank") or 0), [int(n) for n in re.findall(r"\d+", f.plain(node, "target_lengths"))]
        rows = [row[:n] for row, n in zip(targets, lengths, strict=False)] if targets.ndim == 2 else [targets[: sum(lengths)]]
        if count := sum(int((row == blank).sum()) for row in rows):  # what comes after its length is padding
            yield cause_at(f, "blank_in_targets", node, blank=blank, count=count, size=sum(map(len, rows)))


@check("AV224", "weights-follow-counts", {"weights_of_counts": MAY, "pos_weight_of_counts": MAY}, of_run=True, first=True)
def weights_of_counts(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """Class weights that are largest for the most frequent classes: rare classes count even less."""
    for node in nodes:
        if said := _pos_weight(f, node):
            yield cause_at(f, "pos_weight_of_counts", node, None, **said)
        is_loss = op_of(f, node).startswith("NllLoss")
        targets, weights = (f.live.kept(node, n) if is_loss else None for n in ("target", "weight"))
        if targets is None or weights is None or targets.size < ENOUGH or weights.min() <= 0:
            continue
        counts = np.bincount(targets.ravel()[targets.ravel() >= 0], minlength=len(weights))[: len(weights)]
        order = np.argsort(weights, kind="stable")
        is_uneven = weights.max() >= RATIO * weights.min() and counts.max() >= RATIO * max(counts.min(), 1)
        if is_uneven and bool((np.diff(counts[order]) >= 0).all()) and np.corrcoef(weights, counts)[0, 1] > 1 - 1 / ENOUGH:
            most = int(weights.argmax())
            weight, count = float(weights[most]), int(counts[most])
            yield cause_at(f, "weights_of_counts", node, most=most, weight=weight, count=count, size=targets.size)


def _pos_weight(f: Facts, node: str) -> dict[str, float]:
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
    return {"weight": weight, "count": count, "size": size} if is_share else {}


@check("AV222", "temperature-multiplied", {"temperature_multiplied": MAY}, of_run=True, first=True)
def temperature_multiplied(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """Cosines that a temperature below 1 multiplies before a cross entropy: all rows get almost the same probability."""
    for node in nodes:
        before = f.ways_on(node) if op_of(f, node) == "LogSoftmax" else []
        by = next((n for n in before if op_of(f, n) == "Mul"), None)
        factor = next((x for x in numbers_of(f, by) if x is not None and 0 < x <= COLD), None) if by is not None else None
        result = f.live.kept(node, "result") if factor is not None else None
        users = {op_of(f, s) for s in f.takers(node)}
        if by is None or factor is None or result is None or result.ndim != 2 or "NllLoss" not in users:
            continue
        spread = float((result.max(1) - result.min(1)).max())
        if result.shape[1] >= FEW and spread <= 2 * factor and _are_cosines(f, by):
            yield cause_at(f, "temperature_multiplied", by, factor=factor)


def _are_cosines(f: Facts, by: str) -> bool:
    """Are they the products of rows that were divided by their norms?"""
    near = f.ways_on(by)[:1]
    made = [way for n in near for way in f.ways_on(n)]
    made += [way for n in made if op_of(f, n) in ("T", "Transpose") for way in f.ways_on(n)]
    return any(op_of(f, n) == "Div" for n in (*near, *made))


@check("AV233", "norms-of-columns", {"norms_of_columns": MAY}, of_run=True, first=True)
def norms_of_columns(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """A loss over products, or distances, of rows that were divided by the norms of columns: they have no length 1."""
    for node in nodes:
        made = _along(f, node) if op_of(f, node) == "LogSoftmax" else None
        while made is not None and op_of(f, made) in ("Mul", "Div"):
            made = _along(f, made)
        made = _difference(f, node) if op_of(f, node) in NORMS else made
        sides = f.sides(made) if made is not None and op_of(f, made) in ("Mm", "Sub") else []
        if len(sides) == 2 and all(s is not None and _is_of_columns(f, _origin(f, s)) for s in sides):
            yield cause_at(f, "norms_of_columns", made or node)


def _difference(f: Facts, norm: str) -> str | None:
    """The difference of rows whose lengths are the distances, as in a triplet loss."""
    is_of_rows = f.plain(norm, "dim") in ("(-1,)", "(1,)", "[1]", "[-1]", "-1", "1")
    before = f.ways_on(norm) if is_of_rows else []
    before = f.ways_on(before[0]) if before and op_of(f, before[0]) == "Add" else before
    return next(iter(before), None)


def _is_of_columns(f: Facts, node: str) -> bool:
    """Is it a quotient of rows and of norms that were taken over dimension 0?"""
    edges = f.nodes[node].next_functions if op_of(f, node) == "Div" else ()
    by = edges[1].node if len(edges) > 1 else None
    while by is not None and op_of(f, by) in ("Expand", "Clamp", "ClampMin", "Add"):
        by = f.nodes[by].next_functions[0].node
    return by is not None and op_of(f, by) in NORMS and f.plain(by, "dim") in ("(0,)", "[0]", "(-2,)")


@check("AV214", "compared-with-itself", {"own_target": MAY, "own_among": MAY}, of_run=True, first=True)
def own_similarity(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """A contrastive loss over the products of rows with each other, with the diagonal: each row is compared with itself."""
    for node in nodes:
        scores = _along(f, node) if op_of(f, node) == "NllLoss" else None
        if scores is not None and op_of(f, scores) == "LogSoftmax":
            made, targets = _products(f, scores, "result"), f.live.kept(node, "target")
            is_target = targets is not None and targets.ndim == 1 and bool((targets == np.arange(len(targets))).all())
        else:
            made, is_target = _summed(f, node), False
        if made is not None:
            cause, called = cause_at(f, "own_target" if is_target else "own_among", made), called_at(f.source(made))
            yield replace(cause, said={**cause.said, "op": called}) if called else cause


def _along(f: Facts, node: str) -> str | None:
    """The node behind its only input, or behind the one that has the shape of its result."""
    before = f.ways_on(node)
    same = [b for b in before if f.shape(b) == f.shape(node)]
    return before[0] if len(before) == 1 else same[0] if len(same) == 1 else None


def _products(f: Facts, of: str, saved: str) -> str | None:
    """The products of the rows of a matrix with each other that an op got, scaled, or moved by less than a matrix.

    What moves them may be unknown. It is no mask if the diagonal is the largest of what the op has saved.
    """
    node, kept = _along(f, of), f.live.kept(of, saved)
    is_square = kept is not None and kept.ndim == 2 and len({*kept.shape}) == 1
    is_plain = is_square and bool((kept.diagonal() >= kept.max(1)).all())
    while node is not None and op_of(f, node) in (*SCALED, *SHAPED) and not f.live.called_as(node).startswith("cos"):
        others, op = [t.value.shape for t in f.inputs(node) if not t.requires_grad], f.op(node)
        is_known = is_plain or (op is not None and all(o.tensor is not None or o.text != UNKNOWN for o in op.inputs))
        node = _along(f, node) if is_known and f.shape(node) not in others else None
    shape = () if node is None else f.shape(node)
    if node is None or len({*shape[-2:]}) != 1 or shape[-1] < 2 or shape[:-2] not in ((), (1,)):
        return None
    if f.live.called_as(node) == "cosine_similarity":
        given = [n for n in _inside(f, node) if op_of(f, n) == "Unsqueeze"]
    else:
        given = [a.node or "" for a in f.nodes[node].next_functions if op_of(f, node) in PRODUCTS]
    return node if len(given) == 2 and "" not in given and len({_origin(f, n) for n in given}) == 1 else None


def _inside(f: Facts, node: str) -> list[str]:
    """The nodes that one call made, and those of the calls before it."""
    found, todo = list[str](), [node]
    while todo and len(found) < MOST:
        n = todo.pop()
        found.append(n)
        if n == node or not f.live.called_as(n):
            todo += [a.node for a in f.nodes[n].next_functions if a.node is not None and a.node not in (*found, *todo)]
    return found


def _origin(f: Facts, node: str) -> str:
    """The node that made what is shaped so."""
    while op_of(f, node) in SHAPED and (before := f.nodes[node].next_functions[0].node) is not None:
        node = before
    return node


def _summed(f: Facts, node: str) -> str | None:
    """The products that a hand-made loss sums over each row, to divide by the sum or to take its logarithm."""
    op, shape = op_of(f, node), f.shape(node)
    before = f.nodes[node].next_functions[0].node if op in ("Sum", "Logsumexp") else None
    if before is None or f.plain(node, "dim") not in ("(1,)", "(-1,)") or shape[1:] not in ((), (1,)):
        return None
    if op == "Logsumexp":
        return _products(f, node, "self")
    users = f.takers(node)
    is_loss = users and all(op_of(f, u) == "Log" or (op_of(f, u) == "Div" and f.shape(u) == shape) for u in users)
    return _products(f, before, "result") if is_loss and op_of(f, before) == "Exp" else None
