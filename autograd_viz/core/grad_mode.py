"""Whether ops are recorded: one flag, and three ways to set it that always give it back."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from contextlib import ContextDecorator
from types import TracebackType
from typing import Any, TypeVar, cast

_F = TypeVar("_F", bound=Callable[..., Any])


sequence = itertools.count(1)  # the numbers of backward nodes, in the order in which they are made


def latest_sequence() -> int:
    """The number of the node made last."""
    arguments: Any = sequence.__reduce__()[1]  # a count can be looked at only this way
    return int(arguments[0]) - 1


class Modes:
    """What an op looks up before it runs; there is one of these, `State`.

    Attributes:
        enabled: ops are recorded.
        attentive: something wants to see every new node: anomaly mode, saved-tensor hooks, inference mode.
        in_rule: a gradient rule is being recorded, in which a plain number means PyTorch's overload for numbers.
    """

    __slots__ = ("attentive", "enabled", "in_rule", "inference")

    def __init__(self) -> None:
        self.enabled = True
        self.attentive = self.in_rule = self.inference = False


State = Modes()


def is_grad_enabled() -> bool:
    """True if ops on tensors that require grad are being recorded."""
    return State.enabled


class _GradMode(ContextDecorator):
    """A context manager (and decorator) that sets the flag and puts the old value back, exceptions or not."""

    mode: bool

    def __init__(self) -> None:
        self._outer: list[bool] = []

    def __enter__(self) -> None:
        self._outer.append(State.enabled)
        State.enabled = self.mode

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        State.enabled = self._outer.pop()

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
        self._before = State.enabled
        State.enabled = self.mode

    def __enter__(self) -> None:
        self._outer.append(self._before)
        State.enabled = self.mode


class inference_mode(ContextDecorator):  # noqa: N801 -- PyTorch's name
    """Nothing inside is recorded, and what is made inside never takes part in autograd afterwards.

    Args:
        mode: False for an island of normal mode inside.
    """

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self._outer: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        from .attention import update

        self._outer.append((State.enabled, State.inference))
        State.inference = bool(self.mode)
        State.enabled = not self.mode
        update()

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        from .attention import update

        State.enabled, State.inference = self._outer.pop()
        update()


def is_inference_mode_enabled() -> bool:
    """True inside `inference_mode`."""
    return State.inference
