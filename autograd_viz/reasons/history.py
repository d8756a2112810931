"""What ran, as a recorder has seen it: the ops and events that the answers are looked up in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..graph.model import Source
from ..graph.passes import Holder


class Op(Protocol):
    """One op that ran.

    Attributes:
        given: the ops whose results it was given, and leaves that require grad.
        number: rises with time, as that of events.
        age: how many passes had run.
        cut: "op", "no_grad" or "inference" if its result has no history though it was given some; "behind" if it was given
            only such; else "".
    """

    given: list[Any]
    number: Any
    age: int
    cut: str

    @property
    def name(self) -> str:
        """As in `torch.<name>`."""

    @property
    def source(self) -> Source | None:
        """Where it was called."""


class Event(Protocol):
    """Something that happened to a tensor or to all.

    Attributes:
        kind: "pass", "cleared", "written", "switched_on", "switched_off", "made", "placed", "step", "optimizer", "unscaled".
        name: of the function.
        number: rises with time.
        detail: what it was about.
    """

    kind: str
    name: str
    number: Any
    detail: Any

    @property
    def source(self) -> Source | None:
        """Where it happened."""


class PassEvent(Event, Protocol):
    """A call of backward() or grad().

    Attributes:
        root: the op that made its root, if that is still known.
        error: what it raised; "" if nothing.
        wanted: only some inputs were asked for.
        has_graph: its root has a grad_fn.
    """

    root: Op | None
    error: str
    wanted: bool
    has_graph: bool


class History(Protocol):
    """Answers about what has run.

    Attributes:
        is_recorded: a recorder was on.
        unknown_root: the kind of cause where the root of the last pass is not known.
        knows_uses: it would know that an op was given a leaf.
        passes: calls of backward() and grad(), in order.
        left: ops by which a tensor with a history became a number or an array.
        scalers: GradScaler's checks for inf.
    """

    is_recorded: bool
    unknown_root: str
    knows_uses: bool
    passes: Sequence[PassEvent]
    left: Sequence[Op]
    scalers: Sequence[Event]

    def op_of(self, tensor: Any) -> Op | None:
        """The op that made a tensor."""

    def events_of(self, tensor: Any, *kinds: str) -> list[Event]:
        """What happened to a tensor, in order."""

    def clearings(self, tensor: Any) -> list[Event]:
        """What set its grad to None, in order."""

    def used(self, tensor: Any) -> Event | None:
        """The last op that was given the leaf."""

    def optimizers(self, tensor: Any) -> list[Holder]:
        """Every optimizer that is alive."""

    def shards(self, tensor: Any) -> int:
        """Over how many ranks FSDP has sharded the parameter; 0 for any other tensor."""

    def early(self, tensor: Any) -> tuple[Op, Any] | None:
        """The op behind a tensor without a history that ran before something that it was given required grad, and that."""

    def unmade(self, tensor: Any) -> str:
        """The kind of cause where no op is known that made a tensor without a history."""

    def owner_of(self, tensor: Any) -> Event | None:
        """The event by which another took the parameter's place in its module."""

    def grad_of(self, tensor: Any) -> Any:
        """Its grad, without a warning."""

    def state_of(self, tensor: Any) -> str:
        """What its grad holds: "nan", "inf", "zero", "huge", "tiny", "" for other numbers."""

    def mode_of(self, op: Op) -> Event | None:
        """What had switched grad mode off when an op ran."""

    def factor_of(self, event: Event) -> float | None:
        """By what an in-place write has multiplied, if that is known."""

    def switched_off(self) -> list[Event]:
        """Where requires_grad was last switched off, of any tensor."""

    def modified(self, root: Any, message: str) -> tuple[Op | None, Event | None]:
        """The op whose saved tensor was changed in place, and what changed it."""

    def is_running(self) -> bool:
        """Is a backward pass under way, in which the question is asked?"""
