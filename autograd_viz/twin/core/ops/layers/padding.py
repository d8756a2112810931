"""Padding: more elements at the edges, with a constant, by reflection, or by replication."""
# fmt: off

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.names import zeros_like
from ...op import Primitive, inlined, primitive, public
from .separable import along_each, transposed
from .sized import op, same
from .windows import Ints, brief


@public("torch.constant_pad_nd")
@primitive("ConstantPadNdBackward0")
def constant_pad_nd(self, *, pad, value=0):
    """`value` at both ends: pad = (before last, after last, before second last, ...). A negative number crops."""
    pairs = list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    lengths = self.shape[self.ndim - len(pairs):]
    sizes = [b + length + a for (b, a), length in zip(pairs, lengths, strict=True)]
    if any(length + min(b, 0) + min(a, 0) < 0 for (b, a), length in zip(pairs, lengths, strict=True)):
        raise RuntimeError("narrow(): length must be non-negative.")
    out: Any = np.full((*self.shape[:self.ndim - len(pairs)], *sizes), value, self.dtype)
    kept = (slice(max(-b, 0), length - max(-a, 0)) for (b, a), length in zip(pairs, lengths, strict=True))
    there = (slice(max(b, 0), size - max(a, 0)) for (b, a), size in zip(pairs, sizes, strict=True))
    out[(..., *there)] = self[(..., *kept)]
    return out
constant_pad_nd.defvjp(self = lambda grad, pad: constant_pad_nd(grad, pad=opposite(pad)))


def _declare(n: int, kind: str, node_name: str, seen: Callable[[Any, int], Any]) -> Primitive:
    """Declare a padding of the last `n` dimensions that copies elements: `seen(position, length)` gives their index."""
    def forward(self, *, padding):
        return along_each(self, sources(self.shape[-n:], padding, seen))
    forward.__doc__ = f"Pad with {seen.__doc__}"
    def backward(grad_output, self, *, padding):
        """Each gradient, added to the element that was copied."""
        return along_each(grad_output, transposed(sources(self.shape[-n:], padding, seen), self.shape[-n:]))

    name, back = f"{kind}_pad{n}d", f"{kind}_pad{n}d_backward"
    declared = op(n, f"{node_name}{n}DBackward0", name)(forward)
    declared.defvjp(
        self        = same(back, "self", options=("padding",)),
    )
    op(n, f"{node_name}{n}DBackwardBackward0", back, written=brief(back, 1))(backward).defvjp(
        grad_output = same(name, options=("padding",)),
        self        = lambda grad: zeros_like(grad),
    )
    return declared


# fmt: on
def reflected(position: Any, length: int) -> Any:
    """a reflection of the inside, without the edge itself."""
    return length - 1 - np.abs(length - 1 - np.abs(position))


def nearest_edge(position: Any, length: int) -> Any:
    """copies of the edge."""
    return np.clip(position, 0, length - 1)


def sources(size: Ints, padding: Ints, seen: Callable[[Any, int], Any]) -> list[Any]:
    """For each dimension, the source index of each padded element. `padding` begins with the last dimension."""
    pairs = list(zip(padding[::2], padding[1::2], strict=True))[::-1]
    return [seen(np.arange(-b, length + a), length) for (b, a), length in zip(pairs, size, strict=True)]


@inlined
def opposite(pad: Ints) -> Ints:
    """The padding that undoes a padding: it crops as much."""
    return tuple(-p for p in pad)


REFLECTION = {n: _declare(n, "reflection", "ReflectionPad", reflected) for n in (1, 2, 3)}
REPLICATION = {n: _declare(n, "replication", "ReplicationPad", nearest_edge) for n in (1, 2, 3)}
