"""Layers that pad, move or stretch their input: no parameters, no arithmetic to speak of."""
# fmt: off
# (forms of one layer are a table)

from __future__ import annotations

from typing import Any

from ..core.tensor.tensor import Tensor
from . import functional
from .configured import Configured, given, tuple_of
from .module import Module


class Identity(Module):
    """The input, whatever the layer was given."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """The input."""
        return input


class Flatten(Configured):
    """Dimensions from `start_dim` to `end_dim` made one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__(start_dim=start_dim, end_dim=end_dim)

    def forward(self, input: Tensor) -> Any:
        """The input in fewer dimensions."""
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Configured):
    """One dimension made several."""

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__(dim=dim, unflattened_size=unflattened_size)

    def forward(self, input: Tensor) -> Any:
        """The input in more dimensions."""
        return input.unflatten(self.dim, self.unflattened_size)


class _Pad(Configured):
    mode, bare = "constant", True

    def __init__(self, padding: Any) -> None:
        super().__init__(padding=tuple_of(2 * self._n, padding))

    def forward(self, input: Tensor) -> Any:
        """The input with a border."""
        value = getattr(self, "value", None)
        return functional.pad(input, self.padding, mode=self.mode, value=value)


class ConstantPad1d(_Pad, n=1):
    """A border of one value."""

    bare = False

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self._options, self.value = ("padding", "value"), value


class ConstantPad2d(ConstantPad1d, n=2):
    """A border of one value around images."""
class ConstantPad3d(ConstantPad1d, n=3):
    """A border of one value around volumes."""


class ZeroPad1d(_Pad, n=1):
    """A border of zeros."""

    value = 0.0


class ZeroPad2d(ZeroPad1d, n=2):
    """A border of zeros around images."""
class ZeroPad3d(ZeroPad1d, n=3):
    """A border of zeros around volumes."""


class ReflectionPad1d(_Pad, n=1):
    """A border that mirrors the inside."""

    mode = "reflect"


class ReflectionPad2d(ReflectionPad1d, n=2):
    """A border that mirrors the inside of images."""
class ReflectionPad3d(ReflectionPad1d, n=3):
    """A border that mirrors the inside of volumes."""


class ReplicationPad1d(_Pad, n=1):
    """A border that repeats the outermost values."""

    mode = "replicate"


class ReplicationPad2d(ReplicationPad1d, n=2):
    """A border that repeats the outermost values of images."""
class ReplicationPad3d(ReplicationPad1d, n=3):
    """A border that repeats the outermost values of volumes."""


class CircularPad1d(_Pad, n=1):
    """A border that continues at the other end."""

    mode = "circular"


class CircularPad2d(CircularPad1d, n=2):
    """A border that continues at the other end of images."""
class CircularPad3d(CircularPad1d, n=3):
    """A border that continues at the other end of volumes."""


class Upsample(Configured):
    """A larger (or smaller) image, values in between interpolated."""

    function = "interpolate"

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
        align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    ) -> None:
        if scale_factor is not None:
            scale_factor = tuple(map(float, scale_factor)) if isinstance(scale_factor, tuple | list) else float(scale_factor)
        super().__init__(**given(locals()))

    def extra_repr(self) -> str:
        """The factor, or else the size, and the mode."""
        known = f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={self.size}"
        return f"{known}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """A larger image, pixels repeated."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """A larger image, values in between on straight lines from corner to corner."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(Configured):
    """Channels laid out as pixels: (C r², H, W) becomes (C, H r, W r)."""

    function = "pixel_shuffle"

    def __init__(self, upscale_factor: int) -> None:
        super().__init__(upscale_factor=upscale_factor)


class PixelUnshuffle(Configured):
    """Pixels stacked as channels: (C, H r, W r) becomes (C r², H, W)."""

    function = "pixel_unshuffle"

    def __init__(self, downscale_factor: int) -> None:
        super().__init__(downscale_factor=downscale_factor)


class ChannelShuffle(Configured):
    """Channels of several groups taken in turns."""

    function = "channel_shuffle"

    def __init__(self, groups: int) -> None:
        super().__init__(groups=groups)


class Unfold(Configured):
    """Every window of an image as a column."""

    function = "unfold"

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__(**given(locals()))


class Fold(Configured):
    """Columns put back as windows of an image, overlaps added."""

    function = "fold"

    def __init__(self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__(**given(locals()))
