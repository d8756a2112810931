"""The last passes, optimizers, their steps, and numbers read from tensors, with their lines. `explain` reads them.

# Note [What a watched run replaces]
`passing`, `making`, `stepping`, `calling`, `scaling` and `clipping` are called by their names in this module. A run replaces
the names while it is watched, so a program that is not watched pays nothing, and nothing is put on its model.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .provenance import Place, callers_place, now, users_frame

MOST = 64  # the length of each list
FEW = 12  # nodes behind a number


class PassNote:
    """A call of backward() or grad(), and the context in which it runs.

    `root` and `results`, the gradients that grad() returned without a graph, are weak references. `wanted`: only some inputs
    were asked for. `keeps_graph`: the pass itself was recorded (create_graph). `retains`: grad() has not freed the graph.
    `error` is the message of the exception, or "".
    """

    __slots__ = ("at", "error", "keeps_graph", "name", "order", "results", "retains", "root", "wanted")

    def __init__(self, name: str, root: Any, wanted: bool) -> None:
        is_tensor = type(root).__weakrefoffset__  # a gradient edge and a wrong argument are not
        self.root: Any = weakref.ref(root) if is_tensor else lambda: None
        self.name, self.wanted, self.keeps_graph, self.retains, self.error = name, wanted, False, False, ""
        self.results: list[Any] = []
        frame = users_frame(sys._getframe(2))  # `passing` and its caller are of this package
        self.order, self.at = now(), Place(frame.f_code, frame.f_lasti)

    def kept(self, graph: bool, retains: bool | None, results: list[Any]) -> None:
        """Whether grad() recorded its pass, whether it left the graph as it was, and which of its results have no graph."""
        self.keeps_graph, self.retains, self.results = graph, graph if retains is None else bool(retains), results

    def __enter__(self) -> PassNote:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is not None:
            self.error = str(error) or type(error).__name__


class Command:
    """The creation or a step of an optimizer, now and here. `of` is a weak reference to it."""

    __slots__ = ("at", "of", "order")

    def __init__(self, optimizer: Any) -> None:
        self.of, self.order, self.at = weakref.ref(optimizer), now(), callers_place()


class NumberNote:
    """A tensor that requires grad became a Python number: by "item" or "tolist".

    No graph is kept: `leaves` are weak references to the leaves that the tensor was computed from by a few ops.
    """

    __slots__ = ("at", "leaves", "name", "order")

    def __init__(self, name: str, leaves: list[Any]) -> None:
        self.name, self.leaves = name, [weakref.ref(leaf) for leaf in leaves]
        self.order, self.at = now(), callers_place()


passes: deque[PassNote] = deque(maxlen=MOST)
optimizers: deque[Command] = deque(maxlen=MOST)
steps: deque[Command] = deque(maxlen=MOST)
numbers: deque[NumberNote] = deque(maxlen=MOST)


def became_number(tensor: Any, name: str) -> None:
    """Note it, if few ops lead to the tensor: the value of a whole loss is read to print it."""
    leaves, todo = ([tensor], []) if tensor._node is None else ([], [tensor._node])
    for seen, node in enumerate(todo):
        if seen == FEW:
            return
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        todo += [after for after, _ in node.next_functions if after is not None and after not in todo]
    numbers.append(NumberNote(name, leaves))


@contextmanager
def apart() -> Iterator[None]:
    """Inside, what happens is not the program's: afterwards it is forgotten."""
    lists: tuple[deque[Any], ...] = (passes, optimizers, steps, numbers)
    before = [list(notes) for notes in lists]
    try:
        yield
    finally:
        for notes, known in zip(lists, before, strict=True):
            notes.clear()
            notes.extend(known)


def making(optimizer: Any) -> None:
    """An optimizer is being made."""
    optimizers.append(Command(optimizer))


def stepping(optimizer: Any) -> None:
    """An optimizer is about to update its parameters."""
    steps.append(Command(optimizer))


def calling(module: Any, run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A module is called: `run(args, kwargs)` is its forward between its hooks."""
    return run(args, kwargs)


def scaling(optimizer: Any, scale: float, is_skipped: bool) -> None:
    """A gradient scaler has divided the gradients of an optimizer by its scale, and steps it or leaves it out."""


def clipping(factor: float) -> None:
    """Gradients are about to be scaled by a factor, from 0 to 1, so that their norm is bounded."""


def passing(name: str, root: Any, wanted: bool) -> PassNote:
    """A backward pass begins. It runs in the context of its note (see there)."""
    noted = PassNote(name, root, wanted)
    passes.append(noted)
    return noted
