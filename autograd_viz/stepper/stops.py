"""Stops of a run: breakpoints on nodes, and conditions on steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from ..graph.trace import Step
from ..runtime.collector import collector_as_before
from ..runtime.interrupts import breakable

FLAGS = {"nan": "nan", "inf": "nan", "zero": "zero"}  # the flag of a step -> the stop that checks it


@dataclass
class Stops:
    """The stops of a run.

    Attributes:
        nodes: ids of nodes; a run stops before it calls one of them.
        nan: stop after a step that made nan or inf.
        zero: stop after a step that made a gradient all zero.
        condition: stop after a step for which it returns true.
    """

    nodes: set[str] = field(default_factory=set)
    nan: bool = False
    zero: bool = False
    condition: Callable[[Step], Any] | None = None
    _errors: dict[str, str] = field(default_factory=dict)  # by node: the error of the condition

    def plain(self) -> dict[str, Any]:
        """For a page: nodes, nan, zero, and the condition's name."""
        name = getattr(self.condition, "__name__", "") if self.condition else ""
        return {"nodes": sorted(self.nodes), "nan": self.nan, "zero": self.zero, "condition": name}

    def update(self, plain: Any, known: Iterable[str]) -> None:
        """Take over what a page has set; unknown stops are ignored. An empty condition removes the condition."""
        if not isinstance(plain, dict):
            return
        nodes = plain.get("nodes", ())
        self.nodes = set(known).intersection(n for n in nodes if isinstance(n, str)) if isinstance(nodes, list) else self.nodes
        self.nan, self.zero = plain.get("nan") is True, plain.get("zero") is True
        if not plain.get("condition"):
            self.condition = None

    def asked(self, step: Step) -> Step:
        """The step with the result of the condition."""
        flags = tuple(f for f in step.flags if f in FLAGS)
        self._errors.pop(step.node, None)
        if self.condition is None:
            return replace(step, flags=flags)
        try:
            with breakable(), collector_as_before():
                return replace(step, flags=(*flags, "condition") if self.condition(step) else flags)
        except Exception as error:
            self._errors[step.node] = f"{type(error).__name__}: {error}"
            return replace(step, flags=(*flags, "condition_error"))

    def hit(self, step: Step) -> Stopped | None:
        """The stop that a step hits, if any."""
        if not (self.nan or self.zero or self.condition):
            return None  # the step need not be read
        wanted = {"nan": self.nan, "zero": self.zero, "condition": self.condition is not None}
        kind = next((f for f in step.flags if wanted.get(FLAGS.get(f, "condition"))), "")
        return Stopped(kind, step.node, self._errors.get(step.node, "") if kind == "condition_error" else "") if kind else None


def wrong_nodes(nodes: Any) -> str:
    """What is wrong with the nodes that a page sets, or ""."""
    if nodes is None or (isinstance(nodes, list | tuple) and all(isinstance(n, str) for n in nodes)):
        return ""
    what = f"the nodes of stops must be a list of ids, got {type(nodes).__name__} ({nodes!r:.60})"
    return f"{what}; stop_at(x) also takes a tensor or its name"


@dataclass(frozen=True)
class Stopped:
    """Why a run has stopped.

    The reason is "breakpoint", "until", "unreached", "nan", "inf", "zero", "condition" or "condition_error". The node is "" for
    "unreached". The text is the error, or the name of the tensor of `until`.
    """

    kind: str
    node: str
    text: str = ""
