"""Tensors from numbers: the leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import provenance
from .arguments import default_array
from .dtypes import dtype, from_numpy_dtype, get_default_dtype
from .tensor import Array, Tensor

_generator = np.random.default_rng()


def _leaf(name: str, array: Array, requires_grad: bool) -> Tensor:
    result = Tensor(array)
    if requires_grad and not result.dtype.is_floating_point:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    provenance.record(name, result)
    result._requires_grad = requires_grad
    return result


def tensor(data: Any, *, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A new leaf with a copy of `data`: a number, nested lists, an array or a tensor.

    Args:
        data: Python floats become the default type (float32); arrays keep theirs.
        dtype: the element type.
        requires_grad: record what is done with it.

    Raises:
        TypeError: `data` does not hold numbers.
        ValueError: nested lists of different lengths.
        RuntimeError: `requires_grad` for a type without gradients.
    """
    try:
        array = default_array(data, dtype)
    except ValueError:
        raise ValueError(f"expected sequences of equal length at every level, got {data!r}") from None
    return _leaf("tensor", array, requires_grad)


def _sizes(size: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], list | tuple) else size


def full(size: tuple[int, ...], fill_value: Any, *, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A leaf of shape `size` with one value everywhere."""
    return _leaf("full", np.full(size, default_array(fill_value, dtype)), requires_grad)


def ones(*size: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A leaf of ones: ``ones(2, 3)`` or ``ones((2, 3))``."""
    return _leaf("ones", np.ones(_sizes(size), (dtype or get_default_dtype()).numpy), requires_grad)


def zeros(*size: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A leaf of zeros."""
    return _leaf("zeros", np.zeros(_sizes(size), (dtype or get_default_dtype()).numpy), requires_grad)


def ones_like(input: Tensor, *, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Ones in the shape and type of `input`."""
    return _leaf("ones_like", np.ones_like(input._data, (dtype or input.dtype).numpy), requires_grad)


def zeros_like(input: Tensor, *, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Zeros in the shape and type of `input`."""
    return _leaf("zeros_like", np.zeros_like(input._data, (dtype or input.dtype).numpy), requires_grad)


def arange(*bounds: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """``arange(end)``, ``arange(start, end)``, ``arange(start, end, step)``."""
    return _leaf("arange", default_array(np.arange(*bounds).tolist(), dtype), requires_grad)


def from_numpy(array: Array) -> Tensor:
    """A tensor that shares the memory of `array`.

    Raises:
        TypeError: not an array, or a type that tensors cannot hold.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    from_numpy_dtype(array.dtype)  # refuses what tensors cannot hold
    return _leaf("from_numpy", array, False)


def manual_seed(seed: int) -> None:
    """Make randn and rand repeatable. The numbers are NumPy's, not PyTorch's."""
    global _generator
    _generator = np.random.default_rng(seed)


def randn(*size: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Standard normal numbers."""
    return _leaf(
        "randn", np.asarray(_generator.standard_normal(_sizes(size)), (dtype or get_default_dtype()).numpy), requires_grad
    )


def rand(*size: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Uniform numbers from [0, 1)."""
    return _leaf("rand", np.asarray(_generator.random(_sizes(size)), (dtype or get_default_dtype()).numpy), requires_grad)
