"""The graphs of one program: tensors and ops of the forward pass, nodes of the backward pass, and the code beside them.

Ids are `t0, t1, …` for tensors, `o0, …` for ops, `n0, …` for backward nodes, in the order of the program, so the document
of a program is the same at every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .limits import DIMENSIONS, SIZE, AtMost, Between, Named

Number = bool | int | float | complex
# what a field of a file may hold besides its type says (limits.py); a live graph's are not looked at
TensorId = Annotated[str, Named("t")]
OpId = Annotated[str, Named("o")]
NodeId = Annotated[str, Named("n")]
Count = Annotated[int, Between(0, SIZE)]
Shape = Annotated[tuple[Count, ...], AtMost(DIMENSIONS)]
# files hold every op, node and edge: groups, and several that are drawn as one, are made when they are drawn
NoGroup = Annotated[int, Between(0, 0)]
Single = Annotated[int, Between(1, 1)]


@dataclass(frozen=True, slots=True)
class Summary:
    """What can be said of an array too large to be written out.

    Attributes:
        least, most, mean: of the finite elements; complex elements count by their absolute value.
        norm: the Euclidean norm of the finite elements.
        zeros, nans, infs: how many elements are that.
        rows, columns: the size of the thumbnail.
        thumbnail: means of equal blocks of the array as a matrix (leading dimensions joined), row by row; nan where a block
            holds a nan, infinite where it holds an infinity.
    """

    least: float
    most: float
    mean: float
    norm: float
    zeros: Count
    nans: Count
    infs: Count
    rows: Count
    columns: Count
    thumbnail: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """An array as far as a picture needs it.

    Attributes:
        shape: the length of each dimension.
        dtype: PyTorch's name of the element type without the prefix: "float32".
        text: the values as PyTorch prints them: "2.", "[1., 2., 3.]"; of many the first and the last: "[1., ..., 9.]".
        numbers: all elements in row order if there are few, else empty.
        summary: of an array with more elements than that.
    """

    shape: Shape
    dtype: str
    text: str
    numbers: tuple[Number, ...] = ()
    summary: Summary | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A place in the user's code; lines from 1, columns from 0 in characters, both ends as in Python's own positions.

    Attributes:
        text: the lines from `line` to `end_line` as they stand in the file.
    """

    file: str
    line: Count
    end_line: Count
    column: Count
    end_column: Count
    text: str = ""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A box with five rows.

    Attributes:
        name: the user's variable, or None.
        value: its data.
        grad: what has been accumulated, or None.
        grad_fn: id of the backward node, or None for a leaf.
        output_nr: which output of its op it is.
        retains_grad: a non-leaf that keeps its grad.
        version: how often it was changed in place.
        source: where it was made.
        shares: ids of the tensors that share its memory.
        reconstructed: nobody has seen it; the backward graph tells that it was there.
    """

    id: TensorId
    name: str | None
    value: Value
    grad: Value | None
    grad_fn: NodeId | None
    output_nr: Count
    is_leaf: bool
    requires_grad: bool
    retains_grad: bool = False
    version: Count = 0
    source: Source | None = None
    shares: tuple[TensorId, ...] = ()
    reconstructed: bool = False


@dataclass(frozen=True, slots=True)
class Operand:
    """What an op was given: a tensor, or a Python number by its text.

    Attributes:
        count: of operands that are drawn as one, how many they are.
    """

    tensor: TensorId | None
    text: str = ""
    count: Single = 1


REASONS = ("nested", "compiled")  # nested tensors; ops that ran as one compiled op


@dataclass(frozen=True, slots=True)
class Op:
    """A forward op: `Mul`, with what it was given and what it made.

    Attributes:
        outputs: ids of its results; None for one that is gone.
        node: id of its backward node, or None if nothing was recorded.
        module: path of the module in whose forward it ran: "encoder.layers.0".
        reconstructed: nobody has seen it run; what is known of it is what the backward graph tells.
        reason: why it, or what ran in it, could not be followed: one of `REASONS`; empty for an op that nobody recorded.
        members: of a group that is drawn as one op, how many ops it stands for; 0 for an op.
    """

    id: OpId
    name: str
    inputs: tuple[Operand, ...]
    outputs: tuple[TensorId | None, ...]
    node: NodeId | None = None
    source: Source | None = None
    module: str = ""
    reconstructed: bool = False
    members: NoGroup = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NextFunction:
    """Where the gradient of one input goes: a node (or None) and which output of that node's op it belongs to.

    Attributes:
        count: of inputs whose edges are drawn as one, how many they are.
    """

    node: NodeId | None
    index: Count
    count: Single = 1


@dataclass(frozen=True, slots=True)
class Saved:
    """Something a node keeps for its rule.

    Attributes:
        name: as in `_saved_<name>`.
        value: the tensor's value while it is kept.
        tensor: id of the tensor, if it is one of the document's.
        text: a plain value (a dim, a size, an exponent).
        state: "kept", "freed", "plain", or "none" for a tensor that this node does not need.
        version: of a kept tensor, when it was saved.
        stale: it has been changed in place since, so that the node will refuse to run.
        bytes: how much memory it keeps alive.
    """

    name: str
    state: str
    value: Value | None = None
    tensor: TensorId | None = None
    text: str = ""
    version: Count = 0
    stale: bool = False
    bytes: Count = 0


@dataclass(frozen=True, slots=True)
class Formula:
    """The rule for one input, as the rule writes it: input "self", text "grad * other"."""

    input: str
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a gradient that enters a group, or a node with very many outputs, arrives: the class name of the node, and which
    output of its op. Of several places that are drawn as one: "…" and None, where they are not the same.
    """

    name: str
    index: Count | None


