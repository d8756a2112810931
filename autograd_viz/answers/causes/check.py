"""What a check is: its number and name, when it speaks, and how certain it is then.

Its words are those of its kinds: `CAUSE_<KIND>`, and what to do: `DO_<KIND>`. Its function is given the facts that it names
(`NEEDS`); where one is None, it is not asked. The program that has its fault, and innocent twins of that program, stand in
docs/look_up/checks.md. A test runs them, and lets no check in without both.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from .cause import Cause
from .question import Question

NEEDS: Mapping[str, Callable[[Question], Any]] = {"q": lambda q: q, "f": lambda q: q.numbers, "nodes": lambda q: q.ways}
When = Callable[..., Iterable[Cause]]
SO, MAY, ASKED = "so", "may", "asked"  # it is a fault; it may be one; it answers a question, and is no fault


@dataclass(frozen=True)
class Check:
    """A check."""

    code: str  # the number by which it is searched and silenced: "AV203"
    name: str  # "broadcast-in-loss"
    when: When  # facts -> causes; its docstring says what the check is about
    kinds: Mapping[str, str]  # the kinds of its causes, and how certain each is: `SO`, `MAY` or `ASKED`
    of_run: bool = False  # it is about all that a pass went through, so `av.check` asks it once
    first: bool = False  # it tells only the first that it finds

    @cached_property
    def _needs(self) -> tuple[str, ...]:
        return tuple(inspect.signature(self.when).parameters)

    def ask(self, q: Question) -> list[Cause]:
        """What it has to say."""
        facts: list[Any] = []
        for need in self._needs:
            facts.append(NEEDS[need](q))
            if facts[-1] is None:  # the next may be dear
                return []
        return [*islice(self.when(*facts), 1 if self.first else None)]


def check(code: str, name: str, kinds: Mapping[str, str], of_run: bool = False, first: bool = False) -> Callable[[When], Check]:
    """Make a check of the function below."""
    return lambda when: Check(code, name, when, kinds, of_run, first)
