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

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from .later import MadeWhenRead, Writer
from .model import Count, Formula, NodeId, Shape, TensorId, Value


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
    """The engine at one moment.

    Attributes:
        queue: the ready queue: nodes that could run now, in their order.
        waiting: nodes that wait for more gradients.
        held: bytes that saved tensors of the graph keep alive.
    """

    queue: tuple[NodeId, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    held: Count = 0


@dataclass(frozen=True, slots=True)
class HookRun:
    """A hook of the user's that ran in a step.

    Attributes:
        kind: "tensor", "pre", "post" or "post_accumulate".
        name: the function's own.
        before, after: the gradient that it received and the one that it passed on; the same if it changed nothing.
        index: which output (or, for "post", input) of the op the gradient belongs to.
    """

    kind: str
    name: str
    before: Value | None = None
    after: Value | None = None
    index: Count = 0


@dataclass(frozen=True, slots=True)
class Jacobian:
    """d output / d input of one op: a matrix of shape (elements of the output, elements of the input)."""

    input: str
    value: Value


@dataclass(frozen=True, slots=True)
class Term:
    """An array in a `NamedRule`.

    Attributes:
        name: as the rule writes it: "wᵀ".
        at: its value: "grad_outputs.0", "saved.mat2", "accumulation.old", or the address of a `Change`.
        is_transposed: its last two dimensions are swapped.
    """

    name: str
    at: str
    is_transposed: bool = False


@dataclass(frozen=True, slots=True)
class NamedRule:
    """A rule that ran, in the user's names: "a.grad = (gradient of c) × b = 4.0 × 3.0 = 12.0".

    Attributes:
        text: the names, and the numbers if they are few.
        result: the value of the result: "grad_inputs.0", "grad_outputs.0", "accumulation.new".
        terms: the arrays in it; none if all values are single numbers.
        sign: what stands between the terms: "·" (matrix product), "⊗" (outer product), "×", "/", "+", "-"; "" for a single
            term. "∘" for another rule that takes one element of each, "," for any other.
    """

    text: str
    result: str = ""
    terms: tuple[Term, ...] = ()
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Step(MadeWhenRead):
    """One call of one node. A live pass makes the fields when they are read (`Step.later`).

    Attributes:
        node: id of the node.
        sentence: what happened, in words with numbers.
        grad_outputs: the gradients that arrived, one per output of the op.
        grad_inputs: the gradients that left, one per next_function.
        result_shapes: the shapes that the rules returned, before broadcasting was undone.
        formulas: the rules that ran: "grad * other = 1.0 * 4.0 = 4.0".
        changes: what changed.
        engine: queue, waiting nodes and memory after the step.
        freed: bytes of saved tensors that it freed.
        hooks: the user's hooks that ran, in their order.
        jacobians: the op's local Jacobians, if they are small.
        edited: indices of grad_outputs that the user had changed by hand.
        flags: "nan", "inf", "zero" if a gradient became that here; "condition" if the user's condition held;
            "condition_error" if the condition raised.
        named: the rules that ran, in the user's names.
    """

    node: NodeId
    sentence: str
    grad_outputs: tuple[Value | None, ...] = ()
    grad_inputs: tuple[Value | None, ...] = ()
    formulas: tuple[Formula, ...] = ()
    changes: tuple[Change, ...] = ()
    accumulation: Accumulation | None = None
    result_shapes: tuple[Shape | None, ...] = ()
    engine: Engine = Engine()
    freed: Count = 0
    hooks: tuple[HookRun, ...] = ()
    jacobians: tuple[Jacobian, ...] = ()
    edited: tuple[Count, ...] = ()
    flags: tuple[str, ...] = ()
    named: tuple[NamedRule, ...] = ()

    @classmethod
    def later(cls, node: NodeId, addresses: tuple[str, ...] | None, *writers: Writer) -> Step:
        """A step whose fields, except the node, are made when they are read.

        Args:
            node: id of the node.
            addresses: those of its changes, if they are known.
            writers: who makes which fields.
        """
        step: Step = object.__new__(cls)
        object.__setattr__(step, "node", node)
        object.__setattr__(step, "_addresses", addresses)
        step.make_later(*writers)
        return step

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of its changes; the values are not made for that."""
        known: tuple[str, ...] | None = getattr(self, "_addresses", None)
        return tuple([c.at for c in self.changes]) if known is None else known


WORDS = ("sentence", "flags", "named")  # what the stepper says of a step
NUMBERS = tuple(f.name for f in fields(Step) if f.name not in ("node", *WORDS))  # what the pass has done
UNSAID: Writer = (WORDS, lambda: {"sentence": "", "flags": (), "named": ()})  # a step that a pass has just made


@dataclass(frozen=True, slots=True)
class Trace:
    """The steps so far, whether the pass has ended, and the engine before the first step."""

    steps: tuple[Step, ...] = ()
    complete: bool = False
    start: Engine = Engine()


@dataclass(frozen=True, slots=True)
class State:
    """What a picture shows at one moment.

    Attributes:
        values: the current value at every address that differs from the document.
        current: the step that has just run, or None at the start.
        hidden: ids of what does not exist yet, while the forward pass is replayed.
        called: how often each node has been called; for a group, how many of its nodes.
    """

    values: Mapping[str, Value | None] = field(default_factory=dict)
    current: Step | None = None
    hidden: frozenset[str] = frozenset()
    called: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The present value of a tensor that was changed in place. Its box shows the value from before the change.

    Attributes:
        version: the version counter now; the same as drawn if nobody counted (``x.data``).
        value: its data.
    """

    version: int
    value: Value
