"""How long the parts of a pass took, and how much they computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .model import NodeId

Seconds = tuple[float, ...]  # one number for each pass that was measured


@dataclass(frozen=True, slots=True)
class Bare:
    """Ops of one name in one module that have no node near: of a frozen or detached part."""

    module: str
    op: str
    seconds: Seconds
    flops: int


@dataclass(frozen=True, slots=True)
class Half:
    """The forward or the backward half of some passes."""

    seconds: Mapping[NodeId, Seconds]  # forward: of its op, with ops beside it that have no node, as the mask of dropout
    flops: Mapping[NodeId, int]  # as `torch.utils.flop_counter` counts them
    whole: Seconds  # of passes of which only the whole was measured
    parted: Seconds  # of passes of which each part was measured
    bare: tuple[Bare, ...] = ()  # the other ops


@dataclass(frozen=True, slots=True)
class Timing:
    """A pass. `forward` is None if only its result was given; it has no parts if it ran as compiled code."""

    forward: Half | None
    backward: Half
    device: str
