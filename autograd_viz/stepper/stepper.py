"""A cursor over a backward pass: forwards and back, with stops and edits. It has no widget and no timer.

Position 0 is the start of the backward pass, position k the state after its k-th step. Positions -F to -1 replay the forward
pass of F ops (nothing runs).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import index
from typing import Any, Concatenate, ParamSpec, SupportsIndex, TypeVar

from .. import words
from ..answers.sentences import Sentences, explain_error, together, whose_error
from ..graph.model import Document, Value
from ..graph.order import hidden_at
from ..graph.text import label_of
from ..graph.trace import Rewritten, State, Step, Trace
from ..pictures.render.escape import printable
from ..runtime.interrupts import alone, breakable, whole
from ..runtime.uncopied import Uncopied
from .cursor import Cursor, LivePass
from .stops import Stop, Stopped, count_of
from .targets import Pin, Targets, known_pins, place_of, reached_by

P = ParamSpec("P")
R = TypeVar("R")


def _move(verb: Callable[Concatenate[Stepper, P], R]) -> Callable[Concatenate[Stepper, P], R]:
    """A verb that is refused while a step of the same stepper runs. A hook must not undo the node that calls it."""

    @functools.wraps(verb)
    def moving(self: Stepper, /, *args: P.args, **options: P.kwargs) -> R:
        with alone():
            if self.cursor.is_running:
                raise RuntimeError(
                    f"{verb.__name__}() was called inside a step of the same stepper (by a hook, a Function or a condition): "
                    "call it after the step"
                )
        return verb(self, *args, **options)

    return moving


class Stepper(Uncopied):
    """Steps a backward pass one `grad_fn` call at a time.

    `next` calls the next node. `back` restores `grad` and saved tensors. `next` after `back` replays the step, or runs it
    again if its inputs were changed. `only_forward`: no node runs; the forward pass is replayed.

    Attributes:
        document: the graph before the pass.
        stops: the stops of `run`.
        pins: gradients that stay in sight.
    """

    kind = "stepper"

    def __init__(self, document: Document, live: LivePass, only_forward: bool = False) -> None:
        self.document, self.only_forward, self.pins = document, only_forward, tuple[Pin, ...]()
        self._sentences = Sentences(document, live.is_recorded, live.frees)
        self.cursor = cursor = Cursor(document, live, self._sentences)
        self.targets = Targets(document, cursor)
        self.stops, self.facts, self.on_move, self.on_cut = cursor.stops, cursor.facts, cursor.on_move, cursor.on_cut
        self.id_of = self.targets.id_of

    @property
    def trace(self) -> Trace:
        """The steps that have run, independent of the cursor."""
        return self.cursor.trace

    @property
    def recorded(self) -> Sequence[Step]:
        """The steps that have run, as `trace` has them, without a copy. It changes when the stepper moves."""
        return self.cursor.history.steps

    @property
    def is_over(self) -> bool:
        """Has every step of the pass run, wherever the cursor is?"""
        return self.cursor.live.next_node() is None

    @property
    def step(self) -> int:
        """The number of steps done at the cursor; 0 is the start, negative positions replay the forward pass."""
        return self.cursor.step

    @property
    def first(self) -> int:
        """The first position: minus the number of forward ops."""
        return -len(self.document.ops)

    @property
    def is_complete(self) -> bool:
        """Is the cursor at the end of the pass?"""
        return self.is_over and self.step == len(self.recorded)

    @property
    def state(self) -> State:
        """The state that a picture shows at the cursor."""
        return self.state_at(self.step)

    def state_at(self, step: int) -> State:
        """The state that a picture shows at a recorded step."""
        return State(hidden=hidden_at(self.document, step)) if step < 0 else self.cursor.history.at(step)

    @property
    def current(self) -> Step | None:
        """The step that brought the cursor here, or None up to the start."""
        return self.cursor.current

    @property
    def next_node(self) -> str | None:
        """The id of the node that `next` will call, or None at the end."""
        return self.cursor.next_node

    @property
    def stopped(self) -> Stopped | None:
        """Why the last run stopped before the end, or the result of the last `until`, or None."""
        return self.cursor.stopped

    @property
    def failed(self) -> str | None:
        """The id of the node that raised in the last move, or None."""
        return self.cursor.failed

    def __repr__(self) -> str:
        if self.cursor.is_closed:
            return "<Stepper, closed>"
        end = f" of {len(self.recorded)}" if self.is_over else ""
        return f"<Stepper at step {self.step}{end}: {self.sentence}>"

    @property
    def sentence(self) -> str:
        """The last event in words. After a replay of the forward pass, the start includes the last op."""
        said = self.sentence_at(self.step)
        return together([self.forward_sentence(0), said]) if self.cursor.has_replayed else said

    def forward_sentence(self, position: int) -> str:
        """The last event of the forward pass, from `first` (before its first op) to 0 (after its last op)."""
        return printable(self._sentences.forward(position))

    def sentence_at(self, step: int) -> str:
        """The sentence of a recorded step; 0 is the start."""
        if step < 0:
            return self.forward_sentence(step)
        steps = self.recorded
        if step == 0:
            return printable(self._sentences.start(steps[0].node if steps else self.cursor.live.next_node()))
        end = [words.COMPLETE] if self.is_over and step == len(steps) else []
        return printable(together([steps[step - 1].sentence, *end]))

    @property
    def explanation(self) -> str:
        """Why the last run stopped, in words, or ""."""
        if (stopped := self.stopped) is None:
            return ""
        name = label_of(self.document, stopped.node) if stopped.node else ""
        text = words.ui()[stopped.kind if stopped.kind == "condition_error" else f"stopped_{stopped.kind}"]
        return printable(text.format(node=name, error=stopped.text, tensor=stopped.text, number=stopped.number))

    def explain(self, error: BaseException) -> str:
        """Explain the error of the last move: what autograd's error means, or which user code raised it."""
        name = next((n.name for n in self.document.nodes if n.id == self.failed), "")
        return explain_error(str(error), name) or (printable(whose_error(error, name)) if name else "")

    @_move
    def next(self) -> Step | None:
        """Take one step forward. It is returned; at the end and during the forward pass, None is. If its node raises an error,
        the stepper stays where it was and stays usable.
        """
        moved: Step | None = self.cursor.moving(self.cursor.forward)
        return moved

    @_move
    def back(self) -> None:
        """Take one step back. It restores `grad` and saved tensors. An edit that has not run is undone first."""
        if self.cursor.step >= len(self.cursor.history.steps) and self.cursor.live.undo_edit():
            self.cursor.announce()
        else:
            self.goto(max(self.first, self.cursor.step - 1))

    @_move
    def finish(self) -> None:
        """Go to the end of the pass; stops are ignored."""
        self.cursor.moving(self.cursor.on)

    @_move
    def reset(self) -> None:
        """Go to the start of the backward pass; from there, to the start of the forward pass."""
        self.goto(self.first if self.cursor.step == 0 else 0)

    @_move
    def goto(self, step: int) -> None:
        """Go to a position; negative ones replay the forward pass. Steps that have not run yet are run, up to the end of the
        pass. ValueError: the position is before the first one. TypeError: it is not a whole number.
        """
        if not isinstance(step, SupportsIndex):
            raise TypeError(f"goto(step) takes a whole number, got {type(step).__name__} ({step!r:.60})")
        step = index(step)
        if step < self.first:
            raise ValueError(f"step must be at least {self.first} (the start of the forward pass), got {step}")
        self.cursor.moving(lambda: self.cursor.to(step))

    @_move
    def run(self) -> Stopped | None:
        """Run to the next stop, which is returned, or to the end (None)."""
        self.cursor.moving(lambda: self.cursor.on(stops=True))
        return self.stopped

    @_move
    def run_to(self, node: Any) -> None:
        """Run until a node is next. If it has already run, go back to it. ValueError: the node does not exist.

        Args:
            node: the node or its id; or a tensor, its name or its id, for its grad_fn (for a leaf: AccumulateGrad).
                A name is tried before an id. Nodes and tensors of the document work too.
        """
        id = self.targets.node(node)
        ran = next((k for k, s in enumerate(self.cursor.history.steps) if s.node == id), None)
        if ran is not None:
            self.goto(ran)
        else:
            self.cursor.moving(lambda: self.cursor.on(until=lambda: self.next_node == id))

    @_move
    def leave(self, nodes: Collection[str]) -> None:
        """Run until one of these nodes has run and the next node is none of them. If all have run, run to the end."""

        def has_left() -> bool:
            return self.current is not None and self.current.node in nodes and self.next_node not in nodes

        self.cursor.moving(lambda: self.cursor.on(until=has_left, first=True))

    @_move
    def until(self, tensor: Any) -> None:
        """Run until the next gradient reaches a tensor (itself, its name or its id), or to the end; `stopped` says which.
        ValueError: the tensor does not exist.
        """
        id = self.targets.tensor(tensor)
        ends = reached_by(self.document, id)
        self.cursor.moving(lambda: self.cursor.until(ends, id))

    def stop_at(self, node: Any) -> None:
        """Set a breakpoint: `run` stops before this node. `node` is as for `run_to`."""
        self.stops.add(self.targets.stop("node", self.targets.node(node)))

    def stop_on(
        self,
        *,
        nan: bool | None = None,
        zero: bool | None = None,
        sign: bool | None = None,
        above: float | None = None,
        below: float | None = None,
        grad: Any = None,
        arrival: tuple[Any, int] | None = None,
    ) -> None:
        """Let `run` stop after a step in which something happens to a gradient. False turns it off. ValueError: a norm is
        negative or no number, k is not positive, or the tensor does not exist.

        Args:
            nan: it became nan or inf.
            zero: it became all zero.
            sign: it left a node with another sign than it arrived with. An array has the sign of its mean.
            above: its norm became larger than this.
            below: its norm became smaller than this.
            grad: it arrived at this tensor, given as itself, by name or by id.
            arrival: (tensor, k): it is the k-th that was sent to this tensor, which is used in several places.
        """
        self.stops.turn({"nan": nan, "zero": zero, "sign": sign, "above": above, "below": below})
        if grad is not None:
            self.stops.add(self.targets.stop("grad", self.targets.end(grad)))
        if arrival is not None:
            tensor, number = arrival
            self.stops.add(self.targets.stop("arrival", self.targets.end(tensor), count_of(number)))

    def stop_when(self, condition: Callable[[Step], Any]) -> None:
        """Let `run` stop after a step with ``condition(step)``. Recorded steps are checked now, later ones when they run."""
        self.stops.condition = condition
        self.stops.add(Stop("condition", name=getattr(condition, "__name__", type(condition).__name__)))
        self.cursor.ask_again()

    def clear_stops(self, stop: Stop | None = None) -> None:
        """Remove one of `stops`, or all."""
        self.stops.become([s for s in self.stops if stop is not None and s != stop])

    def set_stops(self, plain: Any) -> None:
        """Take over the stops that a page has set, as dicts; unknown ones are ignored."""
        if isinstance(plain, list | tuple):
            known = (self.targets.stop_of(p, self.stops) for p in plain if isinstance(p, dict))
            self.stops.become(stop for stop in known if stop is not None)

    def pin(self, what: Any, edge: int | None = None) -> None:
        """Keep a gradient in sight: of a tensor, as for `run_to`, or what leaves its grad_fn for one of its next_functions.
        ValueError: there is no such tensor or edge, or no gradient arrives at it.
        """
        self.set_pins([*self.pins, Pin(place_of(self.targets, what, edge), "")])

    def unpin(self, what: Any = None, edge: int | None = None) -> None:
        """Remove a pin, or all pins."""
        at = None if what is None else place_of(self.targets, what, edge)
        self.pins = tuple(p for p in self.pins if at is not None and p.at != at)

    def set_pins(self, pins: Any) -> None:
        """Have these pins. A page sends dicts; unknown places are ignored."""
        self.pins = known_pins(self.document, pins)

    @_move
    def edit(self, value: Any, index: int = 0) -> None:
        """Replace the gradient that the next node will receive (before the first step: the v of vᵀJ). Recorded steps after this
        position are dropped. ValueError: the shape does not fit, the output does not exist, or the pass is complete.

        Args:
            value: a number for all elements; a nested list, array or tensor of the gradient's shape; or a function of the
                gradient, as ``lambda g: 2 * g``.
            index: the output of the node's op; TypeError: it is not a whole number.
        """
        step = max(0, self.cursor.step)
        with whole():
            self.cursor.live.edit(value, index, step)
            if step < len(self.cursor.history.steps):
                self.cursor.cut(step)
            if self.cursor.step < 0:
                self.goto(0)
        self.cursor.announce()

    @property
    def calls_user_code(self) -> bool:
        """Has the pass hooks, or a Function's backward?"""
        return self.cursor.live.calls_user_code

    @_move
    def preview(self, value: Any, index: int = 0) -> dict[str, tuple[Value | None, Value | None]]:
        """What an edit would do to the leaves: the `grad` of each at the end of the pass, without the edit and with it.

        The rest of the pass runs twice, with hooks, and is taken back: grads, saved tensors and random numbers are as before.
        The result is by id of the leaf. Errors are those of `edit`, or of a node.
        """
        step = max(0, self.cursor.step)
        without = self._grads_after(step, lambda: None)
        edited = self._grads_after(step, lambda: self.cursor.live.edit(value, index, step))
        return {id: (grad, edited.get(id)) for id, grad in without.items()}

    def _grads_after(self, step: int, change: Callable[[], None]) -> dict[str, Value | None]:
        with alone(), whole(), self.cursor.live.aside(step):
            self.cursor.is_running = True
            try:
                with breakable():
                    change()
                    while self.cursor.live.advance() is not None:
                        pass
                return self.cursor.live.grads()
            finally:
                self.cursor.is_running = False

    @_move
    def undo_edit(self) -> None:
        """Restore the gradient of the next node (in the forward pass: of the first node)."""
        step = max(0, self.cursor.step)
        with whole():
            if step < len(self.recorded) and self.recorded[step].edited:
                self.cursor.to(step)
                self.cursor.cut(self.cursor.step)
            if step == len(self.recorded):
                self.cursor.live.undo_edit()
        self.cursor.announce()

    @property
    def pending(self) -> tuple[str, dict[int, Value]] | None:
        """The edit that has not run yet: its node, and the gradients by output of its op; or None."""
        node, edits = self.cursor.live.next_node(), self.cursor.live.edits()
        return (node, edits) if node is not None and edits else None

    def drift(self, among: Iterable[str] | None = None) -> dict[str, Value | None]:
        """The grad rows ("t0.grad") of these or all tensors that were changed outside the stepper, with their values now."""
        return self.cursor.live.drift(among)

    def rewritten(self, among: Iterable[str] | None = None) -> dict[str, Rewritten]:
        """Those of these or all tensors whose data changed in place after drawing, with their current data, by id."""
        return self.cursor.live.rewritten(among)

    def spoiled(self) -> dict[str, str]:
        """The saved tensors ("n0.saved.self") that were modified in place ("stale") or "freed" since."""
        return self.cursor.live.spoiled()

    @contextmanager
    def untouched(self) -> Iterator[None]:
        """Inside the block, steps that are run and undone leave no trace, whatever user code they call."""
        if self.is_over:
            yield
            return
        ran = len(self.cursor.history.steps)
        with self.cursor.live.untouched():
            yield
            is_own = self.cursor.live.own_ranks > 0
        if is_own:  # a real step averages over the ranks
            with whole():
                self.cursor.cut(ran)

    @_move
    def close(self) -> None:
        """Free what the stepper keeps: steps, gradients, copies of `grad`, and its hold on the graph. Gradients stay as the
        last step left them. Every later move raises RuntimeError. Closing again does nothing.
        """
        with whole():
            self.cursor.close()
