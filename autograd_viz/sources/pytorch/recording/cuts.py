"""What ops without a node keep, and for how long.

An op that detaches its result (detach) keeps the graph behind its input, until CUTS others have run; if a backward pass has
freed that graph, only until the next such op. An op that never had a graph keeps its large inputs, until LOOSE others have run.
All of this is dropped when the next recording begins.
"""

from __future__ import annotations

import weakref
from collections import deque

from ....twin.core.base.provenance import CUTS
from ...shared.values import FEW
from ..reading.handles import Event, Handle
from ..reading.saved import is_freed

LOOSE = 256  # ops without a node that keep their large inputs
_cuts: deque[weakref.ref[Event]] = deque()
_loose: deque[weakref.ref[Event]] = deque()


def keep_behind(event: Event, has_passed: bool) -> None:
    """Let an op without a node keep what led to its inputs, and the elements of large inputs. `has_passed`: a backward pass has
    run since the last call, and has freed its graph.
    """
    _loose.append(weakref.ref(event))
    _lighten(LOOSE)
    if event.behind:
        others = [cut for r in _cuts if (cut := r()) is not None and cut is not event]
        for earlier in others if has_passed else others[-1:]:  # the latest may have detached from a freed graph
            if is_freed(earlier.behind):
                _forget(earlier)
        _cuts.append(weakref.ref(event))
        let_go(CUTS)


def _lighten(but: int = 0) -> None:
    """Drop the elements of large inputs of ops without a node, except for the latest. A live tensor has its own elements."""
    while len(_loose) > but:
        event = _loose.popleft()()
        for handle in () if event is None else event.inputs:
            if type(handle) is Handle and handle.sequence is None and handle.values is not None and handle.values.numel() > FEW:
                handle.lighten()


def begin_anew() -> None:
    """Drop what earlier recordings have kept of detached graphs and of ops without a node."""
    let_go()
    _lighten()


def let_go(but: int = 0) -> None:
    """Drop the graphs that ops keep, except for the latest."""
    while len(_cuts) > but:
        oldest = _cuts.popleft()()
        if oldest is not None:
            _forget(oldest)


def _forget(cut: Event) -> None:
    cut.inputs, cut.behind = (), ()
