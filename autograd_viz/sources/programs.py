"""What runs in a whole program, for the command: the models that it trains, and its last backward pass.

# Note [When a model is found]
An optimizer is noted when it is made. Its models are looked for when a module with one of its parameters is called, which what
then begins to watch sees, too: by then the program has wrapped, compiled and moved them. An optimizer that is made after its
pass is seen at its first step.

# Note [Put back]
After its last pass, a program frees saved tensors, writes grads and moves weights. So when a pass begins, what will change is
noted, and `as_it_was` puts it back for a while. PyTorch's saved tensors cannot be put back: of its passes those are kept whose
graph stays, as `watch` sees to.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from ..twin.core.backward import backward
from ..twin.core.backward.accumulate_grad import AccumulateGrad
from ..twin.core.backward.engine import GraphTask
from ..twin.core.backward.node import Node
from ..twin.core.base import events
from ..twin.core.tensor.tensor import Tensor
from .shared.replacement import Replacement
from .twin.reach import backward_of
from .twin.snapshots import GradSnapshot, SavedSnapshot

Watches = list[Any]  # things with `calls` and `step_begins` of a `RunWatch`, or of a `CoreRunWatch`


@contextmanager
def each_model(found: Callable[[Any], Any]) -> Iterator[None]:
    """Inside, ``found(model)`` is called before the first pass of each model that an optimizer has, or before its step. It
    gives what watches the model, or None. PyTorch is imported for its optimizers, if it is installed.
    """
    optimizers = Optimizers(found)
    handles: list[Any] = [Replacement(events, "making", optimizers.made), Replacement(events, "stepping", optimizers.steps)]
    with suppress(ModuleNotFoundError):
        from .pytorch.run.hooks import optimizer_hooks

        handles += optimizer_hooks(optimizers)
    try:
        yield
    finally:
        optimizers.forget()
        for handle in handles:
            handle.remove()


class Optimizers:
    """The optimizers of a program, and their models."""

    def __init__(self, found: Callable[[Any], Any]) -> None:
        self._found = found
        self._models: weakref.WeakSet[Any] = weakref.WeakSet()
        self.known: weakref.WeakSet[Any] = weakref.WeakSet()  # optimizers whose models were looked for
        self._new: list[weakref.ref[Any]] = []  # the others, in the order in which they were made
        self._calls: list[Replacement] = []
        self.on_calls: list[Callable[[], Replacement]] = [lambda: Replacement(events, "calling", self.calls)]

    def made(self, make: Callable[..., Any], optimizer: Any, *args: Any) -> Any:
        """An optimizer is being made."""
        self._new.append(weakref.ref(optimizer))
        self._calls = self._calls or [replace() for replace in self.on_calls]
        return make(optimizer, *args)

    def calls(self, call: Any, module: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A module is called."""
        if self._new and _has_any(module, {p for ref in self._new if (o := ref()) is not None for p in parameters_of(o)}):
            for watch in self._begun():
                call = partial(watch.calls, call)
        return call(module, *args, **kwargs)

    def steps(self, step: Callable[[Any], None], optimizer: Any) -> None:
        """An optimizer of ours steps."""
        for watch in self.unseen(optimizer):
            step = partial(watch.steps, step)
        step(optimizer)

    def unseen(self, optimizer: Any) -> Watches:
        """What begins to watch if an optimizer that was never looked at steps."""
        return [] if optimizer in self.known else self._begun(optimizer)

    def _begun(self, *more: Any) -> Watches:
        """What begins to watch the models of the new optimizers, and of some more."""
        optimizers = [*(o for ref in self._new if (o := ref()) is not None), *more]
        self.known.update(optimizers)
        self.forget()
        models = dict.fromkeys(m for o in optimizers for m in models_of(o) if m not in self._models)
        self._models.update(models)
        return [watch for m in models if (watch := self._found(m)) is not None]

    def forget(self) -> None:
        """All optimizers so far are known: calls need not be seen."""
        self._new = []
        for name in self._calls:
            name.remove()
        self._calls = []


def parameters_of(optimizer: Any) -> set[Any]:
    """What it updates; nothing yet of one that is being made."""
    return {p for group in getattr(optimizer, "param_groups", ()) for p in group["params"]}


def models_of(optimizer: Any) -> list[Any]:
    """The outermost modules with parameters of an optimizer."""
    own = parameters_of(optimizer)
    holders = [m for m in _modules() if _has_any(m, own)]
    inside = {part for m in holders for part in m.modules() if part is not m}
    return [m for m in holders if m not in inside]


def _has_any(module: Any, own: set[Any]) -> bool:
    try:
        return any(p in own for p in module.parameters())
    except Exception:  # a module that is being made has none
        return False


def _modules() -> list[Any]:
    names = ("torch.nn", f"{__package__.partition('.')[0]}.twin.nn")
    kinds = tuple(kind for name in names if (kind := getattr(sys.modules.get(name), "Module", None)) is not None)
    return [thing for thing in gc.get_objects() if issubclass(type(thing), kinds)]  # isinstance would ask lazy objects


class LastRun:
    """The last pass: where it began, root and gradient; None if there was none that can be kept."""

    def __init__(self) -> None:
        self.nodes_of: Callable[[Any], Sequence[Any]] = lambda tensor: []  # behind a tensor of PyTorch
        self.forget()

    def forget(self) -> None:
        """A pass begins that cannot be kept."""
        self.begins(None, None, [], lambda nodes: [])

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
        for snapshot in self._then:
            snapshot.restore()
        try:
            yield
        finally:
            for snapshot in now:
                snapshot.restore()


class LeafSnapshot:
    """The values of a leaf, which an optimizer changes in place, and its version."""

    def __init__(self, leaf: Tensor) -> None:
        self._leaf, self._array, self._values, self._counter = leaf, leaf._data, leaf._data.copy(), leaf._shared_counter()
        self._counts = list(self._counter)

    def restore(self) -> None:
        """Restore them."""
        self._leaf._data = self._array
        self._array[...] = self._values
        self._counter[:] = self._counts


def _look(nodes: Sequence[Node]) -> list[Any]:
    leaves = [n.variable for n in nodes if isinstance(n, AccumulateGrad)]
    return [*map(SavedSnapshot, nodes), *map(GradSnapshot, leaves), *map(LeafSnapshot, leaves)]


def _reach(root: Tensor) -> list[Node]:
    seen, stack = dict[Node, None](), [backward_of(root)]
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

    handles = [Replacement(backward, "start", starts)]
    if of_torch:
        from .pytorch.stepping.snapshots import keep_last_pass

        handles.append(keep_last_pass(last))
    try:
        yield last
    finally:
        for handle in handles:
            handle.remove()
