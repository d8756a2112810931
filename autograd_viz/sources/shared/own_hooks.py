"""The hooks that a watched run puts on nodes and tensors of the user's. Nothing tells of them: they are not the program's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def own_hook(hook: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a hook as ours."""
    vars(hook)["is_watch"] = True
    return hook


class Followed:
    """A function of the user's, after which something of ours runs. All else is asked of the function: its name, attributes,
    and class.
    """

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


def closure_followed(args: tuple[Any, ...], options: dict[str, Any], then: Callable[[], object]) -> Any:
    """The arguments of an optimizer's step, with a closure after which something of ours runs; None if there is no closure."""
    closure = args[1] if len(args) > 1 else options.get("closure")
    if not callable(closure):
        return None
    closure = Followed(closure, then)
    return ((args[0], closure, *args[2:]), options) if len(args) > 1 else (args, {**options, "closure": closure})


def is_own_hook(hook: Any) -> bool:
    """Is it ours?"""
    return getattr(hook, "is_watch", False) is True
