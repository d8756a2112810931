"""One reason, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..graph.model import Source


class NodeAt(NamedTuple):
    """A node and the line of its op, if that is known.

    Attributes:
        node: its class name.
        source: the line.
        asked_in: the file in which the question was asked; another is told with the line.
    """

    node: str
    source: Source | None
    asked_in: str


class Part(NamedTuple):
    """A gradient that one node brought."""

    value: str
    at: NodeAt


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
