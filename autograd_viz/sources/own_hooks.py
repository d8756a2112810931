"""The hooks that a watched run puts on nodes and tensors of the user's. Nothing tells of them: they are not the program's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def own_hook(hook: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a hook as ours."""
    vars(hook)["is_watch"] = True
    return hook


def is_own_hook(hook: Any) -> bool:
    """Is it ours?"""
    return getattr(hook, "is_watch", False) is True
