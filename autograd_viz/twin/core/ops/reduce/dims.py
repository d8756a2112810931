"""The dimensions of an op: the forms that callers may use, and how a rule restores reduced ones."""
# fmt: off

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from ...base.names import unsqueeze
from ...base.symbol import call
from ...op import composite, primitive, public
from ...tensor import Array, Tensor, check_dim, check_tensor, distinct_dims

NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}  # PyTorch also accepts NumPy's names


def of_tensor(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose first argument is a tensor. It also accepts NumPy's names for `dim` and `keepdim`."""
    parameters = signature(function).parameters.values()
    required = [p.name for p in parameters if p.default is p.empty]
    least = len(required)

    @wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        if not options and len(args) >= least and isinstance(args[0], Tensor):
            return function(*args)
        if options and not NUMPY_NAMES.keys().isdisjoint(options):
            options = {NUMPY_NAMES.get(k, k): v for k, v in options.items()}
        missing = [f'"{n}"' for n in required[len(args) :] if n not in options]
        if missing:
            names = ", ".join(missing)
            word = "arguments" if len(missing) == 1 else "argument"  # PyTorch's words
            raise TypeError(f"{function.__name__}() missing {len(missing)} required positional {word}: {names}")
        if args:
            check_tensor(function.__name__, args[0])
        return function(*args, **options)

    return checked


def tensor_call(*names: str, inplace: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Publish a function under `names`, as `public` does, and check its first argument, as `of_tensor` does."""
    return lambda function: public(*names, inplace=inplace)(of_tensor(function))


def reduced_dims(input: Tensor, dim: Any) -> tuple[int, ...]:
    """The dims to reduce. An empty list means all; a 0-d tensor has none."""
    dims = tuple(dim) if isinstance(dim, list | tuple) else (dim,)
    distinct_dims(dims, input.ndim)
    return () if not input.ndim else dims or tuple(range(input.ndim))


def optional_dims(input: Tensor, dim: Any) -> tuple[int, ...] | None:
    """Like `reduced_dims`, but None stays None."""
    return None if dim is None else reduced_dims(input, dim)


def nonempty_dim(name: str, input: Tensor, dim: int, word: str = "()") -> int:
    """`dim`, if its length is not 0."""
    check_dim(dim, input.ndim)
    if input.ndim and input.shape[dim] == 0:
        raise IndexError(f"{name}{word}: Expected reduction dim {dim % input.ndim} to have non-zero size.")
    return dim


def on_vectors(forward: Callable[..., Any]) -> Callable[..., Any]:
    """Let a forward along one dimension accept a 0-d array, as a vector of one element."""

    @wraps(forward)
    def with_scalars(*arrays: Any, **options: Any) -> Any:
        if arrays[0].ndim:
            return forward(*arrays, **options)
        out = forward(*(a.reshape(1) for a in arrays), **options)
        return tuple(o.reshape(()) for o in out) if isinstance(out, tuple) else out.reshape(())

    return with_scalars


def result_type(self: Array, dtype: Any) -> Any:
    """The NumPy type of a sum or product: the given one, else int64 for integers."""
    if dtype is not None:
        return dtype.numpy
    return np.dtype(np.int64) if self.dtype.kind in "iub" else self.dtype


@composite(  # a formula shows it only if a dimension was removed
    written=lambda reduced, self, dim, keepdim: reduced if keepdim or dim in (None, ()) else call("keep_dims", reduced, dim))
def keep_dims(reduced: Any, self: Any, dim: Any, keepdim: bool) -> Any:
    """The reduced dimensions of `self`, restored with length 1."""
    if not keepdim and self.ndim and dim is not None and dim != ():
        for d in sorted(d % self.ndim for d in (dim if isinstance(dim, tuple) else (dim,))):
            reduced = unsqueeze(reduced, dim=d)
    return reduced


@primitive("GatherBackward0")
@on_vectors
def take_at(self, *, indices, dim, keepdim):
    """The elements at `indices` along `dim`, in the shape of `indices`."""
    if keepdim or indices.ndim == self.ndim == 1 == indices.size:
        return np.take_along_axis(self, indices.reshape(indices.shape or 1), dim)
    return np.take_along_axis(self, np.expand_dims(indices, dim), dim).squeeze(dim)
take_at.defvjp(self = lambda grad, self_sym_sizes, indices, dim, keepdim:
    put_at(grad, indices=indices, sizes=self_sym_sizes, dim=dim, keepdim=keepdim))


@primitive("ScatterBackward0")
def put_at(grad_output, *, indices, sizes, dim, keepdim):
    """Zeros, with grad_output added at `indices` along `dim`."""
    out = np.zeros(sizes or 1, grad_output.dtype)
    if out.size and indices.size:
        kept = keepdim or not sizes
        places, values = ((a.reshape(a.shape or 1) if kept else np.expand_dims(a, dim)) for a in (indices, grad_output))
        where = list(np.ogrid[tuple(slice(n) for n in places.shape)])
        where[dim] = places
        np.add.at(out, tuple(where), values)
    return out.reshape(sizes)
put_at.defvjp(grad_output = lambda grad, indices, dim, keepdim: take_at(grad, indices=indices, dim=dim, keepdim=keepdim))
