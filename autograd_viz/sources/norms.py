"""The norms of the gradients of one backward pass. It runs as a whole, or step by step where it must.

# Note [Where the pass must be stepped]
A whole pass ends before the leaves. It brings the gradients to their AccumulateGrads, and calls none. So no `grad` is written:
the sum that it would get is computed beside it. That differs from `backward()` where the user's code runs with a node:
- hooks, also of leaves and AccumulateGrads;
- the backward of a Function. It may start a pass of its own (reentrant checkpointing), or write into its saved tensors
  (compiled code).
Then each node is called as a step calls it, and taken back. The same happens in anomaly mode, before PyTorch 2.5, and where
ranks exchange gradients.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from ..graph.text import norm_of
from ..runtime.interrupts import breakable, whole
from ..twin.core.backward.accumulate_grad import AccumulateGrad
from ..twin.core.backward.backward import start
from ..twin.core.base.grad_mode import Anomaly
from ..twin.core.tensor.tensor import Tensor
from .from_core import CoreGraph
from .snapshots_core import SavedSnapshot, runs_only_ours
from .undoable_pass import Pass
from .values import FEW, value_of

Place = tuple[str, str, int]


def norms_by_steps(live: Pass, wanted: Collection[Place] | None) -> dict[Place, float]:
    """The norms from the steps of a pass; all steps are taken back."""
    found: dict[Place, float | None] = {}
    live.shows_jacobians, done = False, 0
    with whole(), live.untouched():
        try:
            with breakable():
                while (step := live.advance()) is not None:
                    done += 1
                    found |= {(step.node, "in", k): norm_of(g) for k, g in enumerate(step.grad_outputs)}
                    found |= {(step.node, "out", k): norm_of(g) for k, g in enumerate(step.grad_inputs)}
                    if step.accumulation is not None:
                        found[step.accumulation.tensor, "grad", 0] = norm_of(step.accumulation.new)
        finally:
            for k in reversed(range(done)):
                live.undo(k)
    return {place: n for place, n in found.items() if n is not None and (wanted is None or place in wanted)}


def core_norms(
    graph: CoreGraph, root: Tensor, gradient: Tensor | None, wanted: Collection[Place] | None
) -> dict[Place, float] | None:
    """The norms of a whole pass of the core; None if it must be stepped.

    Raises:
        RuntimeError: as `backward` would.
    """
    leaves = [n for n in graph.node_ids if isinstance(n, AccumulateGrad)]
    task = start(root, gradient, True, False, [(n, 0) for n in leaves])
    nodes = list(task.input_buffers)
    if Anomaly.enabled or not all(runs_only_ours(n) and not (n._extra and n._extra.retains) for n in nodes):
        return None
    norms = _ArrayNorms(wanted)
    with whole():
        passed = [SavedSnapshot(n) for n in nodes]
        try:
            with breakable():
                while task.ready:
                    if (done := task.advance()) is not None:
                        norms.add(graph.node_ids[done[0]], "in", done[1])
                        norms.add(graph.node_ids[done[0]], "out", done[3])
        finally:
            for snapshot in passed:
                snapshot.restore()
    for node in leaves:
        grad, before = task.captured.get((node, 0)), node.variable._grad
        if grad is not None:
            norms.add(graph.node_ids[node], "in", (grad,))
            norms.add(graph.tensor_id(node.variable) or "", "grad", (grad if before is None else before._data + grad,))
    return norms.found


class _ArrayNorms:
    """Norms of arrays, by place."""

    def __init__(self, wanted: Collection[Place] | None) -> None:
        self.wanted, self.found = wanted, dict[Place, float]()

    def add(self, id: str, way: str, grads: Any) -> None:
        """Add the norms of interest."""
        for k, grad in enumerate(grads):
            if grad is not None and (self.wanted is None or (id, way, k) in self.wanted):
                norm = _norm(np.asarray(grad))
                if norm is not None:
                    self.found[id, way, k] = norm


def _norm(array: Any) -> float | None:
    if array.size > FEW and array.dtype.kind == "f":
        flat = array.reshape(-1).astype(np.float64, copy=False)
        with np.errstate(all="ignore"):
            squares = float(flat.dot(flat))
        if math.isfinite(squares) and squares > 0:
            return math.sqrt(squares)
    return norm_of(value_of(array))
