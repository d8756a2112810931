"""Which memory PyTorch's saved tensors lie in. Storages tell; elements are not read, so tensors without memory do as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.autograd.graph import Node
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from ....graph.storages import ACTIVATION, INPUT, PARAMETER, Memory, Use
from ...shared.storages import Block, Blocks, behind
from .boxes import Box
from .forward import NUMBERS
from .graph import TorchGraph, is_tensor
from .handles import is_parameter
from .nodes import SPARSE, is_function
from .saved import SavedValue, raw_of
from .values import dtype_name, shape_of, unseen


@unseen
def torch_storages(graph: TorchGraph, variables: Mapping[str, Any]) -> Memory:
    """The blocks of the saved tensors of a graph: see Note [What a block is] in shared/storages.py."""
    blocks = Blocks(_blocks_of)
    for node, id in graph.node_ids.items():
        for kept in graph.saved[node]:
            for raw in _packed(node, kept):
                if next(behind(raw.data, _tensor_in), None) is None:
                    blocks.packed(id, kept.name, raw.unpack_hook)
                for tensor in behind((raw.data, raw.unpack_hook), _tensor_in):
                    blocks.use(_use(id, kept.name, tensor, is_packed=True), tensor)
            for name, tensor in _tensors(graph, kept):
                blocks.use(_use(id, name, tensor), tensor)
        if is_function(node):
            for tensor in behind(getattr(node, "__dict__", {}), _tensor_in):
                blocks.use(_use(id, "ctx", tensor), tensor)
    known_modules = bool(graph.document.modules)
    for box in graph.boxes:
        tensor = box.tensor if box.tensor is not None else box.saved
        if tensor is not None:
            blocks.lies(tensor, graph.id_of(box), _role(box, known_modules))
    blocks.name(variables, is_tensor)
    return blocks.memory()


def _use(node: str, name: str, tensor: torch.Tensor, is_packed: bool = False) -> Use:
    return Use(node, name, shape_of(tensor), dtype_name(tensor.dtype), is_packed)


def _tensors(graph: TorchGraph, kept: SavedValue) -> Iterator[tuple[str, Any]]:
    if isinstance(kept.value, tuple):
        yield from ((f"{kept.name}[{i}]", v) for i, v in enumerate(kept.value) if is_tensor(v))
    elif is_tensor(kept.value) and not (kept.value.ndim == 0 and kept.name in NUMBERS and not graph.boxes.find(kept.value)):
        yield kept.name, kept.value


def _packed(node: Node, kept: SavedValue) -> list[Any]:
    """Of a saved value with hooks: what autograd has stored. Older releases do not tell what hooks hold."""
    is_hooked = kept.state == "kept" and kept.value is None
    return [raw for raw in _raw(node, kept.name) if hasattr(raw, "unpack_hook")] if is_hooked else []


def _tensor_in(thing: Any) -> Any:
    """A tensor; of what a checkpoint has saved of its inputs, the tensor in it."""
    if type(thing).__name__ == "SavedTensor" and getattr(thing, "unpack_hook", thing) is None:
        try:
            return thing.unpack()
        except RuntimeError:  # freed
            return None
    return thing if is_tensor(thing) else None


def _raw(node: object, name: str) -> list[Any]:
    attribute, _, place = name.partition("[")
    several = raw_of(node, f"_raw_{attribute if is_function(node) else 'saved_' + attribute}")
    return several[int(place[:-1]) :][:1] if place else several


def _blocks_of(t: torch.Tensor) -> Iterator[Block]:
    for part in _parts(t):
        try:
            storage = part.untyped_storage()
            yield (part.device, storage._cdata), storage.nbytes()
        except (NotImplementedError, RuntimeError):  # inside torch.func
            yield part, part.numel() * part.element_size()


def _parts(t: Any) -> list[Any]:
    """The plain tensors in a tensor."""
    if t.layout in SPARSE:
        if t.layout is torch.sparse_coo:
            return [t._indices(), t._values()]
        rows = t.layout in (torch.sparse_csr, torch.sparse_bsr)
        indices = (t.crow_indices(), t.col_indices()) if rows else (t.ccol_indices(), t.row_indices())
        return [*indices, t.values()]
    if is_traceable_wrapper_subclass(t):
        return [part for name in t.__tensor_flatten__()[0] if is_tensor(inner := getattr(t, name)) for part in _parts(inner)]
    return [t]


def _role(box: Box, known_modules: bool) -> str:
    if box.edge is not None:
        return ACTIVATION
    if is_parameter(box.tensor) or (box.requires_grad and not known_modules):
        return PARAMETER
    return INPUT if box.requires_grad or (box.handle is not None and box.maker is None) else ""
