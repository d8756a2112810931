"""Which memory an array uses: arrays that are views of one another have the same owner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

FEW = 16  # sharers that are listed for a tensor: all pairs of a thousand views would be a million names


def owner(array: Any) -> Any:
    """The array whose memory this one uses; the array itself if it is not a view."""
    own = array
    while array is not None:  # NumPy's as_strided puts an object in between that is no array
        own = array if isinstance(array, np.ndarray) else own
        array = getattr(array, "base", None)
    return own


def sharers(arrays: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """For each id, the other ids whose arrays use the same memory block, in the order given; FEW at most."""
    spans = []
    for id, array in arrays.items():
        own = owner(array)
        if own.size:
            spans.append((*np.lib.array_utils.byte_bounds(own), id))
    groups: list[list[str]] = []
    end = 0
    for low, high, id in sorted(spans, key=lambda s: s[:2]):
        if low < end:
            groups[-1].append(id)
        else:
            groups.append([id])
        end = max(end, high)
    rank = {id: i for i, id in enumerate(arrays)}
    found = {}
    for group in groups:
        group.sort(key=rank.__getitem__)
        for id in group if len(group) > 1 else ():
            found[id] = tuple(other for other in group[: FEW + 1] if other != id)[:FEW]
    return found
