"""PyTorch's checks of index_add, index_copy and index_reduce: their slices fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tensor.refusals import scalar_type


def check_slices(name: str, self: Any, dim: int, index: Any, source: Any) -> None:
    """Refuse an index that is not a vector of integers, and a source whose slices are not those of `self`."""
    if index.ndim > 1:
        raise IndexError(f"{name}_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if name == "index_copy":
        _check_copy(self, dim, index, source)
        return
    if index.dtype not in (np.int32, np.int64):
        raise RuntimeError(f"{name}_(): Expected dtype int32/int64 for index but got: {scalar_type(index)}")
    if self.dtype != source.dtype:
        kinds = f"self ({scalar_type(self)}) and source ({scalar_type(source)})"
        raise RuntimeError(f"{name}_(): {kinds} must have the same scalar type")
    if self.ndim and source.ndim and _slice(self, dim) != _slice(source, dim):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(self.shape)} source.shape = {list(source.shape)}"
        )


def _check_copy(self: Any, dim: int, index: Any, source: Any) -> None:
    if self.dtype != source.dtype:
        kinds = f"(self) {scalar_type(self)} and (source) {scalar_type(source)}"
        raise RuntimeError(f"index_copy_(): self and source expected to have the same dtype, but got {kinds}")
    if self.ndim != source.ndim and self.ndim and source.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({source.ndim}), destination dimensionality ({self.ndim})"
        )
    if index.dtype != np.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {scalar_type(index)}")
    if self.ndim and source.ndim and _slice(self, dim) != _slice(source, dim):
        sizes, others = (" ".join(map(str, _slice(a, dim))) for a in (self, source))
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{sizes} at dimension {dim} and source slice shape: {others} at dimension 0."
        )


def _slice(array: Any, dim: int) -> tuple[int, ...]:
    """The shape of a slice."""
    dim %= array.ndim
    return (*array.shape[:dim], *array.shape[dim + 1 :])