NoEntries = Annotated[tuple[Entry, ...], AtMost(0)]


@dataclass(frozen=True, slots=True)
class Node:
    """A backward node.

    Attributes:
        name: PyTorch's class name: "MulBackward0", "AccumulateGrad".
        op: id of its forward op; None for AccumulateGrad.
        outputs: how many gradients arrive (outputs of its op).
        variable: id of the leaf, for AccumulateGrad.
        order: rank by creation among the document's nodes; None for AccumulateGrad.
        rule: whose the rule is, where no formula can be shown: "user" (a Function), "torch"; else empty.
        members: of a group that is drawn as one node, how many nodes it stands for; 0 for a node.
        entries: of a group, by output: at which of its nodes that gradient arrives; of a node, where outputs are drawn as one.
    """

    id: NodeId
    name: str
    op: OpId | None
    outputs: Count
    next_functions: tuple[NextFunction, ...] = ()
    saved: tuple[Saved, ...] = ()
    formulas: tuple[Formula, ...] = ()
    variable: TensorId | None = None
    order: Count | None = None
    rule: str = ""
    members: NoGroup = 0
    entries: NoEntries = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of the user's code and the tensor it stands beside.

    Attributes:
        kind: "make" for one that made the tensor, else what was done to it: "retain_grad", "requires_grad", "backward".
    """

    text: str
    tensor: TensorId
    kind: str = "make"


MARKS = ("checkpointed", "compiled")


@dataclass(frozen=True, slots=True)
class Module:
    """A module that was called, or a scope.

    Attributes:
        path: as in `Op.module`: "encoder.layers.0"; empty for the model itself.
        name: the class: "DecoderLayer"; empty for a scope.
        hooks: how many forward and backward hooks of the user's it has.
        marks: some of `MARKS`: its call was checkpointed; ops of it ran as compiled ones.
    """

    path: str
    name: str = ""
    hooks: Count = 0
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """Everything that a picture of one program shows. Ops and nodes are in the order in which they ran, modules in that in
    which they were called; of a graph that was not recorded, they are all parts of the models that own its leaves.
    """

    tensors: tuple[Tensor, ...]
    ops: tuple[Op, ...] = ()
    nodes: tuple[Node, ...] = ()
    statements: tuple[Statement, ...] = ()
    roots: tuple[TensorId, ...] = ()
    modules: tuple[Module, ...] = ()

    @property
    def is_freed(self) -> bool:
        """True if a backward pass has freed saved tensors of this graph."""
        return any(s.state == "freed" for n in self.nodes for s in n.saved)
