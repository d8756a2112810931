"""Calls of nodes on an accelerator, where kernels run later and in parallel. PyTorch's engine synchronizes them.

# Note [Streams]
The engine calls a node on the stream of its op, with the device of its gradients as the current one. A call by hand runs on the
current stream. So all work on the device is waited for: before the call, after it, and before values are read. Then every order
of streams is safe, and no memory is reused while a kernel reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch

WITH_INDEX = {"cuda", "xpu"}  # their `synchronize` takes a device


def accelerators(devices: Iterable[Any]) -> list[Any]:
    """The devices that compute, without the CPU, each once."""
    return [d for d in dict.fromkeys(devices) if d is not None and d.type not in ("cpu", "meta")]


def wait_for(devices: Iterable[Any]) -> None:
    """Wait until these accelerators have finished all work."""
    for d in accelerators(devices):
        synchronize = getattr(getattr(torch, d.type, None), "synchronize", None)
        if synchronize is not None:
            synchronize(*([d] if d.type in WITH_INDEX else []))


def called_on(devices: Iterable[Any]) -> AbstractContextManager[None]:
    """Inside, a node may be called by hand; the first accelerator is the current device."""
    there = accelerators(devices)
    return _called_on(there) if there else nullcontext()


@contextmanager
def _called_on(there: list[Any]) -> Iterator[None]:
    current = getattr(getattr(torch, there[0].type, None), "device", None)
    wait_for(there)
    with current(there[0]) if current is not None else nullcontext():
        yield
    wait_for(there)
