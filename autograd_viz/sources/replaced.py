"""A name that has another value for a while."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


class Replaced:
    """A function that runs inside another one until `undo`. It stays, if somebody else has replaced it since.

    Args:
        owner: the module or class that has it.
        name: its name.
        around: called with the function and its arguments.
    """

    def __init__(self, owner: Any, name: str, around: Callable[..., Any]) -> None:
        self._owner, self._name, self._is_on = owner, name, True
        self._own = name in vars(owner)
        before = self._before = getattr(owner, name)

        @functools.wraps(before, updated=())
        def now(*args: Any, **kwargs: Any) -> Any:
            return around(before, *args, **kwargs) if self._is_on else before(*args, **kwargs)

        self._now = now
        setattr(owner, name, now)

    def pause(self) -> None:
        """The function runs alone."""
        self._is_on = False

    def go_on(self) -> None:
        """After `pause`."""
        self._is_on = True

    def undo(self) -> None:
        """The value that it had."""
        self._is_on = False
        if vars(self._owner).get(self._name) is not self._now:
            return
        if self._own:
            setattr(self._owner, self._name, self._before)
        else:
            delattr(self._owner, self._name)
