"""The norms of the gradients of one whole backward pass. PyTorch's engine runs it, with hooks of ours on the nodes."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import torch
from torch.autograd.graph import GradientEdge

from ....graph.text import norm_of
from ....runtime.interrupts import breakable, whole
from ...shared.stepping.norms import Place
from ..reading.graph import TorchGraph
from ..reading.hooked import tensors_with_hooks
from ..reading.hooks import dict_of, gradients_at, keep_grads
from ..reading.nodes import edge_of, grad_fn_of, is_accumulate, is_function, reach, variable_of
from ..reading.older import IS_OLDER
from ..reading.values import is_plain, unseen, value_of
from .exchange import Exchange
from .snapshots import keep_random_numbers

PIECE = 1 << 20  # elements that are converted to float64 at once
HELD = 1 << 23  # elements of waiting gradients, before their norms are taken together
MANY = 512  # waiting gradients, likewise
WIDE = (torch.float64, torch.complex128)  # their squares may be out of range
SMALL = 1e-140


@unseen
def torch_norms(
    graph: TorchGraph, root: torch.Tensor, gradient: torch.Tensor | None, wanted: Collection[Place] | None
) -> dict[Place, float] | None:
    """Norms of a whole pass; None: see Note [Where the pass must be stepped]. RuntimeError: as ``root.backward()`` would."""
    (first,) = torch.autograd._make_grads((root,), (gradient,), is_grads_batched=False)
    if graph.regions:
        return None
    nodes = reach([edge_of(root)[0]])
    leaves = [n for n in nodes if is_accumulate(n)]
    live = [t for t in tensors_with_hooks() if grad_fn_of(t) in graph.node_ids]
    if IS_OLDER or torch.is_anomaly_enabled() or any(t._backward_hooks for t in live) or _runs_users_code(nodes, leaves, root):
        return None
    norms = _Norms(graph, wanted)
    handles: list[Any] = []
    with whole(), keep_random_numbers(), keep_grads(live):
        try:
            norms.listen(nodes, handles)
            with breakable():
                grads = gradients_at((root,), [GradientEdge(n, 0) for n in leaves], (first,), create_graph=False)
        finally:
            for handle in handles:
                handle.remove()
        norms.end(leaves, grads)
    return norms.found()


def _runs_users_code(nodes: Sequence[Any], leaves: Sequence[Any], root: torch.Tensor) -> bool:
    """Are there Functions, hooks of nodes and leaves, or gradients of other ranks?"""
    return (
        any(map(is_function, nodes))
        or any(dict_of(n.register_prehook) or dict_of(n.register_hook) for n in nodes)
        or any(t._backward_hooks or t._post_accumulate_grad_hooks for t in map(variable_of, leaves))
        or Exchange(nodes, root).is_there
    )


class _Norms:
    """Computes norms on their devices and reads them once. Gradients wait, so that one call takes the norms of many."""

    def __init__(self, graph: TorchGraph, wanted: Collection[Place] | None) -> None:
        self._graph, self._wanted = graph, None if wanted is None else frozenset(wanted)
        self._asked = None if wanted is None else {place[:2] for place in wanted}
        self._waiting: dict[Any, list[Place]] = {}
        self._held = 0
        self._taken: list[tuple[list[Place], Any]] = []

    def listen(self, nodes: Sequence[Any], handles: list[Any]) -> None:
        for node in nodes:
            if is_accumulate(node):
                continue
            id = self._graph.node_ids[node]
            if self._asked is None or (id, "in") in self._asked:
                handles.append(node.register_prehook(partial(self._add_all, id, "in")))
            if self._asked is None or (id, "out") in self._asked:
                handles.append(node.register_hook(partial(self._add_all, id, "out")))

    def end(self, leaves: Sequence[Any], grads: Sequence[Any]) -> None:
        with torch.no_grad():
            for node, grad in zip(leaves, grads, strict=True):
                leaf = variable_of(node)
                if grad is not None:
                    self._add_all(self._graph.node_ids[node], "in", (grad,))
                    id, before = self._graph.tensor_id(leaf) or "", leaf.grad
                    if before is None or self._asked is None or (id, "grad") in self._asked:
                        self._add_all(id, "grad", (grad if before is None else before + grad,))
            self._take()

    def _add_all(self, id: str, way: str, grads: Sequence[Any], *_: object) -> None:
        for k, grad in enumerate(grads):
            if grad is None or (self._wanted is not None and (id, way, k) not in self._wanted):
                continue
            there = self._waiting.get(grad)
            if there is not None:
                there.append((id, way, k))
            elif is_plain(grad) and grad.numel():
                self._waiting[grad] = [(id, way, k)]
                self._held += grad.numel()
        if self._held > HELD or len(self._waiting) > MANY:
            self._take()

    def _take(self) -> None:
        kinds: dict[Any, list[Any]] = {}
        for grad in self._waiting:
            kinds.setdefault((grad.device, grad.is_complex()), []).append(grad)
        for (device, is_complex), tensors in kinds.items():
            real = torch.float32 if device.type == "mps" else torch.float64
            norms = _norms(tensors, (torch.complex64 if device.type == "mps" else torch.complex128) if is_complex else real)
            taken = (_exact(g, n) if g.dtype in WIDE else n for g, n in zip(tensors, norms, strict=True))
            self._taken += zip(map(self._waiting.__getitem__, tensors), taken, strict=True)
        self._waiting, self._held = {}, 0

    def found(self) -> dict[Place, float]:
        """All norms, read from the devices at once."""
        devices: dict[Any, list[tuple[list[Place], Any]]] = {}
        for places, norm in self._taken:
            devices.setdefault(norm.device, []).append((places, norm))
        found: dict[Place, float] = {}
        for taken in devices.values():
            numbers = torch.stack([norm for _, norm in taken]).tolist()
            found |= {place: n for (places, _), n in zip(taken, numbers, strict=True) for place in places}
        return found


def _exact(grad: object, norm: Any) -> Any:
    """The norm, computed again if its square may have been out of range."""
    size = float(norm)
    return norm if SMALL < size < math.inf else torch.full_like(norm, norm_of(value_of(grad)) or size)


def _norms(tensors: Sequence[Any], dtype: torch.dtype) -> list[Any]:
    """The norm of each as a tensor without dimensions."""
    pieces = [t.reshape(-1).split(PIECE) if t.numel() > PIECE else (t,) for t in tensors]
    norms = iter(torch._foreach_norm([p for of in pieces for p in of], 2, dtype=dtype))
    several = [[next(norms) for _ in of] for of in pieces]
    return [of[0] if len(of) == 1 else torch.linalg.vector_norm(torch.stack(of)) for of in several]
