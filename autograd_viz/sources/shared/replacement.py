"""What runs beside the user's program: names that are replaced for a while, and hooks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...graph.model import Value
from ...graph.trace import HookRun


class Replacement:
    """A function that runs inside another one until `remove`. Several can be there, and go in any order. `around` is called
    with the function and its arguments. While `is_on` is False, the function runs alone.
    """

    def __init__(self, owner: Any, name: str, around: Callable[..., Any]) -> None:
        self._owner, self._name, self.is_on = owner, name, True
        self._own = vars(owner).get(name)
        self._before = getattr(owner, name)
        self._now = functools.wraps(self._before, updated=())(self._inside(around))
        vars(self._now)["replaced"] = self
        setattr(owner, name, staticmethod(self._now) if isinstance(self._own, staticmethod) else self._now)

    def _inside(self, around: Callable[..., Any]) -> Callable[..., Any]:  # in `__init__` it would stop torch.compile
        def now(*args: Any, **kwargs: Any) -> Any:
            return around(self._before, *args, **kwargs) if self.is_on else self._before(*args, **kwargs)

        return now

    def remove(self) -> None:
        """Take it out. Below a stranger's it stays, and the function runs alone."""
        if self._now is self._before:
            return
        self.is_on = False
        upper, function = None, getattr(self._owner, self._name, None)
        while function is not self._now and (below := getattr(function, "replaced", None)) is not None:
            upper, function = below, below._before
        if function is not self._now:
            return
        if upper is not None:
            upper._before, upper._own = self._before, self._own
            vars(upper._now)["__wrapped__"] = self._before
        elif self._own is not None:
            setattr(self._owner, self._name, self._own)
        else:
            delattr(self._owner, self._name)
        self._now = self._before  # what ran around it goes at once, without the collector


def own_hook(hook: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a hook as ours."""
    vars(hook)["is_watch"] = True
    return hook


class FunctionProxy:
    """A function of the user's, after which something of ours runs. Its name, attributes and class are the function's."""

    def __init__(self, function: Callable[..., Any], then: Callable[[], object]) -> None:
        object.__setattr__(self, "_function", function)
        object.__setattr__(self, "_then", then)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run both; returns what the function returns."""
        result = self._function(*args, **kwargs)
        self._then()
        return result

    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__(self, "__dict__")
        return own[name] if name in own else getattr(own["_function"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._function, name, value)


def closure_proxy(args: tuple[Any, ...], options: dict[str, Any], then: Callable[[], object]) -> Any:
    """The arguments of an optimizer's step, with a closure after which something of ours runs; None if there is no closure."""
    closure = args[1] if len(args) > 1 else options.get("closure")
    if not callable(closure):
        return None
    closure = FunctionProxy(closure, then)
    return ((args[0], closure, *args[2:]), options) if len(args) > 1 else (args, {**options, "closure": closure})


def is_own_hook(hook: Any) -> bool:
    """Is it ours?"""
    return getattr(hook, "is_watch", False) is True


def name_of_hook(hook: object) -> str:
    """The user's name of the function."""
    return str(getattr(hook, "__name__", type(hook).__name__))


def runs_of(kind: str, hook: Any, before: Sequence[Value | None], after: Sequence[Value | None]) -> list[HookRun]:
    """A hook got several gradients: what it made of each that it changed, or else of the first. Nothing, if it is ours."""
    if is_own_hook(hook):
        return []
    pairs = list(enumerate(zip(before, after, strict=True)))
    changed = [(i, pair) for i, pair in pairs if repr(pair[0]) != repr(pair[1])]  # nan equals nan
    there = [(i, pair) for i, pair in pairs if pair[0] is not None]
    return [HookRun(kind, name_of_hook(hook), b, a, i) for i, (b, a) in changed or there[:1] or pairs[:1]]
