"""Finds the models that a program trains: those whose parameters an optimizer has.

# Note [When a model is found]
An optimizer is noted when it is made. Its models are looked for when a module with one of its parameters is called: by then the
program has wrapped, compiled and moved them. What then begins to watch also sees this call. An optimizer that is made after its
pass is seen at its first step, and so does what begins to watch then.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from ..twin.core.base import events
from .shared.replaced import Replaced

Watches = list[Any]  # things with `calls` and `step_begins` of a `RunWatch`, or of a `CoreRunWatch`


@contextmanager
def each_model(found: Callable[[Any], Any]) -> Iterator[None]:
    """Inside, ``found(model)`` is called before the first pass of each model that an optimizer has, or before its step.

    It gives what watches the model (what `Watches` has), or None. PyTorch is imported for its optimizers, if it is installed.
    """
    optimizers = Optimizers(found)
    undo = [Replaced(events, "making", optimizers.made).undo, Replaced(events, "stepping", optimizers.steps).undo]
    with suppress(ModuleNotFoundError):
        from .pytorch.run.hooks import hooked

        undo.append(hooked(optimizers))
    try:
        yield
    finally:
        optimizers.forget()
        for end in undo:
            end()


class Optimizers:
    """The optimizers of a program, and their models."""

    def __init__(self, found: Callable[[Any], Any]) -> None:
        self._found = found
        self._models: weakref.WeakSet[Any] = weakref.WeakSet()
        self._known: weakref.WeakSet[Any] = weakref.WeakSet()  # optimizers whose models were looked for
        self._new: list[weakref.ref[Any]] = []  # the others, in the order in which they were made
        self._calls: list[Replaced] = []
        self.on_calls: list[Callable[[], Replaced]] = [lambda: Replaced(events, "calling", self.calls)]

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

    def is_unseen(self, optimizer: Any) -> bool:
        """Was it never looked at?"""
        return optimizer not in self._known

    def unseen(self, optimizer: Any) -> Watches:
        """What begins to watch if an optimizer that was never looked at steps."""
        return self._begun(optimizer) if self.is_unseen(optimizer) else []

    def _begun(self, *more: Any) -> Watches:
        """What begins to watch the models of the new optimizers, and of some more."""
        optimizers = [*(o for ref in self._new if (o := ref()) is not None), *more]
        self._known.update(optimizers)
        self.forget()
        models = dict.fromkeys(m for o in optimizers for m in models_of(o) if m not in self._models)
        self._models.update(models)
        return [watch for m in models if (watch := self._found(m)) is not None]

    def forget(self) -> None:
        """All optimizers so far are known: calls need not be seen."""
        self._new = []
        for name in self._calls:
            name.undo()
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
    """All modules of the process, of both libraries."""
    names = ("torch.nn", f"{__package__.partition('.')[0]}.twin.nn")
    kinds = tuple(kind for name in names if (kind := getattr(sys.modules.get(name), "Module", None)) is not None)
    return [thing for thing in gc.get_objects() if issubclass(type(thing), kinds)]  # isinstance would ask lazy objects
