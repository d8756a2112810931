"""The graph behind a tensor, whoever it belongs to: the core or PyTorch, which is imported only if the user has done so."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..core.tensor.tensor import Tensor
from .core_pass import CorePass
from .from_core import CoreGraph
from .undoable_pass import Pass


def is_torch(value: Any) -> bool:
    """Is it a tensor of PyTorch's?"""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_drawable(value: Any) -> bool:
    """Is it a tensor of the core's or of PyTorch's?"""
    return isinstance(value, Tensor) or is_torch(value)


def graph_of(tensor: Any, variables: Mapping[str, Any]) -> Any:
    """What led to a tensor: a CoreGraph or a TorchGraph.

    Args:
        tensor: as `is_drawable`.
        variables: the caller's names.
    """
    with no_collection():
        if not is_torch(tensor):
            return CoreGraph([tensor], variables)
        from .pytorch.graph import TorchGraph

        return TorchGraph([tensor], variables)


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
    return dict([*params.named_parameters(), *buffers])
