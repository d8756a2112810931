"""A backward pass that writes no grad: PyTorch's engine runs it, with hooks of ours on its nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch.autograd.graph import GradientEdge
from torch.utils._python_dispatch import TorchDispatchMode

from ..reading.nodes import is_accumulate
from ..reading.older import ENGINE
from .forward import Clock, flops


def run(root: torch.Tensor, nodes: Sequence[Any], keeps_graph: bool) -> None:
    """The pass. RuntimeError: as ``root.backward()`` would."""
    (first,) = torch.autograd._make_grads((root,), (None,), is_grads_batched=False)
    ends = tuple(GradientEdge(n, 0) for n in nodes if is_accumulate(n))
    ENGINE.run_backward((root,), (first,), keeps_graph, False, ends, allow_unreachable=True, accumulate_grad=False)


def marks(root: torch.Tensor, nodes: Sequence[Any], keeps_graph: bool, clock: Clock) -> list[tuple[Any, Any] | None]:
    """Run it; the begin and the end of each node, None of one that did not run."""
    starts: list[Any] = [None] * len(nodes)
    ends: list[Any] = [None] * len(nodes)

    def note(place: list[Any], k: int, *_: object) -> None:
        place[k] = clock.mark()

    _hooked(root, nodes, keeps_graph, lambda k: partial(note, starts, k), lambda k: partial(note, ends, k))
    return [None if a is None or b is None else (a, b) for a, b in zip(starts, ends, strict=True)]


def counted(root: torch.Tensor, nodes: Sequence[Any], keeps_graph: bool) -> list[int]:
    """Run it; the floating-point operations of each node."""
    found, running = [0] * len(nodes), [0]

    def begin(k: int, *_: object) -> None:
        running[0] = k

    class Counting(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            found[running[0]] += flops(func, args, kwargs, result)
            return result

    with Counting():
        _hooked(root, nodes, keeps_graph, lambda k: partial(begin, k), None)
    return found


def _hooked(
    root: torch.Tensor, nodes: Sequence[Any], keeps: bool, before: Callable[[int], Any], after: Callable[[int], Any] | None
) -> None:
    handles: list[Any] = []
    try:
        for k, node in enumerate(nodes):
            if not is_accumulate(node):
                handles.append(node.register_prehook(before(k)))
                if after is not None:
                    handles.append(node.register_hook(after(k)))
        run(root, nodes, keeps)
    finally:
        for handle in handles:
            handle.remove()
