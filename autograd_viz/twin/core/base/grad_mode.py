"""Grad mode: one flag for each thread says whether ops are recorded. Three context managers set it, and restore it."""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeVar, cast

from .kinds import Node

_F = TypeVar("_F", bound=Callable[..., Any])
LAST = sys.maxsize - 1
sequence = iter(range(1, LAST + 1))  # the numbers of backward nodes, in the order of their creation


class Modes:
    """The flags that an op reads before it runs. `State` is the only instance.

    `attentive`: something must see every new node: anomaly mode, saved-tensor hooks, inference mode. `in_rule`: a backward rule
    is being recorded, so a Python number selects PyTorch's overload for numbers.
    """

    __slots__ = ("attentive", "in_rule", "inference")

    def __init__(self) -> None:
        self.attentive = self.in_rule = self.inference = False


class Anomaly:
    """The state of anomaly mode: on or off, checking for nan or not, and the running node, the parent of new nodes."""

    enabled = False
    check_nan = True
    running: Node | None = None


State = Modes()
Hooks = tuple[Callable[[Any], Any], Callable[[Any], Any]] | str  # pack and unpack, or the error of a scope that forbids hooks
saved_hooks: list[Hooks] = []  # on saved tensors, the innermost last


def update() -> None:
    """Set `attentive`, the flag that ops read."""
    State.attentive = bool(saved_hooks) or Anomaly.enabled or State.inference


_recording: ContextVar[bool] = ContextVar("grad mode", default=True)  # a new thread records, as in PyTorch
recording, set_recording = _recording.get, _recording.set


def check_bool(function: str, name: str, value: Any, position: int = 1) -> None:
    """Refuse a value that is not a bool."""
    if not isinstance(value, bool):
        raise TypeError(f"{function}(): argument {name!r} (position {position}) must be bool, not {type(value).__name__}")


def is_grad_enabled() -> bool:
    """True if ops on tensors that require grad are being recorded."""
    return recording()


def decorated(function: Any, mode: Any) -> Any:
    """`function`, run inside `mode`. A generator runs inside `mode` only while its body runs."""
    if isinstance(function, type):
        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or "
            "methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` method "
            "and nothing else.", FutureWarning, stacklevel=3,
        )  # fmt: skip
        return decorated(lambda *args, **kwargs: function(*args, **kwargs), mode)
    if inspect.isgeneratorfunction(function):
        return _decorated_generator(function, mode)

    @functools.wraps(function)
    def in_mode(*args: Any, **kwargs: Any) -> Any:
        with mode:
            return function(*args, **kwargs)

    return in_mode


def _decorated_generator(function: Any, mode: Any) -> Any:
    """The generator runs inside `mode` from each yield to the next."""

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
                except BaseException as error:  # the caller threw it in, and the body may handle it
                    resume = functools.partial(generator.throw, error)
        except StopIteration as end:
            return end.value

    return in_mode


class _Decorator:
    """A mode around a function: ``@mode()``."""

    def __call__(self, function: _F) -> _F:
        return cast(_F, decorated(function, self))


class _GradMode(_Decorator):
    """A context manager and decorator that sets the flag, and restores the old value also after an exception."""

    mode: bool

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        """Decorate at once: ``@no_grad`` without parentheses."""
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


class no_grad(_GradMode):  # noqa: N801 -- PyTorch's name
    """Ops inside are not recorded, so their results do not require grad. Use ``with no_grad():`` or ``@no_grad()``."""

    mode = False


class enable_grad(_GradMode):  # noqa: N801 -- PyTorch's name
    """Record again inside a ``no_grad`` block."""

    mode = True


class set_grad_enabled(_GradMode):  # noqa: N801 -- PyTorch's name
    """Set the mode at once. As a context manager, restore the old mode at the end."""

    def __new__(cls, mode: bool) -> Any:
        """Always with parentheses: the argument is the mode."""
        return object.__new__(cls)

    def __init__(self, mode: bool) -> None:
        super().__init__()
        check_bool("set_grad_enabled", "enabled", mode)
        self.mode, self._before = mode, recording()
        set_recording(self.mode and not State.inference)

    def __call__(self, function: _F) -> _F:
        """``@set_grad_enabled(False)``: as a decorator it restores the mode that the call changed."""
        set_recording(self._before)
        return cast(_F, decorated(function, self))

    def __enter__(self) -> None:
        self._outer.append(self._before)
        set_recording(self.mode and not State.inference)


class set_multithreading_enabled(_Decorator):  # noqa: N801 -- PyTorch's name
    """Whether backward passes may use several threads. It has no effect, because there is one device."""

    enabled = True  # the present setting

    def __init__(self, mode: bool) -> None:
        check_bool("set_multithreading_enabled", "enabled", mode)
        self.mode, self._before = mode, set_multithreading_enabled.enabled
        set_multithreading_enabled.enabled = mode

    def __call__(self, function: _F) -> _F:
        """`function` with this setting. As in PyTorch, the setting also takes effect now."""
        self._before = self.mode
        return cast(_F, decorated(function, self))

    def __enter__(self) -> None:
        set_multithreading_enabled.enabled = self.mode

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        set_multithreading_enabled.enabled = self._before


def is_multithreading_enabled() -> bool:
    """The last argument of `set_multithreading_enabled`."""
    return set_multithreading_enabled.enabled


class inference_mode(_Decorator):  # noqa: N801 -- PyTorch's name
    """Ops inside are not recorded, and tensors made inside can never take part in autograd. False ends it for a block."""

    def __new__(cls, mode: Any = True) -> Any:
        """Decorate at once: ``@inference_mode`` without parentheses."""
        self = object.__new__(cls)
        if not callable(mode):
            return self
        cls.__init__(self)
        return self(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self._outer: list[tuple[bool, bool]] = []

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
