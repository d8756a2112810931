"""What a model that is watched has returned, and the runs that go on."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

MOST_CALLS = 16  # of a model in one pass, which are kept


class Again(NamedTuple):
    """A pass that has run again."""

    root: Any
    gradient: Any  # root, gradient: the pass begins there, with this gradient
    leaves: dict[str, Any]  # copies of the parameters, by name
    reached: list[tuple[Any, Any]]  # each result of the model that a gradient has reached, and that gradient
    inputs: list[Any]  # the tensors that were given to the model


class Once:
    """Tells a gradient that arrives for the first time in a pass; a stepper that has gone back brings it again."""

    _last = (-1, -1)

    def is_new(self, step: int, passes: int) -> bool:
        """Has none arrived in this pass before?"""
        before, self._last = self._last, (step, passes)
        return before != self._last


def one_root(reached: Sequence[tuple[Any, Any]], vjp: Callable[..., Any]) -> tuple[Any, Any]:
    """A tensor and its gradient, for a pass that begins at several results: each with the whole gradient that reached it.

    What the pass will bring to a result by itself, as from a loss to its logits, is subtracted first. `vjp` is called with
    tensors, their gradients and an input: what reaches the input, or None. It keeps the graph.
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


class Arrivals:
    """Hooks on the nodes of results. A view that nobody has asked for its node gets its hook when a pass begins. `node_of`: the
    grad_fn of a tensor; None for a leaf, and for a view that nobody has asked. `is_leaf`: did no op make it?
    """

    def __init__(self, node_of: Callable[[Any], Any], is_leaf: Callable[[Any], bool]) -> None:
        self._node_of, self._is_leaf = node_of, is_leaf
        self._waiting: list[tuple[weakref.ref[Any], Callable[[Any], object]]] = []

    def follow(self, result: Any, put: Callable[[Any], object]) -> bool:
        """Call ``put(node)`` with the node of a result, now or when a pass begins; False for a leaf."""
        if (node := self._node_of(result)) is not None:
            put(node)
            return True
        if not (is_leaf := self._is_leaf(result)):
            self._waiting.append((weakref.ref(result), put))
        return not is_leaf

    def pass_begins(self, roots: Iterable[Any]) -> None:
        """A pass begins. It asks its roots itself."""
        waiting, self._waiting = self._waiting, []
        asked = list(roots) if waiting else []
        for reference, put in waiting:
            if (result := reference()) is not None:
                if any(result is root for root in asked):
                    _ = result.grad_fn
                self.follow(result, put)


_open: list[Any] = []


def run_with(parameter: Any) -> Any:
    """The run that goes on and can run its last pass again, of a model with this parameter; None if there is none."""
    return next((run for run in _open if run.has_pass and any(p is parameter for p in run.rows.parameters)), None)


def run_begins(run: Any) -> None:
    """A run begins. Others end whose model, as `model()` gives it, is gone: nobody has to close them."""
    for other in [*_open]:
        if other.model() is None:
            other.close()
    _open.append(run)


def run_ends(run: Any) -> None:
    """A run ends."""
    _open[:] = [other for other in _open if other is not run]


def run_of(model: Any) -> Any:
    """The run that watches a model, and whose last pass can run again; None if there is none."""
    return next((run for run in reversed(_open) if run.model() is model and run.has_pass), None)
