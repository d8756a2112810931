"""Calls on an accelerator: kernels run later and side by side, and PyTorch's engine sees to it that nobody notices.

# Note [Streams]
The engine calls a node on the stream on which its op ran, with the device of its gradients as the current one. A call by hand
runs on the current stream. So before and after it, and before values are read, all that the device has been given to do is
waited for: then no order of streams can be wrong, and nobody gets memory anew that a kernel still reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch

WITH_INDEX = {"cuda", "xpu"}  # whose `synchronize` takes a device


def accelerators(devices: Iterable[Any]) -> list[Any]:
    """Those that are no CPU and compute, each once."""
    return [d for d in dict.fromkeys(devices) if d is not None and d.type not in ("cpu", "meta")]


def wait_for(devices: Iterable[Any]) -> None:
    """Until everything that was given to these accelerators is done."""
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
