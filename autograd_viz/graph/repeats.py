"""Where a sequence repeats itself: twelve equal blocks, a loop of a thousand turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

LEAST = 3  # turns that make a repetition
LONGEST = 512  # items of the longest turn that is searched for
TRIES = 8  # lengths of a turn that are tried at one index


class Repeat(NamedTuple):
    """`turns` equal turns of `period` items each, from `start` on."""

    start: int
    period: int
    turns: int

    @property
    def end(self) -> int:
        """The index after the last turn."""
        return self.start + self.period * self.turns


def repeats(items: Sequence[int]) -> list[Repeat]:
    """The repetitions in a sequence, from left to right; they do not overlap. Takes linear time."""
    # for each index, the next one with the same item; the length of `items` if there is none
    following, last = [len(items)] * len(items), dict[int, int]()
    for i in range(len(items) - 1, -1, -1):
        following[i] = last.get(items[i], len(items))
        last[items[i]] = i
    found, i = list[Repeat](), 0
    while i < len(items):
        best = _longest_from(items, following, i)
        found += [] if best is None else [best]
        i = i + 1 if best is None else best.end
    return found


def _longest_from(items: Sequence[int], following: Sequence[int], start: int) -> Repeat | None:
    """The repetition from here that covers most items; if several cover as many, the one with the shortest turn."""
    best, j = None, following[start]
    for _ in range(TRIES):
        period = j - start
        if period > LONGEST or start + LEAST * period > len(items):
            break
        if items[start] == items[start + 2 * period]:
            end = j
            while end < len(items) and items[end] == items[end - period]:
                end += 1
            repeat = Repeat(start, period, (end - start) // period)
            if repeat.turns >= LEAST and (best is None or repeat.end > best.end):
                best = repeat
        j = following[j] if j < len(items) else j
    return best
