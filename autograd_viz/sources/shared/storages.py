"""Which memory the saved tensors of a graph lie in: blocks, who uses each, and what it is (graph/storages.py).

# Note [What a block is]
A block is a parameter if a module or a leaf that trains owns it; else an input if a tensor lies in it that nothing in the graph
made; else an activation if an op of the graph made a tensor in it. Of all others, those that a variable holds are inputs. What
nobody holds, as a mask of dropout, is an activation: it lives for the graph alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from ...graph.storages import ACTIVATION, INPUT, PARAMETER, Again, Memory, Stays, Storage, Use
from .names import is_module, modules_among, names_by_identity, optimizers_among

BUFFERS: dict[str, Callable[[Mapping[str, Any]], int]] = {  # of a group's options: tensors of each parameter's size
    **dict.fromkeys(("Adam", "AdamW"), lambda group: 2 + bool(group.get("amsgrad"))),
    **dict.fromkeys(("Adadelta", "Adamax", "NAdam", "RAdam", "Rprop"), lambda group: 2),
    **dict.fromkeys(("ASGD", "Adagrad"), lambda group: 1),
    "RMSprop": lambda group: 1 + bool(group.get("momentum")) + bool(group.get("centered")),
    "SGD": lambda group: int(bool(group.get("momentum"))),
}
Block = tuple[Any, int]  # what is equal for tensors in one block, and its bytes
MOST = 1000  # objects that are looked at behind a hook
LIBRARIES = ("torch.", "autograd_viz.")


@dataclass(slots=True)
class _Found:
    bytes: int
    uses: list[Use] = field(default_factory=list)
    tensors: list[str] = field(default_factory=list)
    roles: set[str] = field(default_factory=set)
    name: str = ""


class Blocks:
    """The blocks in which saved tensors lie."""

    def __init__(self, blocks_of: Callable[[Any], Iterable[Block]]) -> None:
        self._blocks_of = blocks_of
        self._found: dict[Any, _Found] = {}
        self._again: dict[Any, list[tuple[str, str]]] = {}
        self._parameters: dict[Any, int] = {}  # what stays: bytes by block
        self._grads: dict[Any, int] = {}
        self._state = self._foreseen = 0

    def packed(self, node: str, name: str, unpack_hook: Any) -> None:
        """A hook has packed a saved tensor into nothing: a checkpoint will compute it again."""
        self._again.setdefault(unpack_hook, []).append((node, name))

    def use(self, use: Use, tensor: Any) -> None:
        """A node has saved a tensor."""
        for key, size in self._blocks_of(tensor):
            if size:
                self._found.setdefault(key, _Found(size)).uses.append(use)

    def _known(self, tensor: Any) -> Iterator[_Found]:
        return (self._found[key] for key, _ in self._blocks_of(tensor) if key in self._found)

    def lies(self, tensor: Any, id: str, role: str) -> None:
        """A tensor of the document, and what it makes of its block; "" if nothing."""
        for found in self._known(tensor):
            found.tensors.append(id)
            found.roles.add(role)
        if role == PARAMETER:
            self._stay(tensor)

    def _stay(self, parameter: Any) -> None:
        self._parameters.update(self._blocks_of(parameter))
        if parameter.requires_grad and parameter.is_leaf and parameter.grad is not None:
            self._grads.update(self._blocks_of(parameter.grad))

    def name(self, variables: Mapping[str, Any], is_tensor: Callable[[Any], bool]) -> None:
        """The user's variables, and what modules among them own."""
        for name, tensor in names_by_identity(variables, is_tensor):
            for found in self._known(tensor):
                found.name = found.name or name
        for _, module in modules_among(variables):
            own = [*filter(is_tensor, (*module.parameters(), *module.buffers()))]
            stay = any(map(self._stays, own))
            for tensor in own:
                for found in self._known(tensor):
                    found.roles.add(PARAMETER)
                if stay:
                    self._stay(tensor)
        for _, optimizer in optimizers_among(variables):
            self._add_state(optimizer)

    def _add_state(self, optimizer: Any) -> None:
        """The state of what stays: what an optimizer holds, or what the first step of one of a known class will make."""
        for group in optimizer.param_groups:
            count = BUFFERS[kind](group) if (kind := type(optimizer).__name__) in BUFFERS else 0
            for p in filter(self._stays, group["params"]):
                kept = optimizer.state.get(p)
                parts = [part for v in (kept or {}).values() for part in (v if isinstance(v, list | tuple) else [v])]
                tensors = [part for part in parts if hasattr(part, "dtype") and getattr(part, "ndim", False)]  # no counts
                foreseen = 0 if kept else count * self._bytes_of(p) * bool(p.requires_grad)
                self._state += sum(map(self._bytes_of, tensors)) + foreseen
                self._foreseen += foreseen

    def _bytes_of(self, tensor: Any) -> int:
        return sum(dict(self._blocks_of(tensor)).values())

    def _stays(self, tensor: Any) -> bool:
        return any(key in self._parameters for key, _ in self._blocks_of(tensor))

    def memory(self) -> Memory:
        """All blocks, in the order of the first use."""
        found = [Storage(f.bytes, _kind(f), tuple(f.uses), tuple(f.tensors), f.name) for f in self._found.values()]
        parameters = self._parameters | {key: f.bytes for key, f in self._found.items() if _kind(f) == PARAMETER}
        stays = Stays(sum(parameters.values()), sum(self._grads.values()), self._state, self._foreseen)
        return Memory(tuple(found), tuple(Again(tuple(saved)) for saved in self._again.values()), stays)


