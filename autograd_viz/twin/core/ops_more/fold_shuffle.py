"""The same elements rearranged: windows to columns and back, channels to pixels and back."""
# fmt: off

from __future__ import annotations

from typing import Any

from ..op import primitive, public
from ..ops.layers.windows import brief, n_of, overlap_added, padded, places_of, same, volume, windows
from ..tensor import Tensor, refuse_if


@primitive("Im2ColBackward0", written=brief("im2col"))
def im2col(self, *, kernel_size, dilation, padding, stride):
    """Each window of an image, as a column."""
    seen = windows(padded(self, padding, padding), kernel_size, stride, dilation)
    lead = self.shape[:-3]
    columns = seen.transpose(*range(len(lead) + 1), -2, -1, -4, -3).copy()
    return columns.reshape(*lead, self.shape[-3] * volume(kernel_size), volume(seen.shape[-4:-2]))
im2col.defvjp(
    self = lambda grad, self_sym_argsize_minus_2, self_sym_argsize_minus_1, kernel_size, dilation, padding, stride:
        col2im(grad, output_size=(self_sym_argsize_minus_2, self_sym_argsize_minus_1), kernel_size=kernel_size,
               dilation=dilation, padding=padding, stride=stride))


@primitive("Col2ImBackward0", written=brief("col2im"))
def col2im(self, *, output_size, kernel_size, dilation, padding, stride):
    """An image from columns, one per window. Overlapping elements are summed."""
    places = places_of(output_size, kernel_size, stride, padding, dilation)
    channels = self.shape[-2] // volume(kernel_size)
    parts = self.reshape(*self.shape[:-2], channels, *kernel_size, *places)
    return overlap_added(parts, output_size, stride, padding, dilation)
col2im.defvjp(self = same("im2col", options=("kernel_size", "dilation", "padding", "stride")))


@primitive("PixelShuffleBackward0")
def pixel_shuffle_by(self, *, upscale_factor):
    """Each group of upscale_factor**2 channels, as the pixels of one larger image."""
    *lead, channels, height, width = self.shape
    r = upscale_factor
    parts = self.reshape(*lead, channels // r**2, r, r, height, width)
    parts = parts.transpose(*range(len(lead) + 1), -2, -4, -1, -3).copy()
    return parts.reshape(*lead, channels // r**2, height * r, width * r)
pixel_shuffle_by.defvjp(self = lambda grad, upscale_factor: pixel_unshuffle_by(grad, downscale_factor=upscale_factor))


@primitive("PixelUnshuffleBackward0")
def pixel_unshuffle_by(self, *, downscale_factor):
    """The pixels of each downscale_factor**2 square, as channels of a smaller image."""
    *lead, channels, height, width = self.shape
    r = downscale_factor
    parts = self.reshape(*lead, channels, height // r, r, width // r, r)
    parts = parts.transpose(*range(len(lead) + 1), -3, -1, -4, -2).copy()
    return parts.reshape(*lead, channels * r**2, height // r, width // r)
pixel_unshuffle_by.defvjp(self = lambda grad, downscale_factor: pixel_shuffle_by(grad, upscale_factor=downscale_factor))


# fmt: on
@public("nn.functional.unfold")
def unfold_windows(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Each window of an image, as a column of a matrix. Raises RuntimeError: no window fits."""
    options = _window_options(kernel_size, dilation, padding, stride)
    size = input.shape[-2:]
    if input.ndim not in (3, 4) or 0 in input.shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but "
            f"got: {list(input.shape)}"
        )
    places = places_of(size, **options)
    if min(places) < 1:
        shown = ", ".join(f"{name}={options[name]}" for name in ("kernel_size", "dilation", "padding"))
        raise RuntimeError(
            f"Given input with spatial size {tuple(size)}, {shown}, calculated shape of the array of sliding blocks as "
            f"{places}, but its components must be at least one."
        )
    return im2col(input, **options)


@public("nn.functional.fold")
def fold_windows(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """An image from the columns that unfold made. Overlapping elements are summed.

    Raises RuntimeError: the columns do not fit an image of this size.
    """
    options, size = _window_options(kernel_size, dilation, padding, stride), n_of(output_size, 2)
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but "
            f"got: {list(input.shape)}"
        )
    rows, count = input.shape[-2:]
    if rows % volume(options["kernel_size"]):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)="
            f"{rows} and kernel_size={options['kernel_size']}."
        )
    places = places_of(size, **options)
    if min(places) < 1 or count != volume(places):
        shown = ", ".join(f"{name}={value}" for name, value in options.items())
        raise RuntimeError(
            f"Given output_size={size}, {shown}, expected size of input's dimension 2 to match the calculated number of "
            f"sliding blocks {' * '.join(map(str, places))} = {volume(places)}, but got input.size(2)={count}."
        )
    return col2im(input, output_size=size, **options)


def _window_options(kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> dict[str, Any]:
    """The options, one value per dimension, checked."""
    values = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    options = {name: n_of(value, 2) for name, value in values.items()}
    for name, value in options.items():
        if len(value) != 2:
            raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(value)}")
    for name in ("kernel_size", "stride", "dilation"):
        height, width = options[name]
        if min(height, width) < 1:
            short = name.removesuffix("_size")
            raise RuntimeError(
                f"{name.replace('_', ' ')} should be greater than zero, but got {short}_height: {height} {short}_width: {width}"
            )
    height, width = options["padding"]
    if min(height, width) < 0:
        raise RuntimeError(f"padding should be non-negative, but got pad_height: {height} pad_width: {width}")
    return options


@public("nn.functional.pixel_shuffle", "torch.pixel_shuffle")
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Any:
    """Each group of upscale_factor**2 channels, as the pixels of one larger image. Raises RuntimeError: as in PyTorch."""
    _check_image("pixel_shuffle", input, "upscale_factor", upscale_factor)
    if input.shape[-3] % upscale_factor**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={input.shape[-3]} is not divisible by {upscale_factor**2}"
        )
    return pixel_shuffle_by(input, upscale_factor=upscale_factor)


@public("nn.functional.pixel_unshuffle", "torch.pixel_unshuffle")
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Any:
    """The pixels of each downscale_factor**2 square, as channels of a smaller image. Raises RuntimeError: as in PyTorch."""
    _check_image("pixel_unshuffle", input, "downscale_factor", downscale_factor)
    for d, name in ((-2, "height"), (-1, "width")):
        if input.shape[d] % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({d})={input.shape[d]} is "
                f"not divisible by {downscale_factor}"
            )
    return pixel_unshuffle_by(input, downscale_factor=downscale_factor)


def _check_image(name: str, input: Tensor, option: str, factor: int) -> None:
    if input.ndim < 3:
        raise RuntimeError(f"{name} expects input to have at least 3 dimensions, but got input with {input.ndim} dimension(s)")
    refuse_if(factor <= 0, lambda: f"{name} expects a positive {option}, but got {factor}")
