"""Checks of the terms of a loss: a sum beside a mean, a score that should rise, an action that nobody took."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from math import prod

from ...graph.text import shape_text
from ..causes.cause import Cause, cause_of
from ..causes.check import MAY, check
from ..causes.code import called_at, expression_at
from ..causes.facts import Facts
from ..causes.ops import cause_at, numbers_of, op_of
from ..causes.paths import is_op
from ..causes.question import Question
from .aim import best_action

MEANS = ("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BinaryCrossEntropy", "BinaryCrossEntropyWithLogits", "NllLoss")
MEAN = "1"  # the number of reduction="mean"
LEAST, MANY = 0.1, 32  # a factor that seems to balance nothing; elements by which a sum is larger than a mean
SAMPLED = re.compile(r"\.log_prob\(\s*[\w.]+\.sample\(")
WEIGHED = ("mul", "__mul__", "__rmul__")
NAMED, NORMS = re.compile(r"\s*\(?([A-Za-z_]\w*)"), ("Norm", "LinalgVectorNorm")
MOST = 16  # terms


@check("AV223", "sum-beside-mean", {"sum_beside_mean": MAY}, of_run=True, first=True)
def sum_beside_mean(f: Facts) -> Iterator[Cause]:
    """A loss that adds a mean over a batch, and a sum over all elements of the batch, which counts many times more."""
    terms = [*_terms(f)]
    means = {node: rows for node, _ in terms if (rows := _mean_of(f, node))}
    for node, factor in terms:
        shape = next((t.value.shape for t in f.inputs(node)), ()) if op_of(f, node) == "Sum" else ()
        is_whole = all(t.value.shape == () for t in f.results(node)) and len(shape) > 1
        of_rows = [n for n, rows in means.items() if is_whole and rows == shape[0]]
        if of_rows and prod(shape) >= MANY and factor >= LEAST and _share(f, node, of_rows):
            yield cause_at(f, "sum_beside_mean", node, shape=shape_text(shape), count=prod(shape))


def _terms(f: Facts) -> Iterator[tuple[str, float]]:
    """What a loss is a sum of, with the number that multiplies each. A quotient is a term: it may be a mean."""
    todo = [(node, 1.0) for node, _ in f.starts]
    for _ in range(MOST):
        if not todo:
            return
        node, factor = todo.pop()
        op, after = op_of(f, node), f.ways_on(node)
        known = [abs(n) for n in numbers_of(f, node) if n is not None]
        is_data = any(not t.requires_grad for t in f.inputs(node))
        if op in ("Add", "Sub", "Neg", "Rsub") and not is_data:
            todo += [(n, factor) for n in after]
        elif op == "Mul" and len(after) == 1 and known:
            todo.append((after[0], factor * known[0]))
        else:
            yield node, factor


def _share(f: Facts, node: str, others: list[str]) -> bool:
    """Does an op lie behind a term and behind others? A penalty of weights shares their leaves alone, and is of no batch."""
    own, its = (f.downstream(way for n in nodes for way in f.ways_on(n)) for nodes in ([node], others))
    return any(f.nodes[n].variable is None for n in own.keys() & its.keys())


def _mean_of(f: Facts, node: str) -> int:
    """The rows of what a term is the mean of; 0 if it is none."""
    op = op_of(f, node)
    is_mean = (op == "Mean" and f.plain(node, "dim") == "") or (op in MEANS and f.plain(node, "reduction") == MEAN)
    shape: tuple[int, ...] = next((t.value.shape for t in f.inputs(node)), ()) if is_mean else ()
    return shape[0] if len(shape) > 1 else 0


@check("AV221", "other-action", {"other_action": MAY, "best_action": MAY, "position_as_value": MAY}, of_run=True)
def other_action(q: Question) -> Iterator[Cause]:
    """What is trained by rewards is not of the action that was taken: a log_prob() of a new sample, or the largest value."""
    root = q.last_root
    there = q.ops_behind(root)
    logs = [op for op in there if op.source is not None and called_at(op.source) == "log_prob"]
    drawn = [op for op in logs if op.source is not None and SAMPLED.search(op.source.expression)]
    if drawn and any(op.name in WEIGHED and len([g for g in op.given if is_op(g)]) == 1 for op in there - {*drawn}):
        yield cause_of("other_action", max(drawn, key=lambda op: op.number))
    yield from best_action(there)


@check("AV232", "penalty-of-batch", {"penalty_of_batch": MAY}, of_run=True, first=True)
def penalty_of_batch(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """A gradient penalty that takes one norm of the gradients of a whole batch, and compares it with 1."""
    grads = [p for p in q.history.passes if p.name == "grad" and p.source is not None]
    made = {m[1] for p in grads if p.source is not None and (m := NAMED.match(p.source.text)) is not None}
    weights = {tuple(p.shape) for m in q.models.values() for p in m.parameters()}  # those have one norm each
    for node in nodes if made else ():
        source = f.source(node)
        users = f.takers(node)
        is_whole = op_of(f, node) in NORMS and f.plain(node, "dim") == ""
        shape = next((t.value.shape for t in f.inputs(node)), ()) if is_whole else ()
        name = NAMED.match(source.expression) if source is not None else None
        is_of_rows = len(shape) > 1 and shape[0] > 1 and name is not None and name[1] in made and shape not in weights
        if is_of_rows and any(op_of(f, u) == "Sub" and _takes_one(f, u) for u in users):
            yield cause_at(f, "penalty_of_batch", node, shape=shape_text(shape))


def _takes_one(f: Facts, node: str) -> bool:
    found = expression_at(f.source(node))
    right = found.right if isinstance(found, ast.BinOp) else None
    return isinstance(right, ast.Constant) and right.value == 1
