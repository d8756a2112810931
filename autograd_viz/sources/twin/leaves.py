"""Protects the leaves, which the user's code (a hook, a Function's backward) may change in a pass that is taken back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ...twin.core.tensor.tensor import Tensor
from .snapshots import ArraySnapshot, GradSnapshot


@contextmanager
def leaves_kept(leaves: Iterable[Tensor]) -> Iterator[None]:
    """Afterwards data, version and grad of these tensors are as before: a hook may be an optimizer's step."""
    kept = [(t, ArraySnapshot(t._data), t._version, GradSnapshot(t)) for t in leaves]
    try:
        yield
    finally:
        for leaf, data, version, grad in kept:
            if not data.holds():
                data.restore()
            if leaf._version != version:
                leaf._shared_counter()[0] = version
            grad.restore()
