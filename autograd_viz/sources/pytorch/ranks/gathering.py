"""What every rank knows of its pass, brought to rank 0.

# Note [Gathering]
Texts travel through the store that made the process group: nothing opens a port, and no collective can wait for ever. First all
ranks meet, then each writes its part, and rank 0 reads. The mean of local gradients is one all-reduce of its own, after the
meeting. It is computed apart: DDP's own buckets, and with them its rounding, are left to `backward()`.
"""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import distributed

from ..stepping.ranks import PAUSE, is_distributed, meet, store_of_job

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
    """Meet again, and hear whether all are well, before anything is sent that waits for all.
    RuntimeError: another rank is not, or is missing.
    """
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
    device = torch.device("cpu")
    if "gloo" not in str(distributed.get_backend()):
        device = torch.device("cuda", torch.cuda.current_device())
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
