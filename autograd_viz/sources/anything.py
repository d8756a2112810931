"""The graph behind a tensor, whoever it belongs to: the core or PyTorch, which is imported only if the user has done so."""

from __future__ import annotations

import gc
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..core.tensor.tensor import Tensor
from ..graph.text import norm_of
from .core_pass import CorePass
from .from_core import CoreGraph
from .names import Chosen
from .norms import Place, core_norms, norms_by_steps
from .undoable_pass import Pass


def is_torch(value: Any) -> bool:
    """Is it a tensor of PyTorch's?"""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_drawable(value: Any) -> bool:
    """Is it a tensor of the core's or of PyTorch's?"""
    return isinstance(value, Tensor) or is_torch(value)


def graph_of(tensor: Any, variables: Mapping[str, Any], is_outline: bool = False) -> Any:
    """What led to a tensor: a CoreGraph or a TorchGraph.

    Args:
        tensor: as `is_drawable`.
        variables: the caller's names.
        is_outline: for a map: of PyTorch's results no elements are read, and no formulas are made.
    """
    with no_collection():
        if not is_torch(tensor):
            return CoreGraph([tensor], variables)
        from .pytorch.graph import TorchGraph

        return TorchGraph([tensor], variables, is_outline)


@contextmanager
def no_collection() -> Iterator[None]:
    """Inside, no garbage is looked for: what is made here stays, and looking through it takes as long as making it."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def pass_of(graph: Any, root: Any, gradient: Any, retain_graph: bool | None, create_graph: bool) -> Pass:
    """A backward pass through a graph that has not run yet.

    Raises:
        RuntimeError: as ``root.backward()`` would.
    """
    if not is_torch(root):
        return CorePass(graph, root, gradient, retain_graph, create_graph)
    from .pytorch.torch_pass import TorchPass

    return TorchPass(graph, root, gradient, retain_graph, create_graph)


def norms_of(graph: Any, root: Any, gradient: Any = None, places: Collection[Place] | None = None) -> dict[Place, float]:
    """The Euclidean norms of the gradients of one backward pass, which leaves nothing behind: no `grad`, no freed tensor.

    Args:
        graph: the graph of `root`.
        root: where the pass starts.
        gradient: the first gradient; None for a single element.
        places: those that are asked for; None for all.

    Returns:
        a norm for each place that a gradient has: ``(node id, "in", k)`` for what arrived at output k of the node's op,
        ``(node id, "out", k)`` for what left for ``next_functions[k]``, ``(tensor id, "grad", 0)`` for the `grad` that a leaf
        would have after ``backward()``. nan or inf if there is such an element; none where elements cannot be read.

    Raises:
        RuntimeError: as ``root.backward()`` would.
    """
    wanted = None if places is None else frozenset(places)
    if is_torch(root):
        from .pytorch.norms import torch_norms

        found = torch_norms(graph, root, gradient, wanted)
    else:
        found = core_norms(graph, root, gradient, wanted)
    if found is None:
        found = norms_by_steps(pass_of(graph, root, gradient, True, False), wanted)
    grads = [(t.id, t.grad) for t in graph.document.tensors if t.is_leaf and t.requires_grad and t.grad is not None]
    as_before = {(id, "grad", 0): n for id, g in grads if (n := norm_of(g)) is not None}
    return {place: n for place, n in as_before.items() if wanted is None or place in wanted} | found


def named(params: Any) -> dict[str, Any]:
    """Names for parameters: of a module by `named_parameters()` (and buffers), or a dictionary as it is.

    Raises:
        TypeError: neither of them.
    """
    if params is None:
        return {}
    if isinstance(params, Mapping):
        return dict(params)
    if not callable(getattr(params, "named_parameters", None)):
        raise TypeError(f"params must be a module or a dictionary of names and tensors, got {type(params).__name__}")
    buffers = params.named_buffers() if callable(getattr(params, "named_buffers", None)) else ()
    found = Chosen([*params.named_parameters(), *buffers])
    found.module = params if callable(getattr(params, "named_modules", None)) else None
    return found
