"""nn.functional.interpolate and its older names: the choice of the op, and the output size."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ..op import public
from ..ops.layers.pooling_calls import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from ..ops.layers.windows import Ints, by_axis
from ..tensor import Tensor, refuse, refuse_if
from . import interpolation as kinds

_ALIGNING = ("linear", "bilinear", "bicubic", "trilinear")
_DIMS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}
_AREA = {3: adaptive_avg_pool1d, 4: adaptive_avg_pool2d, 5: adaptive_avg_pool3d}
_KINDS: dict[tuple[str, int], Any] = {
    **{("nearest", n + 2): kind for n, kind in kinds.NEAREST.items()},
    **{("nearest-exact", n + 2): kind for n, kind in kinds.NEAREST_EXACT.items()},
    ("linear", 3): kinds.upsample_linear1d,
    ("bilinear", 4): kinds.upsample_bilinear2d,
    ("trilinear", 5): kinds.upsample_trilinear3d,
    ("bicubic", 4): kinds.upsample_bicubic2d,
}


@public("nn.functional.interpolate")
def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Any:  # fmt: skip
    """The images of a batch in another size, given in elements or as a factor.

    Raises:
        ValueError: arguments that contradict each other.
        NotImplementedError: a mode that these dimensions lack.
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
    _check_not_empty(input, output)
    _check_type(input, mode)
    scales = (None,) * len(output) if factors is None or recompute_scale_factor else factors
    options: dict[str, Any] = dict(zip(kinds._SCALES[len(output)], scales, strict=True))
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


def _check_not_empty(input: Tensor, output: Ints) -> None:
    if min(*input.shape[2:], *output) <= 0:
        given, made = by_axis(input.shape[2:], comma=","), by_axis(output, comma=",")
        raise RuntimeError(f"Input and output sizes should be greater than 0, but got input ({given}) output ({made})")


def _check_type(input: Tensor, mode: str) -> None:
    if input.dtype.name != "uint8":
        refuse(input, "ibc", f"upsample_{mode.replace('-', '_')}{input.ndim - 2}d")


def _warn_of_the_older_name(name: str) -> None:
    text = f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead."
    warnings.warn(text, UserWarning, stacklevel=3)


@public("nn.functional.upsample")
def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Any:
    """An older name of interpolate."""
    _warn_of_the_older_name("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@public("nn.functional.upsample_nearest")
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Any:
    """An older name of nearest interpolation."""
    _warn_of_the_older_name("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


@public("nn.functional.upsample_bilinear")
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Any:
    """An older name of bilinear interpolation with aligned corners."""
    _warn_of_the_older_name("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
