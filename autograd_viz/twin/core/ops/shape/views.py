"""The user's calls of views: sizes in any form, dims from either end, and PyTorch's errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ...base.dtypes import dtype
from ...op import public, renamed
from ...tensor import SEVERAL, Size, Tensor, check_broadcast, check_expands, distinct_dims, from_front, of_tensors, refuse_if
from . import shape


def listed(values: tuple[Any, ...], function: str = "", missing: str = "") -> tuple[int, ...]:
    """`(2, 3)` from f(2, 3) or f((2, 3))."""
    if not values and function:
        raise TypeError(f'{function}() missing 1 required positional arguments: "{missing}"')
    given = values[0] if len(values) == 1 and isinstance(values[0], SEVERAL) else values
    for v in given:
        if type(v) is not int:
            return tuple(map(int, given))
    return tuple(given)


def of_dims(method: Callable[..., Any]) -> Callable[..., Any]:
    """Publish a method that takes its dims in any form, and the function of its name, which takes a tuple of them."""
    name = method.__name__.removesuffix("_any")

    @wraps(method)
    def function(input: Tensor, dims: Any) -> Any:
        if not isinstance(dims, SEVERAL):
            raise TypeError(f"{name}(): argument 'dims' (position 2) must be tuple of ints, not {type(dims).__name__}")
        return method(input, dims)

    public(f"torch.{name}")(function)
    return public(f"Tensor.{name}")(method)


def complete_sizes(sizes: tuple[int, ...], numel: int) -> tuple[int, ...]:
    """The sizes, with -1 replaced by the remaining length."""
    if -1 not in sizes and math.prod(sizes) == numel and min(sizes, default=0) >= 0:
        return tuple(sizes)
    for i, s in enumerate(sizes):
        if s < -1:
            raise RuntimeError(f"invalid shape dimension {s} at index {i} of shape {list(sizes)}")
    refuse_if(sizes.count(-1) > 1, "only one dimension can be inferred")
    known = math.prod(s for s in sizes if s != -1)
    if -1 in sizes and known == numel == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(sizes)} because the unspecified dimension size -1 can be "
            "any value and is ambiguous"
        )
    full = tuple(numel // known if s == -1 and known else s for s in sizes)
    refuse_if(math.prod(full) != numel or -1 in full, lambda: f"shape '{list(sizes)}' is invalid for input of size {numel}")
    return full


def fits_in_memory(input: Tensor, size: tuple[int, ...]) -> bool:
    """Can this shape be a view of the same memory?"""
    return input._data.flags.c_contiguous or not input.numel() or np.may_share_memory(input._data, input._data.reshape(size))


@public("Tensor.view")
def view(input: Tensor, *size: Any) -> Any:
    """The same memory in another shape, or bits as another type. Raises RuntimeError: the size or the memory forbids it."""
    if len(size) == 1 and isinstance(size[0], dtype):
        return shape.view_bits(input, dtype=size[0])
    sizes = complete_sizes(listed(size, "view", "size"), input.numel())
    if not fits_in_memory(input, sizes):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return shape.view_sizes(input, size=sizes)


@public("reshape")
def reshape_any(input: Tensor, *shape_: Any, **named: Any) -> Any:
    """Another shape: a view if the memory allows, else a copy."""
    sizes = complete_sizes(listed(shape_ or tuple(named.values()), "reshape", "shape"), input.numel())
    if input._data.flags.c_contiguous:
        return shape.view_sizes(input, size=sizes)
    if fits_in_memory(input, sizes):
        return shape.reshape_alias(input, size=sizes)
    return shape.unsafe_view(shape.clone(input, memory_format="contiguous"), size=sizes)


@public
def ravel(input: Tensor) -> Any:
    """All elements in one dimension."""
    return view(contiguous(input), -1)


@public("Tensor.contiguous")
def contiguous(input: Tensor, memory_format: Any = None) -> Any:
    """The elements in row-major order without gaps; the tensor itself if it is already so."""
    return input if input._data.flags.c_contiguous else shape.clone(input, memory_format="contiguous")


@public
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The dimensions from `start_dim` to `end_dim`, merged. Raises RuntimeError: start_dim is after end_dim."""
    if input.ndim == 0:
        return reshape_any(input, (1,))
    first, last = from_front(start_dim, input.ndim), from_front(end_dim, input.ndim)
    refuse_if(first > last, "flatten() has invalid args: start_dim cannot come after end_dim")
    if first == last:
        return input
    joined = math.prod(input.shape[first : last + 1])
    return reshape_any(input, (*input.shape[:first], joined, *input.shape[last + 1 :]))


