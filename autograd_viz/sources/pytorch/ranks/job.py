"""One rank's part of a job: its parameters, what arrived at them, what DDP will do with it."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ....graph.codec import document_to_json
from ...shared.stepping.norms import Place, each_arrival
from ..reading.graph import TorchGraph
from ..reading.nodes import edge_of, is_accumulate, name_of, reach, variable_of
from ..reading.shards import shard_of
from ..reading.values import array_in, copied
from ..recording.watch import own_code
from ..stepping.exchange import Exchange
from ..stepping.node_pass import TorchPass
from ..stepping.replicas import Replica
from .gathering import all_well, means, place

Plain = dict[str, Any]


@own_code()
def part_of(graph: TorchGraph, root: torch.Tensor, timeout: float) -> Plain:
    """What rank 0 is told of this rank, as plain values.

    Raises:
        RuntimeError: the pass fails on this rank or on another, or a rank is missing.
    """
    rank, world = place()
    nodes = reach([edge_of(root)[0]])
    exchange = Exchange(nodes, root)
    leaves = {variable_of(n): graph.node_ids[n] for n in nodes if is_accumulate(n)}
    order: list[str] = []
    gradients: dict[str, Any] = {}
    try:
        if root.numel() == 1:
            gradients = _gradients(graph, root, leaves, order)
    except Exception as error:
        all_well(False, timeout)
        raise RuntimeError(f"the backward pass of rank {rank} cannot run: {type(error).__name__}: {error}") from error
    all_well(True, timeout)
    averaged = [p for replica in exchange.replicas for p in replica.leaves] or [p for p in leaves if shard_of(p) is not None]
    arrays = [gradients.get(leaves.get(p, ""), np.zeros(tuple(p.shape), np.float32)) for p in averaged] if gradients else []
    mean = dict(zip(averaged, means(arrays, timeout), strict=False))
    return {
        "rank": rank,
        "world": world,
        "loss": float(root.detach()) if root.numel() == 1 else None,
        "document": document_to_json(graph.document),
        "parameters": [_parameter(graph, p, gradients.get(id), mean.get(p)) for p, id in leaves.items()],
        "replicas": [_replica(r, leaves, order) for r in exchange.replicas],
        "collectives": [name_of(n) for n in nodes if "c10d" in n.name().lower() or "_All" in n.name()],
    }


def _gradients(graph: TorchGraph, root: torch.Tensor, leaves: dict[Any, str], order: list[str]) -> dict[str, Any]:
    """What arrives at each leaf on this rank, by its node; `order` gets the nodes as they are called."""
    found: dict[str, Any] = {}

    def take(at: Place, gradient: torch.Tensor | None) -> None:
        order.append(at[0])
        found[at[0]] = gradient

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the gradients are this rank's own
        each_arrival(TorchPass(graph, root, None, True, False), {(id, "in", 0) for id in leaves.values()}, take, copied)
    return found


def _parameter(graph: TorchGraph, leaf: torch.Tensor, gradient: Any, mean: object) -> Plain:
    id = graph.tensor_id(leaf) or ""
    data = array_in(leaf)
    return {
        "id": id,
        "name": next((t.name for t in graph.document.tensors if t.id == id), None) or id,
        "weight": "" if data is None else hashlib.blake2b(np.ascontiguousarray(data).tobytes(), digest_size=8).hexdigest(),
        "norm": _norm(gradient),
        "bad": 0 if gradient is None else int((~np.isfinite(gradient)).sum()),
        "mean": _norm(mean),
        **_spread(leaf),
    }


def _spread(leaf: Any) -> Plain:
    if type(leaf).__name__ == "DTensor":
        placement = ", ".join(map(repr, leaf.placements))
        return {"placement": placement, "shard": list(leaf.to_local().shape), "whole": list(leaf.shape)}
    shard = shard_of(leaf)
    if shard is None:
        return {}
    return {"placement": "FSDP", "shard": list(shard.sharded_param.to_local().shape), "whole": list(leaf.shape)}


def _replica(replica: Replica, leaves: dict[Any, str], order: Sequence[str]) -> Plain:
    """A DDP module: what this pass reaches, and its buckets, each with the number of leaves that are done when it is ready."""
    names = {p: name for name, p in replica.module.module.named_parameters()}
    done = {id: k + 1 for k, id in enumerate(order)}
    buckets = [b.parameters() for b in replica.module.reducer._get_zeros_like_grad_buckets()]
    ready = [max((done.get(leaves.get(p, ""), 0) for p in bucket), default=0) for bucket in buckets]
    return {
        "unreached": [names[p] for p in replica.leaves if p not in leaves],
        "finds_unused": bool(replica.module.find_unused_parameters),
        "buckets": [{"names": [names.get(p, "?") for p in b], "ready": r} for b, r in zip(buckets, ready, strict=True)],
    }


def _norm(array: object) -> float | None:
    """Of the finite elements; None if there is no array."""
    if array is None:
        return None
    flat = np.asarray(array, np.float64).reshape(-1)
    return float(np.linalg.norm(flat[np.isfinite(flat)]))
