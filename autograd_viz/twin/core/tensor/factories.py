"""Leaves made from a few numbers: constants, sequences, grids of indices, random whole numbers."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..base.dtypes import dtype as Dtype  # noqa: N812 -- `dtype` is PyTorch's name of the argument
from ..base.dtypes import from_numpy_dtype, get_default_dtype, int64
from ..base.public import public
from .as_array import Array
from .creation import COPY_WARNING, array_or_shape, drawn, leaf, nested_array, sizes_of
from .number import fitted
from .random import Generator, chosen, laid_out
from .refusals import check_tensor, refuse_if
from .tensor import Tensor


def _filled(name: str, like: Any, value: Any, kind: Dtype, made: dict[str, Any]) -> Tensor:
    kept = {k: v for k, v in made.items() if k not in ("layout", "memory_format", "pin_memory", "out")}
    value = fitted(value.item() if isinstance(value, Tensor) else value, kind.numpy)
    if type(like) is tuple:
        return leaf(name, np.full(like, value), **kept)
    order: Any = "C" if "contiguous" in str(made.get("memory_format")) else "K"
    return leaf(name, np.full_like(like, value, kind.numpy, order), **kept)


def _constant(name: str, value: int, doc: str) -> tuple[Any, Any]:
    """The factory `name` and its `_like`. It also makes the method `new_<name>`."""

    def of_size(*size: Any, dtype: Dtype | None = None, **made: Any) -> Tensor:
        return _filled(name, sizes_of(name, made.pop("size", size)), value, dtype or get_default_dtype(), made)

    def like(input: Tensor, *, dtype: Dtype | None = None, **made: Any) -> Tensor:
        check_tensor(f"{name}_like", input)
        return _filled(f"{name}_like", input._data, value, dtype or input.dtype, made)

    def new(self: Tensor, *size: Any, dtype: Dtype | None = None, **made: Any) -> Tensor:
        return of_size(*size, dtype=dtype or self.dtype, **made)

    for function, full, place in ((of_size, name, ""), (like, f"{name}_like", "in the shape and type of `input`"),
                                  (new, f"new_{name}", "in the type of `self`")):  # fmt: skip
        function.__name__, function.__doc__ = full, f"{doc} {place}".strip() + "."
        public(f"Tensor.{full}" if function is new else f"torch.{full}")(function)
    return of_size, like


zeros, zeros_like = _constant("zeros", 0, "A leaf of zeros")
ones, ones_like = _constant("ones", 1, "A leaf of ones")
empty, empty_like = _constant("empty", 0, "A leaf with arbitrary values (here zeros)")


@public("torch.full")
def full(size: Any, fill_value: Any, *, dtype: Dtype | None = None, **made: Any) -> Tensor:
    """A leaf of shape `size` with one value everywhere, in the type of the value."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return _filled("full", sizes_of("full", (size,)), value, dtype or from_numpy_dtype(nested_array(value, None).dtype), made)


@public("torch.full_like")
def full_like(input: Tensor, fill_value: Any, *, dtype: Dtype | None = None, **made: Any) -> Tensor:
    """One value everywhere, in the shape and type of `input`."""
    return _filled("full_like", input._data, fill_value, dtype or input.dtype, made)


@public("Tensor.new_full")
def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Dtype | None = None, **made: Any) -> Tensor:
    """One value everywhere, in the type of `self`."""
    return full(size, fill_value, dtype=dtype or self.dtype, **made)


@public("Tensor.new")
def new(self: Tensor, *data: Any, size: Any = None) -> Any:
    """The old factory method, in the type of `self`. Nested lists give values, lengths a shape, a tensor its memory."""
    if len(data) == 1 and isinstance(data[0], Tensor):
        if data[0].dtype is not self.dtype:
            raise TypeError(f"new(): expected a tensor of type {self.dtype} (got {data[0].dtype})")
        return data[0].detach().requires_grad_(data[0].requires_grad)
    return leaf("new", array_or_shape(data if size is None else tuple(size), self.dtype))


