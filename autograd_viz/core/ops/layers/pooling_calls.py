"""Pooling as the caller writes it: one number or one per dimension, a batch or a single image, 1d as a flat 2d."""

from __future__ import annotations

from typing import Any

from ...base.public import public
from ...tensor.tensor import Tensor
from ..reduce.reduction import mean_dim
from ..shape.shape import squeeze_dim, unsqueeze
from .average_pooling import adaptive_avg_pool2d_to, adaptive_avg_pool3d_to, avg_pool2d_windows, avg_pool3d_windows
from .max_pooling import (
    adaptive_max_pool2d_to,
    adaptive_max_pool3d_to,
    max_pool2d_backward,
    max_pool2d_with_indices,
    max_pool3d_with_indices,
)
from .pooling_checks import check_adaptive, check_flat, check_line, check_windows, each


@public("nn.functional.max_pool1d_with_indices", "torch.max_pool1d_with_indices")
def max_pool1d_with_indices(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = True,
) -> Any:  # fmt: skip
    """The largest in each window of a sequence, and its place."""
    check_flat("max_pool1d", input)
    kernel = each("max_pool1d", "kernel_size", kernel_size, 1)
    step = each("max_pool1d", "stride", stride, 1) if stride not in (None, (), []) else kernel
    around, spacing = each("max_pool1d", "padding", padding, 1), each("max_pool1d", "dilation", dilation, 1)
    check_line(input.shape[-1], kernel[0], step[0], around[0], spacing[0], ceil_mode)
    return _flat(
        lambda image: max_pool2d_with_indices(
            image,
            kernel_size=(1, *kernel),
            stride=(1, *step),
            padding=(0, *around),
            dilation=(1, *spacing),
            ceil_mode=ceil_mode,
        ),
        input,
    )


@public("nn.functional.max_pool2d_with_indices")
def max_pool2d_and_places(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = True,
) -> Any:  # fmt: skip
    """The largest in each window of an image, and its place."""
    return max_pool2d_with_indices(input, **_windows(2, input, kernel_size, stride, padding, dilation, ceil_mode))


@public("nn.functional.max_pool3d_with_indices")
def max_pool3d_and_places(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = True,
) -> Any:  # fmt: skip
    """The largest in each window of a volume, and its place."""
    return max_pool3d_with_indices(input, **_windows(3, input, kernel_size, stride, padding, dilation, ceil_mode))


