"""Finds the models that a program trains: those whose parameters an optimizer steps."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from ..core.base import happened
from .replaced import Replaced


@contextmanager
def each_trained(found: Callable[[Any], None]) -> Iterator[None]:
    """Inside the block, ``found(model)`` is called before an optimizer's first step, for each model that it trains.

    PyTorch's optimizers are seen if it is installed; it is imported for that.
    """
    seen: weakref.WeakSet[Any] = weakref.WeakSet()

    def look(optimizer: Any, *_: Any) -> None:
        if optimizer not in seen:
            seen.add(optimizer)
            for model in models_of(optimizer):
                if model not in seen:
                    seen.add(model)
                    found(model)

    def stepping(step: Callable[[Any], None], optimizer: Any) -> None:
        look(optimizer)
        step(optimizer)

    ours = Replaced(happened, "stepping", stepping)
    hook = None
    with suppress(ModuleNotFoundError):
        hook = import_module("torch.optim.optimizer").register_optimizer_step_pre_hook(look)
    try:
        yield
    finally:
        ours.undo()
        if hook is not None:
            hook.remove()


def models_of(optimizer: Any) -> list[Any]:
    """The outermost modules with parameters of an optimizer."""
    own = {p for group in optimizer.param_groups for p in group["params"]}
    holders = [m for m in _modules() if any(p in own for p in m.parameters())]
    inside = {part for m in holders for part in m.modules() if part is not m}
    return [m for m in holders if m not in inside]


def _modules() -> list[Any]:
    """All modules of the process, of both libraries."""
    kinds = tuple(k for name in ("torch.nn", f"{__package__.partition('.')[0]}.nn") if (k := _module_class(name)) is not None)
    return [thing for thing in gc.get_objects() if issubclass(type(thing), kinds)]  # isinstance would ask lazy objects


def _module_class(package: str) -> Any:
    return getattr(sys.modules.get(package), "Module", None)
