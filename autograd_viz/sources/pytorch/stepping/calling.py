"""In the place of PyTorch's engine: calls nodes that no plain call runs (of a user's Function, in an open region), and answers
what the user's code asks during a pass that runs node by node.

# Note [What is asked]
Hooks of several tensors and checkpointing ask which pass runs, and whether a node will run. FSDP asks for a callback at the
end. Between steps PyTorch runs no pass, so it would say: none, no, and an error. A node may also run a pass of its own
(reentrant checkpointing does). That changes grads of leaves outside the graph.

# Note [Interpreted and compiled]
An open region runs the compiled pass as it is, and its backward graph op by op beside it.
The region's own node runs the compiled pass. The nodes in the region run the ops of its backward graph one after the other, on
what the real pass has saved. So gradients inside are interpreted. What leaves the region is the compiled result, as in
``backward()``, and the difference is told. If the user has edited a gradient inside, the interpreted one leaves.
"""

from __future__ import annotations

import itertools
import math
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any

import torch
from torch.autograd.graph import GradientEdge

from ....twin.core.function.function_node import one_for_each
from ..reading import compiled, older
from ..reading.hooks import HookRunner, gradients_at
from ..reading.nodes import COMPILED, Metadata, edge_of, is_accumulate, outputs_of, reach, variable_of
from ..reading.region_op import RegionOp
from ..reading.regions import Region
from ..reading.values import equal, is_plain
from .snapshots import GradSnapshot


class _NotCalledError(Exception):
    """The engine has come to the call; it is stopped there."""


def call_function(node: Any, grads: list[Any], hooks: HookRunner) -> tuple[Any, ...]:
    """Run the node by hand: the gradients of the arguments that are tensors.
    RuntimeError: a wrong number of gradients, or a gradient that is no tensor; in PyTorch's words.
    """
    if any(g is None for g in grads):
        grads = _as_the_engine_gives(node, grads, hooks)
    with _reusable(node):
        results = node.apply(*grads)
    needs = node.needs_input_grad
    no_tensors = _no_tensors(needs, [after is not None for after, _ in node.next_functions])
    may_have_one = [i not in no_tensors for i in range(len(needs))]
    results = results if isinstance(results, tuple) else (results,)
    results = one_for_each(node.name(), results, may_have_one, torch.Tensor)
    # some arguments were no tensors; those that need a gradient match the edges that lead somewhere, in order
    wanted = iter([r for r, need in zip(results, needs, strict=True) if need])
    return tuple(None if after is None else next(wanted, None) for after, _ in node.next_functions)


def _as_the_engine_gives(node: Any, grads: list[Any], hooks: HookRunner) -> list[Any]:
    """Zeros where nothing has arrived, unless the Function has called ``ctx.set_materialize_grads(False)``. The node does not
    tell which, so the engine is asked: it goes as far as the call. (Before PyTorch 2.5 the dry run has asked.)
    """
    if older.IS_OLDER:
        wants = node.metadata.get(older.MATERIALIZES, True)
        return [_zeros(m) if g is None and wants and m.is_known else g for g, m in zip(grads, outputs_of(node), strict=True)]
    there = [i for i, g in enumerate(grads) if g is not None]
    given = there or [0]  # the engine needs something to start with
    starts = [grads[i] for i in there] or [_zeros(outputs_of(node)[0])]
    found: list[Any] = []

    def stop(*seen: object) -> Any:
        found.extend(seen)
        raise _NotCalledError

    node.apply = stop
    if hasattr(node, "apply_boxed"):  # it takes a list if the Function says `boxed_grads_call`, as compiled ones do
        node.apply_boxed = lambda boxed: stop(*boxed)
    ends = [GradientEdge(after, i) for after, i in node.next_functions if after is not None]
    try:
        with hooks.silent(node), torch.autograd.set_detect_anomaly(False):  # to the next nodes: no grad can be written
            gradients_at([GradientEdge(node, i) for i in given], ends, starts, hooks.create_graph)
    except _NotCalledError:
        pass
    finally:
        del node.apply
        vars(node).pop("apply_boxed", None)
    return [s if g is None else g for g, s in zip(grads, found, strict=True)]


def _zeros(like: Metadata) -> Any:
    return torch.zeros(like.shape, dtype=like.dtype, device=like.device)


def _no_tensors(needs: Sequence[bool], leads: Sequence[bool]) -> set[int]:
    """Which arguments were certainly no tensors. `needs` is by argument, `leads` by edge: does it lead somewhere? Only tensors
    have edges; a tensor that needs no gradient has one that leads nowhere.
    """
    if sum(needs) != sum(leads):  # the Function has changed
        return set()
    between = zip(_gaps(needs), _gaps(leads), strict=True)  # two arguments that need a gradient
    return {i for arguments, edges in between if not edges for i in arguments}


