"""In-place changes of saved tensors: a saved tensor is copied before its memory is overwritten."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..core.backward.instrumentation import writing
from ..core.base.grad_mode import saved_hooks, update
from ..core.tensor.tensor import Tensor

__all__ = ["allow_mutation_on_saved_tensors"]


class _Kept:
    """The value that a node holds instead of a tensor."""

    __slots__ = ("__weakref__",)


class _AllowMutationOnSavedContext:
    """The tensors that nodes saved inside the block. A copy replaces a tensor before its memory changes."""

    def __init__(self) -> None:
        self.originals: WeakKeyDictionary[_Kept, Tensor] = WeakKeyDictionary()
        self.copies: WeakKeyDictionary[_Kept, Tensor] = WeakKeyDictionary()

    def clear(self) -> None:
        """At the end of the block, drop all saved tensors."""
        self.originals.clear()
        self.copies.clear()

    def pack(self, tensor: Tensor) -> _Kept:
        """A key for a tensor. All nodes that save the same version share it."""
        known = next((kept for kept, t in self.originals.items() if t._data is tensor._data), None)
        kept = _Kept() if known is None else known
        self.originals[kept] = tensor._without_history()
        return kept

    def unpack(self, kept: _Kept) -> Tensor:
        """The tensor as it was saved.

        Raises:
            AssertionError: the block has ended.
        """
        found = self.copies.get(kept, self.originals.get(kept))
        if found is None:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was originally "
                "recorded."
            )
        return found

    def before_write(self, array: Any) -> None:
        """Copy the saved tensors of this memory, before it is overwritten."""
        for kept, tensor in list(self.originals.items()):
            if np.may_share_memory(tensor._data, array):
                self.copies[kept] = Tensor(tensor._data.copy("K"))
                del self.originals[kept]


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """Inside the block, in-place changes are allowed on tensors that backward needs. Run backward inside too.

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
