"""Whether ops are recorded: one flag, and three ways to set it that always give it back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ContextDecorator
from types import TracebackType
from typing import Any, TypeVar, cast

_F = TypeVar("_F", bound=Callable[..., Any])


class _State:
    """The one mutable cell; a class attribute is the cheapest thing an op can look up."""

    enabled = True


def is_grad_enabled() -> bool:
    """True if ops on tensors that require grad are being recorded."""
    return _State.enabled


class _GradMode(ContextDecorator):
    """A context manager (and decorator) that sets the flag and puts the old value back, exceptions or not."""

    mode: bool

    def __init__(self) -> None:
        self._outer: list[bool] = []

    def __enter__(self) -> None:
        self._outer.append(_State.enabled)
        _State.enabled = self.mode

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        _State.enabled = self._outer.pop()

    def __call__(self, function: _F) -> _F:
        @functools.wraps(function)
        def in_mode(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return cast(_F, in_mode)


class no_grad(_GradMode):  # noqa: N801 -- PyTorch's name
    """Nothing inside is recorded: results do not require grad. ``with no_grad():`` or ``@no_grad()``."""

    mode = False


class enable_grad(_GradMode):  # noqa: N801 -- PyTorch's name
    """Record again inside a ``no_grad`` block."""

    mode = True


class set_grad_enabled(_GradMode):  # noqa: N801 -- PyTorch's name
    """Set the mode at once, and, used as a context manager, put the old one back at the end."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = bool(mode)
        self._before = _State.enabled
        _State.enabled = self.mode

    def __enter__(self) -> None:
        self._outer.append(self._before)
        _State.enabled = self.mode
