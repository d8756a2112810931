"""What ops without a node keep, and for how long.

An op that cuts the graph (detach) keeps the graph that led to it: until CUTS others did so, or until the next one after a
backward pass that has freed that graph. An op that never had a graph keeps its large inputs, until LOOSE others did.
Neither keeps anything when the next recording begins.
"""

from __future__ import annotations

import weakref
from collections import deque

from ...core.base.provenance import CUTS
from ..values import FEW
from .handles import Event, Handle
from .saved import is_freed

LOOSE = 256  # ops without a node whose large inputs are kept
_cuts: deque[weakref.ref[Event]] = deque()
_loose: deque[weakref.ref[Event]] = deque()


def keep_behind(event: Event, has_passed: bool) -> None:
    """The op has no node, and keeps what led to its inputs, and the elements of large inputs.

    Args:
        event: the op.
        has_passed: a backward pass has run since the last call, and has freed what it went through.
    """
    _loose.append(weakref.ref(event))
    _lighten(LOOSE)
    if event.behind:
        others = [cut for r in _cuts if (cut := r()) is not None and cut is not event]
        for earlier in others if has_passed else others[-1:]:  # which may have cut what was freed before
            if is_freed(earlier.behind):
                _forget(earlier)
        _cuts.append(weakref.ref(event))
        let_go(CUTS)


def _lighten(but: int = 0) -> None:
    """Of the ops without a node, all but the latest keep no elements of their large inputs: a live tensor has them."""
    while len(_loose) > but:
        event = _loose.popleft()()
        for handle in () if event is None else event.inputs:
            if type(handle) is Handle and handle.sequence is None and handle.values is not None and handle.values.numel() > FEW:
                handle.lighten()


def begin_anew() -> None:
    """What earlier recordings have kept of cut graphs and of ops without a node is let go."""
    let_go()
    _lighten()


def let_go(but: int = 0) -> None:
    """Of the ops that keep a graph, all but the latest keep it no more."""
    while len(_cuts) > but:
        oldest = _cuts.popleft()()
        if oldest is not None:
            _forget(oldest)


def _forget(cut: Event) -> None:
    cut.inputs, cut.behind = (), ()
