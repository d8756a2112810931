"""What a torch node has saved: read, and freed as a backward pass frees it.

# Note [Hooks of saved tensors]
Reading a saved tensor with hooks (`saved_tensors_hooks`, checkpoints) calls the user's unpack hook. In PyTorch 2.13 a
SavedTensor shows its hooks. In older releases we read it under a profile function, which sees and forbids the call of a hook.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch.autograd.graph import Node

from ....runtime.collector import collector_waits
from ....twin.core.backward.saved import FREED_MESSAGE
from .nodes import is_accumulate, is_function
from .values import outside_modes

STALE = "modified by an inplace operation"  # part of PyTorch's message
VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")  # another part


class _UsersCodeError(Exception):
    """Reading would call code of the user's."""


class SavedValue(NamedTuple):
    """A saved value of a node."""

    name: str  # as in `_saved_<name>`
    value: Any  # the tensor or plain value; None if it cannot be read
    state: str  # as in `graph.model.Saved`.
    stale: bool = False  # the saved tensor was modified
    # of a modified tensor: its present version, and its version when saved, from PyTorch's error
    versions: tuple[int, int] | None = None


def saved_of(node: Node) -> Iterator[SavedValue]:
    """What a node has saved, by name. The user's hooks are not called."""
    if is_function(node):
        yield from _saved_of_function(node)
        return
    if hasattr(node, "reads"):  # in an open region
        yield from node.reads
        return
    for name in _saved_names(node.__class__):
        yield _kept(node, name)


def is_freed(nodes: Iterable[Any], most: int = 16) -> bool:
    """Has a backward pass freed the saved tensors of these nodes and those behind them?"""
    looked_at, todo = 0, list(nodes)
    while todo and looked_at < most:
        node = todo.pop()
        if any(k.state == "freed" for k in saved_of(node)):
            return True
        todo += [after for after, _ in node.next_functions if after is not None]
        looked_at += 1
    return False


@functools.cache
def _saved_names(kind: type) -> list[str]:
    """The names of what nodes of a class save. PyTorch has a class for each of its own ops."""
    return sorted(a.removeprefix("_saved_") for a in dir(kind) if a.startswith("_saved_"))


def _kept(node: object, name: str) -> SavedValue:
    raw = None
    try:
        raw = getattr(node, f"_raw_saved_{name}", None)
        value = _read(raw, partial(getattr, node, f"_saved_{name}"))
    except _UsersCodeError:
        return SavedValue(name, None, "kept")
    except RuntimeError as error:
        if STALE in str(error):
            return SavedValue(name, getattr(raw, "data", None), "kept", True, _versions_in(error))
        return SavedValue(name, None, "freed")
    if value is None or isinstance(value, torch.Tensor):
        return SavedValue(name, value, "none" if value is None else "kept")
    if isinstance(value, tuple) and any(isinstance(v, torch.Tensor) for v in value):
        return SavedValue(name, value, "plain")
    return SavedValue(name, _signed(value), "plain")


def _saved_of_function(node: Any) -> Iterator[SavedValue]:
    try:
        raw = node._raw_saved_tensors
    except RuntimeError:
        yield SavedValue("saved_tensors", None, "freed")
        return
    for i, kept in enumerate(raw or ()):
        name = f"saved_tensors[{i}]"
        try:
            value = (
                _read(kept, kept.unpack) if hasattr(kept, "unpack") else _read(kept, partial(getattr, node, "saved_tensors"))[i]
            )
            yield SavedValue(name, value, "none" if value is None else "kept")
        except _UsersCodeError:
            yield SavedValue(name, None, "kept")
        except RuntimeError as error:
            yield SavedValue(name, getattr(kept, "data", None), "kept", STALE in str(error), _versions_in(error))


def _versions_in(error: RuntimeError) -> tuple[int, int] | None:
    found = VERSIONS.search(str(error))
    return None if found is None else (int(found[1]), int(found[2]))


def _read(raw: object, read: Callable[[], Any]) -> Any:
    """A saved value, read without the user's code; `read` must be no Python function. `raw`: SavedTensors; None for no tensor.
    _UsersCodeError: only the user's code can give it. RuntimeError: it is freed, or was modified.
    """
    if raw is None:
        return read()
    several = raw if isinstance(raw, tuple | list) else (raw,)
    if not all(map(_tells_hooks, several)):
        return _watched(read)
    if any(map(has_users_hooks, several)):
        raise _UsersCodeError
    return read()


def _tells_hooks(raw: object) -> bool:
    return hasattr(raw, "unpack_hook")


def _watched(read: Callable[[], Any]) -> Any:
    if sys.getprofile() is not None:
        raise _UsersCodeError
    with collector_waits():  # finalizers are calls, too
        sys.setprofile(_forbid)
        try:
            return read()
        finally:
            sys.setprofile(None)


