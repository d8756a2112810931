"""What has run, as a recorder has seen it, and what only the live graph knows. Answers look it up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ...graph.passes import Changed, Holder
from ...graph.surroundings import Source


class Event(Protocol):
    """Something that happened to a tensor, or to all tensors."""

    kind: str  # "pass", "cleared", "written", "switched_on", "switched_off", "made", "placed", "step", "optimizer", "unscaled"
    name: str  # of the function
    source: Source | None  # where it happened
    number: Any  # rises with time
    detail: Any  # more about it


class Op(Protocol):
    """One op that ran."""

    name: str  # as in `torch.<name>`
    source: Source | None  # where it was called
    given: list[Any]  # the ops whose results it was given, and leaves that require grad
    number: Any  # rises with time, as an event's number does
    cut: str  # why no history though an input has: "op", "no_grad", "inference"; cut earlier: "behind", "behind_no_grad"


class PassEvent(Event, Protocol):
    """A call of backward() or grad()."""

    root: Op | None  # the op that made its root, if it is still known
    error: str  # that it raised; "" if none
    keeps: bool  # it was asked to keep the graph
    wanted: bool  # only some inputs were asked for
    has_graph: bool  # its root has a grad_fn


class History(Protocol):
    """Answers about what has run."""

    is_recorded: bool  # a recorder was on
    is_whole: bool  # it saw the ops inside of models, too
    unknown_root: str  # the kind of cause if the root of the last pass is unknown
    knows_uses: bool  # it knows the ops that use a leaf
    passes: Sequence[PassEvent]  # calls of backward() and grad(), in order
    left: Sequence[Op]  # ops by which a tensor with a history became a number or an array
    scalers: Sequence[Event]  # GradScaler's checks for inf
    gone: Sequence[Event]  # steps of optimizers that are no more
    clips: Sequence[Event]  # calls of clip_grad_norm_() and clip_grad_value_(), several events for each
    onto_itself: Sequence[Event]  # writes of a tensor's own values into it
    born: Sequence[Event]  # optimizers that were made, those that are gone, too
    layers: Sequence[Event]  # dropout "off" while gradients were wanted; dropout, batch norm "on" (training) under no_grad()
    seeds: Sequence[Event]  # calls of manual_seed(); `detail` is the seed
    draws: Sequence[Event]  # random tensors that were made
    op_of: Callable[[Any], Op | None]  # the op that made a tensor
    events_of: Callable[..., list[Event]]  # the events of a tensor, of these kinds, in order
    clearings: Callable[[Any], list[Event]]  # those that set its grad to None, in order
    users: Callable[[set[Any]], list[Op]]  # the known ops that were given a result of one of these ops, or one of these leaves
    used: Callable[[Any], Event | None]  # the last op that had the leaf as an input; `detail`: when the first had it
    optimizers: Callable[[Any], list[Holder]]  # every live optimizer, about a tensor
    shards: Callable[[Any], int]  # the number of ranks over which FSDP has sharded the parameter; 0 for any other tensor
    early: Callable[[Any], tuple[Op, Any] | None]  # an op behind a tensor that ran before its input required grad; the input
    unmade: Callable[[Any], str]  # the kind of cause for a tensor without a history and without a known op
    owner_of: Callable[[Any], Event | None]  # the event that put another parameter in its place
    is_leaf: Callable[[Any], bool]  # did no op make it?
    grad_of: Callable[[Any], Any]  # its grad, without a warning
    state_of: Callable[[Any], str]  # what its grad contains: "nan", "inf", "zero", "huge", "tiny", "" for other numbers
    norms: Callable[[Any], tuple[float, float]]  # of a tensor, and of its grad; (0, 0) without one
    mode_of: Callable[[Op], Event | None]  # the switch that had turned grad mode off when an op ran
    factor_of: Callable[[Event], float | None]  # the factor of an in-place multiplication, if it is known
    switched_off: Callable[[], list[Event]]  # where requires_grad was last switched off, for any tensor
    modified: Callable[[Any, str], tuple[Op | None, Event | None]]  # by the message: the op that saved the tensor, the change
    # of data: the event that drew the permutation of its rows, the one that made them, the line of the index
    ordered: Callable[[Any], tuple[int, int, Source | None] | None]
    is_running: Callable[[], bool]  # is a backward pass running now, and the question asked inside it?


class Live(Protocol):
    """Answers for the tensors and nodes of one document, by id; None if unknown."""

    is_stepped: Callable[[], bool]  # has a stepper run the graph?
    has: Callable[[Any], bool]  # is a tensor part of the graph?
    id_of: Callable[[Any], str | None]  # the id of a tensor in the document
    has_run: Callable[[str], bool | None]  # has a backward pass called this node?
    changed: Callable[[str, str], Changed | None]  # how a node's saved tensor was modified
    zero_rows: Callable[[str], tuple[int, ...]]  # the rows of a tensor's gradient that have only zeros
    grad_changed: Callable[[str], Changed | None]  # the last in-place change of its grad after its first gradient
    hooks: Callable[[str], tuple[str, ...]]  # the names of the user's hooks at a node
    written_before_pass: Callable[[str, str], Event | None]  # a write into a saved tensor that the last pass did not refuse
    data_made: Callable[[str, str], Event | None]  # what made a saved tensor of data; `detail`: the shape that this was given
    repeated: Callable[[str, str], tuple[int, ...]]  # dimensions along which a saved tensor repeats one number
    # where numbers behind it were lost: "wrapped", "floored", "cast_to_zero", "scaled_twice", "channels_viewed"
    lost: Callable[[str, str], Event | None]
    ordered: Callable[[str, str], tuple[int, int, Source | None] | None]  # as of the history, for a saved tensor
    is_data: Callable[[str], bool]  # has a program made a tensor of the document, and no op of one that requires grad?
    made_of_data: Callable[[str], Event | None]  # the same for a tensor of the document
    kept: Callable[[str, str], Any]  # the array of a saved tensor, if it is not very large
    called_as: Callable[[str], str]  # the function that the program called, and that made the node; "" if unknown
    disagrees: Callable[[str, Any], bool | None]  # does a user's backward of these inputs differ from finite differences?
    written_at: Callable[[str], Source | None]  # where the backward of a user's Function is written
    kept_on_ctx: Callable[[str], tuple[str, ...]]  # the attributes of a user's ctx that are tensors computed in its forward
