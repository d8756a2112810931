"""Where a run stops. Each stop is a value with a kind. The page has the same rules (static/pass/stops.js).

# Note [Kinds of stops]
A stop of kind "node" is a breakpoint: a run stops before it calls the node. All others stop after a step::

    nan, zero    a gradient became nan or infinite, or all zero (the step's flags say so)
    above, below the norm of a gradient crossed `number`: it did on one side of a call, and did not on the other
    sign         what left the node has another sign than what arrived; an array has the sign of its mean
    grad         a gradient arrived at the node: for a leaf at AccumulateGrad, else at its grad_fn
    arrival      `number` gradients have been sent to the node; they are added before it runs
    condition    the user's function returned true, or raised
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, NamedTuple

from .. import words
from ..graph.model import Node, Value
from ..graph.text import norm_of, number_text
from ..graph.trace import Step
from ..pictures.render.escape import printable
from ..runtime.collector import collector_as_before
from ..runtime.interrupts import breakable


class Fact(NamedTuple):
    """One gradient."""

    norm: float  # Euclidean; nan or inf if an element is
    sign: int  # of the mean of its finite elements: 1, -1 or 0 (also for complex numbers)
    text: str  # the number, if it has one element


@dataclass(frozen=True, slots=True)
class Facts:
    """The gradients of one step."""

    node: str  # the node that ran
    ends: tuple[str, ...]  # the node of each of its next_functions, or ""
    sent: tuple[Fact, ...]  # what earlier steps have sent to it
    came: tuple[Fact | None, ...]  # what arrived, by output of its op: the sums, after hooks and edits
    left: tuple[Fact | None, ...]  # what left, by next_function
    grads: tuple[tuple[str, Fact | None, Fact | None], ...]  # tensors whose grad changed: (id, grad before, grad after)

    def plain(self) -> dict[str, Any]:
        """As JSON. `sent` is left out where it is what came."""
        came, left, sent = ([*map(_plain, facts)] for facts in (self.came, self.left, self.sent))
        known = {} if self.sent == self.came else {"sent": sent}
        grads = [[id, _plain(before), _plain(after)] for id, before, after in self.grads]
        return {"node": self.node, "ends": self.ends, "came": came, "left": left, **known, "grads": grads}


def facts_of(step: Step, node: Node, sent: Iterable[Value]) -> Facts:
    """The facts of a step of a node, to which earlier steps have sent these gradients."""
    grads = [(c.at.removesuffix(".grad"), fact_of(c.before), fact_of(c.after)) for c in step.changes if c.at.endswith(".grad")]
    ends, arrived = tuple(after.node or "" for after in node.next_functions), tuple(there(map(fact_of, sent)))
    came, left = (tuple(map(fact_of, values)) for values in (step.grad_outputs, step.grad_inputs))
    return Facts(step.node, ends, arrived, came, left, tuple(grads))


def fact_of(value: Value | None) -> Fact | None:
    """The fact of a gradient; None if there is none, or if it has no elements."""
    if value is None or (norm := norm_of(value)) is None:
        return None
    real = (n for n in value.numbers if not isinstance(n, complex) and math.isfinite(n))
    mean = math.fsum(real) if value.summary is None else value.summary.mean
    text = number_text(value.numbers[0]) if math.prod(value.shape) == 1 and value.numbers else ""
    return Fact(norm, int(mean > 0) - int(mean < 0), text)


def there(facts: Iterable[Fact | None]) -> list[Fact]:
    """Those that exist."""
    return [f for f in facts if f is not None]


def _plain(fact: Fact | None) -> list[Any] | None:
    if fact is None:
        return None
    return [fact.norm if math.isfinite(fact.norm) else str(fact.norm), fact.sign, *filter(None, [fact.text])]


FLAGS = {"nan": ("nan", "inf"), "zero": ("zero",), "condition": ("condition", "condition_error")}  # kind -> flags of a step
SINGLE = {"nan", "zero", "above", "below", "sign", "condition"}  # a new one replaces the old one
PLACED = {"node", "grad", "arrival"}  # these have a node


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop; see Note [Kinds of stops]."""

    kind: str  # "node", "nan", "zero", "above", "below", "sign", "grad", "arrival" or "condition"
    node: str = ""  # id of the node of a "node", "grad" or "arrival"
    number: float = 0  # the norm, or how many gradients
    name: str = ""  # of the node, the tensor or the function, for the reader

    def __str__(self) -> str:
        return printable(words.ui()[f"stop_{self.kind}"].format(name=self.name, number=f"{self.number:g}"))