@public("Tensor.new_tensor")
def new_tensor(self: Tensor, data: Any, *, dtype: Dtype | None = None, **made: Any) -> Tensor:
    """A leaf with a copy of `data` in the type of `self`."""
    if isinstance(data, Tensor):
        warnings.warn(COPY_WARNING.format(name="tensor.new_tensor"), UserWarning, stacklevel=2)
    return leaf("new_tensor", nested_array(data, dtype or self.dtype), **made)


@public("torch.eye")
def eye(n: int, m: int | None = None, *, dtype: Dtype | None = None, **made: Any) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
    for name, length in (("n", n), ("m", m)):
        if length is not None and length < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {length}")
    return leaf("eye", np.eye(n, m, dtype=(dtype or get_default_dtype()).numpy), **made)


def _numbers(*values: Any) -> list[Any]:
    return [v.item() if isinstance(v, Tensor | np.generic) else v for v in values]


def _sequence(name: str, start: Any, step: Any, count: int, dtype: Dtype | None, made: dict[str, Any]) -> Tensor:
    """start, start + step, ... A sequence of whole numbers has a whole-number type."""
    exact = isinstance(start, int) and isinstance(step, int)
    kind = dtype or (int64 if exact else get_default_dtype())
    values = start + np.arange(count) * step if exact else _in_chunks(start, step, count, kind.numpy)
    return leaf(name, values.astype(kind.numpy), **made)


def _in_chunks(start: float, step: float, count: int, kind: np.dtype[Any]) -> Array:
    """start + i * step, rounded as PyTorch does: in chunks of 32 bytes, from the rounded first number of each chunk."""
    i = np.arange(count)
    wide, chunk = np.longdouble, 32 // kind.itemsize  # wide, so that a product and a sum are rounded once
    first = i - i % chunk
    begin = (wide(start) + wide(step) * first).astype(np.float64).astype(kind)
    chunked = (begin.astype(wide) + wide(step) * (i - first)).astype(np.float64)
    rest = (wide(start) + wide(step) * i).astype(np.float64)
    return np.where(i < count // chunk * chunk, chunked, rest)


@public("torch.arange")
def arange(*bounds: Any, dtype: Dtype | None = None, **made: Any) -> Tensor:
    """``arange(end)``, ``arange(start, end)`` or ``arange(start, end, step)``. `end` is excluded."""
    first, *named = (made.pop(n, None) for n in ("start", "end", "step"))
    bounds = (*(bounds or (() if first is None else (first,))), *(b for b in named if b is not None))
    if not 1 <= len(bounds) <= 3:
        said = "arange() received an invalid combination of arguments; it takes"
        raise TypeError(f"{said} (end), (start, end) or (start, end, step)")
    start, end, step = _numbers(*((0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]))
    _check_step(start, end, step)
    if dtype is None and isinstance(end, float):
        dtype = get_default_dtype()
    return _sequence("arange", start, step, math.ceil((end - start) / step), dtype, made)


def _check_step(start: Any, end: Any, step: Any) -> None:
    refuse_if(step == 0, "step must be nonzero")
    refuse_if((end - start) * step < 0, "upper bound and lower bound inconsistent with step sign")


@public("torch.range")
def range_(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Dtype | None = None, **made: Any) -> Tensor:
    """Like arange, but `end` is included. Deprecated in PyTorch."""
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning, stacklevel=2,
    )  # fmt: skip
    _check_step(start, end, step)
    return _sequence("range", start, step, math.floor((end - start) / step) + 1, dtype or get_default_dtype(), made)


