"""Protects what the user's code may change in a PyTorch pass that is taken back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch.autograd.grad_mode import _unsafe_preserve_version_counter

from ..reading.values import equal, is_plain, unseen
from .snapshots import GradSnapshot


@contextmanager
def random_numbers_kept() -> Iterator[None]:
    """Afterwards PyTorch's generators have their former state."""
    devices = [torch.cuda.current_device()] if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices=devices):
        yield


@contextmanager
def leaves_kept(leaves: Iterable[Any]) -> Iterator[None]:
    """Afterwards data, version and grad of these tensors are as before: a hook may be an optimizer's step."""
    plain = [t for t in leaves if unseen(is_plain)(t)]
    kept = [_LeafSnapshot(t) for t in plain]
    with ExitStack() as versions:
        with torch._C.DisableTorchFunction():
            for t in plain:
                versions.enter_context(_unsafe_preserve_version_counter(t))
        try:
            yield
        finally:
            for leaf in kept:
                leaf.restore()


class _LeafSnapshot:
    """A leaf's data and grad."""

    @unseen
    def __init__(self, leaf: torch.Tensor) -> None:
        self.leaf, self.memory, self.data = leaf, leaf.data, leaf.detach().clone()
        self.grad = GradSnapshot(leaf, is_about_to_change=True)

    @unseen
    def restore(self) -> None:
        """Restore them."""
        if self.leaf.data_ptr() != self.memory.data_ptr():  # `p.data = ...` has replaced it
            self.leaf.data = self.memory
        if not equal(self.leaf.detach(), self.data):  # `p.data.sub_(...)` leaves the version as it is
            self.leaf.data.copy_(self.data)
        self.grad.restore()
