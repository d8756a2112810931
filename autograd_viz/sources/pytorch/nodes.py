"""What can be asked of a torch node: its edges, the leaf it accumulates into, what its outputs look like, what it has saved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch.autograd.graph import get_gradient_edge

LAST_SEQUENCE_NR = 2**64 - 1  # AccumulateGrad's
FREED, STALE = "second time", "modified by an inplace operation"  # parts of PyTorch's messages

Edge = tuple[Any, int]


class Metadata(NamedTuple):
    """What a gradient that arrives at an output must look like."""

    shape: tuple[int, ...]
    dtype: Any
    device: Any


def edge_of(tensor: Any) -> Edge:
    """Where the gradient of a tensor goes: (node, output), or (None, 0)."""
    if not tensor.requires_grad:
        return None, 0
    edge = get_gradient_edge(tensor)
    return edge.node, edge.output_nr


def grad_of(tensor: Any) -> Any:
    """Its grad; that of a non-leaf which keeps none is not asked for, which PyTorch would warn of."""
    return tensor.grad if tensor.is_leaf or tensor.retains_grad else None


def variable_of(node: Any) -> Any:
    """The leaf of an AccumulateGrad, else None."""
    return getattr(node, "variable", None) if is_accumulate(node) else None


def is_accumulate(node: Any) -> bool:
    """Is it an AccumulateGrad?"""
    return type(node).__name__ == "AccumulateGrad"


def is_function(node: Any) -> bool:
    """Is it the node of a user's ``torch.autograd.Function``?"""
    return isinstance(node, torch.autograd.function.BackwardCFunction)


def outputs_of(node: Any) -> tuple[Metadata, ...]:
    """One for each output of the node's op."""
    return tuple(Metadata(tuple(m.shape), m.dtype, m.device) for m in node._input_metadata)


def name_of(node: Any) -> str:
    """The class name as pictures show it: "MulBackward0"."""
    return str(type(node).__name__ if is_function(node) else node.name()).rpartition("::")[2]


def reach(starts: Iterable[Any]) -> list[Any]:
    """Every node that a gradient from these nodes can reach, in the order of the forward pass, AccumulateGrads last."""
    seen: dict[Any, None] = {}
    stack = [n for n in starts if n is not None]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen[node] = None
            stack += [after for after, _ in reversed(node.next_functions) if after is not None]
    return sorted(seen, key=lambda n: n._sequence_nr())


class Kept(NamedTuple):
    """Something that a node has saved.

    Attributes:
        name: as in `_saved_<name>`.
        value: the tensor or plain value; None if it cannot be read.
        state: as in `graph.model.Saved`.
        stale: the tensor was changed in place since.
    """

    name: str
    value: Any
    state: str
    stale: bool = False


def saved_of(node: Any) -> Iterator[Kept]:
    """What a node has saved, by name, without running a hook of the user's."""
    if is_function(node):
        yield from _saved_of_function(node)
        return
    for attribute in sorted(a for a in dir(node) if a.startswith("_saved_")):
        yield _kept(node, attribute.removeprefix("_saved_"))


def _kept(node: Any, name: str) -> Kept:
    raw = None
    try:
        raw = getattr(node, f"_raw_saved_{name}", None)
        if raw is not None and _has_hooks(raw):
            return Kept(name, None, "kept")
        value = getattr(node, f"_saved_{name}")
    except RuntimeError as error:
        if STALE in str(error):
            return Kept(name, getattr(raw, "data", None), "kept", stale=True)
        return Kept(name, None, "freed")
    if value is None or isinstance(value, torch.Tensor):
        return Kept(name, value, "none" if value is None else "kept")
    if isinstance(value, tuple) and any(isinstance(v, torch.Tensor) for v in value):
        return Kept(name, value, "plain")
    return Kept(name, _signed(value), "plain")


def _saved_of_function(node: Any) -> Iterator[Kept]:
    try:
        raw = node._raw_saved_tensors
    except RuntimeError:
        yield Kept("saved_tensors", None, "freed")
        return
    for i, kept in enumerate(raw or ()):
        name = f"saved_tensors[{i}]"
        if _has_hooks(kept):
            yield Kept(name, None, "kept")
            continue
        try:
            value = kept.unpack() if hasattr(kept, "unpack") else node.saved_tensors[i]
            yield Kept(name, value, "none" if value is None else "kept")
        except RuntimeError as error:
            yield Kept(name, kept.data, "kept", stale=STALE in str(error))


def _has_hooks(raw: Any) -> bool:
    """Would reading a saved tensor call code of the user's?"""
    return any(getattr(r, "unpack_hook", None) is not None for r in (raw if isinstance(raw, tuple | list) else (raw,)))


def _signed(value: Any) -> Any:
    """PyTorch shows a negative dim of some nodes as an unsigned number."""
    if isinstance(value, tuple | list):
        return tuple(map(_signed, value))
    return value - 2**64 if type(value) is int and value >= 2**63 else value
