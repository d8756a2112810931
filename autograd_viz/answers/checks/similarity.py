"""The check of contrastive losses that compare each row with itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..causes.cause import Cause
from ..causes.check import MAY, check
from ..causes.code import called_at
from ..causes.facts import Facts
from ..causes.ops import cause_at, op_of

SCALED, PRODUCTS = ("Mul", "Div", "Sub", "Neg"), ("Mm", "Bmm", "Cdist", "EuclideanDist")
SHAPED = ("T", "Transpose", "Permute", "View", "UnsafeView", "ReshapeAlias", "Unsqueeze", "Expand", "Clone")
UNKNOWN = "?"  # the text of an operand that nobody has kept
MOST = 24  # nodes of one cosine_similarity()
Rows = tuple[int, ...]


@check("AV233", "norms-of-columns", {"norms_of_columns": MAY}, of_run=True, first=True)
def norms_of_columns(f: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """A contrastive loss over the products of rows that were divided by the norms of their columns: no cosines."""
    for node in ways:
        made = _along(f, node) if op_of(f, node) == "LogSoftmax" else None
        while made is not None and op_of(f, made) in ("Mul", "Div"):
            made = _along(f, made)
        sides = f.sides(made) if made is not None and op_of(f, made) == "Mm" else []
        if len(sides) == 2 and all(s is not None and _is_of_columns(f, _origin(f, s)) for s in sides):
            yield cause_at(f, "norms_of_columns", made or node)


def _is_of_columns(f: Facts, node: str) -> bool:
    """Is it a quotient of rows and of norms that were taken over dimension 0?"""
    edges = f.nodes[node].next_functions if op_of(f, node) == "Div" else ()
    by = edges[1].node if len(edges) > 1 else None
    while by is not None and op_of(f, by) in ("Expand", "Clamp", "ClampMin", "Add"):
        by = f.nodes[by].next_functions[0].node
    return by is not None and op_of(f, by) in ("LinalgVectorNorm", "Norm") and f.plain(by, "dim") in ("(0,)", "[0]", "(-2,)")


@check("AV214", "compared-with-itself", {"own_target": MAY, "own_among": MAY}, of_run=True, first=True)
def own_similarity(f: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """A contrastive loss over the products of rows with each other, with the diagonal: each row is compared with itself."""
    for node in ways:
        scores = _along(f, node) if op_of(f, node) == "NllLoss" else None
        if scores is not None and op_of(f, scores) == "LogSoftmax":
            made, is_target = _products(f, scores, "result"), _counts_up(f.live.kept(node, "target"))
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
    node, is_plain = _along(f, of), _has_large_diagonal(f.live.kept(of, saved))
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


def _counts_up(targets: Any) -> bool:
    """0, 1, 2, ...?"""
    return targets is not None and targets.ndim == 1 and bool((targets == np.arange(len(targets))).all())


def _has_large_diagonal(of: Any) -> bool:
    """Is its diagonal the largest of each row?"""
    return of is not None and of.ndim == 2 and len({*of.shape}) == 1 and bool((of.diagonal() >= of.max(1)).all())


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