def _gaps(flags: Sequence[bool]) -> list[list[int]]:
    """The indices of False before, between and after the indices of True."""
    gaps: list[list[int]] = [[]]
    for i, flag in enumerate(flags):
        if flag:
            gaps.append([])
        else:
            gaps[-1].append(i)
    return gaps


@contextmanager
def _reusable(node: Any) -> Iterator[None]:
    """A compiled backward may write into its saved tensors: inside it may, and afterwards they are restored."""
    config = sys.modules.get("torch._functorch.config")
    if type(node).__name__ != COMPILED or not getattr(config, "donated_buffer", False):
        yield
        return
    storages = [t.untyped_storage() for t in node.saved_tensors if t is not None and t.layout is torch.strided]
    copies = [s.clone() for s in storages]
    try:
        with config.patch(donated_buffer=False):  # type: ignore[union-attr]
            yield
    finally:
        for storage, copy in zip(storages, copies, strict=True):
            storage.copy_(copy)


class Interpreted:
    """One pass through one region.

    `gap`: of the node that ran last, the largest difference between what was interpreted and the compiled result that left the
    region instead; 0.0 if they are equal to the bit; nan if nothing left, or an interpreted gradient did.
    """

    def __init__(self, region: Region) -> None:
        self._region, self._graph = region, torch.fx.Interpreter(region.module, garbage_collect_values=False)
        self._compiled: tuple[Any, ...] = ()  # what the compiled pass sends, by edge of the region's own node
        self._edited: set[Any] = set()  # values behind a gradient that the user has edited
        self.gap = math.nan

    def enter(self, grads: list[Any], hooks: HookRunner) -> tuple[Any, ...]:
        """Run the compiled pass, and send what arrived to the nodes inside. RuntimeError: as ``backward()`` would."""
        node = self._region.node
        self._compiled = call_function(node, list(grads), hooks)
        looks = zip(grads, outputs_of(node), strict=True)
        given = [torch.zeros(m.shape, dtype=m.dtype, device=m.device) if g is None else g for g, m in looks]
        places = (n for n in self._region.module.graph.nodes if n.op == "placeholder")
        self._graph.env = dict(zip(places, compiled.arguments(node, given), strict=True))
        self._edited = set()
        self._run(self._region.again)
        return self._sent(self._region, True)

    def call(self, op: RegionOp, grads: Sequence[Any]) -> tuple[Any, ...]:
        """Run one node inside on the gradients that arrived."""
        if any(g is None for g in grads):
            self.gap = math.nan
            return (None,) * len(op.results)
        env, is_own = self._graph.env, all(self._is_own(op, a, g) for a, g in zip(op.arrivals, grads, strict=True))
        made = [*op.ops, *(a for a in op.arrivals if compiled.is_sum(a))]
        before = {a: env[a] for a in op.arrivals if a in env and a not in made}
        env.update(zip(op.arrivals, grads, strict=True))
        self._run([*op.again, *op.ops])
        sent = self._sent(op, is_own)
        env.update(before)
        own = {*op.again, *op.ops}
        for n in own.difference(op.results):
            if own.issuperset(n.users):  # nobody else reads it: its memory is free
                del env[n]
        (self._edited.difference_update if is_own else self._edited.update)(made)
        return sent

    def _run(self, ops: Iterable[Any]) -> None:
        with torch.no_grad(), compiled.as_compiled():
            for n in ops:
                self._graph.env[n] = self._graph.run_node(n)

    def _is_own(self, op: RegionOp, value: Any, grad: Any) -> bool:
        """Is a gradient that arrived what the nodes inside have sent?"""
        parts = self._region.parts(op, value)
        if not self._edited.isdisjoint(parts):
            return False
        known = [self._graph.env[p] for p in parts]
        return grad is known[0] if len(known) == 1 else equal(grad, reduce(torch.add, known))

    def _sent(self, end: Region | RegionOp, is_own: bool) -> tuple[Any, ...]:
        sent = [self._graph.env[r] for r in end.results]
        gaps = []
        for k, place in end.leaves.items() if is_own else ():
            gaps.append(_gap(sent[k], self._compiled[place]))
            sent[k] = self._compiled[place]
        self.gap = max(gaps, default=math.nan)
        return tuple(sent)


def _gap(a: Any, b: Any) -> float:
    """The largest difference; 0.0 if all bits are equal."""
    if a is None or b is None or equal(a, b) or not (is_plain(a) and is_plain(b)):
        return 0.0
    wide = torch.complex128 if a.is_complex() else torch.float32 if a.device.type == "mps" else torch.float64
    return float((a.detach().to(wide) - b.detach().to(wide)).abs().max())


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
        """Inside, this thread and the engine's see our pass; a node that runs again sees a new one: checkpoints recompute."""
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
