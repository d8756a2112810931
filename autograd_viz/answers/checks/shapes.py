"""Checks of shapes that fit and mean something else: rows that a view mixes, batches that are no batches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import prod
from typing import Any

from ...graph.text import shape_text
from ..causes.cause import Cause, cause_of
from ..causes.check import MAY, check
from ..causes.facts import Facts
from ..causes.ops import cause_at, op_of
from ..causes.question import Question

VIEWS = ("View", "UnsafeView", "ReshapeAlias")
CALLS = ("view", "reshape", "resize", "view_as", "reshape_as")  # what a program calls so
TAKES = ("Select", "Mean", "Max", "Sum", "Amax")  # they take one of a dimension, or reduce it
RECURRENT, CALLED = ("LSTM", "GRU", "RNN"), ("lstm", "gru", "rnn_tanh", "rnn_relu")
ROUTES = ("Clone", "Mul", "Tanh", "Relu")  # dropout is a product
OWNERS = (*RECURRENT, "MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer")
ROWS = 3  # dimensions of a batch of sequences
Shape = tuple[int, ...]


@check("AV208", "rows-mixed", {"rows_mixed": MAY}, of_run=True, first=True)
def rows_mixed(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """A view that exchanges dimensions: it keeps the order of elements, so rows of different samples are mixed."""
    for node in nodes:
        for cause, before, after in _views(f, node):
            if _exchanges(before, after) or _is_of_classes(f, node, before, after):
                yield replace(cause, said={**cause.said, "before": shape_text(before), "after": shape_text(after)})


def _views(f: Facts, node: str) -> Iterator[tuple[Cause, Shape, Shape]]:
    """The view that a node is, and those that made the data that it has saved, with the shapes before and after."""
    results, called = f.results(node), f.live.called_as(node)
    if op_of(f, node) in VIEWS and called in CALLS and results:
        yield cause_at(f, "rows_mixed", node, op=called), _shape(f.plain(node, "self_sym_sizes")), results[0].value.shape
    for saved in f.nodes[node].saved:
        made = f.live.data_made(node, saved.name) if saved.state == "kept" else None
        if made is not None and saved.value is not None and made.name in CALLS:
            yield cause_of("rows_mixed", made, op=made.name), made.detail, saved.value.shape


def _is_of_classes(f: Facts, node: str, before: Shape, after: Shape) -> bool:
    """Is it `view(-1, classes)` before a softmax, of what a convolution gave: (batch, classes, places)?"""
    users = {op_of(f, s) for s in f.takers(node)}
    made = f.first(node)
    is_made = made is not None and op_of(f, made) == "Convolution"
    is_flat = len(before) > 2 == len(after) and after[1] == before[1] != before[-1]
    return is_made and is_flat and bool(users & {"LogSoftmax", "Softmax"})


def _shape(text: str) -> Shape:
    return tuple(map(int, re.findall(r"\d+", text)))


def _exchanges(before: Shape, after: Shape) -> bool:
    """Does a view give dimensions in another order? A skew, (n, n + 1) to (n + 1, n), and parts of the first are meant."""
    for own, its in _groups(before, after):
        is_skew = len(own) == len(its) == 2 and abs(own[0] - own[1]) <= 1
        is_turned = sorted(own) == sorted(its) and own != its and not is_skew
        is_led = len(own) > len(its) > 1 and its[0] in own[1:] and own[0] % its[0] != 0
        if 1 not in own and (is_turned or is_led):
            return True
    return False


def _groups(before: Shape, after: Shape) -> Iterator[tuple[Shape, Shape]]:
    """The smallest parts of two shapes that have equally many elements, without dimensions of size 1."""
    sides: list[list[int]] = [[n for n in s if n != 1] for s in (before, after)]
    if 0 in before or prod(before) != prod(after):
        return
    while all(sides):
        parts: list[list[int]] = [[side.pop(0)] for side in sides]
        while prod(parts[0]) != prod(parts[1]):
            k = int(prod(parts[0]) > prod(parts[1]))
            parts[k].append(sides[k].pop(0))
        yield tuple(parts[0]), tuple(parts[1])


@check("AV209", "targets-in-other-order", {"other_order": MAY}, of_run=True, first=True)
def other_order(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """Scores (time, batch, classes) and targets (batch, time), each made flat: they are compared in different orders."""
    for node in nodes:
        made = f.live.data_made(node, "target") if op_of(f, node) == "NllLoss" else None
        rows = made.detail if made is not None and made.name in (*CALLS, "flatten") else ()
        flat = f.first(f.first(node)) if len(rows) == 2 else None
        shape = _shape(f.plain(flat, "self_sym_sizes")) if flat is not None and op_of(f, flat) in VIEWS else ()
        if len(shape) == ROWS and shape[:2] == rows[::-1] != rows and 1 not in rows:
            yield cause_at(f, "other_order", node, scores=shape_text(shape), targets=shape_text(rows))


@check("AV210", "batch-not-first", {"batch_not_first": MAY}, of_run=True, first=True)
def batch_not_first(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """One step of dimension 1, or its mean, of a layer that was made without batch_first: there, dimension 1 is the batch."""
    layers = _layers(q.names.values())
    owners = {f.live.id_of(p): kind for kind, part in layers for p in part.parameters()}
    recurrent = next((kind for kind, _ in layers if kind in RECURRENT), "")
    for node in nodes if layers else ():
        shape, dim = _shape(f.plain(node, "self_sym_sizes")), f.plain(node, "dim").strip("(,)")
        if op_of(f, node) not in TAKES or len(shape) != ROWS or shape[1] == 1 or dim not in ("1", "-2"):
            continue
        before = f.first(node)
        while before is not None and op_of(f, before) in ROUTES and len(f.takers(before)) == 1:
            before = f.first(before)
        if before is None or op_of(f, before) == "Transpose" or len(f.takers(before)) != 1:
            continue
        leaves = [f.nodes[n].variable for n in f.ways_on(before)]
        layer = recurrent if f.live.called_as(before) in CALLED else next((owners[v] for v in leaves if v in owners), "")
        if layer:
            yield cause_at(f, "batch_not_first", node, layer=layer, count=shape[1])


def _layers(values: Iterable[Any]) -> list[tuple[str, Any]]:
    """The sequence layers by class, if none of them has batch_first."""
    models = [m for m in values if hasattr(type(m), "named_parameters")]
    parts = [(type(p).__name__, p) for m in models for p in m.modules() if type(p).__name__ in OWNERS]
    return [] if any(getattr(getattr(p, "self_attn", p), "batch_first", True) for _, p in parts) else parts
