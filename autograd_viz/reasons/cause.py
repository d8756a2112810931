"""One reason, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..graph.model import Source


class Part(NamedTuple):
    """A gradient that one node brought, and the number of the node's line."""

    value: str
    node: str
    line: str


class NodeAt(NamedTuple):
    """A node and the number of its op's line, if that is known."""

    node: str
    line: int | None


Said = str | NodeAt | tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason why a gradient is what it is; its sentence is `CAUSE_<KIND>` of the words, its advice `DO_<KIND>`.

    Attributes:
        kind: "not_leaf", "cut_detach", "zero_relu", ...
        tensors, nodes: ids in the document of what is to blame.
        source: the place in the user's code.
        said: what the sentence says besides, by placeholder.
    """

    kind: str
    tensors: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    source: Source | None = None
    said: Mapping[str, Said] = field(default_factory=dict)
