"""The memory behind saved tensors: each block once, however many saved tensors lie in it."""

from __future__ import annotations

from dataclasses import dataclass

from .model import NodeId, Shape, TensorId

PARAMETER, INPUT, ACTIVATION = KINDS = ("parameter", "input", "activation")


@dataclass(frozen=True, slots=True)
class Use:
    """A saved tensor that lies in a block."""

    node: NodeId  # the node that saved it
    name: str  # as in `_saved_<name>`
    shape: Shape
    dtype: str
    is_packed: bool = False  # hooks of saved tensors hold it, as a checkpoint holds its inputs


@dataclass(frozen=True, slots=True)
class Storage:
    """A block of memory that nodes keep alive."""

    bytes: int
    kind: str  # one of `KINDS`: what lies in it; see Note [What a block is] in sources/shared/storages.py
    uses: tuple[Use, ...]  # the saved tensors in it, in the order of the program
    tensors: tuple[TensorId, ...] = ()  # ids of the document's tensors in it, as far as they are alive
    name: str = ""  # a variable or parameter of the user's that lies in it; empty if none is known


@dataclass(frozen=True, slots=True)
class Again:
    """What a checkpoint computes again at the first of these nodes."""

    saved: tuple[tuple[NodeId, str], ...]  # the nodes whose saved tensors it gives, and the names of these


@dataclass(frozen=True, slots=True)
class Stays:
    """Bytes that a pass finds and leaves, as far as they are known."""

    parameters: int = 0  # parameters and buffers of the models that own leaves of the graph
    grads: int = 0  # that these parameters have already
    optimizer: int = 0  # the state of their optimizers
    foreseen: int = 0  # of it, what the first step will make


@dataclass(frozen=True, slots=True)
class Memory:
    """What the nodes of a graph keep alive, what checkpoints will compute again, and what stays."""

    storages: tuple[Storage, ...]
    again: tuple[Again, ...] = ()
    stays: Stays = Stays()
