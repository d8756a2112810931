"""The user's calls of max, min and related ops: of all elements, along a dim, or (max, min) of two tensors."""

from __future__ import annotations

from typing import Any

from ...base import names as op
from ...tensor.tensor import Tensor
from .dims import nonempty_dim, reduced_dims, tensor_call
from .extrema import (
    amax_dims,
    amin_dims,
    aminmax_dim,
    argmax_dim,
    argmin_dim,
    kthvalue_dim,
    max_all,
    max_dim,
    median_all,
    median_dim,
    min_all,
    min_dim,
    mode_dim,
    nanmedian_all,
    nanmedian_dim,
)


def _extreme(name: str, input: Tensor, dim: Any, keepdim: bool, other: Tensor | None) -> Any:
    """The three forms of max and of min."""
    of_all, along, of_two = {"max": (max_all, max_dim, "maximum"), "min": (min_all, min_dim, "minimum")}[name]
    if isinstance(dim, Tensor):
        dim, other = None, dim
    if other is not None:
        return getattr(op, of_two)(input, other)
    if dim is not None:
        return along(input, dim=nonempty_dim(name, input, dim), keepdim=keepdim)
    if not input.numel():
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
            "'dim' argument."
        )
    return of_all(input)


@tensor_call
def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None) -> Any:
    """The largest of all elements. With a dim, also its index. With another tensor, elementwise."""
    return _extreme("max", input, dim, keepdim, other)


@tensor_call
def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None) -> Any:
    """The smallest of all elements. With a dim, also its index. With another tensor, elementwise."""
    return _extreme("min", input, dim, keepdim, other)


def _nonempty_dims(name: str, input: Tensor, dim: Any) -> tuple[int, ...]:
    """The dims to reduce, none of length 0."""
    dim = () if dim is None else dim
    dims = reduced_dims(input, dim)
    if not input.numel():
        if dim == ():
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
                "'dim' argument."
            )
        for d in dims:
            nonempty_dim(name, input, d)
    return dims


@tensor_call
def amax(input: Tensor, dim: Any = (), keepdim: bool = False) -> Any:
    """The largest over the dimensions `dim`. Equal elements share the gradient."""
    return amax_dims(input, dim=_nonempty_dims("amax", input, dim), keepdim=keepdim)


@tensor_call
def amin(input: Tensor, dim: Any = (), keepdim: bool = False) -> Any:
    """The smallest over the dimensions `dim`. Equal elements share the gradient."""
    return amin_dims(input, dim=_nonempty_dims("amin", input, dim), keepdim=keepdim)


@tensor_call
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest and the largest.

    Raises:
        RuntimeError: there are no elements.
    """
    if dim is not None:
        nonempty_dim("aminmax", input, dim, "")
    elif not input.numel():
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
    return aminmax_dim(input, dim=dim, keepdim=keepdim)


def _place(name: str, input: Tensor, dim: int | None, keepdim: bool) -> Any:
    if input.dtype.name == "bool":
        raise RuntimeError(f"{name}(): does not support bool input")
    if dim is not None:
        nonempty_dim(name, input, dim)
    elif not input.numel():
        raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    return {"argmax": argmax_dim, "argmin": argmin_dim}[name](input, dim=dim, keepdim=keepdim)


@tensor_call
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The index of the largest element, along `dim` or of all."""
    return _place("argmax", input, dim, keepdim)


@tensor_call
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The index of the smallest element, along `dim` or of all."""
    return _place("argmin", input, dim, keepdim)


@tensor_call
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of all elements, or along `dim` with its index. Of two middle elements, the lower."""
    if dim is None:
        return median_all(input)
    return median_dim(input, dim=nonempty_dim("median", input, dim), keepdim=keepdim)


@tensor_call
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of all elements except nan."""
    if dim is None:
        return nanmedian_all(input)
    return nanmedian_dim(input, dim=nonempty_dim("median", input, dim), keepdim=keepdim)


@tensor_call
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along `dim`, and its index."""
    return mode_dim(input, dim=nonempty_dim("mode", input, dim), keepdim=keepdim)


@tensor_call
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The k-th smallest along `dim`, and its index.

    Raises:
        RuntimeError: k is out of range.
    """
    nonempty_dim("kthvalue", input, dim)
    if not 1 <= k <= (input.shape[dim] if input.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim % (input.ndim or 1)}")
    return kthvalue_dim(input, k=k, dim=dim, keepdim=keepdim)
