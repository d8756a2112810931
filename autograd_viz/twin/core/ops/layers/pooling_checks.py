"""The checks of pooling, with PyTorch's error messages."""

from __future__ import annotations

from typing import Any

from ...tensor import Tensor, ints
from .sized import by_axis
from .windows import Ints, n_of, places_of, window_count

_NUMBERS = {1: "one", 2: "two", 3: "three"}


def each(name: str, option: str, value: Any, n: int) -> Ints:
    """One value for each dimension."""
    values = ints(value)
    if len(values) not in (1, n):
        kind = f"a single int, or a tuple of {_NUMBERS[n]} ints"
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
    if padding < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError(
            f"max_pool1d() padding should be at most half of kernel size, but got padding={padding} and kernel_size={kernel}"
        )
    places = window_count(length, kernel, stride, padding, dilation, ceil_mode)
    if places < 1:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {places}")


def check_windows(
    name: str, input: Tensor, *, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> None:
    """Refuse windows that do not fit into the input."""
    n = len(kernel_size)
    stride = stride or kernel_size
    if any(s == 0 for s in stride):
        raise RuntimeError("stride should not be zero")
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
    places = places_of(input.shape[-n:], kernel_size, stride, padding, dilation, ceil_mode)
    _check_places(name, input.shape[-n - 1 :], kernel_size, places)


def _check_places(name: str, size: Ints, kernel_size: Ints, places: Ints) -> None:
    """Refuse a dimension without any window."""
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
