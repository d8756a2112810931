"""What the user's code did to a graph: calls of backward(), in-place changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from .surroundings import Source

HUGE, TINY = 1e4, 1e-6  # norms of gradients beyond which a user should look
STATISTICS = ("norm", "largest", "zeros", "update")  # that a run measures of each row
TOTALS = ("loss", "clip", "rate", "passes", "probe", "seconds")  # and of each step


class Changed(NamedTuple):
    """A saved tensor that was changed in place."""

    name: str | None  # a variable that holds its memory, or None
    now: int  # its version now
    source: Source | None  # the line of the first change


@dataclass(frozen=True)
class Holder:
    """An optimizer."""

    kind: str  # its class
    made: Any  # where and when it was made, if that was recorded
    holds: bool  # it steps the tensor in question
    rate: float | None  # the learning rate of the tensor's group; None if it does not hold the tensor
    steps: tuple[Any, ...]  # its recorded calls of step()
    leaves: tuple[Any, ...]  # the tensors that it steps
    momentum: bool = False  # a gradient of zero still moves the tensor
    began: float | None = None  # the learning rate with which a scheduler, or the optimizer, began
    maximizes: bool = False  # it makes the loss larger
    decay: float = 0.0  # the weight_decay of the tensor's group
    eps: float = 0.0  # what it adds to a root in its step, if it has such a number
    has_moved: bool = False  # it keeps something of earlier gradients of the tensor
