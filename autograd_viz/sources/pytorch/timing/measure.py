"""Passes, measured: some only as a whole, and as many with each of their parts, in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch.autograd.graph import GradientEdge
from torch.utils._python_dispatch import TorchDispatchMode

from ....errors import NotDrawableError
from ....graph.timing import Bare, Half, Timing
from ..reading.graph import TorchGraph
from ..reading.nodes import edge_of, is_accumulate, reach
from ..reading.older import ENGINE, IS_OLDER
from ..reading.values import is_plain, unseen
from ..recording.record import Recorder
from ..stepping.snapshots import LeafSnapshot, keep_random_numbers
from .forward import Call, Clock, Counting, Ticking, clock_of, flops

LEAST, MOST = 3, 20  # passes of each kind
ENOUGH = 1.0  # seconds
COMPILED = "CompiledFunction"
OTHER = "time(f) calls f several times, and it must run the same ops each time. f ran others: {what}"


def time_function(
    function: Callable[[], Any], model: Any, modules: Sequence[Any], graph_of: Callable[[Any], Any]
) -> tuple[Timing, Any]:
    """Measure a function that returns a loss; gives also the document of its graph.

    Random numbers, buffers and grads are as before. `model`: its parts are known by their path. `modules`: with buffers.

    Raises:
        NotDrawableError: the function returns no tensor of PyTorch with a backward pass.
        RuntimeError: it runs other ops each time, or PyTorch is older than 2.5.
    """
    _refuse_older()
    with untouched(modules), torch.enable_grad():
        is_split = not any(COMPILED in n.name() for n in _nodes(_loss(function())))  # this pass warms up, too
        counting = Counting(model)
        with Recorder(model), counting.listening() if is_split else nullcontext():
            root = function()
        graph, nodes = graph_of(root), _nodes(root)
        document, ids = graph.document, [graph.node_ids[n] for n in nodes]
        places = {n._sequence_nr(): id for n, id in zip(nodes, ids, strict=True) if not is_accumulate(n)}
        owners = counting.nodes(places)
        names, clock = [n.name() for n in nodes], clock_of(root)
        counts = _counted(root, nodes, keeps_graph=False)
        del root, graph, nodes
        rounds = _Rounds(function, clock, names, len(counting.calls), is_split)
        rounds.run()
        forward = _forward_half(rounds, counting.calls, [None if n is None else places[n] for n in owners])
        return Timing(forward, _backward_half(rounds, ids, counts), clock.device), document


def time_backward(root: torch.Tensor, graph: TorchGraph) -> Timing:
    """Measure the backward pass of a tensor whose graph is there; it stays. RuntimeError: as ``root.backward()`` would."""
    _refuse_older()
    nodes = _nodes(root)
    with untouched([]):
        counts = _counted(root, nodes, keeps_graph=True)
        rounds = _Rounds(lambda: root, clock_of(root), [n.name() for n in nodes], keeps_graph=True)
        rounds.run()
    return Timing(None, _backward_half(rounds, [graph.node_ids[n] for n in nodes], counts), rounds.clock.device)


@contextmanager
def untouched(modules: Sequence[Any]) -> Iterator[None]:
    """Afterwards generators of random numbers and the buffers of these modules are as before."""
    parts = [part for module in modules for part in module.modules()]
    held = [(part, name, buffer) for part in parts for name, buffer in part._buffers.items()]
    kept = [LeafSnapshot(b) for _, _, b in held if b is not None and unseen(is_plain)(b)]
    with keep_random_numbers():
        try:
            yield
        finally:
            for part, name, buffer in held:
                part._buffers[name] = buffer
            for snapshot in kept:
                snapshot.restore()


def _refuse_older() -> None:
    if IS_OLDER:
        raise RuntimeError("time() needs PyTorch 2.5: an older one cannot run a pass that writes no grad")


def _nodes(root: torch.Tensor) -> list[Any]:
    return reach([edge_of(root)[0]])


def _loss(value: Any) -> torch.Tensor:
    if not isinstance(value, torch.Tensor):
        raise NotDrawableError.instead_of("time(f) takes a function that returns a loss of PyTorch", value)
    if not value.requires_grad:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    return value


@dataclass
class _Rounds:
    """Runs passes, and keeps their times: of the wholes, and of each op and node."""

    function: Callable[[], Any]
    clock: Clock
    names: list[str]
    op_count: int = 0
    is_split: bool = False  # the ops of the forward pass are timed
    keeps_graph: bool = False
    whole: list[tuple[float, float]] = field(default_factory=list)
    parted: list[tuple[float, float]] = field(default_factory=list)
    ops: list[list[float]] = field(default_factory=list)
    nodes: list[list[float]] = field(default_factory=list)

    def run(self) -> None:
        """In turn, so that what else the machine does is in both."""
        begin = time.perf_counter()
        while len(self.ops) < LEAST or (len(self.ops) < MOST and time.perf_counter() - begin < ENOUGH):
            self._pass(None)
            self._pass(Ticking(self.clock))

    def _pass(self, ticking: Ticking | None) -> None:
        clock = self.clock
        clock.wait()
        start = clock.mark()
        with nullcontext() if ticking is None or not self.is_split else ticking:
            root = self.function()
        middle = clock.mark()
        nodes = _nodes(root)
        if ticking is not None:
            self._check(nodes, ticking)
        begin = clock.mark()
        if ticking is None:
            _run(root, nodes, self.keeps_graph)
        else:
            found = _marks(root, nodes, self.keeps_graph, clock)
        end = clock.mark()
        clock.wait()
        (self.whole if ticking is None else self.parted).append((clock.seconds(start, middle), clock.seconds(begin, end)))
        if ticking is not None:
            self.ops.append([clock.seconds(a, b) for a, b in ticking.marks])
            self.nodes.append([0.0 if m is None else clock.seconds(*m) for m in found])

    def _check(self, nodes: list[Any], ticking: Ticking) -> None:
        """RuntimeError: these are not the ops and nodes of the first pass."""
        if self.is_split and len(ticking.marks) != self.op_count:
            raise RuntimeError(OTHER.format(what=f"{self.op_count} ops, then {len(ticking.marks)}"))
        if [n.name() for n in nodes] != self.names:
            raise RuntimeError(OTHER.format(what=f"{len(self.names)} backward nodes, then {len(nodes)}, or others"))


# -- a backward pass: PyTorch's engine runs it, with hooks of ours on its nodes ----------------------------------------


def _run(root: torch.Tensor, nodes: Sequence[Any], keeps_graph: bool) -> None:
    """A backward pass that writes no grad. RuntimeError: as ``root.backward()`` would."""
    (first,) = torch.autograd._make_grads((root,), (None,), is_grads_batched=False)
    ends = tuple(GradientEdge(n, 0) for n in nodes if is_accumulate(n))
    ENGINE.run_backward((root,), (first,), keeps_graph, False, ends, allow_unreachable=True, accumulate_grad=False)


def _marks(root: torch.Tensor, nodes: Sequence[Any], keeps_graph: bool, clock: Clock) -> list[tuple[Any, Any] | None]:
    """Run it; the begin and the end of each node, None of one that did not run."""
    starts: list[Any] = [None] * len(nodes)
    ends: list[Any] = [None] * len(nodes)

    def note(place: list[Any], k: int, *_: object) -> None:
        place[k] = clock.mark()

    _hooked(root, nodes, keeps_graph, lambda k: partial(note, starts, k), lambda k: partial(note, ends, k))
    return [None if a is None or b is None else (a, b) for a, b in zip(starts, ends, strict=True)]


def _counted(root: torch.Tensor, nodes: Sequence[Any], keeps_graph: bool) -> list[int]:
    """Run it; the floating-point operations of each node."""
    found, running = [0] * len(nodes), [0]

    def begin(k: int, *_: object) -> None:
        running[0] = k

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            found[running[0]] += flops(func, args, kwargs, result)
            return result

    with Mode():
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
        _run(root, nodes, keeps)
    finally:
        for handle in handles:
            handle.remove()


def _forward_half(rounds: _Rounds, calls: Sequence[Call], owners: Sequence[str | None]) -> Half:
    whole, parted = [w for w, _ in rounds.whole], [w for w, _ in rounds.parted]
    if not rounds.is_split:
        return Half({}, {}, tuple(whole), tuple(parted))
    sums: dict[Any, list[float]] = {}
    counts: dict[Any, int] = {}
    for k, (call, owner) in enumerate(zip(calls, owners, strict=True)):
        key = (call.path, call.name) if owner is None else owner
        times = [ops[k] for ops in rounds.ops]
        sums[key] = [a + b for a, b in zip(sums[key], times, strict=True)] if key in sums else times
        counts[key] = counts.get(key, 0) + call.flops
    bare = tuple(Bare(k[0], k[1], tuple(times), counts[k]) for k, times in sums.items() if isinstance(k, tuple))
    seconds = {key: tuple(times) for key, times in sums.items() if isinstance(key, str)}
    return Half(seconds, {key: counts[key] for key in seconds}, tuple(whole), tuple(parted), bare)


def _backward_half(rounds: _Rounds, ids: Sequence[str], counts: Sequence[int]) -> Half:
    seconds = {id: tuple(times[k] for times in rounds.nodes) for k, id in enumerate(ids)}
    used = {id: times for id, times in seconds.items() if any(times)}
    flops = {id: counts[k] for k, id in enumerate(ids) if counts[k]}
    return Half(used, flops, tuple(w for _, w in rounds.whole), tuple(w for _, w in rounds.parted))
