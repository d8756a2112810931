"""A cursor over a backward pass: forwards and back, with stops and edits. It has no widget and no timer.

Position 0 is the start of the backward pass, position k the state after its k-th step. Positions -F to -1 replay the forward
pass of F ops (nothing runs).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from operator import index
from typing import Any, Concatenate, ParamSpec, SupportsIndex, TypeVar

from ..answers.sentences import Past
from ..graph.model import Value
from ..graph.trace import Rewritten, Step
from ..runtime.interrupts import alone, breakable, whole
from .pins import Pinning
from .stops import Stopped
from .targets import node_of, reached_by, tensor_of

P = ParamSpec("P")
R = TypeVar("R")


def _move(verb: Callable[Concatenate[Stepper, P], R]) -> Callable[Concatenate[Stepper, P], R]:
    """A verb that is refused while a step of the same stepper runs. A hook must not undo the node that calls it."""

    @functools.wraps(verb)
    def moving(self: Stepper, /, *args: P.args, **options: P.kwargs) -> R:
        with alone():
            if self._runs:
                raise RuntimeError(
                    f"{verb.__name__}() was called inside a step of the same stepper (by a hook, a Function or a condition): "
                    "call it after the step"
                )
        return verb(self, *args, **options)

    return moving


class Stepper(Pinning):
    """Steps a backward pass one `grad_fn` call at a time.

    `next` calls the next node. `back` restores `grad` and saved tensors. `next` after `back` replays the step, or runs it
    again if its inputs were changed.

    Args:
        document: the graph before the pass.
        live: the pass.

    Attributes:
        stops: the stops of `run`.
        pins: gradients that stay in sight.
    """

    kind = "stepper"

    # -- moving -------------------------------------------------------------------------------------------------------

    @_move
    def next(self) -> Step | None:
        """Take one step forward.

        Returns:
            the step, or None at the end and during the forward pass.

        Raises:
            Exception: the error of the node. The stepper stays where it was and stays usable.
        """
        moved: Step | None = self._moving(self._forward)
        return moved

    @_move
    def back(self) -> None:
        """Take one step back. It restores `grad` and saved tensors. An edit that has not run is undone first."""
        if self._step >= len(self._steps) and self._live.undo_edit():
            self._announce()
        else:
            self.goto(max(self.first, self._step - 1))

    @_move
    def finish(self) -> None:
        """Go to the end of the pass; stops are ignored."""
        self._moving(self._on)

    @_move
    def reset(self) -> None:
        """Go to the start of the backward pass; from there, to the start of the forward pass."""
        self.goto(self.first if self._step == 0 else 0)

    @_move
    def goto(self, step: int) -> None:
        """Go to a position. Steps that have not run yet are run; the end of the pass is the limit.

        Args:
            step: the position; negative ones replay the forward pass.

        Raises:
            ValueError: the position is before the first one.
            TypeError: `step` is not a whole number.
        """
        if not isinstance(step, SupportsIndex):
            raise TypeError(f"goto(step) takes a whole number, got {type(step).__name__} ({step!r:.60})")
        step = index(step)
        if step < self.first:
            raise ValueError(f"step must be at least {self.first} (the start of the forward pass), got {step}")
        self._moving(lambda: self._to(step))

    @_move
    def run(self) -> Stopped | None:
        """Run to the next stop or to the end.

        Returns:
            the stop, or None at the end.
        """
        self._moving(lambda: self._on(stops=True))
        return self.stopped

    @_move
    def run_to(self, node: Any) -> None:
        """Run until a node is next. If it has already run, go back to it.

        Args:
            node: the node or its id; or a tensor, its name or its id, for its grad_fn (for a leaf: AccumulateGrad).
                A name is tried before an id. Nodes and tensors of the document work too.

        Raises:
            ValueError: the node does not exist.
        """
        id = node_of(self.document, self._in_document(node))
        ran = next((k for k, s in enumerate(self._steps) if s.node == id), None)
        if ran is not None:
            self.goto(ran)
        else:
            self._moving(lambda: self._on(until=lambda: self.next_node == id))

    @_move
    def leave(self, nodes: Collection[str]) -> None:
        """Run until one of these nodes has run and the next node is none of them. If all have run, run to the end."""
        self._moving(lambda: self._on(until=lambda: self._has_left(nodes), first=True))

    def _has_left(self, nodes: Collection[str]) -> bool:
        return self.current is not None and self.current.node in nodes and self.next_node not in nodes

    @_move
    def until(self, tensor: Any) -> None:
        """Run until the next gradient reaches a tensor, or to the end; `stopped` says which.

        Args:
            tensor: the tensor, its name or its id.

        Raises:
            ValueError: the tensor does not exist.
        """
        id = tensor_of(self.document, self._in_document(tensor))
        ends = reached_by(self.document, id)
        self._moving(lambda: self._until(ends, id))

    # -- edits --------------------------------------------------------------------------------------------------------

    @_move
    def edit(self, value: Any, index: int = 0) -> None:
        """Replace the gradient that the next node will receive (before the first step: the v of vᵀJ).

        Recorded steps after this position are dropped.

        Args:
            value: a number for all elements; a nested list, array or tensor of the gradient's shape; or a function of the
                gradient, as ``lambda g: 2 * g``.
            index: the output of the node's op.

        Raises:
            ValueError: the shape does not fit, the output does not exist, or the pass is complete.
            TypeError: `index` is not a whole number.
        """
        step = max(0, self._step)
        with whole():
            self._live.edit(value, index, step)
            if step < len(self._steps):
                self._cut(step)
            if self._step < 0:
                self.goto(0)
        self._announce()

    @property
    def calls_user_code(self) -> bool:
        """Has the pass hooks, or a Function's backward?"""
        return self._live.calls_user_code

    @_move
    def preview(self, value: Any, index: int = 0) -> dict[str, tuple[Value | None, Value | None]]:
        """What an edit would do to the leaves: the `grad` of each at the end of the pass, without the edit and with it.

        The rest of the pass runs twice and is taken back. Hooks run, too. Grads, saved tensors and random numbers are as
        before.

        Args:
            value: as for `edit`.
            index: as for `edit`.

        Returns:
            by id of the leaf.

        Raises:
            Exception: as `edit`, or the error of a node.
        """
        step = max(0, self._step)
        without = self._grads_after(step, lambda: None)
        edited = self._grads_after(step, lambda: self._live.edit(value, index, step))
        return {id: (grad, edited.get(id)) for id, grad in without.items()}

    def _grads_after(self, step: int, change: Callable[[], None]) -> dict[str, Value | None]:
        """The grads at the end of the pass, if something is changed before a step."""
        with alone(), whole(), self._live.aside(step):
            self._runs = True
            try:
                with breakable():
                    change()
                    while self._live.advance() is not None:
                        pass
                return self._live.grads()
            finally:
                self._runs = False

    @_move
    def undo_edit(self) -> None:
        """Restore the gradient of the next node (in the forward pass: of the first node)."""
        step = max(0, self._step)
        with whole():
            if step < len(self._steps) and self._steps[step].edited:
                self._to(step)
                self._cut(self._step)
            if step == len(self._steps):
                self._live.undo_edit()
        self._announce()

    @property
    def pending(self) -> tuple[str, dict[int, Value]] | None:
        """The edit that has not run yet: its node, and the gradients by output of its op; or None."""
        node, edits = self._live.next_node(), self._live.edits()
        return (node, edits) if node is not None and edits else None

    def drift(self, among: Iterable[str] | None = None) -> dict[str, Value | None]:
        """The grad rows ("t0.grad") that were changed outside the stepper, with their current values.

        Args:
            among: ids of the tensors to check; None: all.
        """
        return self._live.drift(among)

    def rewritten(self, among: Iterable[str] | None = None) -> dict[str, Rewritten]:
        """The tensors whose data changed in place after drawing, with their current data, by id.

        Args:
            among: ids of the tensors to check; None: all.
        """
        return self._live.rewritten(among)

    def spoiled(self) -> dict[str, str]:
        """The saved tensors ("n0.saved.self") that were modified in place ("stale") or "freed" since."""
        return self._live.spoiled()

    @contextmanager
    def untouched(self) -> Iterator[None]:
        """Inside the block, steps that are run and undone leave no trace, whatever user code they call."""
        if self.is_over:
            yield
            return
        ran = len(self._steps)
        with self._live.untouched():
            yield
            is_own = self._live.own_ranks > 0
        if is_own:  # a real step averages over the ranks
            with whole():
                self._cut(ran)

    @_move
    def close(self) -> None:
        """Free what the stepper keeps: steps, gradients, copies of `grad`, and its hold on the graph.

        Gradients stay as the last step left them. Every later move raises RuntimeError. Closing again does nothing.
        """
        with whole():
            self._let_go()
            self._past = Past(self.document)
            self._move_listeners.clear()
            self._cut_listeners.clear()
