"""What a torch node has saved.

# Note [Hooks of saved tensors]
Reading a saved tensor that has hooks (`saved_tensors_hooks`, checkpoints) calls the user's unpack hook. A SavedTensor tells of
its hooks in PyTorch 2.13. Where it does not, it is read while a profile function looks on, which hears of the call of a hook
before it happens, and forbids it.
"""

from __future__ import annotations

import functools
import gc
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

import torch

from .nodes import is_function

STALE = "modified by an inplace operation"  # part of PyTorch's message
VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")  # another


class _UsersCodeError(Exception):
    """Reading would call code of the user's."""


class Kept(NamedTuple):
    """Something that a node has saved.

    Attributes:
        name: as in `_saved_<name>`.
        value: the tensor or plain value; None if it cannot be read.
        state: as in `graph.model.Saved`.
        stale: the tensor was changed in place since.
        versions: of such a tensor: now, and when it was saved; as PyTorch's error tells.
    """

    name: str
    value: Any
    state: str
    stale: bool = False
    versions: tuple[int, int] | None = None


def saved_of(node: Any) -> Iterator[Kept]:
    """What a node has saved, by name, without running a hook of the user's."""
    if is_function(node):
        yield from _saved_of_function(node)
        return
    for name in _saved_names(node.__class__):
        yield _kept(node, name)


def is_freed(nodes: Iterable[Any], most: int = 16) -> bool:
    """Has a backward pass freed what these nodes and those behind them have saved?

    Args:
        nodes: where to look first.
        most: at so many nodes.
    """
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
    """What nodes of a class save: PyTorch has a class for each of its own ops."""
    return sorted(a.removeprefix("_saved_") for a in dir(kind) if a.startswith("_saved_"))


def _kept(node: Any, name: str) -> Kept:
    raw = None
    try:
        raw = getattr(node, f"_raw_saved_{name}", None)
        value = _read(raw, partial(getattr, node, f"_saved_{name}"))
    except _UsersCodeError:
        return Kept(name, None, "kept")
    except RuntimeError as error:
        if STALE in str(error):
            return Kept(name, getattr(raw, "data", None), "kept", True, _versions_in(error))
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
        try:
            value = (
                _read(kept, kept.unpack) if hasattr(kept, "unpack") else _read(kept, partial(getattr, node, "saved_tensors"))[i]
            )
            yield Kept(name, value, "none" if value is None else "kept")
        except _UsersCodeError:
            yield Kept(name, None, "kept")
        except RuntimeError as error:
            yield Kept(name, getattr(kept, "data", None), "kept", STALE in str(error), _versions_in(error))


def _versions_in(error: RuntimeError) -> tuple[int, int] | None:
    found = VERSIONS.search(str(error))
    return None if found is None else (int(found[1]), int(found[2]))


def _read(raw: Any, read: Callable[[], Any]) -> Any:
    """A saved value, without running code of the user's.

    Args:
        raw: the SavedTensor, or several; None if the value is no tensor.
        read: gives the value; no Python function.

    Raises:
        _UsersCodeError: only code of the user's can tell.
        RuntimeError: it is freed, or was changed in place since.
    """
    if raw is None:
        return read()
    several = raw if isinstance(raw, tuple | list) else (raw,)
    if not all(map(_tells_hooks, several)):
        return _watched(read)
    if any(r.unpack_hook is not None for r in several):
        raise _UsersCodeError
    return read()


def _tells_hooks(raw: Any) -> bool:
    return hasattr(raw, "unpack_hook")


def _watched(read: Callable[[], Any]) -> Any:
    if sys.getprofile() is not None:
        raise _UsersCodeError
    collects = gc.isenabled()
    gc.disable()  # finalizers are calls, too
    sys.setprofile(_forbid)
    try:
        return read()
    finally:
        sys.setprofile(None)
        if collects:
            gc.enable()


def _forbid(frame: FrameType, event: str, argument: Any) -> None:
    if event == "call":
        raise _UsersCodeError


def _signed(value: Any) -> Any:
    """PyTorch shows a negative dim of some nodes as an unsigned number."""
    if isinstance(value, tuple | list):
        return tuple(map(_signed, value))
    return value - 2**64 if type(value) is int and value >= 2**63 else value
