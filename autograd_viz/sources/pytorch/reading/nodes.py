"""What a PyTorch node tells: its edges, the leaf that it accumulates into, and what arrives at its outputs.

# Note [A view that nobody has asked]
After a write to its memory, a view makes a new grad_fn when it is asked for it. A pass runs nodes in the order in which they
were made, so the first question changes the order of later sums. Nothing of ours may be the first to ask. A view that was made
under `no_grad` refuses instead of making one. So for the time of our question, each view is marked as such a view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, NamedTuple

import torch
from torch.autograd.graph import Node, get_gradient_edge

from ....runtime.alive import Alive
from . import older

COMPILED = "CompiledFunctionBackward"  # the class of a node that torch.compile has made
LAST_SEQUENCE_NR = 2**64 - 1  # AccumulateGrad's

Edge = tuple[Any, int]
_creation, _set_creation = torch._C._autograd._get_creation_meta, torch._C._autograd._set_creation_meta
_twins: Alive[tuple[int, Any]] = Alive()
_REFUSES = torch._C._autograd.CreationMeta.NO_GRAD_MODE


class Metadata(NamedTuple):
    """What a gradient that arrives at an output must look like: shape, type, device."""

    shape: tuple[int, ...]
    dtype: Any
    device: Any
    is_nested_tensor = is_cpp_nested_tensor = False  # type: ignore[misc]  # PyTorch's own metadata tell it

    @property
    def is_known(self) -> bool:
        """Is it known? From PyTorch 2.5 on the node tells it."""
        return self.dtype is not None


SPARSE = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)
UNKNOWN = Metadata((), None, None)


def edge_of(tensor: Any) -> Edge:
    """Where the gradient of a tensor goes: (node, output), or (None, 0)."""
    if not tensor.requires_grad:
        return None, 0
    if (made := grad_fn_of(asked := stand_in(tensor))) is not None:
        return made, asked.output_nr
    with torch.inference_mode(False), torch.enable_grad():  # a leaf is asked by an op
        if (tensor.layout in SPARSE or tensor.is_nested) and tensor.is_leaf:  # PyTorch would make no view of such a tensor
            node, output = tensor.clone().grad_fn.next_functions[0]
            return node, output
        edge = get_gradient_edge(stand_in(tensor))
    return edge.node, edge.output_nr


def grad_fn_of(tensor: Any) -> Any:
    """Its grad_fn; None for a leaf, and for a view that has none now: Note [A view that nobody has asked]."""
    return tensor.grad_fn if not tensor._is_view() else _grad_fn_of_view(tensor)[0]


def _grad_fn_of_view(view: Any) -> tuple[Any, bool]:
    """The grad_fn that a view has now, and whether it would make one when it is asked."""
    made = _creation(view)
    _set_creation(view, _REFUSES)
    try:
        return view.grad_fn, False
    except RuntimeError:
        return None, True
    finally:
        _set_creation(view, made)


def is_leaf(tensor: Any) -> bool:
    """`tensor.is_leaf`, which asks a view for its grad_fn, too."""
    if not tensor.requires_grad or not tensor._is_view():
        return bool(tensor.is_leaf)
    return _grad_fn_of_view(tensor) == (None, False)


def stand_in(tensor: Any) -> Any:
    """The tensor, or another view of the same elements if nobody has asked it for its grad_fn."""
    if is_leaf(tensor) or grad_fn_of(tensor) is not None or _creation(tensor) != torch._C._autograd.CreationMeta.DEFAULT:
        return tensor
    version, twin = _twins.get(tensor) or (None, None)
    if version != tensor._version:
        with torch.enable_grad():
            twin = tensor._view_func_unsafe(tensor._base)
        _twins[tensor] = tensor._version, twin
    return twin


def grad_of(tensor: torch.Tensor) -> Any:
    """Its grad; None for a non-leaf that retains none: PyTorch would warn."""
    return tensor.grad if is_leaf(tensor) or tensor.retains_grad else None


def variable_of(node: object) -> Any:
    """The leaf of an AccumulateGrad, else None."""
    return getattr(node, "variable", None) if is_accumulate(node) else None


def is_accumulate(node: object) -> bool:
    """Is it an AccumulateGrad?"""
    return type(node).__name__ == "AccumulateGrad"


def is_function(node: object) -> bool:
    """Is it the node of a user's ``torch.autograd.Function``?"""
    return isinstance(node, torch.autograd.function.BackwardCFunction)


def outputs_of(node: Any) -> tuple[Metadata, ...]:
    """What arrives at each output of the node's op."""
    if older.IS_OLDER:
        leaf = variable_of(node)
        found: tuple[Metadata, ...] = node.metadata.get(older.LOOKS, ())
        return found if leaf is None else (Metadata(tuple(leaf.shape), leaf.dtype, leaf.device),)
    # often; a nested tensor of the older kind has a shape for each part
    return tuple([Metadata(() if m.is_cpp_nested_tensor else tuple(m.shape), m.dtype, m.device) for m in node._input_metadata])


def is_nested(node: object) -> bool:
    """Are outputs of its op nested tensors? A recording does not see the ops that make them."""
    return any(m.is_nested_tensor for m in getattr(node, "_input_metadata", ()))  # from PyTorch 2.5 on


def wanted_dtype(node: Node, output: int) -> Any:
    """The type that an arriving gradient is cast to; None for any type (``leaf.grad_dtype = None``)."""
    leaf = variable_of(node)
    try:
        return leaf.grad_dtype
    except (AttributeError, RuntimeError):  # not a leaf (any more), or an older release
        return outputs_of(node)[output].dtype


def name_of(node: Any) -> str:
    """The class name as pictures show it: "MulBackward0"."""
    return str(type(node).__name__ if is_function(node) else node.name()).rpartition("::")[2]


edges_of: Callable[[Any], tuple[Edge, ...]] = attrgetter("next_functions")  # where the gradients of a node go


def reach(starts: Iterable[Any], after: Callable[[Any], tuple[Edge, ...]] = edges_of) -> list[Any]:
    """Every node that a gradient from these nodes can reach, in the order of the forward pass, AccumulateGrads last."""
    seen: dict[Any, None] = {}
    stack = [n for n in starts if n is not None]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen[node] = None
            stack += [n for n, _ in reversed(after(node)) if n is not None]
    return sorted(seen, key=lambda n: n._sequence_nr())


def when_made(nodes: Iterable[Any], next_of: Callable[[Any], tuple[Edge, ...]] = edges_of) -> dict[Any, tuple[int, int]]:
    """When the op of each node ran: its sequence number. A view makes its new node while the op that reads it makes its own:
    Note [A view that nobody has asked]. So what is younger than its reader stands just before it.
    """
    made = {node: (node._sequence_nr(), 0) for node in nodes}
    stack = list(made)
    while stack:
        node = stack.pop()
        number, k = made[node]
        for nearer, (after, _) in enumerate(reversed(next_of(node)), 1):
            if after is not None and not is_accumulate(after) and made[after] >= made[node]:
                made[after] = number, k - nearer
                stack.append(after)
    return made
