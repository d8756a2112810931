"""Hooks around the step of an optimizer."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from ..core.backward.hooks import RemovableHandle, register

Hooks = dict[int, Callable[..., Any]]
for_all: defaultdict[str, Hooks] = defaultdict(dict)  # by their kind: the hooks of all optimizers


def with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """A `step` between its hooks. It also counts the steps, for learning rate schedules."""

    @functools.wraps(step)
    def hooked(*args: Any, **kwargs: Any) -> Any:
        optimizer, own = args[0], args[0]._hooks
        for hook in [*for_all["step_pre"].values(), *own["step_pre"].values()]:
            changed = hook(optimizer, args, kwargs)
            if changed is not None and not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
            args, kwargs = changed or (args, kwargs)
        result = step(*args, **kwargs)
        optimizer._steps += 1
        for hook in [*own["step_post"].values(), *for_all["step_post"].values()]:
            hook(optimizer, args, kwargs)
        return result

    return hooked


class Hooked:
    """The part of Optimizer that registers hooks."""

    _steps = 0

    def __init__(self) -> None:
        self._hooks: defaultdict[str, Hooks] = defaultdict(dict)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "step" in vars(cls):
            cls.step = with_hooks(vars(cls)["step"])  # type: ignore[attr-defined]

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step. Its result replaces the arguments."""
        return register(self._hooks["step_pre"], hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return register(self._hooks["step_post"], hook)


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before each step of any optimizer. Its result replaces the arguments."""
    return register(for_all["step_pre"], hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of any optimizer."""
    return register(for_all["step_post"], hook)
