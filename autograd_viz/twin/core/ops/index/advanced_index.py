"""Advanced indexing, x[mask] and x[[0, 2], [1, 1]], and elements chosen by a mask."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.memory import laid_out_for, steps_in
from ...base.names import new_zeros, sum_all, where, zeros_like
from ...op import primitive, public, public_primitive, public_row, row, writer
from ...tensor import Tensor, check_broadcast, fitted, of_tensors, refuse_if, scalar_type


def for_numpy(array, indices) -> tuple[Any, ...]:
    """The index in NumPy's form, after PyTorch's checks."""
    out: list[Any] = []
    shapes: list[list[int]] = []
    dim = 0
    for given in indices:
        if given is None:
            out.append(slice(None))
            dim += 1
            continue
        i = as_index(given)
        taken = i.ndim if i.dtype == bool else 1
        if dim + taken > array.ndim:
            raise IndexError(f"too many indices for tensor of dimension {array.ndim} (got {max(dim + taken, len(indices))})")
        if i.dtype == bool:
            check_mask(array, i, dim)
        out += np.nonzero(i) if i.dtype == bool else [i]
        shapes.append([int(i.sum())] if i.dtype == bool else list(i.shape))
        dim += taken
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(map(str, shapes))
        raise IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {listed}") from None
    check_bounds(array, out)
    return tuple(out)


def as_index(index) -> Any:
    """A mask or integer indices. As in PyTorch, bytes are a mask."""
    if index.dtype == np.uint8:
        return index.astype(bool)
    if index.dtype != bool and index.dtype not in (np.int32, np.int64):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return index


def check_mask(array, mask, dim) -> None:
    """Refuse a mask whose shape is not that of the indexed dimensions."""
    for d in range(mask.ndim):
        if mask.shape[d] != array.shape[dim + d]:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {d} does not match the shape of the indexed tensor "
                f"{list(array.shape)} at index {dim + d}"
            )


def check_bounds(array, indices) -> None:
    """Refuse an index out of bounds. The message counts only the indexed dimensions."""
    indexed = [(i, length) for i, length in zip(indices, array.shape, strict=False) if type(i) is not slice]
    for place, (index, length) in enumerate(indexed):
        if (bad := index[(index < -length) | (index >= length)]).size:
            raise IndexError(f"index {bad.flat[0]} is out of bounds for dimension {place} with size {length}")


def picked_at(array, at) -> Any:
    """array[at], a copy in the memory order that PyTorch gives it."""
    found = array[at]
    if found.ndim < 2 or (array.flags.c_contiguous and all(type(i) is slice or i.flags.c_contiguous for i in at)):
        return np.asarray(found, order="C")
    places = [d for d, i in enumerate(at) if type(i) is not slice]
    shape = np.broadcast_shapes(*(at[d].shape for d in places))
    first = places[0] if places[-1] - places[0] < len(places) else 0  # indices that are apart put their dimensions in front
    rest = [step for d, step in enumerate(array.strides) if d not in places]
    own = [*rest[:first], *[0] * len(shape), *rest[first:]]
    before, after = [0] * first, [0] * (found.ndim - first - len(shape))
    return laid_out_for(found, [own, *([*before, *steps_in(at[d], shape), *after] for d in places)])


index_tensors = row("index_tensors", "IndexBackward0", "The elements at these indices, as a copy.",
    lambda self, *, indices: picked_at(self, for_numpy(self, indices)),
    self = lambda grad, self_sym_sizes, indices:
        index_put_tensors(new_zeros(grad, size=self_sym_sizes), grad, indices=indices, accumulate=True))


@primitive("IndexPutBackward0")
def index_put_tensors(self, values, *, indices, accumulate=False):
    """A copy of self with `values` at these indices."""
    out, at, values = self.copy(), for_numpy(self, indices), np.asarray(values)
    wanted = out[at].shape
    lead = values.ndim - len(wanted)
    if lead > 0 and values.shape[:lead] == (1,) * lead:
        values = values.reshape(values.shape[lead:])
    if values.ndim > len(wanted) or any(v not in (1, w) for v, w in zip(values.shape[::-1], wanted[::-1], strict=False)):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of shape "
            f"{list(wanted)}"
        )
    if accumulate:
        np.add.at(out, at, values)
    else:
        out[at] = values
    return out
index_put_tensors.defvjp(
    self   = lambda grad, indices, accumulate: (
        grad if accumulate else index_put_tensors(grad, 0, indices=indices, accumulate=False)),
    values = lambda grad, indices: index_tensors(grad, indices=indices))


def checked_mask(name, array, mask, spelled) -> Any:
    """The mask, if it is bool and its shape fits."""
    if mask.dtype.kind != "b":
        raise RuntimeError(f"{name} only supports boolean masks, but got mask with dtype {spelled(mask.dtype)}")
    check_broadcast(Tensor(mask), Tensor(array))
    return mask


def c_name(kind) -> str:
    """The C++ name of a type, for messages."""
    names = {"float32": "float", "float64": "double", "int64": "long long", "int32": "int", "uint8": "unsigned char"}
    return names.get(kind.name, kind.name)


masked_fill_scalar = row("masked_fill_scalar", "MaskedFillBackward0", "A copy of self with one number where the mask is True.",
    lambda self, *, mask, value: np.where(checked_mask("masked_fill_", self, mask, c_name), fitted(value, self.dtype), self),
    self = lambda grad, mask: masked_fill_scalar(grad, mask=mask, value=0))


@primitive("MaskedFillBackward1")
def masked_fill_tensor(self, value, *, mask):
    """A copy of self with the value of a 0-d tensor where the mask is True."""
    refuse_if(value.ndim, lambda:
        f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s).")
    return np.where(checked_mask("masked_fill_", self, mask, c_name), value.astype(self.dtype), self)
masked_fill_tensor.defvjp(
    self  = lambda grad, mask: masked_fill_scalar(grad, mask=mask, value=0),
    value = lambda grad, mask: sum_all(where(mask, grad, zeros_like(grad))))


@public_primitive("masked_select", "MaskedSelectBackward0")
def masked_select(self, *, mask):
    """The elements where the mask is True, as a vector. Raises RuntimeError: the mask is not bool."""
    refuse_if(mask.dtype.kind != "b", "masked_select: expected BoolTensor for mask")
    check_broadcast(Tensor(self), Tensor(mask))
    whole, chosen = np.broadcast_arrays(self, mask)
    return whole[chosen]
masked_select.defvjp(self = lambda grad, self, mask: masked_scatter_values(zeros_like(self), grad, mask=mask))


@primitive("MaskedScatterBackward0", written=writer("masked_scatter"))
def masked_scatter_values(self, source, *, mask):
    """A copy of self, filled with consecutive elements of `source` where the mask is True."""
    checked_mask("masked_scatter_", self, mask, lambda d: d.name.capitalize().rstrip("0123456789"))
    if self.dtype != source.dtype:
        kinds = f"{scalar_type(self)} and {scalar_type(source)}"
        raise RuntimeError(f"masked_scatter: expected self and source to have same dtypes but got{kinds}")
    whole, chosen = (np.array(a) for a in np.broadcast_arrays(self, mask))
    count = int(chosen.sum())
    refuse_if(count > source.size, "Number of elements of source < number of ones in mask")
    whole[chosen] = source.reshape(-1)[:count]
    return whole
masked_scatter_values.defvjp(
    self   = lambda grad, mask: masked_fill_scalar(grad, mask=mask, value=0),
    source = lambda grad, mask, source_sym_sizes: masked_scatter_backward(grad, mask=mask, sizes=source_sym_sizes))


@primitive("MaskedScatterBackwardBackward0")
def masked_scatter_backward(grad_output, *, mask, sizes):
    """The elements where the mask is True, in order, in the shape `sizes`. Unused elements are zeros."""
    taken = grad_output[np.broadcast_to(mask, grad_output.shape)]
    out = np.zeros(int(np.prod(sizes)), grad_output.dtype)
    out[: taken.size] = taken
    return out.reshape(sizes)
masked_scatter_backward.defvjp(grad_output = lambda grad, grad_output_sym_sizes, mask:
    masked_scatter_values(new_zeros(grad, size=grad_output_sym_sizes), grad, mask=mask))


argwhere = public_row("argwhere", "", "The indices of the nonzero elements, one row for each.",
    lambda self: np.argwhere(self).astype(np.int64))
nonzero_along_dims = row("nonzero_along_dims", "", "The indices of the nonzero elements, one vector per dimension.",
    lambda self: tuple(i.astype(np.int64, copy=False) for i in np.nonzero(self if self.ndim else self.reshape(1))),
    several=True)


# fmt: on
@public(inplace=True)
@of_tensors
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Any:
    """Write (or add) `values` at indices, a tensor for each of the first dimensions. Raises RuntimeError: of another type."""
    result = index_put_tensors(input, values, indices=tuple(indices), accumulate=accumulate)
    fills_mask = len(indices) == 1 and indices[0].dtype.name == "bool" and values.numel() == 1
    if input.dtype is not values.dtype and not fills_mask:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {input.dtype.legacy} for the destination and "
            f"{values.dtype.legacy} for the source."
        )
    return result


@public(inplace=True)
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Any:
    """One value (a number or a 0-d tensor) where the mask is True."""
    if isinstance(value, Tensor):
        return masked_fill_tensor(input, value, mask=mask)
    return masked_fill_scalar(input, mask=mask, value=value)


@public(inplace=True)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Any:
    """Consecutive elements of `source` where the mask is True."""
    return masked_scatter_values(input, source, mask=mask)


@public
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The indices of the nonzero elements: a matrix with one row each, or (as_tuple) a vector per dimension."""
    return nonzero_along_dims(input) if as_tuple else argwhere(input)
