"""The last backward pass of a program, kept as it was before it ran. The command steps it after the program's end.

# Note [Put back]
A program goes on after its last pass: the pass has freed saved tensors and written grads, and an optimizer has moved weights.
So when a pass begins, what it and an optimizer will change is noted. `as_it_was` puts that back for a while. PyTorch's saved
tensors cannot be put back: of its passes those are kept whose graph stays, as `watch` sees to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..twin.core.backward import backward
from ..twin.core.backward.accumulate_grad import AccumulateGrad
from ..twin.core.backward.engine import GraphTask
from ..twin.core.backward.node import Node
from ..twin.core.tensor.tensor import Tensor
from .shared.replaced import Replaced
from .twin.reach import backward_of
from .twin.snapshots import GradSnapshot, SavedSnapshot


class LastRun:
    """The last pass.

    Attributes:
        root, gradient: where it began; None if there was none that can be kept.
        nodes_of: the nodes behind a tensor of PyTorch; none behind others.
    """

    def __init__(self) -> None:
        self.root: Any = None
        self.gradient: Any = None
        self.nodes_of: Callable[[Any], Sequence[Any]] = lambda tensor: []
        self._nodes: Sequence[Any] = []
        self._look: Callable[[Sequence[Any]], list[Any]] = lambda nodes: []
        self._then: list[Any] = []

    def forget(self) -> None:
        """A pass begins that cannot be kept."""
        self.root, self.gradient, self._nodes, self._then = None, None, [], []

    def begins(self, root: Any, gradient: Any, nodes: Sequence[Any], look: Callable[[Sequence[Any]], list[Any]]) -> None:
        """A pass begins."""
        self.root, self.gradient, self._nodes, self._look, self._then = root, gradient, nodes, look, look(nodes)

    def is_emptied(self, tensor: Any) -> bool:
        """Has `watch` emptied the graph of a PyTorch tensor, after a pass before the last one?"""
        return any("autograd_viz.empty" in node.metadata for node in self.nodes_of(tensor)) and not self.has(tensor)

    def has(self, tensor: Any) -> bool:
        """Is it a result in the graph of the pass?"""
        return any(tensor.grad_fn is node for node in self._nodes)

    @contextmanager
    def as_it_was(self) -> Iterator[None]:
        """Inside, everything is as it was before the pass."""
        now = self._look(self._nodes)
        _put_back(self._then)
        try:
            yield
        finally:
            _put_back(now)


def _put_back(snapshots: list[Any]) -> None:
    for snapshot in snapshots:
        snapshot.restore()


class LeafSnapshot:
    """The values of a leaf, which an optimizer changes in place, and its version."""

    def __init__(self, leaf: Tensor) -> None:
        self._leaf, self._array, self._values = leaf, leaf._data, leaf._data.copy()
        counter = leaf._shared_counter()
        self._counter, self._counts = counter, list(counter)

    def restore(self) -> None:
        """Restore them."""
        self._leaf._data = self._array
        self._array[...] = self._values
        self._counter[:] = self._counts


def _look(nodes: Sequence[Node]) -> list[Any]:
    leaves = [n.variable for n in nodes if isinstance(n, AccumulateGrad)]
    return [*map(SavedSnapshot, nodes), *map(GradSnapshot, leaves), *map(LeafSnapshot, leaves)]


def _reach(root: Tensor) -> list[Node]:
    seen: dict[Node, None] = {}
    stack = [backward_of(root)]
    while stack:
        node = stack.pop()
        if node is not None and node not in seen:
            seen[node] = None
            stack += node._next
    return list(seen)


@contextmanager
def last_run(of_torch: bool) -> Iterator[LastRun]:
    """Inside, the last pass is kept: one of ours, or `of_torch`, which is imported."""
    last = LastRun()

    def starts(start: Any, outputs: Any, gradients: Any, *args: Any, **kwargs: Any) -> Any:
        task = start(outputs, gradients, *args, **kwargs)
        roots = backward.as_tuple(outputs)
        given = (None,) if gradients is None else backward.as_tuple(gradients)
        if kwargs.get("captures") is not None or GraphTask.current is not None:  # grad(), or a pass inside of a pass
            return task
        last.forget()
        if len(roots) == 1 and isinstance(roots[0], Tensor) and kwargs.get("only") is None:
            last.begins(roots[0], given[0], _reach(roots[0]), _look)
        return task

    undo = [Replaced(backward, "start", starts).undo]
    if of_torch:
        from .pytorch.stepping.snapshots import kept_in

        undo.append(kept_in(last))
    try:
        yield last
    finally:
        for end in undo:
            end()
