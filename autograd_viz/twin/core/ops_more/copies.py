"""Views as copies: the same rule, but new memory (x.view_copy, PyTorch's ViewBackward0_copy)."""

from __future__ import annotations

import inspect
from typing import Any

from ..base.public import public
from ..op.primitive import Primitive, primitive
from ..ops.shape import shape, slicing, strided
from ..ops.shape.views import complete_sizes, expanded_sizes
from ..tensor.arguments import distinct_dims
from ..tensor.tensor import Tensor


def copied(view: Primitive) -> Primitive:
    """The op that returns a copy of the result of `view`."""

    def forward(self: Any, **options: Any) -> Any:
        result = view.forward(self, **options)
        return tuple(r.copy() for r in result) if view.several else result.copy()

    forward.__name__, forward.__doc__ = f"{view.name}_copy", f"A copy: {view.__doc__}"
    forward.__signature__ = inspect.signature(view.forward)  # type: ignore[attr-defined]
    copy = primitive(f"{view.node_name}_copy", several=view.several)(forward)
    copy.defvjp(self=view.rules[0].on_arrays)
    return copy


alias_copy = public("torch.alias_copy")(copied(shape.alias))
t_copy = public("torch.t_copy")(copied(shape.t))
transpose_copy = public("torch.transpose_copy")(copied(shape.transpose_dims))
unsqueeze_copy = public("torch.unsqueeze_copy")(copied(shape.unsqueeze))
select_copy = public("torch.select_copy")(copied(slicing.select))
slice_copy = public("torch.slice_copy")(copied(slicing.slice_dim))
diagonal_copy = public("torch.diagonal_copy")(copied(slicing.diagonal))
unfold_copy = public("torch.unfold_copy")(copied(slicing.unfold_windows))

view_sizes_copy, expand_sizes_copy = copied(shape.view_sizes), copied(shape.expand_sizes)
permute_dims_copy = copied(shape.permute_dims)
squeeze_all_copy, squeeze_dim_copy = copied(shape.squeeze_all), copied(shape.squeeze_dim)
squeeze_dims_copy = copied(shape.squeeze_dims)
unbind_dim_copy, split_equally_copy = copied(slicing.unbind_dim), copied(slicing.split_equally)
split_with_lengths_copy, as_strided_values_copy = copied(slicing.split_with_lengths), copied(strided.as_strided)


@public("torch.view_copy")
def view_copy(input: Tensor, size: Any) -> Any:
    """A copy in another shape."""
    return view_sizes_copy(input, size=complete_sizes(tuple(size), input.numel()))


@public("torch.expand_copy")
def expand_copy(input: Tensor, size: Any, *, implicit: bool = False) -> Any:
    """A copy, expanded along dimensions of length 1."""
    return expand_sizes_copy(input, size=expanded_sizes(input, tuple(size)))


@public("torch.permute_copy")
def permute_copy(input: Tensor, dims: Any) -> Any:
    """A copy with its dimensions in another order."""
    distinct_dims(tuple(dims), input.ndim)
    return permute_dims_copy(input, dims=tuple(dims))


@public("torch.squeeze_copy")
def squeeze_copy(input: Tensor, dim: Any = None) -> Any:
    """A copy without dimensions of length 1."""
    if dim is None:
        return squeeze_all_copy(input)
    return squeeze_dim_copy(input, dim=dim) if isinstance(dim, int) else squeeze_dims_copy(input, dim=tuple(dim))


@public("torch.unbind_copy")
def unbind_copy(input: Tensor, dim: int = 0) -> Any:
    """All slices along `dim`, as copies."""
    return unbind_dim_copy(input, dim=dim)


@public("torch.split_copy")
def split_copy(input: Tensor, split_size: int, dim: int = 0) -> Any:
    """Pieces of one length, as copies."""
    return split_equally_copy(input, split_size=split_size, dim=dim)


@public("torch.split_with_sizes_copy")
def split_with_sizes_copy(input: Tensor, split_sizes: Any, dim: int = 0) -> Any:
    """Pieces of the given lengths, as copies."""
    return split_with_lengths_copy(input, split_sizes=tuple(split_sizes), dim=dim)


@public("torch.as_strided_copy")
def as_strided_copy(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """A copy of the view of the memory of `input` with these sizes and strides."""
    before = input.storage_offset()
    return as_strided_values_copy(input, size=tuple(size), stride=tuple(stride), storage_offset=storage_offset, before=before)
