"""A backward pass as a list of steps. Each names what it changed. A state is the document plus the first k steps.

# Note [Addresses]
A change happens at an address. The element that shows it has the same address as its `data-at`::

    t3.grad           the grad row of tensor t3
    n2.saved.other    a saved tensor of node n2
    next:n2.0         the arrow out of next_functions[0] of n2
    sum:n1.0          where several of these arrows join before output 0 of n1
    grad_fn:t4        the arrow from the grad_fn row of t4
    grad:n5           the arrow from AccumulateGrad n5 to its leaf
    retain:t4         the retain_grad arrow to t4
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from .model import Count, Formula, NodeId, Shape, TensorId, Value

Writer = tuple[Collection[str], Callable[[], Mapping[str, Any]]]  # some fields, and what makes all of them at once


class _MadeWhenRead:
    """Base of a frozen dataclass with slots: a field without a value is made when it is read."""

    __slots__ = ("_addresses", "_writers")

    if not TYPE_CHECKING:  # a type checker should know only the fields

        def __getattr__(self, name: str) -> Any:
            """Make a field that has no value; Python calls this for no other. If a writer raises, the next read tries again."""
            writers = () if name[0] == "_" else getattr(self, "_writers", ())
            for writer in writers:
                if name in writer[0]:
                    for field, value in writer[1]().items():
                        object.__setattr__(self, field, value)
                    object.__setattr__(self, "_writers", tuple(w for w in self._writers if w is not writer))
                    return object.__getattribute__(self, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)


@dataclass(frozen=True, slots=True)
class Change:
    """One address whose value this step changed; None means "nothing there" (no label yet, grad is None, freed)."""

    at: str
    before: Value | None
    after: Value | None


@dataclass(frozen=True, slots=True)
class Accumulation:
    """What AccumulateGrad did before post-accumulate hooks: old + incoming = new (old is None the first time)."""

    tensor: TensorId
    old: Value | None
    incoming: Value
    new: Value


@dataclass(frozen=True, slots=True)
class Waiting:
    """A node that still waits for gradients: `arrived` of `expected` have come."""

    node: NodeId
    arrived: Count
    expected: Count


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine at one moment."""

    queue: tuple[NodeId, ...] = ()  #: the ready queue: nodes that could run now, in their order
    waiting: tuple[Waiting, ...] = ()  #: nodes that wait for more gradients
    held: Count = 0  #: bytes that saved tensors of the graph keep alive


@dataclass(frozen=True, slots=True)
class HookRun:
    """A hook of the user's that ran in a step."""

    kind: str  #: "tensor", "pre", "post" or "post_accumulate"
    name: str  #: the function's own
    before: Value | None = None  #: the gradient that it received
    after: Value | None = None  #: the one that it passed on; the same if it changed nothing
    index: Count = 0  #: which output (or, for "post", input) of the op the gradient belongs to


@dataclass(frozen=True, slots=True)
class Jacobian:
    """d output / d input of one op: a matrix of shape (elements of the output, elements of the input)."""

    input: str
    value: Value


@dataclass(frozen=True, slots=True)
class Term:
    """An array in a `NamedRule`."""

    name: str  #: as the rule writes it: "wᵀ"
    at: str  #: its value: "grad_outputs.0", "saved.mat2", "accumulation.old", or the address of a `Change`
    is_transposed: bool = False  #: its last two dimensions are swapped


@dataclass(frozen=True, slots=True)
class NamedRule:
    """A rule that ran, in the user's names: "to a: (gradient of c) × b = 4.0 × 3.0 = 12.0"."""

    text: str  #: the names, and the numbers if they are few
    result: str = ""  #: the value of the result: "grad_inputs.0", "grad_outputs.0", "accumulation.new"
    terms: tuple[Term, ...] = ()  #: the arrays in it; none if all values are single numbers
    #: what stands between the terms: "·" (matrix product), "⊗" (outer product), "×", "/", "+", "-"; "" for a single term. "∘"
    #: for another rule that takes one element of each, "," for any other.
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Step(_MadeWhenRead):
    """One call of one node. A live pass makes the fields when they are read (`Step.later`)."""

    node: NodeId  #: id of the node
    sentence: str  #: what happened, in words with numbers
    grad_outputs: tuple[Value | None, ...] = ()  #: the gradients that arrived, one per output of the op
    grad_inputs: tuple[Value | None, ...] = ()  #: the gradients that left, one per next_function
    formulas: tuple[Formula, ...] = ()  #: the rules that ran: "grad * other = 1.0 * 4.0 = 4.0"
    changes: tuple[Change, ...] = ()  #: what changed
    accumulation: Accumulation | None = None
    result_shapes: tuple[Shape | None, ...] = ()  #: the shapes that the rules returned, before broadcasting was undone
    engine: Engine = Engine()  #: queue, waiting nodes and memory after the step
    freed: Count = 0  #: bytes of saved tensors that it freed
    hooks: tuple[HookRun, ...] = ()  #: the user's hooks that ran, in their order
    jacobians: tuple[Jacobian, ...] = ()  #: the op's local Jacobians, if they are small
    edited: tuple[Count, ...] = ()  #: indices of grad_outputs that the user had changed by hand
    #: of an op in a compiled region that was interpreted: the largest difference from the compiled result, which left the
    #: region instead; nan if nothing left the region; None for what ran as it is
    interpreted: float | None = None
    #: "nan", "inf", "zero" if a gradient became that here; "condition" if the user's condition held; "condition_error" if the
    #: condition raised
    flags: tuple[str, ...] = ()
    named: tuple[NamedRule, ...] = ()  #: the rules that ran, in the user's names

    @classmethod
    def later(cls, node: NodeId, addresses: tuple[str, ...] | None, *writers: Writer) -> Step:
        """A step whose fields, except the node, are made by writers when they are read; its addresses may be known."""
        step: Step = object.__new__(cls)
        object.__setattr__(step, "node", node)
        object.__setattr__(step, "_addresses", addresses)
        object.__setattr__(step, "_writers", writers)
        return step

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of its changes; the values are not made for that."""
        known: tuple[str, ...] | None = getattr(self, "_addresses", None)
        return tuple([c.at for c in self.changes]) if known is None else known


WORDS = ("sentence", "flags", "named")  # what the stepper says of a step
RULES = ("formulas", "jacobians")  # the rules that the pass has run
NUMBERS = tuple(f.name for f in fields(Step) if f.name not in ("node", *RULES, *WORDS))  # what it has done
UNSAID: Writer = (WORDS, lambda: {"sentence": "", "flags": (), "named": ()})  # a step that a pass has just made


@dataclass(frozen=True, slots=True)
class Trace:
    """The steps so far, whether the pass has ended, and the engine before the first step."""

    steps: tuple[Step, ...] = ()
    complete: bool = False
    start: Engine = Engine()


@dataclass(frozen=True, slots=True)
class State:
    """What a picture shows at one moment."""

    #: the current value at every address that differs from the document
    values: Mapping[str, Value | None] = field(default_factory=dict)
    current: Step | None = None  #: the step that has just run, or None at the start
    hidden: frozenset[str] = frozenset()  #: ids of what does not exist yet, while the forward pass is replayed
    #: how often each node has been called; for a group, how many of its nodes
    called: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The present value of a tensor that was changed in place. Its box shows the value from before the change."""

    version: int  #: the version counter now; the same as drawn if nobody counted (``x.data``)
    value: Value  #: its data
