"""The same elements rearranged: windows to columns and back, channels to pixels and back."""
# fmt: off

from __future__ import annotations

from ..op.primitive import primitive
from ..ops.layers.sized import same
from ..ops.layers.windows import brief, overlap_added, padded, places_of, volume, windows


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
               dilation=dilation, padding=padding, stride=stride),
)


@primitive("Col2ImBackward0", written=brief("col2im"))
def col2im(self, *, output_size, kernel_size, dilation, padding, stride):
    """An image from columns, one per window. Overlapping elements are summed."""
    places = places_of(output_size, kernel_size, stride, padding, dilation)
    channels = self.shape[-2] // volume(kernel_size)
    parts = self.reshape(*self.shape[:-2], channels, *kernel_size, *places)
    return overlap_added(parts, output_size, stride, padding, dilation)
col2im.defvjp(
    self = same("im2col", options=("kernel_size", "dilation", "padding", "stride")),
)


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
