"""What has run, as a recorder has seen it, and what only the live graph knows. Answers look it up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ...graph.model import Value
from ...graph.passes import Changed, Holder
from ...graph.surroundings import Source


class Event(Protocol):
    """Something that happened to a tensor, or to all tensors.

    Attributes:
        kind: "pass", "cleared", "written", "switched_on", "switched_off", "made", "placed", "step", "optimizer", "unscaled".
        name: of the function.
        source: where it happened.
        number: rises with time.
        detail: more about it.
    """

    kind: str
    name: str
    source: Source | None
    number: Any
    detail: Any


class Op(Protocol):
    """One op that ran: its name as in `torch.<name>`, where it was called, and a number as an event has it.

    Attributes:
        given: the ops whose results it was given, and leaves that require grad.
        age: how many passes had run.
        cut: why its result has no history although an input has one: "op", "no_grad", "inference". "behind" if the inputs were
            detached earlier; else "".
    """

    name: str
    source: Source | None
    given: list[Any]
    number: Any
    age: int
    cut: str


class PassEvent(Event, Protocol):
    """A call of backward() or grad().

    Attributes:
        root: the op that made its root, if it is still known.
        error: the error that it raised; "" if none.
        keeps: it was asked to keep the graph.
        wanted: only some inputs were asked for.
        has_graph: its root has a grad_fn.
    """

    root: Op | None
    error: str
    keeps: bool
    wanted: bool
    has_graph: bool


class History(Protocol):
    """Answers about what has run.

    Attributes:
        is_recorded: a recorder was on.
        unknown_root: the kind of cause if the root of the last pass is unknown.
        knows_uses: it knows the ops that use a leaf.
        passes: calls of backward() and grad(), in order.
        left: ops by which a tensor with a history became a number or an array.
        scalers: GradScaler's checks for inf.
        layers: dropout that was off while gradients were wanted ("off"); dropout or batch norm training in no_grad ("on").
    """

    is_recorded: bool
    unknown_root: str
    knows_uses: bool
    passes: Sequence[PassEvent]
    left: Sequence[Op]
    scalers: Sequence[Event]
    layers: Sequence[Event]

    def op_of(self, tensor: Any) -> Op | None:
        """The op that made a tensor."""

    def events_of(self, tensor: Any, *kinds: str) -> list[Event]:
        """The events of a tensor, in order."""

    def clearings(self, tensor: Any) -> list[Event]:
        """The events that set its grad to None, in order."""

    def used(self, tensor: Any) -> Event | None:
        """The last op that had the leaf as an input."""

    def optimizers(self, tensor: Any) -> list[Holder]:
        """Every live optimizer."""

    def shards(self, tensor: Any) -> int:
        """The number of ranks over which FSDP has sharded the parameter; 0 for any other tensor."""

    def early(self, tensor: Any) -> tuple[Op, Any] | None:
        """An op behind a tensor without a history that ran before its input required grad; and that input."""

    def unmade(self, tensor: Any) -> str:
        """The kind of cause for a tensor without a history and without a known op."""

    def owner_of(self, tensor: Any) -> Event | None:
        """The event that put another parameter in its place."""

    def is_leaf(self, tensor: Any) -> bool:
        """Did no op make it?"""

    def grad_of(self, tensor: Any) -> Any:
        """Its grad, without a warning."""

    def state_of(self, tensor: Any) -> str:
        """What its grad contains: "nan", "inf", "zero", "huge", "tiny", "" for other numbers."""

    def norms(self, tensor: Any) -> tuple[float, float]:
        """The norm of a tensor, and of its grad; (0, 0) without one."""

    def mode_of(self, op: Op) -> Event | None:
        """The switch that had turned grad mode off when an op ran."""

    def factor_of(self, event: Event) -> float | None:
        """The factor of an in-place multiplication, if it is known."""

    def switched_off(self) -> list[Event]:
        """Where requires_grad was last switched off, for any tensor."""

    def modified(self, root: Any, message: str) -> tuple[Op | None, Event | None]:
        """The op whose saved tensor was modified, and the change."""

    def is_running(self) -> bool:
        """Is a backward pass running now, and the question asked inside it?"""


class Live(Protocol):
    """Answers for the tensors and nodes of one document, by id; None if unknown. Here nothing is known."""

    def is_stepped(self) -> bool:
        """Has a stepper run the graph?"""
        return False

    def has(self, tensor: Any) -> bool:
        """Is a tensor part of the graph?"""
        return False

    def has_run(self, node: str) -> bool | None:
        """Has a backward pass called this node?"""
        return None

    def changed(self, node: str, saved: str) -> Changed | None:
        """How a saved tensor was modified."""
        return None

    def zero_rows(self, tensor: str) -> tuple[int, ...]:
        """The rows of its gradient that have only zeros."""
        return ()

    def grad_changed(self, tensor: str) -> Changed | None:
        """The last in-place change of its grad after its first gradient, if there was one."""
        return None

    def hooks(self, node: str) -> tuple[str, ...]:
        """The names of the user's hooks there."""
        return ()

    def written_before_pass(self, node: str, saved: str) -> Event | None:
        """A write into a saved tensor after the op that saved it and before the last pass, which did not refuse it."""
        return None

    def disagrees(self, node: str, given: list[Value]) -> bool | None:
        """Does the backward of a user's Function, run on these inputs, differ from finite differences?"""
        return None

    def written_at(self, node: str) -> Source | None:
        """Where the backward of a user's Function is written."""
        return None

    def kept_on_ctx(self, node: str) -> tuple[str, ...]:
        """The attributes of a user's ctx that are tensors computed in its forward."""
        return ()


class NothingLive(Live):
    """Of a document without a live graph (from a file)."""
