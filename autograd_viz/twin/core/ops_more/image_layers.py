"""Rare layers for images: windows to columns and back, channels to pixels and back, unpooling, local response norm."""
# fmt: off

from __future__ import annotations

from typing import Any

from ..op import primitive, public
from ..ops.elementwise import powers, rounding
from ..ops.layers.padding import constant_pad_nd
from ..ops.layers.pooling import max_unpool2d_to, max_unpool3d_to
from ..ops.layers.pooling_calls import avg_pool2d, avg_pool3d
from ..ops.layers.windows import Ints, brief, functions, n_of, overlap_added, padded, places_of, same, volume, windows
from ..ops.shape.shape import squeeze_dim, unsqueeze, view_sizes
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


@public("nn.functional.unfold")
def unfold_windows(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Each window of an image, as a column of a matrix. Raises RuntimeError: no window fits."""
    options = _window_options(kernel_size, dilation, padding, stride)
    size = input.shape[-2:]
    refuse_if(input.ndim not in (3, 4) or 0 in input.shape[-3:], lambda:
        "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but "
        f"got: {list(input.shape)}")
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
    """An image from the columns of unfold; overlapping elements are summed. Raises RuntimeError: they do not fit this size."""
    options, size = _window_options(kernel_size, dilation, padding, stride), n_of(output_size, 2)
    refuse_if(input.ndim not in (2, 3) or 0 in input.shape[-2:], lambda:
        "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but "
        f"got: {list(input.shape)}")
    rows, count = input.shape[-2:]
    refuse_if(rows % volume(options["kernel_size"]), lambda:
        "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)="
        f"{rows} and kernel_size={options['kernel_size']}.")
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
    refuse_if(input.shape[-3] % upscale_factor**2, lambda:
        "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
        f"input.size(-3)={input.shape[-3]} is not divisible by {upscale_factor**2}")
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


def _max_unpool(n: int) -> Any:
    def unpooled(
        input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
    ) -> Any:
        """The inverse of max_pool{n}d: each maximum at its index, zeros elsewhere."""
        size = _unpooled_size(n, input, indices, kernel_size, stride, padding, output_size)
        if n == 3:
            steps = n_of(kernel_size if stride is None else stride, 3)
            return max_unpool3d_to(input, indices=indices, output_size=size, stride=steps, padding=n_of(padding, 3))
        if n == 2:
            return max_unpool2d_to(input, indices=indices, output_size=size)
        image, places = (unsqueeze(t, dim=-1) for t in (input, indices))
        return squeeze_dim(max_unpool2d_to(image, indices=places, output_size=(*size, 1)), dim=-1)

    return unpooled


max_unpool1d, max_unpool2d, max_unpool3d = functions(_max_unpool, "nn.functional.max_unpool{n}d")


def _unpooled_size(
    n: int, input: Tensor, indices: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> Ints:
    """The size before pooling, if the indices fit it. Several sizes are possible; `output_size` chooses one."""
    kernel, around = n_of(kernel_size, n), n_of(padding, n)
    steps = kernel if stride is None else n_of(stride, n)
    every = zip(input.shape[-n:], kernel, steps, around, strict=True)
    usual = tuple((length - 1) * s + k - 2 * p for length, k, s, p in every)
    size = usual if output_size is None else tuple(output_size)[-n:]
    for d in range(n):
        if output_size is not None and not usual[d] - steps[d] < size[d] < usual[d] + steps[d]:
            low, high = usual[d] - steps[d], usual[d] + steps[d]
            shown = f'"{tuple(output_size)}" (dim {d} must be between {low} and {high})'
            raise ValueError(f"invalid output_size {shown}")
    if indices.dtype.name != "int64":
        raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype.legacy}")
    refuse_if(indices.shape != input.shape, lambda:
        f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got indices tensor "
        f"with shape: {list(indices.shape)}")
    wrong = indices._data[(indices._data < 0) | (indices._data >= volume(size))]
    if wrong.size:
        raise RuntimeError(f"Found an invalid max index: {wrong[0]} (output volumes are of size {'x'.join(map(str, size))})")
    return size


@public("nn.functional.local_response_norm")
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """Each element, divided by a power of the mean square of `size` channels around it. Raises ValueError: fewer than 3-d."""
    if input.ndim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {input.ndim} dimensions)")
    if input.numel() == 0:
        return input
    squares = input * input
    ends = (size // 2, (size - 1) // 2)
    if input.ndim == 3:
        means = avg_pool2d(constant_pad_nd(unsqueeze(squares, dim=1), pad=(0, 0, *ends)), (size, 1), 1)
        means = squeeze_dim(means, dim=1)
    else:
        batch, channels, first, *rest = input.shape
        volumes = view_sizes(squares, size=(batch, 1, channels, first, volume(tuple(rest))))
        means = avg_pool3d(constant_pad_nd(volumes, pad=(0, 0, 0, 0, *ends)), (size, 1, 1), 1)
        means = view_sizes(squeeze_dim(means, dim=1), size=tuple(input.shape))
    return rounding.div(input, powers.pow(means * alpha + k, beta))