@dataclass(repr=False)
class Stops:
    """The stops of a run, in the order in which they were set."""

    all: list[Stop] = field(default_factory=list)
    condition: Callable[[Step], Any] | None = None
    _errors: dict[str, str] = field(default_factory=dict)  # by node: the error of the condition

    def __iter__(self) -> Iterator[Stop]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def __getitem__(self, index: int) -> Stop:
        return self.all[index]

    def __repr__(self) -> str:
        return f"<Stops: {'; '.join(map(str, self.all)) or words.ui()['stops_none']}>"

    @property
    def nodes(self) -> set[str]:
        """Ids of the nodes with a breakpoint."""
        return {s.node for s in self.all if s.kind == "node"}

    def add(self, stop: Stop) -> None:
        """Set a stop."""
        self.all = [s for s in self.all if s != stop and not (s.kind == stop.kind and s.kind in SINGLE)] + [stop]

    def remove(self, stop: Stop | str) -> None:
        """Remove a stop, or all of a kind. Nothing happens if there is none."""
        self.become([s for s in self.all if stop not in (s, s.kind)])

    def turn(self, kinds: Mapping[str, bool | float | None]) -> None:
        """Set stops by kind: True, or a norm; False removes one, None leaves it. ValueError: it is no norm."""
        for kind, value in kinds.items():
            if value is False:
                self.remove(kind)
            elif value is not None:
                self.add(Stop(kind, number=0 if value is True else _norm(kind, value)))

    def become(self, stops: Iterable[Stop]) -> None:
        """Have these stops and no others. A condition stays only if it is among them."""
        self.all = [s for s in stops if s.kind != "condition" or self.condition is not None]
        if all(s.kind != "condition" for s in self.all):
            self.condition = None

    def with_condition(self, step: Step) -> Step:
        """The step with the result of the condition."""
        flags = tuple(f for f in step.flags if f not in FLAGS["condition"])
        self._errors.pop(step.node, None)
        if self.condition is None:
            return replace(step, flags=flags)
        try:
            with breakable(), collector_as_before():
                return replace(step, flags=(*flags, "condition") if self.condition(step) else flags)
        except Exception as error:
            self._errors[step.node] = f"{type(error).__name__}: {error}"
            return replace(step, flags=(*flags, "condition_error"))

    def hit(self, steps: Sequence[Step], index: int, facts: Callable[[int], Facts]) -> Stopped | None:
        """The stop that step number `index` hits, if any. Without stops the step is not read."""
        step = steps[index]
        for stop in self.all:
            if stop.kind != "node" and meets(stop, step.flags, index, facts):
                kind = "condition_error" if stop.kind == "condition" and "condition_error" in step.flags else stop.kind
                text = {"condition_error": self._errors.get(step.node, "")}.get(kind, stop.name)
                return Stopped(kind, step.node, text, f"{stop.number:g}")
        return None


def meets(stop: Stop, flags: Sequence[str], index: int, facts: Callable[[int], Facts]) -> bool:
    """Does a run stop for this after step number `index`? `facts` gives those of a step."""
    if stop.kind in FLAGS:
        return any(flag in FLAGS[stop.kind] for flag in flags)
    return RULES[stop.kind](stop, index, facts)


def _crosses(stop: Stop, index: int, facts: Callable[[int], Facts]) -> bool:
    """Is a norm beyond the limit after the sum, the call or the accumulation, and none before it?"""
    here, is_above = facts(index), stop.kind == "above"
    sent, came, left = (there(some) for some in (here.sent, here.came, here.left))
    ways = [(sent, came), (came, left), *((there([old, *came]), there([new])) for _, old, new in here.grads)]

    def holds(some: list[Fact]) -> bool:
        return any(f.norm > stop.number if is_above else f.norm < stop.number for f in some)

    return any(holds(after) and not holds(before) for before, after in ways)


def _turns(stop: Stop, index: int, facts: Callable[[int], Facts]) -> bool:
    """Does a gradient have a sign that is the opposite of all before the sum or the call?"""
    here = facts(index)
    return any(f.sign and {b.sign for b in there(before)} - {0} == {-f.sign}
               for before, after in ((here.sent, here.came), (here.came, here.left)) for f in there(after))  # fmt: skip


def _gets(stop: Stop, index: int, facts: Callable[[int], Facts]) -> bool:
    """Has a gradient arrived at the node?"""
    return facts(index).node == stop.node and bool(there(facts(index).came))


def _arrives(stop: Stop, index: int, facts: Callable[[int], Facts]) -> bool:
    """Has the step sent the gradient of this number to the node?"""

    def sent(f: Facts) -> int:
        return sum(end == stop.node and fact is not None for end, fact in zip(f.ends, f.left, strict=False))

    now = sent(facts(index))
    before = sum(sent(facts(k)) for k in range(index)) if now else 0
    return before < stop.number <= before + now


RULES = {"above": _crosses, "below": _crosses, "sign": _turns, "grad": _gets, "arrival": _arrives}


@dataclass(frozen=True)
class Stopped:
    """Why a run has stopped."""

    kind: str  # of a stop (Note [Kinds of stops]), "breakpoint" for "node", or "until", "unreached", "condition_error"
    node: str  # "" for "unreached"
    text: str = ""  # the error, or a name
    number: str = ""  # of the stop


def _norm(kind: str, value: Any) -> float:
    number = float(value) if isinstance(value, Real) else math.nan
    if not 0 <= number < math.inf:
        raise ValueError(f"stop_on({kind}=...) takes a norm, got {value!r:.60}")
    return number


def count_of(value: Any) -> int:
    """The k of an arrival. ValueError: it is no positive whole number."""
    if not isinstance(value, int) or value < 1:
        raise ValueError(f"stop_on(arrival=(tensor, k)) takes a count from 1, got {value!r:.60}")
    return value
