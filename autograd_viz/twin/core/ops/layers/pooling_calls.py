"""The user's calls of pooling: one number or one per dimension, a batch or a single image, 1d as flat 2d."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...base import names as op
from ...base.public import public
from ...tensor.tensor import Tensor
from ..reduce.reduction import mean_dim
from ..shape.shape import squeeze_dim, unsqueeze
from .average_pooling import ADAPTIVE_AVG_POOL, AVG_POOL
from .max_pooling import ADAPTIVE_MAX_POOL, MAX_POOL
from .pooling_checks import check_adaptive, check_flat, check_line, check_windows, each
from .sized import functions
from .windows import Ints


def _flat(pooled: Callable[[Tensor], Any], input: Tensor) -> Any:
    """A 2d pooling applied to a sequence, as an image of height 1."""
    result = pooled(unsqueeze(input, dim=-2))
    return tuple(squeeze_dim(r, dim=-2) for r in result) if isinstance(result, tuple) else squeeze_dim(result, dim=-2)


def _options(name: str, n: int, stride: Any, **values: Any) -> dict[str, Ints]:
    """The options, one value per dimension. As in PyTorch's nodes, an omitted stride is empty."""
    kernel = each(name, "kernel_size", values.pop("kernel_size"), n)
    steps = () if stride in (None, (), []) else each(name, "stride", stride, n)
    return {"kernel_size": kernel, "stride": steps} | {option: each(name, option, v, n) for option, v in values.items()}


def _largest(n: int, input: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Any:
    """The largest element of each window, and its index."""
    name = f"max_pool{n}d"
    if n == 1:
        check_flat(name, input)
    options = _options(name, n, stride, kernel_size=kernel, padding=padding, dilation=dilation)
    if n > 1:
        check_windows(name, input, **options, ceil_mode=ceil_mode)
        return MAX_POOL[n](input, **options, ceil_mode=ceil_mode)
    options["stride"] = options["stride"] or options["kernel_size"]
    check_line(input.shape[-1], ceil_mode, *(v[0] for v in options.values()))
    flat = {option: (int(option != "padding"), *v) for option, v in options.items()}
    return _flat(lambda image: MAX_POOL[2](image, **flat, ceil_mode=ceil_mode), input)


def _max_pool(n: int, both: bool = False) -> Any:
    def pooled(
        input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
        return_indices: bool = both,
    ) -> Any:  # fmt: skip
        found = _largest(n, input, kernel_size, stride, padding, dilation, ceil_mode)
        return found if both else tuple(found) if return_indices else found[0]

    pooled.__doc__ = "The largest element of each window of {one}" + (", and its index." if both else ".")
    return pooled


max_pool1d, max_pool2d, max_pool3d = functions(_max_pool, "nn.functional.max_pool{n}d", "torch.max_pool{n}d")
max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = functions(
    lambda n: _max_pool(n, True), "nn.functional.max_pool{n}d_with_indices", "torch.max_pool1d_with_indices"
)


@public("ops.aten.max_pool2d_with_indices_backward")
def max_pool2d_with_indices_backward(
    grad_output: Tensor, self: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    indices: Tensor,
) -> Any:  # fmt: skip
    """The gradient of max_pool2d, which needs only the indices."""
    return op.max_pool2d_backward(grad_output, self, indices=indices)


max_pool2d_with_indices_backward.default = max_pool2d_with_indices_backward  # type: ignore[attr-defined]  # aten.<op>.default


@public("nn.functional.avg_pool1d", "torch.avg_pool1d")
def avg_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:  # fmt: skip
    """The mean of each window of a sequence."""
    check_flat("avg_pool1d", input)
    kernel, steps, around = _options("avg_pool1d", 1, stride, kernel_size=kernel_size, padding=padding).values()
    window = ((1, *kernel), (1, *(steps or kernel)), (0, *around))
    return _flat(lambda image: avg_pool2d(image, *window, ceil_mode, count_include_pad), input)


def _avg_pool(n: int) -> Any:
    def pooled(
        input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> Any:  # fmt: skip
        """The mean of each window of {one}."""
        name = f"avg_pool{n}d"
        options: dict[str, Any] = _options(name, n, stride, kernel_size=kernel_size, padding=padding)
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        check_windows(name, input, dilation=(1,) * n, **options, ceil_mode=ceil_mode)
        options |= {"count_include_pad": count_include_pad, "divisor_override": divisor_override}
        return AVG_POOL[n](input, **options, ceil_mode=ceil_mode)

    return pooled


avg_pool2d, avg_pool3d = functions(_avg_pool, "nn.functional.avg_pool{n}d", dims=(2, 3))


def _adaptive_avg_pool(n: int) -> Any:
    def pooled(input: Tensor, output_size: Any) -> Any:
        if n == 1:
            check_flat("adaptive_avg_pool1d", input)
            flat = (1, *each("adaptive_avg_pool1d", "output_size", output_size, 1))
            return _flat(lambda image: adaptive_avg_pool2d(image, flat), input)
        size = check_adaptive("adaptive_avg_pool", input, output_size, n)
        if set(size) == {1}:
            return mean_dim(input, dim=tuple(range(-1, -1 - n, -1)), keepdim=True)
        return ADAPTIVE_AVG_POOL[n](input, output_size=size)

    pooled.__doc__ = "The means of `output_size` windows" + ("." if n == 1 else "; None keeps a length.")
    return pooled


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = functions(
    _adaptive_avg_pool, "nn.functional.adaptive_avg_pool{n}d", "torch.adaptive_avg_pool1d"
)


def _adaptive_max_pool(n: int, both: bool = False) -> Any:
    def pooled(input: Tensor, output_size: Any, return_indices: bool = both) -> Any:
        if n == 1:
            check_flat("adaptive_max_pool1d", input)
            size = (1, *each("adaptive_max_pool1d", "output_size", output_size, 1))
            found = _flat(lambda image: ADAPTIVE_MAX_POOL[2](image, output_size=size), input)
        else:
            found = tuple(ADAPTIVE_MAX_POOL[n](input, output_size=check_adaptive("adaptive_max_pool", input, output_size, n)))
        return found if both or return_indices else found[0]

    pooled.__doc__ = "The largest elements of `output_size` windows" + (", and their indices." if both else ".")
    return pooled


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = functions(
    _adaptive_max_pool, "nn.functional.adaptive_max_pool{n}d"
)
adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices = functions(
    lambda n: _adaptive_max_pool(n, True), "nn.functional.adaptive_max_pool{n}d_with_indices", "torch.adaptive_max_pool1d"
)
