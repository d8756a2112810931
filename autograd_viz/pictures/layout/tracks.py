"""Which of several parallel tracks a net takes: nets must not touch and should seldom cross."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations
from math import inf

from .parts import PITCH, Net

Span = tuple[float, float]
Pairs = Iterable[tuple[Net, Net]]

TOO_MANY = 80  # nets in one gap: for more, crossings are not counted


def fewer_crossings(spans: Mapping[Net, Span], pins: list[tuple[Net, float, bool]]) -> list[tuple[Net, Net]]:
    """Pairs (a, b) whose lines cross less often if the track of a comes before that of b.

    Each of the `pins`: net, place along the track, does it come from before the tracks.
    """
    by_net: dict[Net, list[tuple[float, bool]]] = defaultdict(list)
    for net, x, first in pins:
        by_net[net].append((x, first))

    def crossings(a: Net, b: Net) -> int:
        down = sum(not first and spans[b][0] < x < spans[b][1] for x, first in by_net[a])
        return down + sum(first and spans[a][0] < x < spans[a][1] for x, first in by_net[b])

    pairs: list[tuple[Net, Net]] = []
    for a, b in combinations(spans, 2) if len(spans) < TOO_MANY else ():
        if spans[a][0] < spans[b][1] and spans[b][0] < spans[a][1]:
            gain = crossings(b, a) - crossings(a, b)
            pairs += [(a, b)] * (gain > 0) + [(b, a)] * (gain < 0)
    return pairs


def _waits(spans: Mapping[Net, Span], pairs: Pairs) -> dict[Net, set[Net]]:
    waits: dict[Net, set[Net]] = defaultdict(set)
    for a, b in pairs:
        if a in spans and b in spans and a != b:
            waits[b].add(a)
    return waits


def assign_tracks(spans: Mapping[Net, Span], before: Pairs, wish: Pairs = ()) -> tuple[dict[Net, int], int]:
    """Number the tracks of nets; returns the numbers and how many tracks there are.

    Nets on one track do not touch. For (a, b) in `before`, the track of a comes before that of b. The pairs in `wish` are
    followed where possible.
    """
    must, should = _waits(spans, before), _waits(spans, wish)
    todo, number = sorted(spans, key=lambda n: (spans[n], n)), 0
    track: dict[Net, int] = {}
    while todo:
        end, here = -inf, []
        free = [n for n in todo if must[n] <= track.keys()] or todo[:1]  # `todo[:1]` breaks a cycle
        for n in [n for n in free if should[n] <= track.keys()] or free[:1]:
            if end == -inf or spans[n][0] > end + PITCH:
                here.append(n)
                end = spans[n][1]
        track.update(dict.fromkeys(here, number))
        todo = [n for n in todo if n not in track]
        number += 1
    return track, number
