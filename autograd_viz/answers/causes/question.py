"""A question about one tensor, and the sources of its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ...graph.passes import Holder
from .cause import Cause
from .code import called_at
from .facts import Facts
from .history import Event, History, Op, PassEvent
from .numbers import norm, state_of
from .paths import is_op, number_between, with_history

CHOICES = ("__bool__", "__contains__")  # nothing is computed with a truth value
FEW = 200  # ops of a pass that is run again even if nothing stands out


@dataclass
class Question:
    """Why is the grad of a tensor what it is?"""

    tensor: Any  # of the core or of PyTorch
    root: Any  # the tensor that its gradient should come from; None if not given
    history: History  # what has run
    name_of: Callable[[Any], str | None]  # gives the user's name of a tensor
    look: Callable[[], Facts]  # reads the graph and the numbers of the last pass: it is dear, and runs if an answer needs it
    names: Mapping[str, Any] = field(default_factory=dict)  # the user's names, and what they hold
    is_thorough: bool = False  # the graph is read however large it is
    parameter: Any = None  # what the tensor is a copy of, in a pass that has run again
    shared: dict[Op | None, tuple[set[Op], set[Any]]] = field(default_factory=dict)  # ops and leaves behind a root, for all
    _found: dict[Any, list[Cause]] = field(default_factory=dict, init=False)

    def of_pass(self) -> Question:
        """The same question about the root of the pass: about all that it went through."""
        f = self.facts
        return replace(self, root=self.tensor, look=lambda: f.about(f.loss[0]) if f.loss else f)

    def once(self, find: Callable[[Question], list[Cause]]) -> list[Cause]:
        """What a search finds; it runs once, however many checks read it."""
        if find not in self._found:
            self._found[find] = find(self)
        return self._found[find]

    @cached_property
    def facts(self) -> Facts:
        """The graph, and the numbers of the last pass."""
        return self.look().as_arrived() if self.was_cleared else self.look()

    @cached_property
    def was_cleared(self) -> bool:
        """Has a loop that ends with zero_grad() cleared its gradient? Questions about a run are about what it was before."""
        last = self.last
        if not self.is_thorough or self.grad is not None or last is None or not self.is_reached_from(last.root) or last.error:
            return False
        cleared = min((c.number for c in self.history.clearings(self.tensor) if c.number > last.number), default=None)
        steps = (s.number for h in self.optimizers for s in h.steps if s.number > last.number)
        return cleared is not None and min(steps, default=cleared) <= cleared

    @cached_property
    def norms(self) -> tuple[float, float]:
        """Of the tensor, and of its gradient."""
        own, grad = self.history.norms(self.tensor)
        return (own, norm(self.facts.subject.grad) or 0.0) if self.was_cleared else (own, grad)

    @cached_property
    def is_leaf(self) -> bool:
        """Did no op make the tensor?"""
        return self.history.is_leaf(self.tensor)

    @cached_property
    def op(self) -> Op | None:
        """The op that made the tensor."""
        return self.history.op_of(self.tensor)

    def maker_of(self, other: Any) -> Op | None:
        """The op that made another tensor of the same library."""
        return self.history.op_of(other) if self.is_of_library(other) else None

    def events_of(self, other: Any, *kinds: str) -> list[Event]:
        """The events of another object, in order; none if it is no tensor of the same library."""
        return self.history.events_of(other, *kinds) if self.is_of_library(other) else []

    def is_of_library(self, other: Any) -> bool:
        """Is it a tensor of the same library?"""
        return isinstance(other, next((k for k in type(self.tensor).__mro__ if k.__name__ == "Tensor"), object))

    @cached_property
    def subject(self) -> Any:
        """The tensor's op, or the tensor itself if it is a leaf: its entry in the history."""
        return self.op or self.tensor

    @cached_property
    def grad(self) -> Any:
        """The tensor's grad."""
        return self.history.grad_of(self.tensor)

    @cached_property
    def ops(self) -> set[Op]:
        """The ops that a gradient of the root reaches."""
        return self._behind(self.root_op)[0]

    def _behind(self, root: Op | None) -> tuple[set[Op], set[Any]]:
        """The ops that a gradient of an op reaches, and the leaves."""
        if root not in self.shared:
            there = set() if root is None else with_history([root])
            self.shared[root] = there, {g for op in there for g in op.given if not is_op(g)}
        return self.shared[root]

    def ops_behind(self, root: Op | None) -> set[Op]:
        """The ops that a gradient of an op reaches."""
        return self._behind(root)[0]

    def leaves_of(self, root: Op | None) -> set[Any]:
        """The leaves that a gradient of an op reaches."""
        return self._behind(root)[1]

    @cached_property
    def passes(self) -> list[PassEvent]:
        """The calls of backward() that add to grads."""
        return [p for p in self.history.passes if p.name == "backward"]

    @cached_property
    def last(self) -> PassEvent | None:
        """The last one of `passes`; of a leaf that is stepped between it and a pass of its own, as an actor is, that one."""
        last = self.passes[-1] if self.passes else None
        if last is None or last.root is None or not self.is_leaf or self.is_reached_from(last.root):
            return last
        of_lines = {p.source: p for p in self.passes if p.root is not None}  # the last of each
        own = next((p for p in reversed(of_lines.values()) if self.is_reached_from(p.root)), last)
        steps = sorted(s.number for h in self.optimizers for s in h.steps if s.number > own.number)
        cleared = [c.number for c in self.history.clearings(self.tensor) if c.number > own.number]
        is_of_step = len(steps) == 1 and not any(c < steps[0] for c in cleared)  # the others' passes sent it nothing
        return own if is_of_step or (steps and steps[-1] < last.number) else last

    @property
    def last_root(self) -> Op | None:
        """The op that made the root of the last pass, if it is known."""
        return None if self.last is None else self.last.root

    @cached_property
    def root_op(self) -> Op | None:
        """The op that made the root: the given root, or that of the last pass."""
        return self.last_root if self.root is None else self.history.op_of(self.root)

    @cached_property
    def state(self) -> str:
        """What its grad contains: "none", "nan", "inf", "zero", "huge", "tiny"; "" for other numbers."""
        if self.grad is not None:
            return self.history.state_of(self.tensor)
        return state_of(self.facts.subject.grad) if self.was_cleared else "none"

    @cached_property
    def is_left_over(self) -> bool:
        """Is its grad from an earlier pass, as the last one did not reach it?"""
        last, is_plain = self.last, self.root is None and self.is_leaf and len(self.passes) > 1
        is_reached = last is None or last.root is None or self.is_reached_from(last.root)
        return is_plain and not is_reached and not self.facts.live.is_stepped()

    @cached_property
    def numbers(self) -> Facts | None:
        """The facts, if they may tell why a gradient that exists is odd, and are worth their price."""
        is_worth = self.state or self.is_thorough or len(self.ops) <= FEW
        return self.facts if is_worth and not self.is_left_over else None

    @cached_property
    def ways(self) -> tuple[str, ...]:
        """The nodes whose gradients end up at the tensor, the nearest first; of the root, all of its pass."""
        f = self.facts
        if f.edge in f.starts:
            return tuple(f.pass_nodes)
        return tuple(f.leading(f.edge)) if f.edge is not None and f.is_connected else ()

    @cached_property
    def models(self) -> dict[str, Any]:
        """The modules among the user's variables, by name."""
        return {name: m for name, m in self.names.items() if hasattr(type(m), "modules")}

    @cached_property
    def holders(self) -> list[Holder]:
        """Every optimizer, if the tensor is a leaf."""
        own = self.tensor if self.parameter is None else self.parameter
        return self.history.optimizers(own) if self.is_leaf else []

    @property
    def is_scaled(self) -> bool:
        """Did the last pass begin at the result of `scaler.scale(loss)`?"""
        began = self.last if self.root_op is None else self.root_op if "mul" in self.root_op.name else None
        return began is not None and began.source is not None and ".scale(" in began.source.text

    @cached_property
    def optimizers(self) -> list[Holder]:
        """The optimizers that step the tensor."""
        return [h for h in self.holders if h.holds]

    @cached_property
    def minimizes(self) -> bool:
        """Do optimizers step, and does none maximize? Those of a function that has returned are gone, and count, too."""
        steps = [h for h in self.holders if h.steps]
        return not any(h.maximizes for h in steps) and bool(steps or self.history.gone)

    @cached_property
    def number(self) -> tuple[Op, Op] | None:
        """The op that made a number of a path from the tensor, and the op that computed with it on the way to the root."""
        left = (op for op in self.history.left if op.name not in CHOICES)
        numbers = [op for op in left if called_at(op.source) != "step"]  # an optimizer with a closure reads the loss
        return None if self.root_op is None else number_between(self.root_op, self.subject, numbers)

    def events(self, *kinds: str) -> list[Event]:
        """The tensor's events of these kinds, in order."""
        return self.history.events_of(self.tensor, *kinds)

    def is_reached_from(self, root: Op | None) -> bool:
        """Does a gradient of an op reach the tensor?"""
        return self.subject in self._behind(root)[not is_op(self.subject)]
