"""Changing in place what was saved for backward: before memory is written, what was saved of it is copied."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..core.backward.instrumented import writing
from ..core.base.grad_mode import saved_hooks, update
from ..core.tensor.tensor import Tensor

__all__ = ["allow_mutation_on_saved_tensors"]


class _Kept:
    """What a node holds instead of a tensor."""

    __slots__ = ("__weakref__",)


class _AllowMutationOnSavedContext:
    """The tensors that nodes made inside the block have saved, as they are and, once their memory was changed, copied."""

    def __init__(self) -> None:
        self.originals: WeakKeyDictionary[_Kept, Tensor] = WeakKeyDictionary()
        self.copies: WeakKeyDictionary[_Kept, Tensor] = WeakKeyDictionary()

    def clear(self) -> None:
        """The block is over: what was saved in it is gone."""
        self.originals.clear()
        self.copies.clear()

    def pack(self, tensor: Tensor) -> _Kept:
        """A stand-in for a tensor; one for all that save it as it is now."""
        known = next((kept for kept, t in self.originals.items() if t._data is tensor._data), None)
        kept = _Kept() if known is None else known
        self.originals[kept] = tensor._without_history()
        return kept

    def unpack(self, kept: _Kept) -> Tensor:
        """The tensor as it was saved.

        Raises:
            AssertionError: the block is over.
        """
        found = self.copies.get(kept, self.originals.get(kept))
        if found is None:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was originally "
                "recorded."
            )
        return found

    def before_write(self, array: Any) -> None:
        """Memory is about to be written: copy what was saved of it."""
        for kept, tensor in list(self.originals.items()):
            if np.may_share_memory(tensor._data, array):
                self.copies[kept] = Tensor(tensor._data.copy("K"))
                del self.originals[kept]


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """Inside the block, tensors may be changed in place although backward needs them as they were; run backward inside too.

    Raises:
        RuntimeError: inside another such block.
    """
    if writing:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = _AllowMutationOnSavedContext()
    saved_hooks.append((context.pack, context.unpack))
    writing.append(context.before_write)
    update()
    try:
        yield context
    finally:
        context.clear()
        writing.clear()
        saved_hooks.pop()
        update()
