"""Read and write elements by indices along one dimension: gather, scatter, index_select, index_add.

The gradient of reading is adding, and the gradient of adding is reading.
"""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import maybe_multiply, new_zeros, no_derivative, reshape, sum_all, zeros_like
from ...op import composite, inlined, primitive, public_primitive, row, writer
from ...tensor import check_dim, from_front, refuse_if, scalar_type
from ..shape.slicing import along


def bounded(index, length, dim, error=RuntimeError, prefix="") -> Any:
    """The indices, if they are in range for a dimension of this length."""
    if (bad := index[(index < 0) | (index >= length)]).size:
        raise error(f"{prefix}index {bad.flat[0]} is out of bounds for dimension {dim} with size {length}")
    return index


def spots(array, dim, index) -> tuple[Any, ...]:
    """The NumPy index of the elements [i, index[i, j], k] for all i, j, k (dim = 1)."""
    if index.ndim != max(array.ndim, 1) and index.size:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    dim = from_front(dim, array.ndim)
    grid = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    grid[dim] = bounded(index, array.shape[dim], dim)
    return tuple(grid)


def with_a_dimension(*arrays) -> list[Any]:
    """The arrays; 0-d arrays become vectors of one element."""
    return [a if a is None or np.ndim(a) else np.reshape(a, 1) for a in arrays]


def check_index(name, index) -> None:
    """Refuse indices that are not integers."""
    if index.size and (index.dtype.kind not in "iu" or index.dtype.itemsize < 4):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")


def check_fits(index, array, dim, src=None) -> None:
    """Refuse an index tensor that is larger than the indexed array."""
    if src is not None and src.ndim < index.ndim:
        check_dim(src.ndim, src.ndim)
    larger = any(i > n for d, (i, n) in enumerate(zip(index.shape, array.shape, strict=False)) if d != dim % array.ndim)
    beyond = src is not None and any(i > n for i, n in zip(index.shape, src.shape, strict=False))
    if larger or beyond:
        tail = "" if src is None else f" and to be no larger size than src {list(src.shape)}"
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(array.shape)} apart from dimension "
            f"{dim % array.ndim}{tail}"
        )


@public_primitive("gather", "GatherBackward0")
def gather(self, *, dim, index, sparse_grad=False):
    """out[i, j] = self[i, index[i, j]] for dim = 1. Raises RuntimeError: `index` is larger than `self`."""
    check_index("gather", index)
    check_dim(dim, self.ndim)
    array, places = with_a_dimension(self, index)
    for d, (i, n) in enumerate(zip(places.shape, array.shape, strict=False)):
        if i > n and d != from_front(dim, array.ndim):
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(index.shape)} to be no larger than self "
                f"{list(self.shape)} apart from dimension {dim % array.ndim}"
            )
    return array[spots(array, dim, places)].reshape(index.shape) if index.size else np.zeros(index.shape, self.dtype)
gather.defvjp(self = lambda grad, self, dim, index, sparse_grad: scatter_add(zeros_like(self), grad, dim=dim, index=index))


def scattered(self, dim, index, src, write, name="scatter") -> Any:
    """A copy of `self`, changed by `write(copy, spots, values)`."""
    check_index(name, index)
    out, places = with_a_dimension(self.copy(), index)
    check_dim(dim, out.ndim)
    refuse_if(np.ndim(src) and src.dtype != self.dtype, "scatter(): Expected self.dtype to be equal to src.dtype")
    if places.size:
        check_fits(places, out, dim, src if np.ndim(src) else None)
        write(out, spots(out, dim, places), src[tuple(slice(n) for n in places.shape)] if np.ndim(src) else src)
    return out.reshape(self.shape)


scatter = row("scatter", "ScatterBackward0", "A copy of self with out[i, index[i, j]] = src[i, j] for dim = 1.",
    lambda self, src, *, dim, index: scattered(self, dim, index, src, np.ndarray.__setitem__),
    self = lambda grad, dim, index: scatter_scalar(grad, dim=dim, index=index, value=0),
    src  = lambda grad, dim, index: gather(grad, dim=dim, index=index))
scatter_scalar = row("scatter_scalar", "ScatterBackward1", "A copy of self with out[i, index[i, j]] = value for dim = 1.",
    lambda self, *, dim, index, value: scattered(self, dim, index, value, np.ndarray.__setitem__),
    self = lambda grad, dim, index: scatter_scalar(grad, dim=dim, index=index, value=0))
