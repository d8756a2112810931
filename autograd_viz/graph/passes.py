"""What the user's code did to a graph: calls of backward(), in-place changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from .surroundings import Source

HUGE, TINY = 1e4, 1e-6  # norms of gradients beyond which a user should look


class Changed(NamedTuple):
    """A saved tensor that was changed in place.

    Attributes:
        name: a variable that holds its memory, or None.
        now: its version now.
        source: the line of the first change.
    """

    name: str | None
    now: int
    source: Source | None


@dataclass(frozen=True)
class Holder:
    """An optimizer.

    Attributes:
        kind: its class.
        made: where and when it was made, if that was recorded.
        holds: it steps the tensor in question.
        rate: the learning rate of the tensor's group; None if it does not hold the tensor.
        steps: its recorded calls of step().
        leaves: the tensors that it steps.
    """

    kind: str
    made: Any
    holds: bool
    rate: float | None
    steps: tuple[Any, ...]
    leaves: tuple[Any, ...]
