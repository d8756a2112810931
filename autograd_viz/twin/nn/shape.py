"""Layers without parameters that pad, rearrange or resize their input."""
# fmt: off
# tables of layers: the function, a docstring, the options

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from . import functional
from .configured import Configured, init_arguments, layer, row, tuple_of
from .module import Module

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "Flatten", "Fold",
    "Identity", "PixelShuffle", "PixelUnshuffle", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d",
    "ReplicationPad2d", "ReplicationPad3d", "Unflatten", "Unfold", "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d",
    "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]


class Identity(Module):
    """Returns its input. All arguments of the constructor are ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """The input."""
        return input


@layer()
class Flatten(Configured):
    """Merges the dimensions from `start_dim` to `end_dim`."""
    start_dim: int = 1
    end_dim: int = -1

    def forward(self, input: Tensor) -> Any:
        """The input with merged dimensions."""
        return input.flatten(self.start_dim, self.end_dim)


@layer()
class Unflatten(Configured):
    """Splits one dimension into several."""
    dim: int
    unflattened_size: Any

    def forward(self, input: Tensor) -> Any:
        """The input with split dimensions."""
        return input.unflatten(self.dim, self.unflattened_size)


class _Pad(Configured):
    mode, bare = "constant", True

    def __init__(self, padding: Any) -> None:
        super().__init__(padding=tuple_of(2 * self._n, padding))

    def forward(self, input: Tensor) -> Any:
        """The input with padding."""
        return functional.pad(input, self.padding, mode=self.mode, value=getattr(self, "value", None))


class ConstantPad1d(_Pad, n=1):
    """Padding with one value, for sequences."""

    bare = False

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self._options, self.value = ("padding", "value"), value


class ConstantPad2d(ConstantPad1d, n=2): """Padding with one value, for images."""
class ConstantPad3d(ConstantPad1d, n=3): """Padding with one value, for volumes."""


class ZeroPad1d(_Pad, n=1, value=0.0): """Padding with zeros, for sequences."""
class ZeroPad2d(_Pad, n=2, value=0.0): """Padding with zeros, for images."""
class ZeroPad3d(_Pad, n=3, value=0.0): """Padding with zeros, for volumes."""


class ReflectionPad1d(_Pad, n=1, mode="reflect"): """Padding by reflection, for sequences."""
class ReflectionPad2d(_Pad, n=2, mode="reflect"): """Padding by reflection, for images."""
class ReflectionPad3d(_Pad, n=3, mode="reflect"): """Padding by reflection, for volumes."""


class ReplicationPad1d(_Pad, n=1, mode="replicate"): """Padding that repeats the edge, for sequences."""
class ReplicationPad2d(_Pad, n=2, mode="replicate"): """Padding that repeats the edge, for images."""
class ReplicationPad3d(_Pad, n=3, mode="replicate"): """Padding that repeats the edge, for volumes."""


class CircularPad1d(_Pad, n=1, mode="circular"): """Padding that continues at the opposite edge, for sequences."""
class CircularPad2d(_Pad, n=2, mode="circular"): """Padding that continues at the opposite edge, for images."""
class CircularPad3d(_Pad, n=3, mode="circular"): """Padding that continues at the opposite edge, for volumes."""


class Upsample(Configured):
    """An image of another size, by interpolation."""

    function = "interpolate"

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
        align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    ) -> None:
        if scale_factor is not None:
            scale_factor = tuple(map(float, scale_factor)) if isinstance(scale_factor, tuple | list) else float(scale_factor)
        super().__init__(**init_arguments(locals()))

    def extra_repr(self) -> str:
        """The factor, or the size, and the mode."""
        known = f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={self.size}"
        return f"{known}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """A larger image, with repeated pixels."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """A larger image, by bilinear interpolation with aligned corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


PixelShuffle = row("PixelShuffle", "pixel_shuffle", "Channels become pixels: (C r², H, W) becomes (C, H r, W r).",
    "upscale_factor")
PixelUnshuffle = row("PixelUnshuffle", "pixel_unshuffle", "Pixels become channels: (C, H r, W r) becomes (C r², H, W).",
    "downscale_factor")
Unfold = row("Unfold", "unfold", "Each window of an image, as a column.", "kernel_size", dilation=1, padding=0, stride=1)
Fold = row("Fold", "fold", "An image from columns, one per window. Overlapping elements are summed.",
    "output_size", "kernel_size", dilation=1, padding=0, stride=1)