scatter_combined = row("scatter_combined", "torch::autograd::NotImplemented",
    "A copy of self, with src[i, j] added to or multiplied into out[i, index[i, j]] for dim = 1.",
    lambda self, src, *, dim, index, reduce:
        scattered(self, dim, index, src, {"add": np.add, "multiply": np.multiply}[reduce].at),
    self = lambda grad: no_derivative("scatter"),
    src  = lambda grad: no_derivative("scatter"))
scatter_add = row("scatter_add", "ScatterAddBackward0", "A copy of self with out[i, index[i, j]] += src[i, j] for dim = 1.",
    lambda self, src, *, dim, index: scattered(self, dim, index, src, np.add.at, "scatter_add"),
    self = lambda grad: grad,
    src  = lambda grad, dim, index: gather(grad, dim=dim, index=index))


@public_primitive("index_select", "IndexSelectBackward0")
def index_select(self, *, dim, index):
    """The slices along `dim` at these indices.

    Raises IndexError: `index` is not a vector, or is out of range. RuntimeError: `index` is not int32 or int64.
    """
    refuse_if(index.ndim > 1, "index_select(): Index is supposed to be a vector", IndexError)
    refuse_if(index.dtype.kind != "i" or index.dtype.itemsize < 4, "index_select(): Expected dtype int32 or int64 for index")
    length = (self.shape or (1,))[check_dim(dim, self.ndim)]
    if not self.ndim and index.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)")
    refuse_if(index.size and not 0 <= index.min() <= index.max() < length, "index out of range in self", IndexError)
    return self.take(index.reshape(-1), dim) if self.ndim else self.copy()
index_select.defvjp(self = lambda grad, self_sym_sizes, dim, index:
    index_add(new_zeros(grad, size=self_sym_sizes), grad, dim=dim, index=index))


def slices(name, array, dim, index, source) -> tuple[Any, ...]:
    """The NumPy index of the slices along `dim` at these indices. Their number must be that of `source`."""
    length = array.shape[check_dim(dim, array.ndim)]
    check_slices(name, array, dim, index, source)
    if source.ndim and source.shape[dim] != index.size:
        text = f"{name}_(): Number of indices ({index.size}) should be equal to source.size(dim)"
        refuse_if(name == "index_copy", lambda: f"{text} ({source.shape[dim]})", IndexError)
        raise RuntimeError(f"{text}: ({source.shape[dim]}), for dim: {dim}")
    error, prefix = (IndexError, "index_copy_(): ") if name == "index_copy" else (RuntimeError, "")
    return along(array, dim, bounded(index.reshape(-1), length, dim, error, prefix))


@primitive("IndexAddBackward0")
def index_add(self, source, *, dim, index, alpha=1):
    """A copy of self with the slices of `source` added at these indices along `dim`."""
    out, part = with_a_dimension(self.copy(), source)
    np.add.at(out, slices("index_add", out, dim, index, part), part if alpha == 1 else alpha * part)
    return out.reshape(self.shape)
index_add.defvjp(
    self   = lambda grad: grad,
    source = lambda grad, dim, index, source, source_dim, alpha: maybe_multiply(picked(grad, dim, index, source_dim), alpha))


@primitive("IndexCopyBackward0")
def index_copy(self, source, *, dim, index):
    """A copy of self with the slices of `source` at these indices along `dim`."""
    out, part = with_a_dimension(self.copy(), source)
    out[slices("index_copy", out, dim, index, part)] = part
    return out.reshape(self.shape)
index_copy.defvjp(
    self   = lambda grad, dim, index: index_fill_scalar(grad, dim=dim, index=index, value=0),
    source = lambda grad, dim, index, source, source_dim: picked(grad, dim, index, source_dim))


@primitive("IndexFillBackward0")
def index_fill_scalar(self, *, dim, index, value):
    """A copy of self with one value in the slices at these indices along `dim`."""
    (out,) = with_a_dimension(self.copy("K"))
    length = out.shape[check_dim(dim, out.ndim)]
    refuse_if(index.ndim > 1, "Index has to be a vector/scalar")
    refuse_if(index.dtype != np.int64, "index_fill_(): Expected dtype int64 for index.", IndexError)
    front = np.where(index < 0, index + length, index).reshape(-1)
    bounded(np.where((front < 0) | (front >= length), index.reshape(-1), 0), length, dim, IndexError)
    out[along(out, dim, front)] = value
    return out.reshape(self.shape)
index_fill_scalar.defvjp(self = lambda grad, dim, index: index_fill_scalar(grad, dim=dim, index=index, value=0))


@primitive("IndexFillBackward1")
def index_fill_tensor(self, value, *, dim, index):
    """A copy of self with the value of a 0-d tensor in the slices at these indices along `dim`."""
    refuse_if(value.ndim, lambda:
        f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s).")
    return index_fill_scalar.forward(self, dim=dim, index=index, value=value)
