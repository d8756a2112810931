"""What a model that is watched has returned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple


class Again(NamedTuple):
    """A pass that has run again.

    Attributes:
        root, gradient: the pass begins there, with this gradient.
        leaves: copies of the parameters, by name.
        reached: each result of the model that a gradient has reached, and that gradient.
        inputs: the tensors that were given to the model.
    """

    root: Any
    gradient: Any
    leaves: dict[str, Any]
    reached: list[tuple[Any, Any]]
    inputs: list[Any]


class Once:
    """Tells a gradient that arrives for the first time in a pass; a stepper that has gone back brings it again."""

    def __init__(self) -> None:
        self._last = (-1, -1)

    def is_new(self, step: int, passes: int) -> bool:
        """Has none arrived in this pass before?"""
        before, self._last = self._last, (step, passes)
        return before != self._last


def one_root(reached: Sequence[tuple[Any, Any]], vjp: Callable[..., Any]) -> tuple[Any, Any]:
    """A tensor and its gradient, for a pass that begins at several results.

    Where one result was computed from another, as a loss from logits, the pass will bring the latter a part of its gradient, or
    all. That part is subtracted first.

    Args:
        reached: each result with the whole gradient that reached it.
        vjp: called with tensors, their gradients and an input: what reaches the input, or None. It keeps the graph.
    """
    begin = list[tuple[Any, Any]]()
    for result, whole in sorted(reached, key=lambda r: -r[0].grad_fn._sequence_nr()):
        inside = vjp(*map(list, zip(*begin, strict=True)), result) if begin else None
        if inside is None:
            begin.append((result, whole))
            continue
        is_same = (whole == inside) | (whole != whole) & (inside != inside)  # noqa: PLR0124 -- nan
        if not bool(is_same.all()):
            begin.append((result, (whole - inside).masked_fill(is_same, 0.0)))
    if len(begin) == 1:
        return begin[0]
    root = reduce(add, ((result * grad.conj()).sum() for result, grad in begin))
    return root, root.new_ones(())