def _kind(found: _Found) -> str:
    """See Note [What a block is]."""
    known = next((kind for kind in (PARAMETER, INPUT, ACTIVATION) if kind in found.roles), None)
    return known or (INPUT if found.name else ACTIVATION)


def behind(start: Any, tensor_in: Callable[[Any], Any]) -> Iterator[Any]:
    """The tensors that an object holds, not in modules: what hooks packed, or what a checkpoint needs. No user code runs."""
    todo = [start]
    for _ in range(MOST):
        if not todo:
            return
        if (tensor := tensor_in(thing := todo.pop())) is not None:
            yield tensor
        else:
            todo += _inside(thing)


def _inside(thing: Any) -> list[Any]:
    if isinstance(thing, list | tuple | set):
        return list(thing)[:MOST]
    if isinstance(thing, dict):
        return list(thing.values())[:MOST]
    if isinstance(thing, partial):
        return [thing.func, thing.args, thing.keywords]
    if isinstance(thing, MethodType):
        return [thing.__self__]
    if isinstance(thing, FunctionType):
        return [c.cell_contents for c in thing.__closure__ or () if c != CellType()]  # comparing cells asks no contents
    is_ours = f"{type(thing).__module__}.".startswith(LIBRARIES) and not is_module(thing)
    return list(getattr(thing, "__dict__", {}).values()) if is_ours else []


SHARERS = 16  # sharers that are listed for a tensor: all pairs of a thousand views would be a million names


def owner(array: Any) -> Any:
    """The array whose memory this one uses; the array itself if it is not a view."""
    own = array
    while array is not None:  # NumPy's as_strided puts an object in between that is no array
        own = array if isinstance(array, np.ndarray) else own
        array = getattr(array, "base", None)
    return own


def sharers(arrays: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """For each id, the other ids whose arrays use the same memory block, in the order given; SHARERS at most."""
    owners = ((id, owner(array)) for id, array in arrays.items())
    spans = [(*np.lib.array_utils.byte_bounds(own), id) for id, own in owners if own.size]
    groups: list[list[str]] = []
    end = 0
    for low, high, id in sorted(spans, key=lambda s: s[:2]):
        if low < end:
            groups[-1].append(id)
        else:
            groups.append([id])
        end = max(end, high)
    rank = {id: i for i, id in enumerate(arrays)}
    return others_in(sorted(group, key=rank.__getitem__) for group in groups)


def others_in(groups: Iterable[list[str]]) -> dict[str, tuple[str, ...]]:
    """For each id of a group of several, the first others; SHARERS at most."""
    several = (g for g in groups if len(g) > 1)
    return {id: tuple(o for o in g[: SHARERS + 1] if o != id)[:SHARERS] for g in several for id in g}
