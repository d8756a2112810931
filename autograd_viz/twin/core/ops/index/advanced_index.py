"""Advanced indexing: x[mask], x[[0, 2], [1, 1]]. Each dimension has a tensor of indices, or None for ':'."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.memory import laid_out_for, steps_in
from ...base.names import new_zeros
from ...op import primitive, public, row
from ...tensor import Tensor, of_tensors


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


# fmt: on
@public(inplace=True)
@of_tensors
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Any:
    """Write (or add) `values` at these indices. There is one index tensor for each of the first dimensions.

    Raises RuntimeError: `values` has another type.
    """
    result = index_put_tensors(input, values, indices=tuple(indices), accumulate=accumulate)
    fills_mask = len(indices) == 1 and indices[0].dtype.name == "bool" and values.numel() == 1
    if input.dtype is not values.dtype and not fills_mask:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {input.dtype.legacy} for the destination and "
            f"{values.dtype.legacy} for the source."
        )
    return result
