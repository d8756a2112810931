"""The text of a tensor, with PyTorch's default print options: 4 digits, 80 columns, 1000 elements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..base.dtypes import bool_, complex64, complex128, float64, get_default_dtype, int64

if TYPE_CHECKING:
    from .as_array import Array
    from .tensor import Tensor

PRECISION, EDGE_ITEMS, THRESHOLD, LINE_WIDTH = 4, 3, 1000, 80
FORMS = {"int": "%.0f", "fixed": f"%.{PRECISION}f", "sci": f"%.{PRECISION}e"}  # the format of an element in each style


def _words(values: list[Any], is_float: bool) -> tuple[list[str], int]:
    """The text of each element, and the column width. All elements of a tensor have one style and one width."""
    if not is_float:
        texts = list(map(str, values))
        width = max(map(len, texts))
        return [t.rjust(width) for t in texts], width
    counted = [v for v in values if v and math.isfinite(v)]
    style = _float_style(list(map(abs, counted)))
    texts = (f"{FORMS[style]} " * len(values) % tuple(values)).split()  # one format call takes half the time of one per element
    if style == "int":
        texts = [t + "." * math.isfinite(v) for t, v in zip(texts, values, strict=True)]
    are_all = len(counted) == len(values)
    wide = texts if are_all else [t for t, v in zip(texts, values, strict=True) if v and math.isfinite(v)]
    width = max(map(len, wide), default=1)
    return [t.rjust(width) for t in texts], width


def _complex_words(array: Array) -> tuple[list[str], int]:
    """Real and imaginary parts have separate styles. Only the real parts are padded to one width."""
    (real, wide), (imaginary, wider) = (_words(part.ravel().tolist(), True) for part in (array.real, array.imag))
    signed = (i if i.startswith("-") else f"+{i}" for i in map(str.lstrip, imaginary))
    return [f"{r}{i}j" for r, i in zip(real, signed, strict=True)], wide + wider + 1


def _float_style(magnitudes: list[float]) -> str:
    """The style of these non-zero finite magnitudes: int ("2."), fixed ("2.5000") or sci ("2.5000e+10")."""
    if not magnitudes:
        return "int"
    low, high = min(magnitudes), max(magnitudes)
    if all(m.is_integer() for m in magnitudes):
        return "sci" if high / low > 1000.0 or high > 1.0e8 else "int"
    return "sci" if high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4 else "fixed"


def _float_text(value: float) -> str:
    """The text of a number that is the only element of a tensor."""
    size = abs(value)
    if value == 0 or not math.isfinite(value) or (value.is_integer() and size <= 1.0e8):
        return f"{value:.0f}" + "." * math.isfinite(value)
    return f"{value:.{PRECISION}f}" if 1.0e-4 <= size <= 1.0e8 and not value.is_integer() else f"{value:.{PRECISION}e}"


def _vector(words: list[str], indent: int, width: int, is_cut: bool) -> str:
    per_line = max(1, (LINE_WIDTH - indent) // (width + 2))
    if is_cut:
        words = [*words[:EDGE_ITEMS], " ...", *words[EDGE_ITEMS:]]
    if len(words) <= per_line:
        return f"[{', '.join(words)}]"
    lines = [", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _nested(words: list[str], sizes: list[tuple[int, bool]], indent: int, width: int) -> str:
    """The shown elements in nested brackets. `sizes` is, per dimension, how many are shown, and if others are left out."""
    if not sizes:
        return words[0]
    (size, is_cut), inner = sizes[0], sizes[1:]
    if not inner:
        return _vector(words, indent, width, is_cut)
    each = len(words) // size
    parts = [_nested(words[i * each : (i + 1) * each], inner, indent + 1, width) for i in range(size)]
    if is_cut:
        parts.insert(EDGE_ITEMS, "...")
    return "[" + ("," + "\n" * len(inner) + " " * (indent + 1)).join(parts) + "]"


def _shown(array: Array) -> Array:
    """The elements that a summarized print shows. They alone decide the width."""
    for axis in range(array.ndim):
        length = array.shape[axis]
        if length > 2 * EDGE_ITEMS:
            array = array.take([*range(EDGE_ITEMS), *range(length - EDGE_ITEMS, length)], axis)
    return array


def values_text(array: Array, indent: int = 0, threshold: int = THRESHOLD) -> str:
    """The values alone, as rows in brackets. Of more than `threshold` elements, only the outer ones are written."""
    if array.size == 0:
        return "[]"
    if array.ndim == 0 and array.dtype.kind == "f":
        return _float_text(float(array))
    shown = _shown(array) if array.size > threshold else array
    sizes = [(few, few < all) for few, all in zip(shown.shape, array.shape, strict=True)]
    words, width = _complex_words(shown) if array.dtype.kind == "c" else _words(shown.ravel().tolist(), array.dtype.kind == "f")
    return _nested(words, sizes, indent, width)


def _name_of_grad_fn(tensor: Tensor) -> str | None:
    """The name of grad_fn; None for a leaf. "Invalid" for a view that lost its history through a forbidden in-place change."""
    try:
        node = tensor.grad_fn
    except RuntimeError:
        return "Invalid"
    return None if node is None else type(node).__name__


def tensor_text(tensor: Tensor, prefix: str = "tensor(") -> str:
    """``tensor([1., 2.], grad_fn=<MulBackward0>)``."""
    text = prefix + values_text(tensor._data, len(prefix))
    suffixes = []
    if tensor.numel() == 0 and tensor.ndim != 1:
        suffixes.append(f"size={tuple(tensor.shape)}")
    default = get_default_dtype()
    usual = (default, complex128 if default is float64 else complex64, int64, bool_)
    if tensor.dtype not in (usual if tensor.numel() else (default,)):
        suffixes.append(f"dtype={tensor.dtype}")
    if (name := _name_of_grad_fn(tensor)) is not None:
        suffixes.append(f"grad_fn=<{name}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    last = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if last + len(suffix) + 2 > LINE_WIDTH:
            text, last = text + ",\n" + " " * len(prefix) + suffix, len(prefix) + len(suffix)
        else:
            text, last = text + ", " + suffix, last + len(suffix) + 2
    return text + ")"
