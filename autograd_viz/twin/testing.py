"""Compare results up to rounding, with the names of torch.testing."""

from __future__ import annotations

from typing import Any

import numpy as np

from .core.base.missing import module_getattr
from .core.tensor.tensor import Tensor

__all__ = ["assert_close"]

# PyTorch's tolerances by element type: relative, absolute
_TOLERANCES = {"float16": (1e-3, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}
_TOLERANCES |= {"complex64": _TOLERANCES["float32"], "complex128": _TOLERANCES["float64"]}


def assert_close(
    actual: Any, expected: Any, *, rtol: float | None = None, atol: float | None = None, equal_nan: bool = False,
    check_device: bool = True, check_dtype: bool = True, msg: Any = None,
) -> None:  # fmt: skip
    """Compare tensors, numbers, and lists, tuples and dictionaries of them.

    The tolerances, relative and absolute, are added; by default they are those of the coarser dtype. `msg` is another text for
    the error, or a function from the default text to it.
    Raises AssertionError: they differ. Raises ValueError: only one tolerance is given.
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            "Both 'rtol' and 'atol' must be either specified or unspecified, but got no "
            f"{'rtol' if rtol is None else 'atol'} and {'atol' if rtol is None else 'rtol'}={atol if rtol is None else rtol}."
        )
    if complaint := _difference(actual, expected, None if rtol is None else (rtol, atol), equal_nan, check_dtype):
        raise AssertionError(complaint if msg is None else msg(complaint) if callable(msg) else msg)


def _difference(actual: Any, expected: Any, tolerances: Any, equal_nan: bool, check_dtype: bool) -> str:
    """The message about the difference, or ""."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        if actual.keys() != expected.keys():
            return "The keys of the mappings do not match."
        pairs = [(k, actual[k], expected[k]) for k in actual]
    elif isinstance(actual, list | tuple) and isinstance(expected, list | tuple):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
        pairs = [(i, a, e) for i, (a, e) in enumerate(zip(actual, expected, strict=True))]
    else:
        return _leaf_difference(actual, expected, tolerances, equal_nan, check_dtype)
    for key, a, e in pairs:
        if complaint := _difference(a, e, tolerances, equal_nan, check_dtype):
            return f"{complaint}\n\nThe failure occurred for item [{key!r}]"
    return ""


def _leaf_difference(actual: Any, expected: Any, tolerances: Any, equal_nan: bool, check_dtype: bool) -> str:
    if actual is None and expected is None:
        return ""
    if isinstance(actual, Tensor) != isinstance(expected, Tensor) or actual is None or expected is None:
        return f"Tensor-likes and other values cannot be compared: {type(actual).__name__} and {type(expected).__name__}"
    what = "Tensor-likes" if isinstance(actual, Tensor) else "Scalars"
    a, e = (x.detach().numpy() if isinstance(x, Tensor) else np.asarray(x) for x in (actual, expected))
    if a.shape != e.shape:
        return f"The values for attribute 'shape' do not match: {actual.shape} != {expected.shape}."
    if check_dtype and isinstance(actual, Tensor) and actual.dtype is not expected.dtype:
        return f"The values for attribute 'dtype' do not match: {actual.dtype} != {expected.dtype}."
    rtol, atol = tolerances or max(_TOLERANCES.get(x.dtype.name, (0.0, 0.0)) for x in (a, e))
    wrong = ~np.isclose(a, e, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if not wrong.any():
        return ""
    share = f"Mismatched elements: {wrong.sum()} / {wrong.size} ({100 * wrong.sum() / wrong.size:.1f}%)"
    found = share if a.ndim else f"Expected {e.item()} but got {a.item()}."
    return f"{what} are not {'equal' if rtol == atol == 0 else 'close'}!\n\n{found}"


__getattr__ = module_getattr("torch.testing", globals())
