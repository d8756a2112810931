"""Whether ops are recorded: one flag for each thread, and three ways to set it that always give it back."""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from operator import length_hint
from types import TracebackType
from typing import Any, TypeVar, cast

from .kinds import Node

_F = TypeVar("_F", bound=Callable[..., Any])


_LAST = sys.maxsize - 1
sequence = iter(range(1, _LAST + 1))  # the numbers of backward nodes, in the order in which they are made


def latest_sequence() -> int:
    """The number of the node made last: a range, unlike a count, says how much of it is left."""
    return _LAST - length_hint(sequence)


class Modes:
    """What an op looks up before it runs; there is one of these, `State`.

    Attributes:
        attentive: something wants to see every new node: anomaly mode, saved-tensor hooks, inference mode.
        in_rule: a gradient rule is being recorded, in which a plain number means PyTorch's overload for numbers.
    """

    __slots__ = ("attentive", "in_rule", "inference")

    def __init__(self) -> None:
        self.attentive = self.in_rule = self.inference = False


class Anomaly:
    """Anomaly mode: is it on, does it look for nan, and the node that is running (the parent of what it records)."""

    enabled = False
    check_nan = True
    running: Node | None = None


State = Modes()
Hooks = tuple[Callable[[Any], Any], Callable[[Any], Any]] | str  # pack and unpack; a text forbids them
saved_hooks: list[Hooks] = []  # on saved tensors, the innermost last


def update() -> None:
    """Set the flag that ops look at."""
    State.attentive = bool(saved_hooks) or Anomaly.enabled or State.inference


_recording: ContextVar[bool] = ContextVar("grad mode", default=True)  # a new thread records, as in PyTorch
recording, set_recording = _recording.get, _recording.set


def check_bool(function: str, name: str, value: Any, position: int = 1) -> None:
    """Refuse what is not True or False.

    Raises:
        TypeError: in PyTorch's words.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{function}(): argument {name!r} (position {position}) must be bool, not {type(value).__name__}")


def is_grad_enabled() -> bool:
    """True if ops on tensors that require grad are being recorded."""
    return recording()


def decorated(function: Any, mode: Any) -> Any:
    """`function` run inside `mode`; a generator's body is inside, but what runs between its values is not."""
    if isinstance(function, type):
        made = function
        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or "
            "methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` method "
            "and nothing else.",
            FutureWarning,
            stacklevel=3,
        )
        return decorated(lambda *args, **kwargs: made(*args, **kwargs), mode)
    if inspect.isgeneratorfunction(function):
        return _decorated_generator(function, mode)

    @functools.wraps(function)
    def in_mode(*args: Any, **kwargs: Any) -> Any:
        with mode:
            return function(*args, **kwargs)

    return in_mode


def _decorated_generator(function: Any, mode: Any) -> Any:
    """Every stretch from one yield to the next runs inside `mode`."""

    @functools.wraps(function)
    def in_mode(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        resume: Callable[[], Any] = functools.partial(next, generator)
        try:
            while True:
                with mode:
                    value = resume()
                try:
                    resume = functools.partial(generator.send, (yield value))
                except GeneratorExit:
                    with mode:
                        generator.close()
                    raise
                except BaseException as error:  # thrown in by the caller: the body's own to handle
                    resume = functools.partial(generator.throw, error)
        except StopIteration as end:
            return end.value

    return in_mode


class _GradMode:
    """A context manager (and decorator) that sets the flag and puts the old value back, exceptions or not."""

    mode: bool

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        """``@no_grad`` without parentheses decorates at once."""
        self = object.__new__(cls)
        self._outer = []
        return self if function is None else self(function)

    def __init__(self) -> None:
        self._outer: list[bool] = []

    def __enter__(self) -> None:
        self._outer.append(recording())
        set_recording(self.mode and not State.inference)  # inference mode is stronger

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        set_recording(self._outer.pop())

    def __call__(self, function: _F) -> _F:
        """`function` in this mode."""
        return cast(_F, decorated(function, self))


class no_grad(_GradMode):  # noqa: N801 -- PyTorch's name
    """Nothing inside is recorded: results do not require grad. ``with no_grad():`` or ``@no_grad()``."""

    mode = False


class enable_grad(_GradMode):  # noqa: N801 -- PyTorch's name
    """Record again inside a ``no_grad`` block."""

    mode = True


class set_grad_enabled(_GradMode):  # noqa: N801 -- PyTorch's name
    """Set the mode at once, and, used as a context manager, put the old one back at the end."""

    def __new__(cls, mode: bool) -> Any:
        """Unlike the others, never without parentheses."""
        return object.__new__(cls)

    def __init__(self, mode: bool) -> None:
        super().__init__()
        check_bool("set_grad_enabled", "enabled", mode)
        self.mode = mode
        self._before = recording()
        set_recording(self.mode and not State.inference)

    def __call__(self, function: _F) -> _F:
        """``@set_grad_enabled(False)``: it was a decorator, so the mode is not changed here."""
        set_recording(self._before)
        return cast(_F, decorated(function, self))

    def __enter__(self) -> None:
        self._outer.append(self._before)
        set_recording(self.mode and not State.inference)


class set_multithreading_enabled:  # noqa: N801 -- PyTorch's name
    """Whether several devices may work at a pass at once; there is one here, so nothing depends on it."""

    enabled = True  # now

    def __init__(self, mode: bool) -> None:
        check_bool("set_multithreading_enabled", "enabled", mode)
        self.mode, self._before = mode, set_multithreading_enabled.enabled
        set_multithreading_enabled.enabled = mode

    def __call__(self, function: _F) -> _F:
        """`function` with this setting, which holds here too, as in PyTorch."""
        self._before = self.mode
        return cast(_F, decorated(function, self))

    def __enter__(self) -> None:
        set_multithreading_enabled.enabled = self.mode

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        set_multithreading_enabled.enabled = self._before


def is_multithreading_enabled() -> bool:
    """What `set_multithreading_enabled` was given last."""
    return set_multithreading_enabled.enabled


class inference_mode:  # noqa: N801 -- PyTorch's name
    """Nothing inside is recorded, and what is made inside never takes part in autograd afterwards.

    Args:
        mode: False for an island of normal mode inside.
    """

    def __new__(cls, mode: Any = True) -> Any:
        """``@inference_mode`` without parentheses decorates at once."""
        self = object.__new__(cls)
        if not callable(mode):
            return self
        cls.__init__(self)
        return self(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self._outer: list[tuple[bool, bool]] = []

    def __call__(self, function: _F) -> _F:
        """`function` in this mode."""
        return cast(_F, decorated(function, self))

    def __enter__(self) -> None:
        self._outer.append((recording(), State.inference))
        State.inference = bool(self.mode)
        set_recording(not self.mode)
        update()

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        before, State.inference = self._outer.pop()
        set_recording(before)
        update()


def is_inference_mode_enabled() -> bool:
    """True inside `inference_mode`."""
    return State.inference
