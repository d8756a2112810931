"""The text of a tensor, as PyTorch's default print options write it: 4 digits, 80 columns, 1000 elements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .dtypes import bool_, get_default_dtype, int64

if TYPE_CHECKING:
    from .as_array import Array
    from .tensor import Tensor

PRECISION, EDGE_ITEMS, THRESHOLD, LINE_WIDTH = 4, 3, 1000, 80


class Formatter:
    """How to write one element: all elements of a tensor get one style and one width."""

    def __init__(self, array: Array) -> None:
        self.is_float = array.dtype.kind == "f"
        self.style = "g"
        finite = array[np.isfinite(array) & (array != 0)].astype(np.float64) if self.is_float else array.reshape(-1)
        if self.is_float:
            self.style = _float_style(np.abs(finite))
        texts = [self._bare(v) for v in finite.tolist()]
        point = 1 if self.style == "int" else 0
        self.width = max([1, *(len(t) + point for t in texts)])

    def _bare(self, value: Any) -> str:
        if not self.is_float:
            return str(value)
        if self.style == "int":
            return f"{value:.0f}"
        return f"{value:.{PRECISION}e}" if self.style == "sci" else f"{value:.{PRECISION}f}"

    def __call__(self, value: Any) -> str:
        """One element, padded to the width of all."""
        text = self._bare(value)
        if self.style == "int" and math.isfinite(value):
            text += "."
        return text.rjust(self.width)


def _float_style(magnitudes: Array) -> str:
    """Int ("2."), fixed ("2.5000") or sci ("2.5000e+10") for these non-zero finite magnitudes."""
    if magnitudes.size == 0:
        return "int"
    low, high = float(magnitudes.min()), float(magnitudes.max())
    if bool((magnitudes == np.ceil(magnitudes)).all()):
        return "sci" if high / low > 1000.0 or high > 1.0e8 else "int"
    return "sci" if high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4 else "fixed"


def _float_text(value: float) -> str:
    """One number alone: as `Formatter` writes it."""
    size = abs(value)
    if value == 0 or not math.isfinite(value) or (value.is_integer() and size <= 1.0e8):
        return f"{value:.0f}" + "." * math.isfinite(value)
    return f"{value:.{PRECISION}f}" if 1.0e-4 <= size <= 1.0e8 and not value.is_integer() else f"{value:.{PRECISION}e}"


def _vector(array: Array, indent: int, write: Formatter, summarize: bool) -> str:
    per_line = max(1, (LINE_WIDTH - indent) // (write.width + 2))
    if summarize and len(array) > 2 * EDGE_ITEMS:
        ends = (array[:EDGE_ITEMS].tolist(), array[-EDGE_ITEMS:].tolist())
        words = [*map(write, ends[0]), " ...", *map(write, ends[1])]
    else:
        words = [write(v) for v in array.tolist()]
    lines = [", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _nested(array: Array, indent: int, write: Formatter, summarize: bool) -> str:
    if array.ndim == 0:
        return write(array.item())
    if array.ndim == 1:
        return _vector(array, indent, write, summarize)
    if summarize and len(array) > 2 * EDGE_ITEMS:
        parts = [_nested(a, indent + 1, write, True) for a in (*array[:EDGE_ITEMS], *array[-EDGE_ITEMS:])]
        parts.insert(EDGE_ITEMS, "...")
    else:
        parts = [_nested(a, indent + 1, write, summarize) for a in array]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _shown(array: Array) -> Array:
    """The elements that a summarized print shows; the width is theirs alone."""
    for axis in range(array.ndim):
        if array.shape[axis] > 2 * EDGE_ITEMS:
            edges = [*range(EDGE_ITEMS), *range(array.shape[axis] - EDGE_ITEMS, array.shape[axis])]
            array = array.take(edges, axis)
    return array


def values_text(array: Array, indent: int = 0, threshold: int = THRESHOLD) -> str:
    """The values alone: rows in brackets, one below the other; of more than `threshold` elements the outer ones."""
    if array.size == 0:
        return "[]"
    if array.ndim == 0 and array.dtype.kind == "f":
        return _float_text(float(array))
    summarize = array.size > threshold
    return _nested(array, indent, Formatter(_shown(array) if summarize else array), summarize)


def tensor_text(tensor: Tensor, prefix: str = "tensor(") -> str:
    """``tensor([1., 2.], grad_fn=<MulBackward0>)``."""
    text = prefix + values_text(tensor._data, len(prefix))
    suffixes = []
    if tensor.numel() == 0 and tensor.ndim != 1:
        suffixes.append(f"size={tuple(tensor.shape)}")
    if tensor.dtype is not get_default_dtype() and (tensor.dtype not in (int64, bool_) or tensor.numel() == 0):
        suffixes.append(f"dtype={tensor.dtype}")
    if tensor.grad_fn is not None:
        suffixes.append(f"grad_fn=<{type(tensor.grad_fn).__name__}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    last = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if last + len(suffix) + 2 > LINE_WIDTH:
            text, last = text + ",\n" + " " * len(prefix) + suffix, len(prefix) + len(suffix)
        else:
            text, last = text + ", " + suffix, last + len(suffix) + 2
    return text + ")"
