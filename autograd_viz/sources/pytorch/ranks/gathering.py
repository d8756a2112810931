"""What every rank knows of its pass, brought to rank 0.

# Note [Gathering]
Texts travel through the store that made the process group: nothing opens a port, and no collective can wait for ever. First all
ranks meet, then each writes its part, and rank 0 reads. The mean of local gradients is one all-reduce of its own, after the
meeting. It is computed apart: DDP's own buckets, and with them its rounding, are left to `backward()`.
"""

from __future__ import annotations

import hashlib
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import distributed

from ....graph.codec import document_to_json
from ...shared.stepping.norms import Place, each_arrival
from ..reading.graph import TorchGraph
from ..reading.nodes import edge_of, is_accumulate, name_of, reach, variable_of
from ..reading.shards import shard_of
from ..reading.values import array_in, copy_of
from ..recording.watch import own_code
from ..stepping.exchange import PAUSE, Exchange, Replica, is_distributed, meet, store_of_job
from ..stepping.node_pass import TorchPass

CHUNK = 1 << 20  # bytes of a value in the store
WHAT = "gather(loss) brings what each rank knows to rank 0"

_turns: Counter[str] = Counter()


def place() -> tuple[int, int]:
    """The number of this rank, and how many there are."""
    return (distributed.get_rank(), distributed.get_world_size()) if is_distributed() else (0, 1)


def all_here(timeout: float) -> None:
    """Wait until every rank has come. RuntimeError: a rank is missing; the message names it."""
    if is_distributed():
        meet(range(distributed.get_world_size()), WHAT, "", timeout)


def all_well(is_well: bool, timeout: float) -> None:
    """Meet again, and hear whether all are well, before all are waited for. RuntimeError: another rank is not, or missing."""
    if not is_distributed():
        return
    store, key = store_of_job(), f"autograd_viz/gather/ill/{_turns['well']}"
    _turns["well"] += 1
    if not is_well:
        store.add(key, 1)
    meet(range(distributed.get_world_size()), WHAT, "", timeout)
    if is_well and store.add(key, 0):
        raise RuntimeError(f"{WHAT}: the backward pass of another rank cannot run; its error is raised there")


def _are_alike(arrays: Sequence[Any], timeout: float) -> bool:
    """Has every rank arrays of the same shapes, and any? Else an all-reduce would wait for ever, or add what is another."""
    shapes = "/".join(str(a.shape) for a in arrays)
    store, key = store_of_job(), f"autograd_viz/gather/shapes/{_turns['shapes']}/{zlib.crc32(shapes.encode())}"
    _turns["shapes"] += 1
    store.add(key, 1)
    all_here(timeout)
    return bool(arrays) and store.add(key, 0) == distributed.get_world_size()


def means(arrays: Sequence[Any], timeout: float) -> list[Any]:
    """The means of arrays over all ranks; none if ranks have others, or none. RuntimeError: a rank has ended meanwhile."""
    _, world = place()
    if world == 1:
        return list(arrays)
    if not _are_alike(arrays, timeout):
        return []
    device = "cpu" if "gloo" in str(distributed.get_backend()) else f"cuda:{torch.cuda.current_device()}"
    flat = torch.cat([torch.from_numpy(a).reshape(-1).float() for a in arrays]).to(device)
    distributed.all_reduce(flat)
    parts = (flat / world).cpu().split([a.size for a in arrays])
    return [p.reshape(a.shape).numpy() for p, a in zip(parts, arrays, strict=True)]


def sent(text: str, timeout: float) -> list[str] | None:
    """Send this rank's part. Rank 0 gets all of them, other ranks None. RuntimeError: a rank that had come has sent nothing."""
    rank, world = place()
    if world == 1:
        return [text]
    store, turn = store_of_job(), _turns["gather"]
    _turns["gather"] += 1
    packed = zlib.compress(text.encode())
    chunks = [packed[k : k + CHUNK] for k in range(0, len(packed), CHUNK)]
    for k, chunk in enumerate(chunks):
        store.set(f"autograd_viz/gather/{turn}/{rank}/{k}", chunk)
    store.set(f"autograd_viz/gather/{turn}/{rank}", str(len(chunks)))
    if rank:
        return None
    deadline = time.monotonic() + timeout
    return [_read(store, f"autograd_viz/gather/{turn}/{r}", r, deadline, timeout) for r in range(world)]


def _read(store: Any, key: str, rank: int, deadline: float, timeout: float) -> str:
    while not store.check([key]):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{WHAT}: rank {rank} came, and sent nothing in {timeout:.0f} s. It may have ended.")
        time.sleep(PAUSE)
    names = [f"{key}/{k}" for k in range(int(store.get(key)))]
    text = zlib.decompress(b"".join(store.get(name) for name in names)).decode()
    for name in (key, *names):
        store.delete_key(name)
    return text


Plain = dict[str, Any]


@own_code()
def part_of(graph: TorchGraph, root: torch.Tensor, timeout: float) -> Plain:
    """What rank 0 is told of this rank, as plain values. RuntimeError: the pass fails on a rank, or a rank is missing."""
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
        each_arrival(TorchPass(graph, root, None, True, False), {(id, "in", 0) for id in leaves.values()}, take, copy_of)
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
