"""What layers on sequences, images and volumes share: sliding windows, and makers for each number of dimensions.

The spatial dimensions are the last ones of an array. A window has `kernel` elements per dimension, `dilation` apart, and
moves by `stride`. The windows of an image are a view of its memory, so reading them copies nothing.

A maker takes the number of spatial dimensions, `n`, and returns the function or op for it. In names and docstrings `{n}` is the
number, and `{one}` is "a sequence", "an image" or "a volume". Padding, adaptive means and interpolation work on one dimension
after the other, by a matrix (out, in) of weights, or by a list of indices if each new element equals an old one. The gradient
goes through the transposed matrix.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from ...base.symbol import Symbol, call
from ...op import Primitive, inlined, primitive, public, renamed
from ...tensor.arguments import ints

Ints = tuple[int, ...]


def n_of(value: Any, n: int) -> Ints:
    """One number for each of `n` dimensions: `2` becomes `(2, 2)`."""
    values = ints(value)
    return values * n if len(values) == 1 else values


def window_count(length: int, kernel: int, stride: int, padding: int, dilation: int = 1, ceil_mode: bool = False) -> int:
    """The number of windows in `length` elements with `padding` on both sides. `ceil_mode` includes one that sticks out."""
    room = length + 2 * padding - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (count - 1) * stride >= length + padding:  # this window would lie entirely in the padding
        count -= 1
    return count


def places_of(size: Ints, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool = False) -> Ints:
    """The number of windows in an image of `size`, in each dimension."""
    every = zip(size, kernel_size, stride, padding, dilation, strict=True)
    return tuple(window_count(*each, ceil_mode) for each in every)


def padded(x: Any, before: Ints, after: Ints, value: Any = 0) -> Any:
    """`x` with `value` added at both ends of its last dimensions. x itself if nothing is added."""
    if not any(before) and not any(after):
        return x
    lead = x.ndim - len(before)
    sizes = tuple(b + length + a for b, length, a in zip(before, x.shape[lead:], after, strict=True))
    out: Any = np.zeros((*x.shape[:lead], *sizes), x.dtype)
    if value:
        out[...] = value
    out[(..., *(slice(b, b + length) for b, length in zip(before, x.shape[lead:], strict=True)))] = x
    return out


def windows(x: Any, kernel: Ints, stride: Ints, dilation: Ints) -> Any:
    """A view (..., *places, *kernel): a window over the last dimensions of `x` at each place."""
    n = len(kernel)
    lead, lengths, steps = x.shape[:-n], x.shape[-n:], x.strides[-n:]
    places = places_of(lengths, kernel, stride, (0,) * n, dilation)
    moves = tuple(a * b for a, b in zip(steps, stride, strict=True))
    inner = tuple(a * b for a, b in zip(steps, dilation, strict=True))
    return np.lib.stride_tricks.as_strided(x, (*lead, *places, *kernel), (*x.strides[:-n], *moves, *inner), writeable=False)


def windows_along(axis: int, x: Any, kernel: int, stride: int, dilation: int, places: int) -> Any:
    """A view of images `x` with windows along one axis, counted from the end: (image, channel, kernel, ..., places, ...)."""
    shape, strides, step = list(x.shape), list(x.strides), x.strides[axis]
    shape[axis], strides[axis] = places, step * stride
    shape.insert(2, kernel)
    strides.insert(2, step * dilation)
    if x.flags.c_contiguous:  # six times as fast
        return np.ndarray(shape, x.dtype, x, 0, strides)
    return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=False)


def offsets(kernel: Ints) -> Iterator[Ints]:
    """The positions inside a window, in row-major order."""
    return itertools.product(*(range(k) for k in kernel))


@lru_cache(maxsize=64)  # the same for every batch
def every_look(kernel: Ints, places: Ints, stride: Ints, dilation: Ints) -> tuple[tuple[Any, ...], ...]:
    """For each position inside the window, in row-major order: the index of the elements there, in all windows."""
    starts = ([o * d for o, d in zip(offset, dilation, strict=True)] for offset in offsets(kernel))
    reach = [(s * (p - 1) + 1, s) for p, s in zip(places, stride, strict=True)]
    return tuple((..., *(slice(b, b + r, s) for b, (r, s) in zip(start, reach, strict=True))) for start in starts)


def overlap_added(parts: Any, size: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Any:
    """The transpose of `windows`: add each window of `parts`, (..., *kernel, *places), at its place in an image of `size`."""
    n = len(size)
    lead, kernel, places = parts.shape[: -2 * n], parts.shape[-2 * n : -n], parts.shape[-n:]
    reach = [d * (k - 1) + s * (p - 1) + 1 for k, s, d, p in zip(kernel, stride, dilation, places, strict=True)]
    room = [max(length + 2 * p, r) for length, p, r in zip(size, padding, reach, strict=True)]
    out: Any = np.zeros((*lead, *room), parts.dtype)
    for offset, at in zip(offsets(kernel), every_look(kernel, places, stride, dilation), strict=True):
        out[at] += parts[(*(slice(None),) * len(lead), *offset)]
    return out[(..., *(slice(p, p + length) for p, length in zip(padding, size, strict=True)))]


volume = math.prod  # the number of elements of a block with these lengths


def brief(name: str, shown: int = 3) -> Callable[..., Symbol]:
    """The writer of a call in a formula, without its options. The node shows them."""
    return lambda *args, **options: call(name, *args[:shown])


Maker = Callable[[int], Any]


def named(n: int, name: str, function: Any) -> Any:
    """The function made for `n`, with its name and docstring."""
    one = ("a sequence", "an image", "a volume")[n - 1]
    return renamed(function, name.format(n=n), function.__doc__.format(n=n, one=one))


def functions(make: Maker, *names: str, dims: tuple[int, ...] = (1, 2, 3)) -> tuple[Any, ...]:
    """The public function for each of `dims`, named by the first name. A name with a number is for that one alone."""
    every = []
    for n in dims:
        own = [name.format(n=n) for name in names if "{n}" in name or f"{n}d" in name]
        every.append(public(*own)(named(n, own[0].rpartition(".")[2], make(n))))
    return tuple(every)


def by_axis(values: Iterable[Any], axes: str = "DHW", before: str = "", comma: str = "") -> str:
    """A value per dimension, as error messages write them: "H: 3 W: 4"."""
    values = tuple(values)
    return f"{comma} ".join(f"{before}{axis}: {v}" for axis, v in zip(axes[-len(values) :], values, strict=True))


def op(n: int, node_name: str, name: str, **traits: Any) -> Callable[[Callable[..., Any]], Primitive]:
    """Declare the op of `n` dimensions (see `primitive`)."""
    return lambda forward: primitive(node_name.format(n=n), **traits)(named(n, name, forward))


def same(name: str, *inputs: str, options: tuple[str, ...] = ()) -> Any:
    """The rule that calls the op `name` on the gradient and `inputs`, with the same options."""
    count = 1 + len(inputs)

    def rule(*values):  # fmt: skip
        return op_named(name)(*values[:count], **dict(zip(options, values[count:], strict=True)))

    return with_signature(rule, "grad", *inputs, *options)


def with_signature(rule: Any, *names: str, **options: Any) -> Any:
    """A rule or forward with any number of values. Its signature gets the names that it asks for, and its options."""
    kind = inspect.Parameter
    wanted = [kind(name, kind.POSITIONAL_OR_KEYWORD) for name in names]
    rule.__signature__ = inspect.Signature([*wanted, *(kind(o, kind.KEYWORD_ONLY, default=d) for o, d in options.items())])
    return rule


@inlined
def op_named(name: str) -> Any:
    """The op of this name, in the current reading. A rule that serves several ops finds their gradients with it."""
    return globals()[name]


def along_each(x: Any, makings: list[Any]) -> Any:
    """The last dimensions of `x`, transformed one by one."""
    first = x.ndim - len(makings)
    for d, making in enumerate(makings):
        if making.ndim == 1:
            x = np.take(x, making, first + d)
        else:
            x = np.swapaxes(np.swapaxes(x, first + d, -1) @ making.T.astype(x.dtype), first + d, -1)
    return np.ascontiguousarray(x)


def transposed(makings: list[Any], size: Ints) -> list[Any]:
    """The transposed transformations, back to dimensions of `size`."""
    return [(np.eye(n)[making] if making.ndim == 1 else making).T for making, n in zip(makings, size, strict=True)]


def adaptive_boxes(size: Ints, output_size: Ints) -> tuple[list[Any], list[Any]]:
    """Start and end of the windows of adaptive pooling, in each dimension. They divide the length evenly."""
    starts = [np.arange(out) * length // out for length, out in zip(size, output_size, strict=True)]
    ends = [-(-(np.arange(out) + 1) * length // out) for length, out in zip(size, output_size, strict=True)]
    return starts, ends


def shares(size: Ints, output_size: Ints) -> list[Any]:
    """The matrices of means over adaptive windows."""
    matrices = []
    for length, starts, ends in zip(size, *adaptive_boxes(size, output_size), strict=True):
        places = np.arange(length)
        inside = (places >= starts[:, None]) & (places < ends[:, None])
        matrices.append(inside / np.maximum(ends - starts, 1)[:, None])
    return matrices
