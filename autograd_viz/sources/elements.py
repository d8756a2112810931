"""The elements behind a document as arrays: of its tensors, and of the gradients of a pass that is taken back."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..twin.core.op.former import Overwritten
from .anything import is_torch, pass_of
from .shared.stepping.norms import Place, each_arrival
from .twin.graph import CoreGraph


def elements_of(graph: Any, id: str) -> NDArray[Any] | None:
    """The elements of a tensor as they were when it was made; None if they are not known."""
    if isinstance(graph, CoreGraph):
        t = graph.tensors[id]
        return None if isinstance(t, Overwritten) else np.asarray(t._data)
    from .pytorch.reading.elements import elements_in

    return elements_in(graph, id)  # type: ignore[no-any-return]


def each_gradient(
    graph: Any, root: Any, gradient: Any, wanted: Collection[Place], take: Callable[[Place, NDArray[Any]], None]
) -> None:
    """Run the backward pass and take it back. `take` gets each gradient that arrives at a wanted place.

    Raises:
        RuntimeError: as ``root.backward()`` would.
    """
    each_arrival(pass_of(graph, root, gradient, True, False), wanted, take, lambda raw: _array(raw, is_torch(root)))


def _array(raw: Any, is_pytorch: bool) -> NDArray[Any] | None:
    if not is_pytorch:
        return np.array(raw)
    from .pytorch.reading.elements import copied

    return copied(raw)  # type: ignore[no-any-return]
