"""The norms of the gradients of one backward pass of the twin: see shared/stepping/norms.py."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from ...graph.text import norm_of
from ...runtime.interrupts import breakable, whole
from ...twin.core.backward.accumulate_grad import AccumulateGrad
from ...twin.core.backward.backward import start
from ...twin.core.base.grad_mode import Anomaly
from ...twin.core.tensor.tensor import Tensor
from ..shared.stepping.norms import Place
from ..shared.values import FEW, value_of
from .graph import CoreGraph
from .snapshots import SavedSnapshot, runs_only_ours


def core_norms(
    graph: CoreGraph, root: Tensor, gradient: Tensor | None, wanted: Collection[Place] | None
) -> dict[Place, float] | None:
    """The norms of a whole pass of the core; None if it must be stepped. RuntimeError: as `backward` would."""
    leaves = [n for n in graph.node_ids if isinstance(n, AccumulateGrad)]
    task = start(root, gradient, True, False, [(n, 0) for n in leaves])
    nodes = list(task.input_buffers)
    if Anomaly.enabled or not all(runs_only_ours(n) and not (n._extra and n._extra.retains) for n in nodes):
        return None
    norms: dict[Place, float] = {}

    def add(id: str, way: str, grads: Any) -> None:
        for k, grad in enumerate(grads):
            is_wanted = grad is not None and (wanted is None or (id, way, k) in wanted)
            if is_wanted and (norm := _norm(np.asarray(grad))) is not None:
                norms[id, way, k] = norm

    with whole():
        passed = [SavedSnapshot(n) for n in nodes]
        try:
            with breakable():
                while task.ready:
                    if (done := task.advance()) is not None:
                        add(graph.node_ids[done[0]], "in", done[1])
                        add(graph.node_ids[done[0]], "out", done[3])
        finally:
            for snapshot in passed:
                snapshot.restore()
    for node in leaves:
        grad, before = task.captured.get((node, 0)), node.variable._grad
        if grad is not None:
            add(graph.node_ids[node], "in", (grad,))
            add(graph.tensor_id(node.variable) or "", "grad", (grad if before is None else before._data + grad,))
    return norms


def _norm(array: Any) -> float | None:
    if array.size > FEW and array.dtype.kind == "f":
        flat = array.reshape(-1).astype(np.float64, copy=False)
        with np.errstate(all="ignore"):
            squares = float(flat.dot(flat))
        if math.isfinite(squares) and squares > 0:
            return math.sqrt(squares)
    return norm_of(value_of(array))
