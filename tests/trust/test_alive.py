"""Ctrl-C is never lost: no line of Python runs where an error would be printed and forgotten."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from autograd_viz.runtime.alive import Alive


class Thing:
    """Equal to every other, and not to be hashed."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True


def calls_while(action: Callable[[], Any]) -> list[str]:
    """The Python functions that an action calls, itself left out."""
    calls: list[str] = []
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_name) if event == "call" else None)
    action()
    sys.setprofile(None)
    return calls


def test_an_entry_dies_with_its_thing_and_no_line_of_python_runs() -> None:
    known: Alive[int] = Alive()
    things = [Thing(), Thing()]
    for i, thing in enumerate(things):
        known[thing] = i
    known[things[0]] = 10
    assert [known.get(t) for t in things] == [10, 1] and known.get(Thing()) is None
    assert sorted(n for _, n in known.items()) == [1, 10]
    del thing
    assert calls_while(things.clear) == []
    assert not list(known)


def test_two_mappings_know_the_same_thing_apart() -> None:
    one: Alive[str] = Alive()
    other: Alive[str] = Alive()
    thing = Thing()
    one[thing] = "one"
    assert other.get(thing) is None
    other[thing] = "other"
    assert one.get(thing) == "one"
