"""The ops of a forward pass: what each is, and how long it takes by the clock of its device.

# Note [Which node an op belongs to]
A dispatch mode sees the ops below autograd, when a new node has its number already. An op without a new node belongs to one
beside it in the same module: inside of a Function, and of a saved result, to the node before; else to the one after, as the
mask of dropout. If there is none, it is bare.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

number: Any = torch._C._autograd._get_sequence_nr
SAVED = "aten.detach.default"  # of a result that its own node saves


@dataclass(frozen=True, slots=True)
class Clock:
    """The time of a device."""

    device: str
    mark: Callable[[], Any]  # now; on a GPU an event in the stream, which the GPU passes
    wait: Callable[[], Any]  # waits until everything before has run
    seconds: Callable[[Any, Any], float]  # between two marks, after `wait`


def clock_of(tensor: torch.Tensor) -> Clock:
    """The clock of the device of a tensor. RuntimeError: it has none here."""
    if tensor.device.type == "cuda":
        wait = partial(torch.cuda.synchronize, tensor.device)
        return Clock(str(tensor.device), _event, wait, lambda start, end: float(start.elapsed_time(end)) * 1e-3)
    if tensor.device.type != "cpu":
        raise RuntimeError(f"time() has a clock for cpu and cuda; the loss is on {tensor.device}")
    return Clock("cpu", time.perf_counter_ns, lambda: None, lambda start, end: float(end - start) * 1e-9)


def _event() -> Any:
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


@dataclass(slots=True)
class Call:
    """An op of the forward pass; `node`: the number of its node, or that of the next one to come, if it `is_bare`."""

    name: str
    path: str
    node: int
    is_bare: bool
    is_inside: bool  # it belongs to what was before
    flops: int


class _Mode(TorchDispatchMode):
    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Compiled code runs as it does without."""
        return True

    supports_higher_order_operators = True


class Counting(_Mode):
    """Notes each op, and counts its floating-point operations."""

    def __init__(self, model: torch.nn.Module | None) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self._paths = {} if model is None else {module: name for name, module in model.named_modules()}
        self._open = [""]
        self._last = number()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        now, name = number(), str(func)
        is_inside = name == SAVED or not torch.is_grad_enabled()
        self.calls.append(Call(name, self._open[-1], now - 1, now == self._last, is_inside, flops(func, args, kwargs, result)))
        self._last = now
        return result

    @contextmanager
    def listening(self) -> Iterator[Counting]:
        """Inside, it knows which module runs."""
        ends = register_module_forward_hook(self._ends, always_call=True)
        handles = [register_module_forward_pre_hook(self._begins), ends]
        try:
            with self:
                yield self
        finally:
            for handle in handles:
                handle.remove()

    def _begins(self, module: torch.nn.Module, _: object) -> None:
        self._open.append(self._paths.get(module, self._open[-1]))

    def _ends(self, *_: object) -> None:
        self._open.pop()

    def nodes(self, known: Iterable[int]) -> list[int | None]:
        """The number of the node that each call belongs to; None of a bare one. See Note [Which node an op belongs to]."""
        reached, calls = {*known}, self.calls
        found: list[int | None] = [None if c.is_bare or c.node not in reached else c.node for c in calls]
        before, after = _carried(calls, found), _carried(calls[::-1], found[::-1])[::-1]
        for k, call in enumerate(calls):
            if found[k] is None and call.is_bare:
                nearer = (before[k], after[k]) if call.is_inside else (after[k], before[k])
                found[k] = next((n for n in nearer if n is not None), None)
        return found


def _carried(calls: list[Call], nodes: list[int | None]) -> list[int | None]:
    """For each call the node of the last one before it in the same module."""
    found: list[int | None] = []
    path, last = "", None
    for call, node in zip(calls, nodes, strict=True):
        last = last if call.path == path else None
        path, last = call.path, last if node is None else node
        found.append(last)
    return found


def flops(func: Any, args: Any, kwargs: Any, result: Any) -> int:
    """As PyTorch's own counter counts them."""
    formula = flop_registry.get(getattr(func, "_overloadpacket", None))
    return 0 if formula is None else int(formula(*args, **(kwargs or {}), out_val=result))


class Ticking(_Mode):
    """Marks the begin and the end of each op."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.marks: list[tuple[Any, Any]] = []
        self._mark = clock.mark

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        start = self._mark()
        result = func(*args, **(kwargs or {}))
        self.marks.append((start, self._mark()))
        return result