def _windows(n: int, input: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> dict[str, Any]:
    """The options of a max pooling in full, checked; a stride that is left out stays empty, as PyTorch's nodes keep it."""
    name = f"max_pool{n}d"
    options: dict[str, Any] = {
        "kernel_size": each(name, "kernel_size", kernel, n),
        "stride": () if stride in (None, (), []) else each(name, "stride", stride, n),
        "padding": each(name, "padding", padding, n),
        "dilation": each(name, "dilation", dilation, n),
        "ceil_mode": ceil_mode,
    }
    check_windows(name, input, **options)
    return options


@public("nn.functional.max_pool1d", "torch.max_pool1d")
def max_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest in each window of a sequence."""
    both = max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return both if return_indices else both[0]


@public("nn.functional.max_pool2d", "torch.max_pool2d")
def max_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest in each window of an image."""
    both = max_pool2d_and_places(input, kernel_size, stride, padding, dilation, ceil_mode)
    return tuple(both) if return_indices else both[0]


@public("nn.functional.max_pool3d", "torch.max_pool3d")
def max_pool3d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest in each window of a volume."""
    both = max_pool3d_and_places(input, kernel_size, stride, padding, dilation, ceil_mode)
    return tuple(both) if return_indices else both[0]


@public("ops.aten.max_pool2d_with_indices_backward")
def max_pool2d_with_indices_backward(
    grad_output: Tensor, self: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    indices: Tensor,
) -> Any:  # fmt: skip
    """The gradient of max_pool2d: the places say it all."""
    return max_pool2d_backward(grad_output, self, indices=indices)


max_pool2d_with_indices_backward.default = max_pool2d_with_indices_backward  # torch.ops.aten.<op>.default is its first form


@public("nn.functional.avg_pool1d", "torch.avg_pool1d")
def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """The mean of each window of a sequence."""
    check_flat("avg_pool1d", input)
    kernel = each("avg_pool1d", "kernel_size", kernel_size, 1)
    step = each("avg_pool1d", "stride", stride, 1) if stride not in (None, (), []) else kernel
    around = each("avg_pool1d", "padding", padding, 1)

    def pooled(image: Tensor) -> Any:
        return avg_pool2d(image, (1, *kernel), (1, *step), (0, *around), ceil_mode, count_include_pad)

    return _flat(pooled, input)


@public("nn.functional.avg_pool2d")
def avg_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Any:  # fmt: skip
    """The mean of each window of an image."""
    options = _mean_windows(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return avg_pool2d_windows(input, **options)


@public("nn.functional.avg_pool3d")
def avg_pool3d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Any:  # fmt: skip
    """The mean of each window of a volume."""
    options = _mean_windows(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return avg_pool3d_windows(input, **options)


def _mean_windows(
    n: int, input: Tensor, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool, divisor: int | None
) -> dict[str, Any]:
    """The options of an average pooling in full, checked.

    Raises:
        RuntimeError: a divisor of 0, or windows that do not fit.
    """
    name = f"avg_pool{n}d"
    options: dict[str, Any] = {
        "kernel_size": each(name, "kernel_size", kernel, n),
        "stride": () if stride in (None, (), []) else each(name, "stride", stride, n),
        "padding": each(name, "padding", padding, n),
        "ceil_mode": ceil_mode,
    }
    if divisor == 0:
        raise RuntimeError("divisor must be not zero")
    check_windows(name, input, dilation=(1,) * n, **options)
    return {**options, "count_include_pad": count_include_pad, "divisor_override": divisor}


@public("nn.functional.adaptive_avg_pool1d", "torch.adaptive_avg_pool1d")
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Any:
    """Means over so many windows as `output_size` says."""
    check_flat("adaptive_avg_pool1d", input)
    return _flat(
        lambda image: adaptive_avg_pool2d(image, (1, *each("adaptive_avg_pool1d", "output_size", output_size, 1))), input
    )


@public("nn.functional.adaptive_avg_pool2d")
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Any:
    """Means over so many windows as `output_size` says; None keeps a length."""
    size = check_adaptive("adaptive_avg_pool", input, output_size, 2)
    if size == (1, 1):
        return mean_dim(input, dim=(-1, -2), keepdim=True)
    return adaptive_avg_pool2d_to(input, output_size=size)


@public("nn.functional.adaptive_avg_pool3d")
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Any:
    """Means over so many windows as `output_size` says; None keeps a length."""
    size = check_adaptive("adaptive_avg_pool", input, output_size, 3)
    if size == (1, 1, 1):
        return mean_dim(input, dim=(-1, -2, -3), keepdim=True)
    return adaptive_avg_pool3d_to(input, output_size=size)


@public("nn.functional.adaptive_max_pool1d_with_indices", "torch.adaptive_max_pool1d")
def adaptive_max_pool1d_with_indices(input: Tensor, output_size: Any, return_indices: bool = True) -> Any:
    """The largest in so many windows as `output_size` says, and their places."""
    check_flat("adaptive_max_pool1d", input)
    size = (1, *each("adaptive_max_pool1d", "output_size", output_size, 1))
    return _flat(lambda image: adaptive_max_pool2d_to(image, output_size=size), input)


@public("nn.functional.adaptive_max_pool2d_with_indices")
def adaptive_max_pool2d_with_indices(input: Tensor, output_size: Any, return_indices: bool = True) -> Any:
    """The largest in so many windows as `output_size` says, and their places."""
    return tuple(adaptive_max_pool2d_to(input, output_size=check_adaptive("adaptive_max_pool", input, output_size, 2)))


@public("nn.functional.adaptive_max_pool3d_with_indices")
def adaptive_max_pool3d_with_indices(input: Tensor, output_size: Any, return_indices: bool = True) -> Any:
    """The largest in so many windows as `output_size` says, and their places."""
    return tuple(adaptive_max_pool3d_to(input, output_size=check_adaptive("adaptive_max_pool", input, output_size, 3)))


@public("nn.functional.adaptive_max_pool1d")
def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest in so many windows as `output_size` says."""
    both = adaptive_max_pool1d_with_indices(input, output_size)
    return both if return_indices else both[0]


@public("nn.functional.adaptive_max_pool2d")
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest in so many windows as `output_size` says."""
    both = adaptive_max_pool2d_with_indices(input, output_size)
    return both if return_indices else both[0]


@public("nn.functional.adaptive_max_pool3d")
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest in so many windows as `output_size` says."""
    both = adaptive_max_pool3d_with_indices(input, output_size)
    return both if return_indices else both[0]


def _flat(pooled: Any, input: Tensor) -> Any:
    """A 2d pooling of a sequence: an image of height 1, and back."""
    result = pooled(unsqueeze(input, dim=-2))
    return tuple(squeeze_dim(r, dim=-2) for r in result) if isinstance(result, tuple) else squeeze_dim(result, dim=-2)