@public
def unflatten(input: Tensor, dim: int, sizes: Any) -> Any:
    """One dimension, split into several. Raises RuntimeError: the product of the lengths is not its length."""
    dim = from_front(dim, input.ndim)
    refuse_if(not len(sizes), "unflatten: sizes must be non-empty")
    known = math.prod(s for s in sizes if s != -1)
    length = input.shape[dim]
    if length % known if -1 in sizes and known else length != known:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({length}) in the input tensor"
        )
    full = [length // known if s == -1 else s for s in sizes]
    return view(input, *input.shape[:dim], *full, *input.shape[dim + 1 :])


@public("Tensor.expand")
def expand(input: Tensor, *size: Any, implicit: bool = False) -> Any:
    """Repeat along dimensions of length 1. -1 keeps a length."""
    wanted = listed(size, "expand", "size")
    lead = len(wanted) - input.ndim
    for i, s in enumerate(wanted[: max(lead, 0)]):
        if s < 0:
            raise RuntimeError(f"The expanded size of the tensor ({s}) isn't allowed in a leading, non-existing dimension {i}")
    full = tuple(input.shape[i - lead] if s == -1 and i >= lead else s for i, s in enumerate(wanted))
    check_expands(input, full, wanted)
    return shape.expand_sizes(input, size=full)


def _like(name: str, method: Callable[..., Any], does: str) -> None:
    """Publish the method that takes the shape of another tensor."""

    def like(input: Tensor, other: Tensor) -> Any:
        return method(input, other.shape)

    public(f"Tensor.{name}")(of_tensors(renamed(like, name, f"{does} the shape of `other`.")))


_like("view_as", view, "The same memory in")
_like("reshape_as", reshape_any, "The same elements in")
_like("expand_as", expand, "Repeated to")


@public
def broadcast_to(input: Tensor, size: Any) -> Any:
    """Repeated to this shape."""
    return expand(input, size)


@public("torch.broadcast_tensors")
def broadcast_tensors(*tensors: Any) -> Any:
    """All tensors repeated to their common shape."""
    given = tuple(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    common = broadcast_shapes(*(x.shape for x in given))
    return tuple(x if x.shape == common else expand(x, common) for x in given)


@public("torch.broadcast_shapes")
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that these shapes broadcast to."""
    check_broadcast(*(Tensor(np.broadcast_to(0, s)) for s in shapes))
    return Size(np.broadcast_shapes(*shapes))


@public
def squeeze(input: Tensor, *dim: Any, **named: Any) -> Any:
    """Remove dimensions of length 1, or those of `dim` that have length 1."""
    given = dim or tuple(named.values())
    if not given:
        return shape.squeeze_all(input)
    if len(given) == 1 and isinstance(given[0], int):
        return shape.squeeze_dim(input, dim=given[0])
    dims = listed(given)
    distinct_dims(dims, input.ndim)
    return shape.squeeze_dims(input, dim=dims)


@of_dims
def permute(input: Tensor, *dims: Any, **named: Any) -> Any:
    """Dimensions in another order. Raises RuntimeError: `dims` is not a permutation of all dimensions."""
    order = listed(dims or tuple(named.values()), "permute", "dims")
    if len(order) != input.ndim:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering "
            f"of dimensions i.e. input.dim() = {input.ndim} is not equal to len(dims) = {len(order)}"
        )
    refuse_if(len({from_front(d, input.ndim) for d in order}) != len(order), "permute(): duplicate dims are not allowed.")
    return shape.permute_dims(input, dims=order)


@public("movedim", "moveaxis")
def movedim(input: Tensor, source: Any, destination: Any) -> Any:
    """Dimensions moved to other positions. The rest keep their order. Raises RuntimeError: a position occurs twice."""
    places = {}
    for name, dims in (("source", source), ("destination", destination)):
        given = (dims,) if isinstance(dims, int) else tuple(dims)
        places[name] = tuple(from_front(d, input.ndim) for d in given)
        if len(set(places[name])) != len(given):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(given)})")
    if len(places["source"]) != len(places["destination"]):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(places['source'])} dims) should contain the same "
            f"number of dims as destination ({list(places['destination'])} dims)"
        )
    rest = iter(d for d in range(input.ndim) if d not in places["source"])
    into = dict(zip(places["destination"], places["source"], strict=True))
    return permute(input, tuple(into[d] if d in into else next(rest) for d in range(input.ndim)))
