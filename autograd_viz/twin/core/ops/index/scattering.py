"""The user's calls of scatter, index_add and related ops. The last argument is the value to write."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...base.public import public
from ...tensor import Tensor, from_front, of_tensors, refuse_if
from ..shape.views import broadcast_shapes, expand, view
from . import gather_scatter

_DEPRECATED = (
    "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch release. Use "
    "torch.scatter_reduce instead for more reduction options."
)


@public("scatter", inplace=True)
def scatter(input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Any:
    """Write a tensor or number at `index` along `dim`; `reduce` may "add" or "multiply" it. Raises RuntimeError: another."""
    what = value if src is None else src
    if reduce is not None:
        if isinstance(what, Tensor):
            warnings.warn(_DEPRECATED, UserWarning, stacklevel=2)
        refuse_if(reduce not in ("add", "multiply"), "reduce argument must be either add or multiply.")
        return gather_scatter.scatter_combined(input, what, dim=dim, index=index, reduce=reduce)
    if isinstance(what, Tensor):
        return gather_scatter.scatter(input, what, dim=dim, index=index)
    return gather_scatter.scatter_scalar(input, dim=dim, index=index, value=what)


@public("scatter_add", inplace=True)
@of_tensors
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Any:
    """Add `src` at `index` along `dim`."""
    return gather_scatter.scatter_add(input, src, dim=dim, index=index)


@public("index_add", inplace=True)
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Any:
    """Add the slices of `source`, times `alpha`, at `index` along `dim`."""
    return gather_scatter.index_add(input, source, dim=dim, index=index, alpha=alpha)


@public("index_copy", inplace=True)
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Any:
    """Write the slices of `source` at `index` along `dim`."""
    return gather_scatter.index_copy(input, source, dim=dim, index=index)


@public("index_fill", inplace=True)
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Any:
    """Write one value in the slices at `index` along `dim`."""
    if isinstance(value, Tensor):
        return gather_scatter.index_fill_tensor(input, value, dim=dim, index=index)
    return gather_scatter.index_fill_scalar(input, dim=dim, index=index, value=value)


@public("put", inplace=True)
@of_tensors
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Any:
    """Write (or add) `source` at `index`, an index into the flattened tensor."""
    return gather_scatter.put_values(input, source, index=index, accumulate=accumulate)


@public("take_along_dim")
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Any:
    """The elements at `indices` along `dim`, with other dimensions broadcast; without `dim`, of the flattened tensor.

    Raises RuntimeError: in PyTorch's words.
    """
    if indices.dtype.name != "int64":
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype.legacy}")
    if dim is None:
        return gather_scatter.gather(view(input, -1), dim=0, index=view(indices, -1))
    if input.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    dim = from_front(dim, input.ndim)
    beside = [tuple(1 if d == dim else n for d, n in enumerate(x.shape)) for x in (input, indices)]
    sizes = broadcast_shapes(*beside)
    wide, index = (expand(x, tuple(x.shape[d] if d == dim else n for d, n in enumerate(sizes))) for x in (input, indices))
    length = wide.shape[dim] if wide.ndim else 1
    if not ((index._data >= 0) & (index._data < length)).all():  # a negative index counts from the end
        index = Tensor(index._data % length)
    return gather_scatter.gather(wide, dim=dim, index=index)


@public("torch.unravel_index")
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The index in each dimension of a tensor of this shape, of indices into the flattened tensor.

    Raises TypeError: `indices` are not integers. ValueError: a negative length.
    """
    if indices._data.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    refuse_if(any(n < 0 for n in lengths), lambda: f"'shape' cannot have negative values, but got {lengths}", ValueError)
    steps = [int(np.prod(lengths[d + 1 :], dtype=int)) for d in range(len(lengths))]
    return tuple(Tensor(indices._data // step % n) for step, n in zip(steps, lengths, strict=True))
