"""What the calls on the stack belong to: the user's code, a module, a checkpoint, or a user's Function.

# Note [Where modules are seen]
The call of a module is a frame on the stack. Hooks would disturb the user: they slow down every module, and compiled modules
warn of them.

# Note [Where the user's functions are seen]
They are frames too, from the one in which the recording began inwards, or from a program's outermost one. What leads from the call of a module to its `forward` is
the module's. A frame is kept until the next op: so a function that is called twice is seen twice.

# Note [Where Functions are seen]
`Function.apply` is a frame too, up to PyTorch 2.13. From 2.14 on it is compiled: it has a frame only inside `torch.func`. The
other calls are found by the frame of the Function's own `forward`, which is known by its code.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import os
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch
import torch.utils.checkpoint

from ...core.base.provenance import PACKAGE
from ...core.base.scopes import open_scopes
from ...runtime.alive import Alive

TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
MODULE_CALL = torch.nn.Module._call_impl.__code__
_apply = getattr(torch.autograd.Function.apply, "__func__", None) or torch.autograd.function._call_custom_function_call  # type: ignore[attr-defined]
APPLY = _apply.__code__
CHECKPOINT = inspect.unwrap(torch.utils.checkpoint.checkpoint).__code__
PYTHON = os.path.dirname(os.__file__) + os.sep
CALLS = {APPLY.co_name, "forward", CHECKPOINT.co_name}
_numbers = itertools.count(1)
_names: Alive[str] = Alive()  # by the code of a function named forward


class Around(NamedTuple):
    """Something around an op.

    Attributes:
        kind: "module", "scope", "checkpoint"; "call" of a function of the user's; "function": the outermost of a Function.
        name: the full path of a module; the name of a scope or function.
        number: tells the calls of a function apart.
    """

    kind: str
    name: str = ""
    number: int = 0


_checkpoint, _function = Around("checkpoint"), Around("function")


class Running:
    """The calls of the user's functions that are running.

    Args:
        frame: it and what is around it are no part of the program that is recorded.
        knows_modules: the modules of the program have paths. If not, the functions that they call have no place.
    """

    def __init__(self, frame: FrameType | None = None, knows_modules: bool = True) -> None:
        self._outside, self._knows_modules = set[FrameType](), knows_modules
        self._calls, self._now = dict[FrameType, Around](), dict[FrameType, Around]()
        while frame is not None:
            self._outside.add(frame)
            frame = frame.f_back

    def is_outside(self, frame: FrameType) -> bool:
        """Did it run before the recording?"""
        return frame in self._outside

    def call(self, frame: FrameType) -> Around | None:
        """The call that a frame is; None if its function has no name of the program's own."""
        found = self._calls.get(frame)
        if found is None:
            code = frame.f_code
            if code.co_name[0] == "<" or (code.co_filename.startswith(PYTHON) and "site-packages" not in code.co_filename):
                return None
            name = code.co_name if code.co_name != "__call__" else code.co_qualname.split(".")[-2:][0]
            found = Around("call", name, next(_numbers))
        self._now[frame] = found
        return found

    def called_module(self, around: list[Around], start: int) -> None:
        """Forget the calls by which a module gets to its `forward`: from `start` on, all are around what is around an op."""
        calls = [k for k in range(start, len(around)) if around[k].kind == "call"]
        if self._knows_modules:
            forward = next((k for k in reversed(calls) if around[k].name == "forward"), calls[-1] if calls else start)
            calls = [k for k in calls if k >= forward]
        for k in reversed(calls):
            del around[k]

    def seen(self) -> None:
        """All calls around an op are known: the others have ended."""
        self._calls, self._now = self._now, {}


def calls_around(
    frame: FrameType | None, module_of: Callable[[FrameType], Around | None], running: Running
) -> tuple[FrameType | None, FrameType | None, tuple[Around, ...]]:
    """The calls around a frame, and the frame's own.

    Args:
        frame: the innermost.
        module_of: the frame of a module's call -> the module, if it has a path.
        running: the calls of functions around the op before; then those around this one.

    Returns:
        the innermost frame of the user's code, around the Function if there is one.
        the outermost call of a user's Function.
        modules and the rest, from the innermost.
    """
    users = function = None
    around: list[Around] = []
    inner, is_inside = 0, True  # how many are in the latest module; since the recording began
    while frame is not None:
        code, call = frame.f_code, None
        if code.co_name in CALLS and _is_function(code):
            function, users = frame, None
            around.append(_function)
        elif code is MODULE_CALL:
            running.called_module(around, inner)
            if (module := module_of(frame)) is not None:
                around.append(module)
            inner = len(around)
        elif code is CHECKPOINT:
            around.append(_checkpoint)
        elif _is_users(code.co_filename):
            users = users or frame
            is_inside = is_inside and code.co_name != "<module>" and not running.is_outside(frame)
            call = running.call(frame) if is_inside else None
        if open_scopes:
            around += [Around("scope", s.name or "") for s in reversed(open_scopes) if s.frame is frame]
        if call is not None:
            around.append(call)
        frame = frame.f_back
    running.seen()
    return users, function, tuple(around)


@functools.cache  # every op asks
def _is_users(file: str) -> bool:
    return not file.startswith((TORCH, PACKAGE))


def _is_function(code: CodeType) -> bool:
    return code is APPLY or (code.co_name == "forward" and bool(function_name(code)))


def function_and_arguments(frame: FrameType) -> tuple[str, list[Any]]:
    """The name of the Function that a frame calls, and the arguments."""
    if frame.f_code is APPLY:
        return getattr(frame.f_locals.get("cls"), "__name__", "Function"), list(frame.f_locals.get("args", ()))
    names, more, _, values = inspect.getargvalues(frame)
    given = [values[name] for name in names if name in values]
    return function_name(frame.f_code), [*given, *(values.get(more, ()) if more else ())]


def function_name(code: CodeType) -> str:
    """The name of the Function whose `forward` has this code; "" if there is none."""
    name = _names.get(code)
    if name is None:
        name = _names[code] = next((f.__name__ for f in _functions() if _code_of_forward(f) is code), "")
    return name


def _functions() -> Iterator[type]:
    """The classes of all Functions."""
    todo: list[type] = [torch.autograd.Function]
    while todo:
        found = todo.pop()
        yield found
        todo += found.__subclasses__()


def _code_of_forward(function: Any) -> CodeType | None:
    return getattr(inspect.unwrap(function.forward), "__code__", None)
