"""The check of models that learn to predict noise, and of which the loss compares with other noise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from math import prod
from typing import Any

import numpy as np

from ..causes.cause import Cause
from ..causes.check import MAY, check
from ..causes.facts import Facts
from ..causes.ops import cause_at, op_of
from ..causes.question import Question

LOSSES = ("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss")
NORMAL = ("randn", "normal")  # how names of functions that draw it begin
MIXED = ("add", "__add__", "__radd__", "cat", "concat", "concatenate")  # how noise gets into an input
TAKERS = {"Addmm": "mat1", "Mm": "self", "Convolution": "input"}
CHANCE = 3.0  # standard deviations of the correlation of independent numbers


@check("AV216", "other-noise", {"other_noise": MAY}, of_run=True, first=True)
def other_noise(f: Facts, ways: Iterable[str], q: Question) -> Iterator[Cause]:
    """A model that is to predict the noise of its input, and whose targets are noise that was drawn once more."""
    nodes = [*ways]
    began = max((p.number for p in q.passes[:-1]), default=0)
    ran = (
        min((op.number for op in q.ops_behind(q.last.root)), default=0) if q.last is not None and q.last.root is not None else 0
    )
    for node in nodes if ran else ():
        made = f.live.data_made(node, "target") if op_of(f, node) in LOSSES else None
        if made is None or not made.name.startswith(NORMAL) or made.number < began:
            continue
        draws = [d for d in q.history.draws if d.name.startswith(NORMAL) and d.detail == made.detail and began < d.number < ran]
        others = [d for d in draws if d.number != made.number]
        inputs = [(n, saved) for n in nodes if (saved := TAKERS.get(op_of(f, n))) and takes_data(f, n)]
        mixed = [at for at in inputs if (by := f.live.data_made(*at)) is not None and by.name in MIXED]
        is_apart = made.number > ran or (others and others[-1].number > made.number and _has_none(f, mixed, node))
        if others and mixed and is_apart:
            yield cause_at(f, "other_noise", node, drawn=made.name, made=made.source, other=others[-1].source)


def takes_data(f: Facts, node: str) -> bool:
    """Is the input of a layer data?"""
    edges = f.nodes[node].next_functions
    index = 1 if op_of(f, node) == "Addmm" else 0
    return op_of(f, node) == "Embedding" or (len(edges) > index and edges[index].node is None)


def _has_none(f: Facts, inputs: list[tuple[str, str]], loss: str) -> bool:
    """Is the target of a loss in none of these inputs? It correlates with none, where its columns may be."""
    target = f.live.kept(loss, "target")
    found = [f.live.kept(*at) for at in inputs]
    if target is None or not found or any(x is None or x.shape[0] != target.shape[0] for x in found):
        return False
    limit = CHANCE / prod(target.shape) ** 0.5
    return all(abs(r) < limit for r in chain.from_iterable(_correlations(x, target) for x in found))


def _correlations(x: Any, target: Any) -> Iterator[float]:
    """With each block of columns, or channels, of the size of the target."""
    if x.ndim != target.ndim or x.shape[2:] != target.shape[2:]:
        x, target = x.reshape(len(x), -1), target.reshape(len(target), -1)
    width = target.shape[1] if target.ndim > 1 else 1
    for at in range(x.shape[1] - width + 1 if x.ndim > 1 else 0):
        yield float(np.corrcoef(x[:, at : at + width].ravel(), target.ravel())[0, 1])
