"""A cursor over a backward pass: live, forwards and back, with stops and edits. No widget and no clock in it.

Positions: -F to -1 replay the forward pass of F ops (nothing runs), 0 is the start of the backward pass, k the state after
its k-th step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from operator import index
from typing import Any, Concatenate, ParamSpec, SupportsIndex, TypeVar

from ..graph.model import Node, Tensor, Value
from ..graph.trace import Rewritten, Step
from ..runtime.interrupts import alone, whole
from .mover import Mover
from .stops import Stopped, Stops
from .targets import node_of, reached_by, tensor_of

P = ParamSpec("P")
R = TypeVar("R")


def _move(verb: Callable[Concatenate[Stepper, P], R]) -> Callable[Concatenate[Stepper, P], R]:
    """A verb that is refused while a step of the same stepper runs: a hook must not take back the node that calls it."""

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


class Stepper(Mover):
    """Steps a backward pass one `grad_fn` call at a time.

    `next` at the frontier calls the next node for real; `back` takes back what it did to `grad` and to saved tensors;
    `next` after `back` does it again, or runs it anew if the user has changed what it starts from.

    Args:
        document: the graph before the pass.
        live: the pass.

    Attributes:
        stops: what `run` stops at.
    """

    # -- moving -------------------------------------------------------------------------------------------------------

    @_move
    def next(self) -> Step | None:
        """One step forward; returns it, or None at the end (and while the forward pass is replayed).

        Raises:
            Exception: whatever the node raises. The stepper stays where it was, and stays usable.
        """
        moved: Step | None = self._moving(self._forward)
        return moved

    @_move
    def back(self) -> None:
        """One step back: `grad` and saved tensors are as they were before it. An edit that has not run is taken back first."""
        if self._step >= len(self._steps) and self._live.undo_edit():
            self._announce()
        else:
            self.goto(max(self.first, self._step - 1))

    @_move
    def finish(self) -> None:
        """To the end of the pass, whatever stops there are."""
        self._moving(self._on)

    @_move
    def reset(self) -> None:
        """To the start of the backward pass; from there to the start of the forward pass."""
        self.goto(self.first if self._step == 0 else 0)

    @_move
    def goto(self, step: int) -> None:
        """To any position; beyond the frontier it runs nodes for real, as far as there are any.

        Raises:
            ValueError: before the first position.
            TypeError: no whole number.
        """
        if not isinstance(step, SupportsIndex):
            raise TypeError(f"goto(step) takes a whole number, got {type(step).__name__} ({step!r:.60})")
        step = index(step)
        if step < self.first:
            raise ValueError(f"step must be at least {self.first} (the start of the forward pass), got {step}")
        self._moving(lambda: self._to(step))

    @_move
    def run(self) -> Stopped | None:
        """To the next stop, or to the end; returns why it stopped."""
        self._moving(lambda: self._on(stops=True))
        return self.stopped

    @_move
    def run_to(self, node: Any) -> None:
        """Until a node is the next to be called; back to there if it has run.

        Args:
            node: itself or its id, or the tensor whose grad_fn (for a leaf: AccumulateGrad) it is, its name or its id.
                A name goes before an id; a node or tensor of the document is taken too.

        Raises:
            ValueError: there is no such node.
        """
        id = node_of(self.document, self._in_document(node))
        ran = next((k for k, s in enumerate(self._steps) if s.node == id), None)
        if ran is not None:
            self.goto(ran)
        else:
            self._moving(lambda: self._on(until=lambda: self.next_node == id))

    @_move
    def until(self, tensor: Any) -> None:
        """On to the step in which the next gradient reaches a tensor or to the end if none does; `stopped` says which.

        Args:
            tensor: itself, its name or its id.

        Raises:
            ValueError: there is no such tensor.
        """
        id = tensor_of(self.document, self._in_document(tensor))
        ends = reached_by(self.document, id)
        self._moving(lambda: self._until(ends, id))

    # -- stops and edits ----------------------------------------------------------------------------------------------

    def stop_at(self, node: Any) -> None:
        """Let `run` stop before a node is called; `node` as for `run_to`."""
        self.stops.nodes.add(node_of(self.document, self._in_document(node)))

    def stop_on(self, *, nan: bool | None = None, zero: bool | None = None) -> None:
        """Let `run` stop (or, with False, not stop) after a step in which a gradient became nan or infinite, or all zero."""
        self.stops.nan = self.stops.nan if nan is None else nan
        self.stops.zero = self.stops.zero if zero is None else zero

    def stop_when(self, condition: Callable[[Step], Any]) -> None:
        """Let `run` stop after a step for which ``condition(step)`` is true. It is asked of recorded steps now, of others when
        they run.
        """
        self.stops.condition = condition
        self._steps[:] = map(self.stops.asked, self._steps)
        self._trace = None

    def clear_stops(self) -> None:
        """Stop nowhere."""
        self.stops = Stops()

    @_move
    def edit(self, value: Any, index: int = 0) -> None:
        """Replace the gradient that is about to enter the next node (before the first step: the v of vᵀJ).

        Steps that were recorded from here on are forgotten.

        Args:
            value: a number, which fills the shape, or a nested list, array or tensor of the gradient's shape.
            index: for which output of the node's op.

        Raises:
            ValueError: the shape does not fit, there is no such output, or the pass is complete.
            TypeError: the index is no whole number.
        """
        step = max(0, self._step)
        with whole():
            self._live.edit(value, index, step)
            if step < len(self._steps):
                self._cut(step)
            if self._step < 0:
                self.goto(0)
        self._announce()

    @_move
    def undo_edit(self) -> None:
        """Give the next node what had arrived, if that was edited (in the forward pass: the first node)."""
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
        """The edit that no node has run with yet: the node that it waits for, and what enters by output of its op; or None."""
        node, edits = self._live.next_node(), self._live.edits()
        return (node, edits) if node is not None and edits else None

    def drift(self, among: Iterable[str] | None = None) -> dict[str, Value | None]:
        """The grad rows ("t0.grad") that the user has changed since the stepper last touched them, and what is there now.

        Args:
            among: ids of the tensors that are looked at; None: all.
        """
        return self._live.drift(among)

    def rewritten(self, among: Iterable[str] | None = None) -> dict[str, Rewritten]:
        """The tensors whose data somebody has changed in place since they were drawn, and what it is now, by id.

        Args:
            among: ids of the tensors that are looked at; None: all.
        """
        return self._live.rewritten(among)

    def spoiled(self) -> dict[str, str]:
        """The saved tensors ("n0.saved.self") that somebody has changed in place ("stale") or "freed" since."""
        return self._live.spoiled()

    @contextmanager
    def untouched(self) -> Iterator[None]:
        """Steps that are run and taken back inside change nothing else, whatever code of the user's they call."""
        if self.trace.complete:
            yield
            return
        ran = len(self._steps)
        with self._live.untouched():
            yield
            is_own = self._live.own_ranks > 0
        if is_own:  # a step in earnest averages over the ranks
            with whole():
                self._cut(ran)

    # -- listeners ----------------------------------------------------------------------------------------------------

    def id_of(self, what: Any) -> Any:
        """The id of a tensor or node, itself or by the name of a variable; anything else as it is."""
        if not isinstance(what, str):
            return getattr(what, "id", None) or self._live.id_of(what) or what
        return next((t.id for t in self.document.tensors if t.name == what), what)

    def _in_document(self, what: Any) -> Any:
        """A live tensor or node as the document's; all else as it is."""
        id = None if isinstance(what, str) else self._live.id_of(what)
        found: list[Tensor | Node] = [t for t in self.document.tensors if t.id == id]
        found += [n for n in self.document.nodes if n.id == id]
        return found[0] if found else what
