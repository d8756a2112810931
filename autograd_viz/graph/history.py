"""The state after each step of a pass. The history knows which steps changed an address, so a state is cheap to make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

from .model import Value
from .trace import State, Step, Trace

T = TypeVar("T")
Entries = tuple[int, ...]  # pairs of numbers, one after the other: there are many addresses, so objects are few


class History:
    """The steps of a pass, indexed by what they changed. It grows with the pass."""

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        self.steps: list[Step] = []  # all steps, in order
        self._changes: dict[str, Entries] = {}  # by address: numbers of the step, and of the change in it
        self._calls: dict[str, Entries] = {}  # by node: number of the step, and how many calls the node has had then
        self._sizes = [(0, 0)]  # by position: how many addresses have changed, and how many nodes have run
        for step in steps:
            self.add(step)

    def add(self, step: Step) -> None:
        """Add one step. Its numbers are not read."""
        number = len(self.steps)
        self.steps.append(step)
        for place, at in enumerate(step.addresses):
            self._changes[at] = (*self._changes.get(at, ()), number, place)
        calls = self._calls.get(step.node, ())
        self._calls[step.node] = (*calls, number, len(calls) // 2 + 1)
        self._sizes.append((len(self._changes), len(self._calls)))

    def until(self, count: int) -> History:
        """The history of the first `count` steps. This one stays as it is: states that somebody holds read it."""
        return History(self.steps[:count])

    def at(self, position: int) -> State:
        """The state after `position` steps; 0 is the start."""
        changes, calls = self._sizes[position]
        values = _Then[Value | None](self._changes, position, changes, lambda k, place: self.steps[k].changes[place].after)
        current = self.steps[position - 1] if position else None
        return State(values, current, called=_Then[int](self._calls, position, calls, lambda step, count: count))


class _Then(Mapping[str, T]):
    """A mapping as it was at a position of a history: its first `size` keys, without the entries of later steps."""

    __slots__ = ("_entries", "_position", "_read", "_size")

    def __init__(self, entries: Mapping[str, Entries], position: int, size: int, read: Callable[[int, int], T]) -> None:
        self._entries, self._position, self._size, self._read = entries, position, size, read

    def __getitem__(self, key: str) -> T:
        entries = self._entries[key]
        for i in range(len(entries) - 2, -1, -2):
            if entries[i] < self._position:
                return self._read(entries[i], entries[i + 1])
        raise KeyError(key)

    def __contains__(self, key: Any) -> bool:
        return key in self._entries and self._entries[key][0] < self._position

    def __iter__(self) -> Iterator[str]:
        return iter([*islice(self._entries, self._size)])

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return repr(dict(self))


def state_at(trace: Trace, step: int) -> State:
    """The state after `step` steps; 0 is the start. IndexError if there are not that many."""
    if not 0 <= step <= len(trace.steps):
        raise IndexError(f"step {step} is out of range; the trace has steps 0 to {len(trace.steps)}")
    return History(trace.steps[:step]).at(step)
