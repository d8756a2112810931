"""Padding: more elements at the edges, with a constant, by reflection, by replication, or around (circular)."""
# fmt: off

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.names import zeros_like
from ...op import Primitive, public, public_primitive
from ...tensor import Tensor, refuse_if
from .windows import Ints, along_each, brief, by_axis, op, same, transposed


@public_primitive("torch.constant_pad_nd", "ConstantPadNdBackward0")
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
constant_pad_nd.defvjp(self = lambda grad, pad: constant_pad_nd(grad, pad=tuple(-p for p in pad)))


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
    declared.defvjp(self = same(back, "self", options=("padding",)))
    op(n, f"{node_name}{n}DBackwardBackward0", back, written=brief(back, 1))(backward).defvjp(
        grad_output = same(name, options=("padding",)),
        self        = lambda grad: zeros_like(grad))
    return declared


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


REFLECTION = {n: _declare(n, "reflection", "ReflectionPad", reflected) for n in (1, 2, 3)}
REPLICATION = {n: _declare(n, "replication", "ReplicationPad", nearest_edge) for n in (1, 2, 3)}


_FORMS = """
Supported combinations for non-constant padding:
  - 2D or 3D input: padding size = 2 (pads last dimension)
  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)
  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"""


@public("nn.functional.pad")
def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    """Pad the last dimensions at both ends: pad = (before last, after last, before second last, ...).

    Raises RuntimeError: the padding does not fit. NotImplementedError: an unknown mode, or one without these dimensions.
    """
    around = tuple(int(p) for p in pad)
    n = len(around) // 2
    refuse_if(len(around) % 2, "Padding length must be divisible by 2")
    refuse_if(n > input.ndim, lambda:
        "Padding length should be less than or equal to two times the input dimension but got padding length "
        f"{len(around)} and input of dimension {input.ndim}")
    if mode == "constant":
        return constant_pad_nd(input, pad=around, value=0 if value is None else value)
    refuse_if(value is not None and value != 0, lambda: f'Padding mode "{mode}" doesn\'t take in value argument')
    if n not in (1, 2, 3) or input.ndim not in (n + 1, n + 2):
        raise NotImplementedError(f"Padding size {len(around)} is not supported for {input.ndim}D input tensor.{_FORMS}")
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if mode == "circular":
        return _circular(input, list(zip(around[::2], around[1::2], strict=True)))
    _check(input, around, mode)
    return (REFLECTION if mode == "reflect" else REPLICATION)[n](input, padding=around)


def _circular(input: Tensor, pairs: list[tuple[int, int]]) -> Any:
    """Circular padding: copy the input into the middle, then fill each edge from the opposite side."""
    for length, (before, after) in zip(input.shape[-len(pairs) :], reversed(pairs), strict=True):
        refuse_if(max(before, after) > length, "Padding value causes wrapping around more than once.")
        refuse_if(before + length + after < 0, "Negative padding value is resulting in an empty dimension")
    last = input.ndim - 1
    sizes = list(input.shape)
    for k, (before, after) in enumerate(pairs):
        sizes[last - k] += before + after
    out = Tensor(np.zeros(sizes, input._data.dtype))
    middle, kept = out, input
    for k, (before, after) in reversed(list(enumerate(pairs))):
        length = input.shape[last - k] + min(before, 0) + min(after, 0)
        middle, kept = middle.narrow(last - k, max(before, 0), length), kept.narrow(last - k, max(-before, 0), length)
    middle.copy_(kept)
    for k, (before, after) in enumerate(pairs):
        size = sizes[last - k]
        if before > 0:
            out.narrow(last - k, 0, before).copy_(out.narrow(last - k, size - before - max(after, 0), before))
        if after > 0:
            out.narrow(last - k, size - after, after).copy_(out.narrow(last - k, max(before, 0), after))
    return out


def _check(input: Tensor, padding: Ints, mode: str) -> None:
    """Refuse a padding that is larger than the input allows, or that removes more than there is."""
    n = len(padding) // 2
    size = input.shape[-n:]
    made = [length + b + a for length, b, a in zip(reversed(size), padding[::2], padding[1::2], strict=True)][::-1]
    refuse_if(0 in input.shape[-n - 1 :], lambda:
        f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
        f"input, but got: {list(input.shape)}")
    for k, length in enumerate(reversed(size)):
        before, after = padding[2 * k : 2 * k + 2]
        if mode == "reflect" and max(before, after) >= length:
            raise RuntimeError(
                f"Argument #{4 + 2 * k}: Padding size should be less than the corresponding input dimension, but got: padding "
                f"({before}, {after}) at dimension {input.ndim - 1 - k} of input {list(input.shape)}"
            )
    refuse_if(max(made) < 1, lambda: f"input ({by_axis(size)}) is too small. Calculated output {by_axis(made)}")
    if min(made) < 0:
        negative, shape = next(length for length in made if length < 0), [*input.shape[:-n], *made]
        raise RuntimeError(f"Trying to create tensor with negative dimension {negative}: {shape}")
