"""Several tensors joined to one: cat, stack and related ops."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import promote
from ...base.names import reshape, slice_dim, split_with_lengths, unbind_dim
from ...op import composite, inlined, primitive, public
from ...tensor import Tensor, check_dim, refuse_if
from . import shape
from .diagonals import atleast_1d, atleast_2d, atleast_3d
from .views import expand, reshape_any


def common_type(arrays) -> Any:
    """The common type of all arrays."""
    return promote([(a.dtype, a.ndim, False) for a in arrays]) if arrays else None


@primitive("StackBackward0")
def stack_tensors(*tensors, dim):
    """The tensors as slices along a new dimension `dim`."""
    refuse_if(not tensors, "stack expects a non-empty TensorList")
    check_dim(dim, tensors[0].ndim + 1)
    for i, t in enumerate(tensors):
        if t.shape != tensors[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and "
                f"{list(t.shape)} at entry {i}"
            )
    return np.stack(tensors, dim, dtype=common_type(tensors))
stack_tensors.defvjp(tensors = lambda grad, dim: unbind_dim(grad, dim=dim))


@primitive("CatBackward0")
def cat_tensors(*tensors, dim):
    """The tensors, concatenated along `dim`. Empty vectors are ignored."""
    kept = [(i, t) for i, t in enumerate(tensors) if t.shape != (0,)]
    for i, t in enumerate(tensors):
        if t.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    check_dim(dim, kept[0][1].ndim if kept else 1)
    for i, t in kept[1:]:
        first = kept[0][1]
        if t.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {t.ndim}")
        for d, (a, b) in enumerate(zip(first.shape, t.shape, strict=True)):
            if a != b and d != dim % t.ndim:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim % t.ndim}. Expected size {a} but got size {b} for "
                    f"tensor number {i} in the list."
                )
    return np.concatenate([t for _, t in kept] or tensors, dim, dtype=common_type(tensors))


@primitive("BlockDiagBackward0")
def block_diag_tensors(*tensors):
    """A matrix with the given matrices along its diagonal, zeros elsewhere."""
    blocks = [t.reshape((1,) * (2 - t.ndim) + t.shape) for t in tensors]
    sizes = np.array([b.shape for b in blocks])
    out = np.zeros(sizes.sum(0), common_type(tensors))
    for block, (rows, columns) in zip(blocks, np.cumsum(sizes, axis=0) - sizes, strict=True):
        out[rows:rows + block.shape[0], columns:columns + block.shape[1]] = block
    return out
block_diag_tensors.defvjp(tensors = lambda grad, _tensors_sym_sizes: block_diag_backward(grad, _tensors_sym_sizes))


# fmt: on
@inlined
def cat_backward(grad: Any, dim: int, sizes: tuple[tuple[int, ...], ...]) -> Any:
    """The parts of grad that belong to the inputs."""
    if (0,) not in sizes:
        return split_with_lengths(grad, split_sizes=tuple(s[dim] for s in sizes), dim=dim)
    lengths = tuple(0 if s == (0,) else s[dim] for s in sizes)
    parts = split_with_lengths(grad, split_sizes=lengths, dim=dim)
    return tuple(reshape(parts[i], s) if s == (0,) else parts[i] for i, s in enumerate(sizes))


@inlined
def block_diag_backward(grad: Any, sizes: tuple[tuple[int, ...], ...]) -> Any:
    """The blocks of grad that belong to the inputs."""
    blocks = [(1,) * (2 - len(s)) + s for s in sizes]
    starts = (np.cumsum(blocks, axis=0) - np.asarray(blocks)).tolist()
    out = []
    for (row, column), (height, width), size in zip(starts, blocks, sizes, strict=True):
        rows = slice_dim(grad, dim=0, start=row, end=row + height, step=1)
        out.append(reshape(slice_dim(rows, dim=1, start=column, end=column + width, step=1), size))
    return tuple(out)


@composite
def stack(tensors: Any, dim: int = 0) -> Any:
    """Join tensors of one shape along a new dimension."""
    return stack_tensors(*tensors, dim=dim)


@composite
def cat(tensors: Any, dim: int = 0) -> Any:
    """Join tensors along an existing dimension."""
    return cat_tensors(*tensors, dim=dim)


def tensor_list(name: str, tensors: Any) -> tuple[Tensor, ...]:
    """A list of tensors as a tuple."""
    if not isinstance(tensors, list | tuple):
        kind = type(tensors).__name__
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {kind}")
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(t).__name__}")
    return tuple(tensors)


@public("torch.stack")
def stack_list(tensors: Any, dim: int = 0) -> Any:
    """Join tensors of one shape along a new dimension."""
    return stack_tensors(*tensor_list("stack", tensors), dim=dim)


@public("torch.cat", "torch.concat", "torch.concatenate")
def cat_list(tensors: Any, dim: int = 0, *, axis: int | None = None) -> Any:
    """Join tensors along an existing dimension. Raises ValueError: an empty list."""
    given = tensor_list("cat", tensors)
    refuse_if(not given, "torch.cat(): expected a non-empty list of Tensors", ValueError)
    return cat_tensors(*given, dim=dim if axis is None else axis)


@public("torch.hstack")
def hstack(tensors: Any) -> Any:
    """Join side by side: along dimension 1, vectors along dimension 0."""
    given = atleast_1d(*tensor_list("hstack", tensors)) if len(tensors) > 1 else (atleast_1d(tensors[0]),)
    return cat_list(given, 0 if given[0].ndim == 1 else 1)


@public("torch.vstack", "torch.row_stack")
def vstack(tensors: Any) -> Any:
    """Join below each other: along dimension 0. A vector is a row."""
    return cat_list(tuple(atleast_2d(t) for t in tensor_list("vstack", tensors)), 0)


@public("torch.dstack")
def dstack(tensors: Any) -> Any:
    """Join behind each other: along dimension 2."""
    return cat_list(tuple(atleast_3d(t) for t in tensor_list("dstack", tensors)), 2)


@public("torch.column_stack")
def column_stack(tensors: Any) -> Any:
    """Join side by side. A vector is a column."""
    given = tensor_list("column_stack", tensors)
    return cat_list(tuple(reshape_any(t, (t.numel(), 1)) if t.ndim <= 1 else t for t in given), 1)


@public("torch.block_diag")
def block_diag(*tensors: Any) -> Any:
    """A matrix with the given matrices along its diagonal. Raises RuntimeError: a tensor has more than two dimensions."""
    for i, t in enumerate(tensors):
        if t.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {t.ndim} dimensions"
            )
    return block_diag_tensors(*tensors) if tensors else Tensor(np.zeros((1, 0), np.float32))


@public("torch.meshgrid")
def meshgrid(*tensors: Any, indexing: str = "ij") -> Any:
    """The coordinates of a grid: tensor i varies along dimension i; "xy" swaps two. Raises RuntimeError: as in PyTorch."""
    given = tuple(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    refuse_if(not given, "meshgrid expects a non-empty TensorList")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    refuse_if(any(t.dtype is not given[0].dtype for t in given), "meshgrid expects all tensors to have the same dtype")
    for t in given:
        if t.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {t}")
    order = [1, 0, *range(2, len(given))] if indexing == "xy" and len(given) > 1 else list(range(len(given)))
    sizes = tuple(given[i].numel() for i in order)
    apart = (tuple(t.numel() if i == k else 1 for k in order) for i, t in enumerate(given))
    return tuple(expand(shape.view_sizes(t, size=s), sizes) for t, s in zip(given, apart, strict=True))
