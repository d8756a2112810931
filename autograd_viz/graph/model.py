"""The graphs of one program: tensors and ops of the forward pass, nodes of the backward pass, and the code beside them.

Ids are `t0, t1, …` for tensors, `o0, …` for ops, `n0, …` for backward nodes, in the order of the program: alike at every run.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated

from .limits import DIMENSIONS, SIZE, Between, Named
from .quick import dataclass
from .surroundings import Call, Module, Source

Number = bool | int | float | complex
# what a field of a file may hold, beyond its type (limits.py); a live graph is not checked
TensorId = Annotated[str, Named("t")]
OpId = Annotated[str, Named("o")]
NodeId = Annotated[str, Named("n")]
Count = Annotated[int, Between(0, SIZE)]
Shape = Annotated[tuple[Count, ...], DIMENSIONS]
# files hold every op, node and edge; groups and bundles are made when a picture is drawn
NoGroup = Annotated[int, Between(0, 0)]
Single = Annotated[int, Between(1, 1)]


@dataclass(frozen=True, slots=True)
class Summary:
    """Describes an array that is too large to write out."""

    least: float
    most: float
    mean: float  #: least, most, mean: of the finite elements; complex elements count by their absolute value
    norm: float  #: the Euclidean norm of the finite elements
    zeros: Count
    nans: Count
    infs: Count  #: zeros, nans, infs: how many elements are zero, nan or infinite
    rows: Count
    columns: Count  #: rows, columns: the size of the thumbnail
    #: means of equal blocks of the array as a matrix (leading dimensions joined), row by row; a block with nan is nan, one with
    #: an infinity is infinite
    thumbnail: tuple[float, ...]


NOT_TOLD = "?"  # the dtype of an array of which neither shape nor dtype is known


@dataclass(frozen=True, slots=True)
class Value:
    """An array as far as a picture needs it."""

    shape: Shape  #: the length of each dimension
    dtype: str  #: PyTorch's name of the element type without the prefix: "float32"
    text: str  #: the values as PyTorch prints them: "2.", "[1., 2., 3.]"; a long one is abbreviated: "[1., ..., 9.]"
    numbers: tuple[Number, ...] = ()  #: all elements in row order if there are few, else empty
    summary: Summary | None = None  #: of an array with more elements than that


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor: a box with five rows."""

    id: TensorId
    name: str | None  #: the user's variable, or None
    value: Value  #: its data
    grad: Value | None  #: the accumulated gradient, or None
    grad_fn: NodeId | None  #: id of the backward node, or None for a leaf
    output_nr: Count  #: which output of its op it is
    is_leaf: bool
    requires_grad: bool
    retains_grad: bool = False  #: a non-leaf that keeps its grad
    version: Count = 0  #: the version counter: how often it was changed in place
    source: Source | None = None  #: where it was made
    shares: tuple[TensorId, ...] = ()  #: ids of the tensors that share its memory
    reconstructed: bool = False  #: nobody saw it; the backward graph shows that it existed


@dataclass(frozen=True, slots=True)
class Operand:
    """What an op was given: a tensor, or a Python number by its text."""

    tensor: TensorId | None
    text: str = ""
    count: Single = 1  #: how many operands it stands for, if they are bundled


# nested tensors; ops that ran as one compiled op; the same, from PyTorch's cache; read from the graph of a compiled region;
# read from an exported program; no op has a node there
REASONS = ("nested", "compiled", "cached", "opened", "exported", "no_grad")


@dataclass(frozen=True, slots=True)
class Op:
    """A forward op: `Mul`, with its inputs and results."""

    id: OpId
    name: str
    inputs: tuple[Operand, ...]
    outputs: tuple[TensorId | None, ...]  #: ids of its results; None for one that was garbage-collected
    node: NodeId | None = None  #: id of its backward node, or None if nothing was recorded
    source: Source | None = None
    module: str = ""  #: path of the module in whose forward it ran: "encoder.layers.0"
    reconstructed: bool = False  #: nobody saw it run; it is derived from the backward graph
    members: NoGroup = 0  #: how many ops it stands for, if it is a group; 0 for an op
    #: why it, its contents or its node could not be recorded: one of `REASONS`; empty for an op that nobody recorded
    reason: str = ""
    graph_break: str = ""  #: of a compiled region that begins after a graph break: the reason and the line
    #: index in `Document.calls` of the innermost function of the user's around it; None if that is not known
    call: Count | None = None


@dataclass(frozen=True, slots=True)
class NextFunction:
    """Where the gradient of one input goes: a node (or None), and an output of that node's op."""

    node: NodeId | None
    index: Count
    count: Single = 1  #: how many inputs it stands for, if their edges are bundled


@dataclass(frozen=True, slots=True)
class Saved:
    """Something that a node keeps for its backward rule."""

    name: str  #: as in `_saved_<name>`
    state: str  #: "kept", "freed", "plain", or "none" for a tensor that this node does not need
    value: Value | None = None  #: the tensor's value while it is kept
    tensor: TensorId | None = None  #: id of the tensor, if it is one of the document's
    text: str = ""  #: a plain value (a dim, a size, an exponent)
    version: Count = 0  #: the version counter of a kept tensor when it was saved
    stale: bool = False  #: the saved tensor was modified, so the node will refuse to run
    bytes: Count = 0  #: how much memory it keeps alive


@dataclass(frozen=True, slots=True)
class Formula:
    """The rule for one input, as the source of the rule writes it: input "self", text "grad * other"."""

    input: str
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a gradient arrives in a group or in a node with bundled outputs: a node's class name, an output of its op.

    Where several arrive: "…" and None, unless they are the same.
    """

    name: str
    index: Count | None


NoEntries = Annotated[tuple[Entry, ...], 0]


@dataclass(frozen=True, slots=True)
class Node:
    """A backward node."""

    id: NodeId
    name: str  #: PyTorch's class name: "MulBackward0", "AccumulateGrad"
    op: OpId | None  #: id of its forward op; None for AccumulateGrad
    outputs: Count  #: how many gradients arrive (outputs of its op)
    next_functions: tuple[NextFunction, ...] = ()
    saved: tuple[Saved, ...] = ()
    formulas: tuple[Formula, ...] = ()
    variable: TensorId | None = None  #: id of the leaf, for AccumulateGrad
    order: Count | None = None  #: rank by creation among the document's nodes; None for AccumulateGrad
    rule: str = ""  #: who wrote the rule, if there is no formula: "user" (a Function), "torch"; else empty
    members: NoGroup = 0  #: how many nodes it stands for, if it is a group; 0 for a node
    entries: NoEntries = ()  #: by output, where that gradient arrives; only for a group, or a node with bundled outputs


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, and the tensor that it made or changed. `kind`: "make", "retain_grad", "requires_grad" or "backward"."""

    text: str
    tensor: TensorId
    kind: str = "make"


@dataclasses.dataclass(frozen=True, slots=True)
class Document:
    """Everything that a picture of one program shows.

    Ops and nodes are in the order in which they ran, modules and calls in the order of their beginnings. For a graph that was
    not recorded, `modules` lists all parts of the models that own its leaves.
    """

    tensors: tuple[Tensor, ...]
    ops: tuple[Op, ...] = ()
    nodes: tuple[Node, ...] = ()
    statements: tuple[Statement, ...] = ()
    roots: tuple[TensorId, ...] = ()
    modules: tuple[Module, ...] = ()
    calls: tuple[Call, ...] = ()

    @property
    def is_freed(self) -> bool:
        """True if a backward pass has freed saved tensors of this graph."""
        return any(s.state == "freed" for n in self.nodes for s in n.saved)
