"""Where a run stops: breakpoints on nodes, and conditions on what a step has sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from .graph.trace import Step

FLAGS = {"nan": "nan", "inf": "nan", "zero": "zero"}  # the flag of a step -> the stop that looks at it


@dataclass
class Stops:
    """What a run stops at.

    Attributes:
        nodes: ids of nodes; a run stops before one of them is called.
        nan: stop after a step that made a nan or an infinity.
        zero: stop after a step that made a gradient all zero.
        condition: stop after a step for which it returns true.
    """

    nodes: set[str] = field(default_factory=set)
    nan: bool = False
    zero: bool = False
    condition: Callable[[Step], Any] | None = None

    def plain(self) -> dict[str, Any]:
        """For a page: nodes, nan, zero, and the condition's name."""
        name = getattr(self.condition, "__name__", "") if self.condition else ""
        return {"nodes": sorted(self.nodes), "nan": self.nan, "zero": self.zero, "condition": name}

    def update(self, plain: Any, known: Iterable[str]) -> None:
        """Take over what a page has set; what is no stop of ours is passed over. An empty condition drops the condition."""
        if not isinstance(plain, dict):
            return
        nodes = plain.get("nodes", ())
        self.nodes = set(known).intersection(n for n in nodes if isinstance(n, str)) if isinstance(nodes, list) else self.nodes
        self.nan, self.zero = plain.get("nan") is True, plain.get("zero") is True
        if not plain.get("condition"):
            self.condition = None

    def hit(self, step: Step) -> str:
        """Which stop a step meets: "nan", "inf", "zero", "condition", "condition_error", or ""."""
        wanted = {"nan": self.nan, "zero": self.zero, "condition": True}
        return next((f for f in step.flags if wanted.get(FLAGS.get(f, "condition"))), "")


@dataclass(frozen=True)
class Stopped:
    """Why a run has stopped: "breakpoint", "until", or what `Stops.hit` says; at which node, and the words of an error or the
    name of the tensor that a gradient has reached.
    """

    kind: str
    node: str
    text: str = ""
