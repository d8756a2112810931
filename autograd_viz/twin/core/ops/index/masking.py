"""Elements chosen by a mask of bools: masked_fill, masked_select, masked_scatter."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import new_zeros, sum_all, where, zeros_like
from ...op import primitive, public, public_primitive, public_row, row, writer
from ...tensor import Tensor, check_broadcast, fitted, refuse_if, scalar_type


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
    if value.ndim:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
        )
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
