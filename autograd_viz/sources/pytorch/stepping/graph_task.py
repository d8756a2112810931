"""Answers what the user's code asks PyTorch's engine during a pass, for a pass that runs node by node.

Hooks of several tensors and checkpointing ask which pass runs, and whether a node will run. FSDP asks for a callback at the
end. Between steps PyTorch runs no pass, so it would say: none, no, and an error. A node may also run a pass of its own
(reentrant checkpointing does). That changes grads of leaves outside the graph.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.autograd.graph import GradientEdge

from ..reading.nodes import edge_of, is_accumulate, reach, variable_of
from .snapshots import GradSnapshot

_numbers = itertools.count(2**40)  # PyTorch counts its passes from 0


def _works_for(thread: int) -> bool:
    """Is this the thread of a pass? Or a thread of the engine's (for a GPU), which Python does not know?"""
    return threading.get_ident() == thread or isinstance(threading.current_thread(), threading._DummyThread)


class _Engine:
    """In place of PyTorch's engine: callbacks wait for the end of our pass, nested passes are noted, it does the rest."""

    def __init__(self, engine: Any, surroundings: Surroundings) -> None:
        self._engine, self._surroundings, self._thread = engine, surroundings, threading.get_ident()

    def queue_callback(self, callback: Callable[[], Any]) -> None:
        if _works_for(self._thread):
            self._surroundings.callbacks.append(callback)
        else:
            self._engine.queue_callback(callback)

    def run_backward(self, starts: Sequence[Any], *rest: Any, **options: Any) -> Any:
        if options.get("accumulate_grad") and _works_for(self._thread):
            self._surroundings.about_to_run(s.node if isinstance(s, GradientEdge) else edge_of(s)[0] for s in starts)
        return self._engine.run_backward(starts, *rest, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


class Surroundings:
    """Answers for one pass."""

    def __init__(self, nodes: Any, callbacks: list[Callable[[], Any]]) -> None:
        self._nodes, self.callbacks = nodes, callbacks
        self.inner: list[GradSnapshot] = []  # the grads that nested passes have changed, as they were before
        self._number, self._ran = next(_numbers), set[Any]()

    @contextmanager
    def around(self, node: Any) -> Iterator[None]:
        """Inside, this thread and the engine's threads see our pass. A node that runs again sees a new pass, since checkpoints
        recompute once for each pass.
        """
        if node in self._ran:
            self._number, self._ran = next(_numbers), set()
        self._ran.add(node)
        mine = threading.get_ident()
        which, will_run = torch._C._current_graph_task_id, torch._C._will_engine_execute_node
        variable = torch.autograd.Variable
        engine = variable._execution_engine

        def our_number() -> int:
            return self._number if _works_for(mine) else int(which())

        def is_ours(asked: Any) -> bool:
            return bool((_works_for(mine) and asked in self._nodes) or will_run(asked))

        torch._C._current_graph_task_id, torch._C._will_engine_execute_node = our_number, is_ours  # type: ignore[assignment]
        variable._execution_engine = _Engine(engine, self)  # type: ignore[assignment]
        try:
            yield
        finally:
            torch._C._current_graph_task_id, torch._C._will_engine_execute_node = which, will_run
            variable._execution_engine = engine

    def about_to_run(self, starts: Iterable[Any]) -> None:
        """A nested pass starts at these nodes."""
        known = {snapshot.tensor for snapshot in self.inner}
        leaves = (variable_of(n) for n in reach(starts) if is_accumulate(n))
        self.inner += [GradSnapshot(leaf, is_about_to_change=True) for leaf in leaves if leaf not in known]

    def end(self) -> None:
        """End the pass: call the callbacks; they may add more."""
        for callback in self.callbacks:
            callback()
