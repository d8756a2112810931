"""Resizing of images: each new element is a weighted sum of old ones, one dimension after the other."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.names import op_named
from ..op import Primitive, public
from ..ops.layers.pooling_calls import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from ..ops.layers.windows import Ints, along_each, brief, by_axis, op, same, transposed, with_signature
from ..tensor import Tensor, refuse, refuse_if


def nearest(length: int, out: int, scale: float | None, align_corners: bool = False) -> Any:
    """the old element at or before its position."""
    return _rounded_down(np.arange(out, dtype=np.float32), length, out, scale)


def nearest_exact(length: int, out: int, scale: float | None, align_corners: bool = False) -> Any:
    """the old element with the nearest centre."""
    return _rounded_down(np.arange(out, dtype=np.float32) + np.float32(0.5), length, out, scale)


def _rounded_down(position: Any, length: int, out: int, scale: float | None) -> Any:
    step = np.float32(1 / scale) if scale else np.float32(length) / np.float32(out)  # PyTorch computes these in float32
    return np.minimum(np.floor(position * step).astype(np.int64), length - 1)


def linear(length: int, out: int, scale: float | None, align_corners: bool) -> Any:
    """the mean of its two old neighbours, weighted linearly by distance."""
    position = np.maximum(positions(length, out, scale, align_corners), 0)
    before = np.minimum(np.floor(position).astype(np.int64), length - 1)
    part = np.clip(position - before, 0, 1)
    return matrix(out, length, before[:, None] + [0, 1], np.stack([1 - part, part], -1))


def cubic(length: int, out: int, scale: float | None, align_corners: bool) -> Any:
    """the mean of four old neighbours, weighted by a cubic curve."""
    position = positions(length, out, scale, align_corners)
    before = np.floor(position).astype(np.int64)
    places = before[:, None] + [-1, 0, 1, 2]
    return matrix(out, length, places, cubic_curve(position[:, None] - places))


def cubic_curve(distance: Any) -> Any:
    """The weight at a distance: 1 at 0, and smoothly 0 from 2 on. `a` is the slope at 1."""
    d, a = np.abs(distance), -0.75
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def positions(length: int, out: int, scale: float | None, align_corners: bool) -> Any:
    """The positions of the new elements among the old ones. Either the end points match, or the areas of the elements."""
    if align_corners:
        return ((length - 1) / (out - 1) if out > 1 else 0.0) * np.arange(out)
    return (1 / scale if scale else length / out) * (np.arange(out) + 0.5) - 0.5


def matrix(out: int, length: int, places: Any, weights: Any) -> Any:
    """Rows with `weights` at `places`. A place outside counts for the edge."""
    rows = np.zeros((out, length))
    np.add.at(rows, (np.arange(out)[:, None], np.clip(places, 0, length - 1)), weights)
    return rows


# fmt: off
_SCALES = {1: ("scales",), 2: ("scales_h", "scales_w"), 3: ("scales_d", "scales_h", "scales_w")}


def _declare(name: str, node_name: str, n: int, weights: Callable[..., Any], aligns: bool = True) -> Primitive:
    """One interpolation of `n` dimensions and its gradient; `weights` makes a dimension's matrix; `aligns` adds an option."""
    options = ("output_size", *(("align_corners",) if aligns else ()), *_SCALES[n])
    defaults = {o: None if o.startswith("scales") else Primitive.required for o in options}
    back = f"{name}_backward"

    def makings(size, output_size, align_corners, scales):
        return [weights(*each, align_corners) for each in zip(size, output_size, scales, strict=True)]

    def forward(self, *, output_size, align_corners=False, **scales):
        return along_each(self, makings(self.shape[2:], output_size, align_corners, scales.values()))
    forward.__doc__ = f"An image of another size. A new element is {weights.__doc__}"

    def backward(grad_output, *, output_size, input_size, align_corners=False, **scales):
        """Each gradient, distributed by the same weights."""
        size = tuple(input_size[2:])
        return along_each(grad_output, transposed(makings(size, output_size, align_corners, scales.values()), size))

    def rule(grad, input_size, *values):
        return op_named(back)(grad, input_size=input_size, **dict(zip(options, values, strict=True)))

    declared = op(n, f"{node_name}Backward0", name, written=brief(name))(with_signature(forward, "self", **defaults))
    declared.defvjp(self=with_signature(rule, "grad", "self_sym_sizes", *options))
    with_signature(backward, "grad_output", input_size=Primitive.required, **defaults)
    op(n, f"{node_name}BackwardBackward0", back, written=brief(back))(backward).defvjp(
        grad_output = same(name, options=options))
    return declared


