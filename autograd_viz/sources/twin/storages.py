"""Which memory the saved tensors of a graph of the twin lie in (shared/storages.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ...graph.storages import ACTIVATION, INPUT, PARAMETER, Memory, Use
from ...twin.core.backward.saved import FREED, SavedTensor
from ...twin.core.function.function_node import BackwardCFunction
from ...twin.core.tensor.number import Number
from ...twin.core.tensor.tensor import Tensor
from ..shared.saved import kept_array, raw_saved
from ..shared.storages import Block, Blocks, behind, owner
from .graph import CoreGraph, is_tensor

_behind = partial(behind, tensor_in=lambda thing: thing if isinstance(thing, Tensor) else None)


def core_storages(graph: CoreGraph, variables: Mapping[str, Any]) -> Memory:
    """The blocks of the core's saved tensors."""
    blocks = Blocks(_blocks_of)
    for node, id in graph.node_ids.items():
        for name, kept in raw_saved(node).items():
            for part, value in _parts(name, kept):
                _use(blocks, id, part, value)
        if isinstance(node, BackwardCFunction):
            for tensor in _behind(vars(node)):
                _use(blocks, id, "ctx", tensor)
    known_modules = any(m.name for m in graph.document.modules)
    for id, t in graph.tensors.items():
        blocks.lies(t, id, _role(t, known_modules))
    blocks.name(variables, is_tensor)
    return blocks.memory()


def _use(blocks: Blocks, node: str, name: str, kept: Any, is_packed: bool = False) -> None:
    if isinstance(kept, SavedTensor) and kept.unpack_hook is not None:
        if next(_behind(kept.packed), None) is None:
            blocks.packed(node, name, kept.unpack_hook)
        for tensor in _behind((kept.packed, kept.unpack_hook)):
            _use(blocks, node, name, tensor, is_packed=True)
    elif isinstance(kept, SavedTensor | Tensor) and not isinstance(kept, Number) and (array := kept_array(kept)) is not None:
        blocks.use(Use(node, name, tuple(array.shape), str(array.dtype), is_packed), array)


def _parts(name: str, kept: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(kept, tuple):
        yield from ((f"{name}[{i}]", k) for i, k in enumerate(kept))
    elif kept is not None and kept is not FREED:
        yield name, kept


def _blocks_of(tensor: Any) -> Iterator[Block]:
    array = owner(getattr(tensor, "_data", tensor))
    yield (array.__array_interface__["data"][0], array.nbytes), array.nbytes


def _role(t: Tensor, known_modules: bool) -> str:
    if t._node is not None:
        return ACTIVATION
    if type(t).__name__ == "Parameter" or (t._requires_grad and not known_modules):
        return PARAMETER
    return "" if t._made_by is not None and t._made_by.inputs else INPUT
