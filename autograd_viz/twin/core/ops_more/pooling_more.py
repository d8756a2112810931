"""Rare poolings: unpooling, fractional and p-norm pooling; and normalization over neighbouring channels."""

from __future__ import annotations

import itertools
from typing import Any

from ..base.public import public
from ..ops.activation.activation_kinked import relu
from ..ops.elementwise import powers, rounding
from ..ops.layers.padding import constant_pad_nd
from ..ops.layers.pooling import FRACTIONAL_MAX_POOL, max_unpool2d_to, max_unpool3d_to
from ..ops.layers.pooling_calls import avg_pool1d, avg_pool2d, avg_pool3d
from ..ops.layers.windows import Ints, functions, n_of, volume
from ..ops.shape.shape import squeeze_dim, unsqueeze, view_sizes
from ..tensor.creation import rand
from ..tensor.tensor import Tensor


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
    """The size before pooling. Several sizes are possible; `output_size` chooses one.

    Raises:
        ValueError: `output_size` is not one of them.
        RuntimeError: indices that do not fit the input.
    """
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


def _fractional_max_pool(n: int, both: bool = False) -> Any:
    def pooled(
        input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = both,
        _random_samples: Tensor | None = None,
    ) -> Any:  # fmt: skip
        options = _fractional(n, input, kernel_size, output_size, output_ratio, _random_samples)
        found = tuple(FRACTIONAL_MAX_POOL[n](input, **options))
        return found if both or return_indices else found[0]

    pooled.__doc__ = "The largest elements of windows at random distances" + (", and their indices." if both else ".")
    return pooled


fractional_max_pool2d, fractional_max_pool3d = functions(
    _fractional_max_pool, "nn.functional.fractional_max_pool{n}d", dims=(2, 3)
)
fractional_max_pool2d_with_indices, fractional_max_pool3d_with_indices = functions(
    lambda n: _fractional_max_pool(n, True), "nn.functional.fractional_max_pool{n}d_with_indices", dims=(2, 3)
)


def _fractional(
    n: int, input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Tensor | None
) -> dict[str, Any]:
    """The options of a fractional pooling, one value per dimension.

    Raises:
        ValueError: neither a size nor a ratio.
        RuntimeError: windows that do not fit.
    """
    name = f"fractional_max_pool{n}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is None:
        ratios = output_ratio if isinstance(output_ratio, list | tuple) else (output_ratio,) * n
        output_size = tuple(int(length * r) for length, r in zip(input.shape[-n:], ratios, strict=True))
    kernel, size = n_of(kernel_size, n), n_of(output_size, n)
    for axis, length, k, out in zip(("time", "height", "width")[-n:], input.shape[-n:], kernel, size, strict=True):
        if out + k - 1 > length - (n == 3):
            raise RuntimeError(f"{name}(): pool {axis} {k} too large relative to input {axis} {length}")
    if samples is None:
        lead = (1, *input.shape[:-n])[-2:]
        samples = rand(*lead, n, dtype=input.dtype)
    return {"kernel_size": kernel, "output_size": size, "random_samples": samples}


def _lp_pool(n: int) -> Any:
    def pooled(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
        """The p-norm of each window of {one}."""
        mean = (avg_pool1d, avg_pool2d, avg_pool3d)[n - 1]
        means = mean(powers.pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
        return powers.pow(rounding.sign(means) * relu(rounding.abs(means)) * volume(n_of(kernel_size, n)), 1.0 / norm_type)

    return pooled


lp_pool1d, lp_pool2d, lp_pool3d = functions(_lp_pool, "nn.functional.lp_pool{n}d")


@public("nn.functional.local_response_norm")
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """Each element, divided by a power of the mean square of `size` neighbouring channels.

    Raises:
        ValueError: fewer than three dimensions.
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
        means = avg_pool3d(constant_pad_nd(volumes, pad=tuple(itertools.chain((0,) * 4, ends))), (size, 1, 1), 1)
        means = view_sizes(squeeze_dim(means, dim=1), size=tuple(input.shape))
    return rounding.div(input, powers.pow(means * alpha + k, beta))
