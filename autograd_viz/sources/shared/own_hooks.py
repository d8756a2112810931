"""The hooks that a watched run puts on nodes and tensors of the user's. Nothing tells of them: they are not the program's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def own_hook(hook: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a hook as ours."""
    vars(hook)["is_watch"] = True
    return hook


def followed(function: Callable[..., Any], then: Callable[[], object]) -> Callable[..., Any]:
    """A function of the user's, after which something of ours runs. It keeps its name, its attributes and its arguments."""

    @functools.wraps(function)
    def both(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        then()
        return result

    return both


def closure_followed(args: tuple[Any, ...], options: dict[str, Any], then: Callable[[], object]) -> Any:
    """The arguments of an optimizer's step, with a closure after which something of ours runs; None if there is no closure."""
    closure = args[1] if len(args) > 1 else options.get("closure")
    if not callable(closure):
        return None
    closure = followed(closure, then)
    return ((args[0], closure, *args[2:]), options) if len(args) > 1 else (args, {**options, "closure": closure})


def is_own_hook(hook: Any) -> bool:
    """Is it ours?"""
    return getattr(hook, "is_watch", False) is True
