"""What the nodes of a graph have saved: read, counted, and freed as a backward pass frees it."""

from __future__ import annotations

import functools
import heapq
import re
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import torch
from torch.autograd.graph import Node

from .nodes import is_accumulate, is_function
from .values import outside_modes

TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
    "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True "
    "if you need to backward through the graph a second time or if you need to access saved tensors after calling backward."
)
SLICES = "CopySlices"
EMPTY = "autograd_viz.empty"  # in node.metadata
VERSION = "autograd_viz.version"  # in the metadata of an AccumulateGrad: of its leaf, when nodes were closed
CLOSED = "autograd_viz.closed"  # in node.metadata: what it has saved, each in a list
ARGUMENTS = (
    "grad can be implicitly created",
    "Mismatch in shape",
    "does not require grad",
    "gradient argument",
    "invalid gradient",
)


@functools.cache
def _saved_names(kind: type) -> tuple[str, ...]:
    """The attributes of a class of nodes that give its saved tensors, still packed."""
    return tuple(n for n in dir(kind) if n.startswith("_raw_saved_"))


def _raw(node: object, name: str) -> list[Any]:
    try:
        raw = getattr(node, name)
    except RuntimeError:  # freed
        return []
    return list(raw) if isinstance(raw, list | tuple) else [raw]


def saved_tensors(node: object, quiet: bool = True) -> list[Any]:
    """The tensors that a node has saved and can still use; without those whose saved-tensor hooks, of the user's, would run.
    RuntimeError: a saved tensor was modified or freed, if not `quiet`.
    """
    found = []
    for name in _saved_names(type(node)):
        try:
            if any(map(has_users_hooks, _raw(node, name))):
                continue
            value = getattr(node, "saved_tensors" if name == "_raw_saved_tensors" else name.replace("_raw_saved_", "_saved_"))
        except (RuntimeError, AttributeError):
            if not quiet:
                raise
            continue
        found += [t for t in (value if isinstance(value, list | tuple) else [value]) if isinstance(t, torch.Tensor)]
    return found


def _twice(*_: object) -> Any:
    raise RuntimeError(TWICE)


def _nothing(tensor: torch.Tensor) -> None:
    return None


def is_stuck(node: Any) -> bool:
    """Does it keep something that `empty` cannot free (the node in a CopySlices, what the user's hooks have packed), or is it
    empty?
    """
    packed = (raw for name in _saved_names(type(node)) for raw in _raw(node, name))
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
        for raw in (raw for name in _saved_names(type(node)) for raw in _raw(node, name)):
            try:
                raw.register_hooks(pack, unpack)
            except RuntimeError as error:  # the user's hooks, or nothing saved
                is_refused |= "with value None" not in str(error)
    return is_refused


# -- a pass that raised -----------------------------------------------------------------------------------------------


def was_begun(error: BaseException) -> bool:
    """Had the engine begun, or did it refuse the arguments?"""
    names, trace = [], error.__traceback__
    while trace is not None:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    is_refusal = names[-1:] == ["_engine_run_backward"] and any(a in str(error) for a in ARGUMENTS)
    return "_engine_run_backward" in names and not is_refusal


def ran_before(root: torch.Tensor, nodes: Collection[Any], error: BaseException) -> list[Any]:
    """The nodes that a failed pass had run. None if the place is unknown; all if it was interrupted at its end."""
    order = order_of(root, nodes)
    failing = _failing(order, error)
    if failing is None:
        return order if not isinstance(error, Exception) else []
    return order[: order.index(failing)]


def _failing(order: Collection[Any], error: BaseException) -> Any:
    """The Function whose backward raised, or the first node that refuses a saved tensor in the same words."""
    functions = [n for n in order if is_function(n)]
    trace: TracebackType | None = error.__traceback__
    while trace is not None and functions:
        values = list(trace.tb_frame.f_locals.values())
        for n in functions:
            if any(v is n for v in values):
                return n
        trace = trace.tb_next
    return next((n for n in order if _refuses(n, str(error))), None)


def _refuses(node: Node, message: str) -> bool:
    try:
        saved_tensors(node, quiet=False)
    except RuntimeError as error:
        said, wanted = (re.sub(r"\s*Hint:.*", "", text, flags=re.DOTALL) for text in (str(error), message))
        return said == wanted
    except AttributeError:
        pass
    return False


def order_of(root: Any, nodes: Collection[Any]) -> list[Any]:
    """The order in which the engine runs nodes: of the ready ones, the one that was made last."""
    waits = Counter(after for n in nodes for after, _ in n.next_functions if after is not None)
    ready, found = [(-root._sequence_nr(), 0, root)], []
    while ready:
        node = heapq.heappop(ready)[2]
        found.append(node)
        for after, _ in node.next_functions:
            if after is not None:
                waits[after] -= 1
                if not waits[after]:
                    heapq.heappush(ready, (-after._sequence_nr(), len(found) + len(ready), after))
    return found
