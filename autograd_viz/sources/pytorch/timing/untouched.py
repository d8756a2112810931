"""What a forward pass changes of a program, put back: random numbers, and buffers such as the running mean of a batch norm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..reading.values import is_plain, unseen
from ..stepping.snapshots import LeafSnapshot, keep_random_numbers


@contextmanager
def untouched(modules: Sequence[Any]) -> Iterator[None]:
    """Afterwards generators of random numbers and the buffers of these modules are as before."""
    parts = [part for module in modules for part in module.modules()]
    held = [(part, name, buffer) for part in parts for name, buffer in part._buffers.items()]
    kept = [LeafSnapshot(b) for _, _, b in held if b is not None and unseen(is_plain)(b)]
    with keep_random_numbers():
        try:
            yield
        finally:
            for part, name, buffer in held:
                part._buffers[name] = buffer
            for snapshot in kept:
                snapshot.restore()
