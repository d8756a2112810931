"""The elements behind a document as arrays: of its tensors, and of the gradients of a pass that is taken back."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.interrupts import breakable, whole
from ..twin.core.op.former import Overwritten
from .anything import is_torch, pass_of
from .from_core import CoreGraph
from .norms import Place
from .written import Ran


def elements_of(graph: Any, id: str) -> NDArray[Any] | None:
    """The elements of a tensor as they were when it was made; None if they are not known."""
    if isinstance(graph, CoreGraph):
        t = graph.tensors[id]
        return None if isinstance(t, Overwritten) else np.asarray(t._data)
    from .pytorch.elements import elements_in

    return elements_in(graph, id)  # type: ignore[no-any-return]


def each_gradient(
    graph: Any, root: Any, gradient: Any, wanted: Collection[Place], take: Callable[[Place, NDArray[Any]], None]
) -> None:
    """Run the backward pass and take it back. `take` gets each gradient that arrives at a wanted place.

    Raises:
        RuntimeError: as ``root.backward()`` would.
    """
    live, done = pass_of(graph, root, gradient, True, False), 0
    live.shows_jacobians = False

    def heard(ran: Ran) -> None:
        for k, raw in enumerate(ran.arrived):
            if raw is not None and (ran.node, "in", k) in wanted:
                array = _array(raw, is_torch(root))
                if array is not None:
                    take((ran.node, "in", k), array)

    live.heard = heard
    with whole(), live.untouched():
        try:
            with breakable():
                while live.advance() is not None:
                    done += 1
        finally:
            for k in reversed(range(done)):
                live.undo(k)


def _array(raw: Any, is_pytorch: bool) -> NDArray[Any] | None:
    if not is_pytorch:
        return np.array(raw)
    from .pytorch.elements import array_in

    found = array_in(raw)
    return None if found is None else np.array(found)