def _forbid(frame: FrameType, event: str, argument: object) -> None:
    if event == "call":
        raise _UsersCodeError


def _signed(value: object) -> Any:
    """PyTorch shows a negative dim of some nodes as an unsigned number."""
    if isinstance(value, tuple | list):
        return tuple(map(_signed, value))
    return value - 2**64 if type(value) is int and value >= 2**63 else value


SLICES = "CopySlices"
EMPTY = "autograd_viz.empty"  # in node.metadata
VERSION = "autograd_viz.version"  # in the metadata of an AccumulateGrad: of its leaf, when nodes were closed
CLOSED = "autograd_viz.closed"  # in node.metadata: what it has saved, each in a list


@functools.cache
def _raw_names(kind: type) -> tuple[str, ...]:
    """The attributes of a class of nodes that give its saved tensors, still packed."""
    return tuple(n for n in dir(kind) if n.startswith("_raw_saved_"))


def raw_of(node: object, name: str) -> list[Any]:
    """What an attribute of a node gives, still packed."""
    try:
        raw = getattr(node, name, None)
    except RuntimeError:  # freed
        return []
    return list(raw) if isinstance(raw, list | tuple) else [raw]


def saved_tensors(node: Any, quiet: bool = True) -> list[Any]:
    """The tensors that a node has saved and can still use; without those whose saved-tensor hooks, of the user's, would run.
    RuntimeError: a saved tensor was modified or freed, if not `quiet`.
    """
    found = []
    for name in _raw_names(node.__class__):
        try:
            if any(map(has_users_hooks, raw_of(node, name))):
                continue
            value = getattr(node, "saved_tensors" if name == "_raw_saved_tensors" else name.replace("_raw_saved_", "_saved_"))
        except (RuntimeError, AttributeError):
            if not quiet:
                raise
            continue
        found += [t for t in (value if isinstance(value, list | tuple) else [value]) if isinstance(t, torch.Tensor)]
    return found


def _twice(*_: object) -> Any:
    raise RuntimeError(FREED_MESSAGE)


def _nothing(tensor: torch.Tensor) -> None:
    return None


def is_stuck(node: Any) -> bool:
    """Is it empty, or keeps what `empty` cannot free (the node in a CopySlices, what the user's hooks have packed)?"""
    packed = (raw for name in _raw_names(node.__class__) for raw in raw_of(node, name))
    return node.name() == SLICES or EMPTY in node.metadata or any(map(has_users_hooks, packed))


def has_users_hooks(raw: object) -> bool:
    """Has the program packed a saved tensor? (Not `empty` or `close`.)"""
    return getattr(raw, "unpack_hook", None) not in (None, _opened, _twice)


def empty(node: Any) -> None:
    """Free the node's saved tensors; a later pass through it raises PyTorch's error."""
    known = node.metadata
    for kept in known.pop(CLOSED, ()):
        kept.clear()
    if EMPTY in known or is_accumulate(node):
        return
    known[EMPTY] = True
    if _packed(node, _nothing, _twice) and hasattr(node, "register_prehook"):
        node.register_prehook(_twice)


def close(node: Any) -> None:
    """Keep the node's saved tensors aside: until `reading`, it answers as if they were freed."""
    known = node.metadata
    if is_accumulate(node):
        known[VERSION] = None if node.variable.is_inference() else node.variable._version
    if EMPTY in known or CLOSED in known or is_accumulate(node):
        return
    kept = list[list[Any]]()

    def pack(tensor: torch.Tensor) -> list[Any]:
        kept.append([tensor])
        return kept[-1]

    known[EMPTY], known[CLOSED] = True, kept
    _packed(node, pack, _opened)


def _opened(kept: list[Any]) -> Any:
    return kept[0] if kept and _is_reading else _twice()


_is_reading = False


@contextmanager
def reading() -> Iterator[None]:
    """Inside, closed nodes give what they have saved."""
    global _is_reading
    was, _is_reading = _is_reading, True
    try:
        yield
    finally:
        _is_reading = was


def _packed(node: Any, pack: object, unpack: object) -> bool:
    """Give the node's saved tensors hooks, which detaches them. Has it some that refuse? In a mode that could fail half-way,
    and then PyTorch crashes when it reads the hooks.
    """
    is_refused: bool = node.name() == SLICES
    with outside_modes():
        for raw in (raw for name in _raw_names(node.__class__) for raw in raw_of(node, name)):
            try:
                raw.register_hooks(pack, unpack)
            except RuntimeError as error:  # the user's hooks, or nothing saved
                is_refused |= "with value None" not in str(error)
    return is_refused
