"""The time on a device."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class Clock:
    """The time of a device.

    Attributes:
        mark: now. On a GPU an event in the stream, which the GPU passes.
        wait: waits until everything before has run.
        seconds: between two marks, after `wait`.
    """

    device: str
    mark: Callable[[], Any]
    wait: Callable[[], Any]
    seconds: Callable[[Any, Any], float]


def clock_of(tensor: torch.Tensor) -> Clock:
    """The clock of the device of a tensor. RuntimeError: it has none here."""
    if tensor.device.type == "cuda":
        return Clock(str(tensor.device), _event, partial(torch.cuda.synchronize, tensor.device), _between_events)
    if tensor.device.type != "cpu":
        raise RuntimeError(f"time() has a clock for cpu and cuda; the loss is on {tensor.device}")
    return Clock("cpu", time.perf_counter_ns, lambda: None, lambda start, end: float(end - start) * 1e-9)


def _event() -> Any:
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def _between_events(start: Any, end: Any) -> float:
    return float(start.elapsed_time(end)) * 1e-3
