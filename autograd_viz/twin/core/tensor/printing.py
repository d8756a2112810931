"""The text of a tensor, with PyTorch's print options."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..base.dtypes import bool_, complex64, complex128, float64, get_default_dtype, int64
from ..base.public import public
from .as_array import Array
from .tensor import Tensor


class Options(NamedTuple):
    """How tensors are printed: digits, when and how a print is summarized, columns, and if all numbers are scientific."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None

    def form(self, style: str) -> str:
        """The format of an element in a style."""
        return "%.0f" if style == "int" else f"%.{self.precision}{style}"


DEFAULT = Options()
PROFILES: dict[str | None, Options] = {
    "default": DEFAULT, "short": Options(precision=2, edgeitems=2), "full": Options(threshold=math.inf)
}  # fmt: skip


class _Chosen:
    options = DEFAULT


@public("torch.set_printoptions")
def set_printoptions(
    precision: int | None = None, threshold: float | None = None, edgeitems: int | None = None, linewidth: int | None = None,
    profile: str | None = None, sci_mode: bool | None = None,
) -> None:  # fmt: skip
    """Set how tensors are printed. Pictures keep the default.

    `precision` is the digits after the point. Of more than `threshold` elements, a print shows `edgeitems` at each end of a
    dimension. `sci_mode` is for all numbers, None chooses for each tensor. The other arguments change the `profile`, "default",
    "short" or "full".
    """
    given: dict[str, Any] = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    before = PROFILES.get(profile, _Chosen.options)
    _Chosen.options = before._replace(**{n: v for n, v in given.items() if v is not None}, sci_mode=sci_mode)


def _words(values: list[Any], is_float: bool, options: Options) -> tuple[list[str], int]:
    """The text of each element, and the column width. All elements of a tensor have one style and one width."""
    if not is_float:
        texts = list(map(str, values))
        width = max(map(len, texts))
        return [t.rjust(width) for t in texts], width
    counted = [v for v in values if v and math.isfinite(v)]
    style = _float_style(list(map(abs, counted)), options.sci_mode)
    # one format call takes half the time of one per element
    texts = (f"{options.form(style)} " * len(values) % tuple(values)).split()
    if style == "int":
        texts = [t + "." * math.isfinite(v) for t, v in zip(texts, values, strict=True)]
    wide = texts if len(counted) == len(values) else [t for t, v in zip(texts, values, strict=True) if v and math.isfinite(v)]
    width = max(map(len, wide), default=1)
    return [t.rjust(width) for t in texts], width


def _complex_words(array: Array, options: Options) -> tuple[list[str], int]:
    """Real and imaginary parts have separate styles. Only the real parts are padded to one width."""
    (real, wide), (imaginary, wider) = (_words(part.ravel().tolist(), True, options) for part in (array.real, array.imag))
    signed = (i if i.startswith("-") else f"+{i}" for i in map(str.lstrip, imaginary))
    return [f"{r}{i}j" for r, i in zip(real, signed, strict=True)], wide + wider + 1


def _float_style(magnitudes: list[float], sci_mode: bool | None) -> str:
    """The style of these non-zero finite magnitudes: int ("2."), f ("2.5000") or e ("2.5000e+10")."""
    if not magnitudes:
        return "int"
    low, high = min(magnitudes), max(magnitudes)
    if high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4 if sci_mode is None else sci_mode:
        return "e"
    return "int" if all(map(float.is_integer, magnitudes)) else "f"


def _vector(words: list[str], indent: int, width: int, is_cut: bool, options: Options) -> str:
    per_line = max(1, (options.linewidth - indent) // (width + 2))
    if is_cut:
        words = [*words[: options.edgeitems], " ...", *words[options.edgeitems :]]
    if len(words) <= per_line:
        return f"[{', '.join(words)}]"
    lines = [", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _nested(words: list[str], sizes: list[tuple[int, bool]], indent: int, width: int, options: Options) -> str:
    """The shown elements in nested brackets. `sizes` is, per dimension, how many are shown, and if others are left out."""
    if not sizes:
        return words[0]
    (size, is_cut), inner = sizes[0], sizes[1:]
    if not inner:
        return _vector(words, indent, width, is_cut, options)
    each = len(words) // size
    parts = [_nested(words[i * each : (i + 1) * each], inner, indent + 1, width, options) for i in range(size)]
    if is_cut:
        parts.insert(options.edgeitems, "...")
    return "[" + ("," + "\n" * len(inner) + " " * (indent + 1)).join(parts) + "]"


def values_text(array: Array, indent: int = 0, options: Options = DEFAULT) -> str:
    """The values alone, as rows in brackets. Of more than `options.threshold` elements, only the outer ones are written."""
    if array.size == 0:
        return "[]"
    if array.ndim == 0 and array.dtype.kind == "f":
        return _words([float(array)], True, options)[0][0]
    shown, edge = array, options.edgeitems
    for axis, length in enumerate(array.shape):  # the shown elements alone decide the width
        if array.size > options.threshold and length > 2 * edge:
            shown = shown.take([*range(edge), *range(length - edge, length)], axis)
    if shown.size == 0:
        return "[...]"
    sizes = [(few, few < all) for few, all in zip(shown.shape, array.shape, strict=True)]
    if (kind := array.dtype.kind) == "c":
        words, width = _complex_words(shown, options)
    else:
        words, width = _words(shown.ravel().tolist(), kind == "f", options)
    return _nested(words, sizes, indent, width, options)


def few_text(numbers: list[Any], shape: tuple[int, ...], is_float: bool) -> str:
    """The same of real elements in row order, at least one of them and no more than are shown."""
    words, width = _words(numbers, is_float, DEFAULT)
    return _nested(words, [(n, False) for n in shape], 0, width, DEFAULT) if shape else words[0]


def tensor_text(tensor: Tensor, prefix: str = "tensor(") -> str:
    """``tensor([1., 2.], grad_fn=<MulBackward0>)``."""
    options = _Chosen.options
    text = prefix + values_text(tensor._data, len(prefix), options)
    suffixes = []
    if not options.edgeitems or (tensor.numel() == 0 and tensor.ndim != 1):
        suffixes.append(f"size={tuple(tensor.shape)}")
    default = get_default_dtype()
    usual = (default, complex128 if default is float64 else complex64, int64, bool_)
    if tensor.dtype not in (usual if tensor.numel() else (default,)):
        suffixes.append(f"dtype={tensor.dtype}")
    try:
        name = type(tensor.grad_fn).__name__
    except RuntimeError:  # a view that lost its history through a forbidden in-place change
        name = "Invalid"
    if name != "NoneType":
        suffixes.append(f"grad_fn=<{name}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    last = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if last + len(suffix) + 2 > options.linewidth:
            text, last = text + ",\n" + " " * len(prefix) + suffix, len(prefix) + len(suffix)
        else:
            text, last = text + ", " + suffix, last + len(suffix) + 2
    return text + ")"
