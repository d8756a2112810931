"""Tables of functions and ops that differ only in the number of spatial dimensions: sequences, images and volumes.

A maker takes that number, `n`, and returns the function for it. In names and docstrings `{n}` is the number, and `{one}` is
"a sequence", "an image" or "a volume".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...op import Primitive, inlined, primitive, public
from .windows import Ints

ONE = {1: "a sequence", 2: "an image", 3: "a volume"}
Maker = Callable[[int], Any]


def named(n: int, name: str, function: Any) -> Any:
    """The function made for `n`, with its name and docstring."""
    function.__name__ = function.__qualname__ = name.format(n=n)
    function.__doc__ = function.__doc__.format(n=n, one=ONE[n])
    return function


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

    return asking(rule, "grad", *inputs, *options)


def asking(rule: Any, *names: str, **options: Any) -> Any:
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


def shares(size: Ints, output_size: Ints) -> list[Any]:
    """The matrices of means over adaptive windows."""
    matrices = []
    for length, out in zip(size, output_size, strict=True):
        starts, ends = np.arange(out) * length // out, -(-(np.arange(out) + 1) * length // out)
        places = np.arange(length)
        inside = (places >= starts[:, None]) & (places < ends[:, None])
        matrices.append(inside / np.maximum(ends - starts, 1)[:, None])
    return matrices