def _evenly(start: Any, end: Any, steps: int, kind: np.dtype[Any]) -> Array:
    """`steps` numbers from start to end, both included. Each is computed from the nearer end, as in PyTorch."""
    refuse_if(steps < 0, "number of steps must be non-negative")
    start, end = _numbers(start, end)
    if steps == 1:
        return np.array([start], kind)
    inner, i = kind if kind.kind in "fc" else np.dtype(np.float64), np.arange(steps)
    step = inner.type(end - start) / inner.type(max(steps - 1, 1))
    from_start, from_end = start + i.astype(inner) * step, end - (steps - 1 - i).astype(inner) * step
    return np.asarray(np.where(i < steps // 2, from_start, from_end).astype(kind))


@public("torch.linspace")
def linspace(start: Any, end: Any, steps: int, *, dtype: Dtype | None = None, **made: Any) -> Tensor:
    """`steps` numbers from start to end, both included, at equal distances."""
    return leaf("linspace", _evenly(start, end, steps, (dtype or get_default_dtype()).numpy), **made)


@public("torch.logspace")
def logspace(start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Dtype | None = None, **made: Any) -> Tensor:
    """`steps` numbers from base**start to base**end, both included, at equal ratios."""
    kind = (dtype or get_default_dtype()).numpy
    return leaf("logspace", (np.float64(base) ** _evenly(start, end, steps, np.dtype(np.float64))).astype(kind), **made)


@public("torch.tril_indices")
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Dtype | None = None, **made: Any) -> Tensor:
    """Row and column of every element on or below a diagonal."""
    return leaf("tril_indices", np.stack(np.tril_indices(row, offset, col)).astype((dtype or int64).numpy), **made)


@public("torch.triu_indices")
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Dtype | None = None, **made: Any) -> Tensor:
    """Row and column of every element on or above a diagonal."""
    return leaf("triu_indices", np.stack(np.triu_indices(row, offset, col)).astype((dtype or int64).numpy), **made)


def _window(name: str, doc: str, weights: Any) -> None:
    """A window as a mean of cosines: weights[0] - weights[1] cos(x) + weights[2] cos(2x)."""

    def window(window_length: int, periodic: bool = True, *, dtype: Dtype | None = None, **made: Any) -> Tensor:
        x = 2 * np.pi * np.arange(window_length) / max(window_length - (not periodic), 1)
        values = sum((-1) ** k * w * np.cos(k * x) for k, w in enumerate(weights)) if window_length != 1 else np.ones(1)
        return leaf(name, np.asarray(values).astype((dtype or get_default_dtype()).numpy), **made)

    window.__name__, window.__doc__ = name, doc
    public(f"torch.{name}")(window)


_window("hann_window", "A raised cosine that begins at 0.", (0.5, 0.5))
_window("hamming_window", "A raised cosine that begins at 0.08.", (0.54, 0.46))
_window("blackman_window", "A sum of two cosines that begins at 0 with slope 0.", (0.42, 0.5, 0.08))


@public("torch.randint")
def randint(
    low: int, high: Any = None, size: Any = None, *, generator: Generator | None = None, dtype: Dtype | None = None, **made: Any
) -> Tensor:
    """Whole numbers from [low, high); ``randint(high, size)`` begins at 0. Raises RuntimeError: low >= high, or complex."""
    if size is None and isinstance(high, list | tuple):
        low, high, size = 0, low, high
    elif high is None and size is not None:
        low, high = 0, low
    if size is None:
        raise TypeError("randint() received an invalid combination of arguments; it takes (high, size) or (low, high, size)")
    low, high = _numbers(low, high)
    if dtype is not None and dtype.is_complex:
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    refuse_if(low >= high, lambda: f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    return drawn("randint", size, lambda n, _: chosen(generator).integers(n, low, high), dtype or int64, **made)


@public("torch.randint_like")
def randint_like(input: Tensor, low: int, high: int | None = None, *, dtype: Dtype | None = None, **made: Any) -> Tensor:
    """Whole numbers from [low, high), or from [0, low), in the shape and type of `input`."""
    low, high = (0, low) if high is None else (low, high)
    numbers = randint(low, high, (input.numel(),), dtype=dtype or input.dtype, **made)
    numbers._data = laid_out(numbers._data, input._data)
    return numbers


@public("torch.randperm")
def randperm(n: int, *, generator: Generator | None = None, dtype: Dtype | None = None, **made: Any) -> Tensor:
    """The numbers below `n` in random order."""
    refuse_if(n < 0, lambda: f"Trying to create tensor with negative dimension {n}: [{n}]")
    return leaf("randperm", chosen(generator).permutation(n).astype((dtype or int64).numpy), **made)
