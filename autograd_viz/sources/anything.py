"""The graph behind a tensor of the core or of PyTorch. What reads and steps each is loaded when it is used."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..graph.text import norm_of
from ..runtime.collector import collector_waits
from ..runtime.pytorch import pytorch
from .shared.names import Names, TensorNames, modules_among, names_by_identity

if TYPE_CHECKING:
    from ..graph.model import Document
    from ..graph.storages import Memory
    from .pytorch.reading.graph import TorchGraph
    from .shared.stepping.norms import Place
    from .shared.stepping.undoable_pass import Pass
    from .twin.graph import CoreGraph

    LiveGraph = CoreGraph | TorchGraph

TWINS_TENSOR = f"{__package__.rpartition('.')[0]}.twin.core.tensor.tensor"


def is_torch(value: Any) -> bool:
    """Is it a PyTorch tensor?"""
    torch = pytorch()
    return torch is not None and isinstance(value, torch.Tensor)


def is_drawable(value: Any) -> bool:
    """Is it a tensor of the core or of PyTorch?"""
    twins = sys.modules.get(TWINS_TENSOR)
    return is_torch(value) or (twins is not None and isinstance(value, twins.Tensor))


def is_leaf(tensor: Any) -> bool:
    """Did no op make a tensor?"""
    if not is_torch(tensor):
        return bool(tensor.is_leaf)
    from .pytorch.reading import nodes, values

    return values.unseen(nodes.is_leaf)(tensor)


def is_batched(tensor: Any) -> bool:
    """Is it one of PyTorch, inside of vmap?"""
    return is_torch(tensor) and bool(sys.modules["torch"]._C._functorch.is_batchedtensor(tensor))


def graph_of(tensor: Any, variables: Mapping[str, Any], is_outline: bool = False, opens: bool = True) -> LiveGraph:
    """The graph that led to a tensor. `is_outline`: for a map: elements of PyTorch's results are not read, and no formulas are
    made. `opens`: compiled regions are opened; closed, they keep and free as the compiled pass does.
    """
    with collector_waits():  # what is made here stays alive: a collection would be slow and find nothing
        if not is_torch(tensor):
            from .twin.graph import CoreGraph

            return CoreGraph([tensor], variables)
        from .pytorch.reading.graph import TorchGraph

        return TorchGraph([tensor], variables, is_outline, opens)


def exported_document(value: Any, is_outline: bool) -> Document | None:
    """The forward pass of an exported program; None of something else. `is_outline`: as for `graph_of`."""
    export = sys.modules.get("torch.export")
    if export is None or not isinstance(value, export.ExportedProgram):
        return None
    from .pytorch.reading.exported import exported_document as read

    return read(value, is_outline)


def keep_random_numbers() -> AbstractContextManager[None]:
    """Afterwards all generators of random numbers have their former state."""
    if pytorch() is None:
        from .shared.stepping.engine_state import keep_random_numbers as kept
    else:
        from .pytorch.stepping.snapshots import keep_random_numbers as kept
    return kept()


def pass_of(graph: Any, root: Any, gradient: Any, retain_graph: bool | None, create_graph: bool) -> Pass:
    """A backward pass through a graph that has not run yet. RuntimeError: as ``root.backward()`` would."""
    if not is_torch(root):
        from .twin.node_pass import CorePass

        return CorePass(graph, root, gradient, retain_graph, create_graph)
    from .pytorch.stepping.node_pass import TorchPass

    return TorchPass(graph, root, gradient, retain_graph, create_graph)


def norms_of(graph: Any, root: Any, gradient: Any = None, places: Collection[Place] | None = None) -> dict[Place, float]:
    """The Euclidean norms of the gradients of one backward pass. The pass writes no `grad` and frees no saved tensors.
    RuntimeError: as ``root.backward()`` would.

    There is a norm for ``(node id, "in", k)``: what arrived at output k of its op; ``(node id, "out", k)``: what left for
    ``next_functions[k]``; ``(tensor id, "grad", 0)``: the `grad` that a leaf would have after ``backward()``. It is nan or inf
    if an element is. A gradient whose elements cannot be read has none.
    """
    from .shared.stepping.norms import norms_by_steps

    wanted = None if places is None else frozenset(places)
    if is_torch(root):
        from .pytorch.stepping.norms import torch_norms

        found = torch_norms(graph, root, gradient, wanted)
    else:
        from .twin.norms import core_norms

        found = core_norms(graph, root, gradient, wanted)
    if found is None:
        found = norms_by_steps(pass_of(graph, root, gradient, True, False), wanted)
    grads = [(t.id, t.grad) for t in graph.document.tensors if t.is_leaf and t.requires_grad and t.grad is not None]
    as_before = {(id, "grad", 0): n for id, g in grads if (n := norm_of(g)) is not None}
    return {place: n for place, n in as_before.items() if wanted is None or place in wanted} | found


def memory_of(graph: Any, root: Any, variables: Mapping[str, Any]) -> Memory:
    """The blocks of memory in which the saved tensors of a graph lie."""
    if not is_torch(root):
        from .twin.storages import core_storages

        return core_storages(graph, variables)
    from .pytorch.reading.storages import torch_storages

    return torch_storages(graph, variables)


def named(params: Any) -> dict[str, Any]:
    """Names of parameters: of a module by `named_parameters()` (and buffers); a dictionary is returned as it is.
    TypeError: it is neither.
    """
    if params is None or isinstance(params, Mapping):
        return dict(params or {})
    if not callable(getattr(params, "named_parameters", None)):
        raise TypeError(f"params must be a module or a dictionary of names and tensors, got {type(params).__name__}")
    buffers = params.named_buffers() if callable(getattr(params, "named_buffers", None)) else ()
    found = TensorNames([*params.named_parameters(), *buffers])
    found.module = params if callable(getattr(params, "named_modules", None)) else None
    return found


def elements_of(graph: Any, id: str) -> NDArray[Any] | None:
    """The elements of a tensor as they were when it was made; None if they are not known."""
    from .twin.graph import CoreGraph, array_of

    if isinstance(graph, CoreGraph):
        return array_of(graph.tensors[id])
    from .pytorch.reading.values import elements_in

    return elements_in(graph, id)  # type: ignore[no-any-return]


def each_gradient(
    graph: Any, root: Any, gradient: Any, wanted: Collection[Place], take: Callable[[Place, NDArray[Any]], None]
) -> None:
    """Run the backward pass and take it back. `take` gets each gradient that arrives at a wanted place.
    RuntimeError: as ``root.backward()`` would.
    """
    from .shared.stepping.norms import each_arrival

    array_of: Callable[[Any], NDArray[Any] | None] = np.array
    if is_torch(root):
        from .pytorch.reading.values import copy_of as array_of
    each_arrival(pass_of(graph, root, gradient, True, False), wanted, take, array_of)


class NamesLater:
    """What names meant when they were read, as far as it is still alive when it is asked for. A result that held the caller's
    variables would hold the result before it, and so every model that a cell has made.
    """

    def __init__(self, known: Mapping[str, Any], is_tensor: Callable[[Any], bool]) -> None:
        self._taken = [*known, *getattr(known, "chosen", ())]
        # a leaf is held: PyTorch refuses to swap a tensor that has weak references, as `module.to()` may do with parameters
        named = names_by_identity(known, is_tensor)
        self._tensors = [(name, (lambda held=t: held) if is_leaf(t) else weakref.ref(t)) for name, t in named]
        self._modules = [(name, weakref.ref(m)) for name, m in modules_among(known)]

    def __call__(self) -> Names:
        """The names of what is alive."""
        chosen, modules = TensorNames(), {name: module() for name, module in self._modules}
        for name, tensor in self._tensors:
            if tensor() is not None:
                chosen.setdefault(name, tensor())
        chosen.module = modules.pop("", None)  # the names were chosen from it
        return Names({**dict.fromkeys(self._taken), **modules}, chosen)
