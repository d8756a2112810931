"""nn.functional.grid_sample and affine_grid: their modes as words, and their checks."""

from __future__ import annotations

import warnings
from typing import Any

from ..base.public import public
from ..tensor.refusals import check_scalar_type
from ..tensor.tensor import Tensor
from .grid_sampling import GRID_SAMPLER, affine_grid_generator

_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


@public("nn.functional.grid_sample")
def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Any:
    """Each image of a batch, sampled at the points of a grid. Coordinates run from -1 to 1.

    Raises:
        ValueError: an unknown mode.
        RuntimeError: the grid does not fit the images, or bicubic mode for volumes.
    """
    if mode not in _MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
            stacklevel=2,
        )
    _check(input, grid)
    if mode == "bicubic" and input.ndim != 4:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    sampler = GRID_SAMPLER[input.ndim - 2]
    return sampler(input, grid, _MODES.index(mode), _PADDINGS.index(padding_mode), bool(align_corners))


def _check(input: Tensor, grid: Tensor) -> None:
    """Refuse a grid that does not fit the images."""
    sizes = f"got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if input.shape[0] != grid.shape[0]:
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, but {sizes}")
    if grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but got grid with sizes "
            f"{list(grid.shape)}"
        )
    if input.ndim not in (4, 5) or input.ndim != grid.ndim:
        raise RuntimeError(f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but {sizes}")
    for d, length in enumerate(input.shape[2:], start=2):
        if length == 0:
            raise RuntimeError(
                f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {list(input.shape)} "
                f"with dimension {d} being empty"
            )
    check_scalar_type(grid, input)


@public("nn.functional.affine_grid")
def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Any:
    """The grid for the affine transformation of an image by the matrices `theta`.

    Raises:
        ValueError: the matrices do not fit the size.
        NotImplementedError: neither images nor volumes.
    """
    size = tuple(int(s) for s in size)
    if not theta.dtype.is_floating_point:
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {size}."
        )
    n = len(size) - 2
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (n, n + 1):
        raise ValueError(f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got {theta.shape}.")
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return affine_grid_generator(theta, size=size, align_corners=bool(align_corners))
