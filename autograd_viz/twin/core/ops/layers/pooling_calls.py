"""The user's calls of pooling, and their checks: one number or one per dimension, a batch or one image, 1d as flat 2d."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...base.public import public
from ...tensor import Tensor, ints, refuse_if
from ..reduce.reduction import mean_dim
from ..shape.shape import squeeze_dim, unsqueeze
from .pooling import ADAPTIVE_AVG_POOL, ADAPTIVE_MAX_POOL, AVG_POOL, MAX_POOL
from .windows import Ints, by_axis, functions, n_of, places_of, window_count


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
        refuse_if(divisor_override == 0, "divisor must be not zero")
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


def each(name: str, option: str, value: Any, n: int) -> Ints:
    """One value for each dimension."""
    values = ints(value)
    if len(values) not in (1, n):
        kind = f"a single int, or a tuple of {('one', 'two', 'three')[n - 1]} ints"
        raise RuntimeError(f"{name}: {option} must {'either ' if option == 'kernel_size' else ''}be {kind}")
    return n_of(values, n)


def check_flat(name: str, input: Tensor) -> None:
    """Refuse an input that is neither a sequence nor a batch of sequences."""
    if input.ndim in (2, 3):
        return
    if name == "max_pool1d":
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{list(input.shape)}"
        )
    raise RuntimeError(
        f"Expected 2 to 3 dimensions, but got {input.ndim}-dimensional tensor for argument #1 'self' (while checking arguments "
        f"for {name})"
    )


def check_line(length: int, ceil_mode: bool, kernel: int, stride: int, padding: int, dilation: int) -> None:
    """Refuse windows of max_pool1d that do not fit into a sequence."""
    for name, value in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
        if value < 1:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {value}")
    refuse_if(padding < 0, lambda: f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError(
            f"max_pool1d() padding should be at most half of kernel size, but got padding={padding} and kernel_size={kernel}"
        )
    places = window_count(length, kernel, stride, padding, dilation, ceil_mode)
    refuse_if(places < 1, lambda: f"max_pool1d() Invalid computed output size: {places}")


def check_windows(
    name: str, input: Tensor, *, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> None:
    """Refuse windows that do not fit into the input."""
    n = len(kernel_size)
    stride = stride or kernel_size
    refuse_if(any(s == 0 for s in stride), "stride should not be zero")
    if any(d <= 0 for d in dilation):
        raise RuntimeError(f"dilation should be greater than zero, but got {by_axis(dilation, 'THW', 'dilation')}")
    if input.ndim not in (n + 1, n + 2):
        raise RuntimeError(f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input")
    if 0 in input.shape[1:]:
        raise RuntimeError(
            f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{list(input.shape)}"
        )
    for p, k, d in zip(padding, kernel_size, dilation, strict=True):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > (d * (k - 1) + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}"
            )
    size = input.shape[-n - 1 :]
    places = places_of(size[1:], kernel_size, stride, padding, dilation, ceil_mode)
    if min(places) >= 1:
        return
    if name == "avg_pool3d":
        has, wants = by_axis(size[1:], "THW"), by_axis(kernel_size, "THW", "k")
        raise RuntimeError(f"input image ({has}) smaller than kernel size ({wants})")
    given, made = ("x".join(map(str, values)) for values in (size, (size[0], *(max(p, 0) for p in places))))
    raise RuntimeError(f"Given input size: ({given}). Calculated output size: ({made}). Output size is too small")


def check_adaptive(kind: str, input: Tensor, output_size: Any, n: int) -> Ints:
    """The full output size. None means the input's."""
    name = f"{kind}{n}d()"
    if input.ndim not in (n + 1, n + 2):
        colon = ":" if "max" in kind else ""
        raise RuntimeError(f"{name}: Expected {n + 1}D or {n + 2}D tensor, but got{colon} {list(input.shape)}")
    wanted = output_size if isinstance(output_size, list | tuple) else (output_size,) * n
    size = tuple(have if want is None else int(want) for have, want in zip(input.shape[-n:], wanted, strict=True))
    if min(size) < 0:
        shown = ", ".join(map(str, size))
        raise RuntimeError(f"{kind}{n}d: elements of output_size must be greater than or equal to 0 but received {{{shown}}}")
    return size