index_fill_tensor.defvjp(
    self  = lambda grad, dim, index: index_fill_scalar(grad, dim=dim, index=index, value=0),
    value = lambda grad, dim, index: sum_all(index_select(grad, dim=dim, index=distinct(index))))


distinct = row("distinct", "", "Unique values.", lambda self: np.unique(self))


def check_reach(index, array) -> None:
    """Refuse indices out of range."""
    if (bad := index[(index < -array.size) | (index >= array.size)]).size:
        raise IndexError(f"out of range: tried to access index {bad.flat[0]} on a tensor of {array.size} elements.")


@public_primitive("take", "TakeBackward0")
def take(self, *, index):
    """The elements at these indices into the flattened tensor."""
    refuse_if(index.dtype != np.int64, lambda: f"take(): Expected a long tensor for index, but got {scalar_type(index)}")
    check_reach(index, self)
    return self.reshape(-1)[index]
take.defvjp(self = lambda grad, self, index: put_values(zeros_like(self), grad, index=index, accumulate=True))


@primitive("PutBackward0", written=writer("put"))
def put_values(self, source, *, index, accumulate=False):
    """A copy of self, with `source` at these indices into the flattened tensor."""
    source = np.asarray(source)
    if source.ndim and source.dtype != self.dtype:
        kinds = f"self.dtype = {scalar_type(self)} and source.dtype = {scalar_type(source)}"
        raise RuntimeError(f"put_(): self and source expected to have the same dtype, but got {kinds}")
    refuse_if(source.size != index.size and source.ndim, lambda:
        "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
        f"{source.size}, index.numel() = {index.size}", IndexError)
    check_reach(index, self)
    out = self.reshape(-1).copy()
    if accumulate:
        np.add.at(out, index, source.reshape(index.shape))
    else:
        out[index] = source if not source.ndim else source.reshape(index.shape)
    return out.reshape(self.shape)
put_values.defvjp(
    self   = lambda grad, index, accumulate: grad if accumulate else put_values(grad, 0, index=index, accumulate=False),
    source = lambda grad, index, source, accumulate: reshape_as(take(grad, index=index), source))


@composite
def reshape_as(input: Any, other: Any) -> Any:
    """The elements in the shape of `other`."""
    return reshape(input, other.shape)


@inlined
def picked(grad: Any, dim: int, index: Any, source_dim: int) -> Any:
    """The slices of grad at the indices. A 0-d source is one element."""
    part = index_select(grad, dim=dim, index=index)
    return part if source_dim else reshape(part, ())


def check_slices(name: str, self: Any, dim: int, index: Any, source: Any) -> None:
    """Refuse an index that is not a vector of integers, and a source whose slices are not those of `self`."""
    refuse_if(index.ndim > 1, lambda: f"{name}_(): Index should have dimension 1 or 0 (got {index.ndim})", IndexError)
    if name == "index_copy":
        _check_copy(self, dim, index, source)
        return
    if index.dtype not in (np.int32, np.int64):
        raise RuntimeError(f"{name}_(): Expected dtype int32/int64 for index but got: {scalar_type(index)}")
    if self.dtype != source.dtype:
        kinds = f"self ({scalar_type(self)}) and source ({scalar_type(source)})"
        raise RuntimeError(f"{name}_(): {kinds} must have the same scalar type")
    refuse_if(self.ndim and source.ndim and _slice(self, dim) != _slice(source, dim), lambda:
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
        f"{list(self.shape)} source.shape = {list(source.shape)}")


def _check_copy(self: Any, dim: int, index: Any, source: Any) -> None:
    if self.dtype != source.dtype:
        kinds = f"(self) {scalar_type(self)} and (source) {scalar_type(source)}"
        raise RuntimeError(f"index_copy_(): self and source expected to have the same dtype, but got {kinds}")
    refuse_if(self.ndim != source.ndim and self.ndim and source.ndim, lambda:
        "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
        f"dimensionality ({source.ndim}), destination dimensionality ({self.ndim})", IndexError)
    refuse_if(index.dtype != np.int64, lambda: f"index_copy_(): Expected a long tensor for index, but got {scalar_type(index)}")
    if self.ndim and source.ndim and _slice(self, dim) != _slice(source, dim):
        sizes, others = (" ".join(map(str, _slice(a, dim))) for a in (self, source))
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{sizes} at dimension {dim} and source slice shape: {others} at dimension 0."
        )


def _slice(array: Any, dim: int) -> tuple[int, ...]:
    """The shape of a slice."""
    return tuple(n for d, n in enumerate(array.shape) if d != dim % array.ndim)
