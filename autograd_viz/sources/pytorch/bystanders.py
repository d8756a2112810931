"""What code of the user's may change while a PyTorch pass runs that is taken back afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch.autograd.grad_mode import _unsafe_preserve_version_counter

from .cells import GradCell
from .values import equal, is_plain


@contextmanager
def random_numbers_kept() -> Iterator[None]:
    """Afterwards PyTorch's generators stand where they stood."""
    devices = [torch.cuda.current_device()] if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices=devices):
        yield


@contextmanager
def leaves_kept(leaves: Iterable[Any]) -> Iterator[None]:
    """Afterwards data, version and grad of these tensors are what they were: a hook may be an optimizer's step."""
    plain = [t for t in leaves if is_plain(t)]
    kept = [(t, t.data, t.detach().clone(), GradCell(t, is_about_to_change=True)) for t in plain]
    with ExitStack() as versions:
        for t in plain:
            versions.enter_context(_unsafe_preserve_version_counter(t))
        try:
            yield
        finally:
            for leaf, memory, data, grad in kept:
                if leaf.data_ptr() != memory.data_ptr():  # `p.data = ...` has given it another
                    leaf.data = memory
                if not equal(leaf.detach(), data):  # `p.data.sub_(...)` leaves the version as it was
                    leaf.data.copy_(data)
                grad.restore()