NEAREST = {n: _declare(f"upsample_nearest{n}d", f"UpsampleNearest{n}D", n, nearest, aligns=False) for n in (1, 2, 3)}
NEAREST_EXACT = {
    n: _declare(f"_upsample_nearest_exact{n}d", f"UpsampleNearestExact{n}D", n, nearest_exact, aligns=False) for n in (1, 2, 3)
}
upsample_linear1d       = _declare("upsample_linear1d", "UpsampleLinear1D", 1, linear)
upsample_bilinear2d     = _declare("upsample_bilinear2d", "UpsampleBilinear2D", 2, linear)
upsample_trilinear3d    = _declare("upsample_trilinear3d", "UpsampleTrilinear3D", 3, linear)
upsample_bicubic2d      = _declare("upsample_bicubic2d", "UpsampleBicubic2D", 2, cubic)


# fmt: on
# -- the user's calls: the choice of the op, and the output size -------------------------------------------------------------

_ALIGNING = ("linear", "bilinear", "bicubic", "trilinear")
_DIMS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}
_AREA = {3: adaptive_avg_pool1d, 4: adaptive_avg_pool2d, 5: adaptive_avg_pool3d}
_KINDS: dict[tuple[str, int], Any] = {
    **{("nearest", n + 2): kind for n, kind in NEAREST.items()},
    **{("nearest-exact", n + 2): kind for n, kind in NEAREST_EXACT.items()},
    ("linear", 3): upsample_linear1d,
    ("bilinear", 4): upsample_bilinear2d,
    ("trilinear", 5): upsample_trilinear3d,
    ("bicubic", 4): upsample_bicubic2d,
}


@public("nn.functional.interpolate")
def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Any:  # fmt: skip
    """The images of a batch in another size, given in elements or as a factor.

    Raises ValueError: arguments that contradict each other. NotImplementedError: a mode that these dimensions lack.
    """
    if align_corners is not None and mode not in _ALIGNING:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    output, factors = _sizes(input, size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    refuse_if(antialias, "autograd_viz has no antialias=True", NotImplementedError)
    if mode == "area" and input.ndim in _AREA:
        return _AREA[input.ndim](input, output)
    refuse_if((mode, input.ndim) not in _KINDS, lambda: _unknown(mode, input.ndim), NotImplementedError)
    if min(*input.shape[2:], *output) <= 0:
        given, made = by_axis(input.shape[2:], comma=","), by_axis(output, comma=",")
        raise RuntimeError(f"Input and output sizes should be greater than 0, but got input ({given}) output ({made})")
    if input.dtype.name != "uint8":
        refuse(input, "ibc", f"upsample_{mode.replace('-', '_')}{input.ndim - 2}d")
    scales = (None,) * len(output) if factors is None or recompute_scale_factor else factors
    options: dict[str, Any] = dict(zip(_SCALES[len(output)], scales, strict=True))
    if mode in _ALIGNING:
        options["align_corners"] = bool(align_corners)
    return _KINDS[mode, input.ndim](input, output_size=output, **options)


def _sizes(input: Tensor, size: Any, scale_factor: Any) -> tuple[Ints, tuple[float, ...] | None]:
    """The output size, and the scale factors if they were given."""
    lengths = list(input.shape[2:])
    refuse_if(size is not None and scale_factor is not None, "only one of size or scale_factor should be defined", ValueError)
    refuse_if(size is None and scale_factor is None, "either size or scale_factor should be defined", ValueError)
    given = scale_factor if size is None else size
    values = tuple(given) if isinstance(given, list | tuple) else (given,) * len(lengths)
    if len(values) != len(lengths):
        what, shown, letter = (
            ("scale_factor", "scale_factor of shape", "s") if size is None else ("output", "output size of", "o")
        )
        end = f"{'scale_factor' if size is None else 'output size'} in ({letter}1, {letter}2, ...,{letter}K) format."
        raise ValueError(
            f"Input and {what} must have the same number of spatial dimensions, but got input with spatial dimensions of "
            f"{lengths} and {shown} {values}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and {end}"
        )
    if size is not None:
        return tuple(int(v) for v in values), None
    return tuple(math.floor(n * f) for n, f in zip(lengths, values, strict=True)), tuple(float(v) for v in values)


def _unknown(mode: str, ndim: int) -> str:
    if mode in _DIMS and ndim in (3, 4, 5):
        return f"Got {ndim}D input, but {mode} mode needs {_DIMS[mode]}D input"
    return (
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {ndim}D) for the modes: nearest | linear | bilinear | "
        f"bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
    )


@public("nn.functional.upsample")
def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Any:
    """An older name of interpolate."""
    text = "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead."
    warnings.warn(text, UserWarning, stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)
