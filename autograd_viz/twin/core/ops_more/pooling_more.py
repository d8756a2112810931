"""The inverse of max pooling, and normalization over neighbouring channels."""

from __future__ import annotations

from typing import Any

from ..op import public
from ..ops.elementwise import powers, rounding
from ..ops.layers.padding import constant_pad_nd
from ..ops.layers.pooling import max_unpool2d_to, max_unpool3d_to
from ..ops.layers.pooling_calls import avg_pool2d, avg_pool3d
from ..ops.layers.windows import Ints, functions, n_of, volume
from ..ops.shape.shape import squeeze_dim, unsqueeze, view_sizes
from ..tensor import Tensor


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
    """The size before pooling. Several sizes are possible; `output_size` chooses one."""
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
    _check_places(input, indices, size)
    return size


def _check_places(input: Tensor, indices: Tensor, size: Ints) -> None:
    if indices.dtype.name != "int64":
        raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype.legacy}")
    if indices.shape != input.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got indices tensor "
            f"with shape: {list(indices.shape)}"
        )
    wrong = indices._data[(indices._data < 0) | (indices._data >= volume(size))]
    if wrong.size:
        raise RuntimeError(f"Found an invalid max index: {wrong[0]} (output volumes are of size {'x'.join(map(str, size))})")


@public("nn.functional.local_response_norm")
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """Each element, divided by a power of the mean square of `size` neighbouring channels.

    Raises ValueError: fewer than three dimensions.
    """
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
