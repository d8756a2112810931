"""What the calls on the stack belong to: the user's code, a module, a checkpoint, or a user's Function.

# Note [Where modules are seen]
The call of a module is a frame on the stack. Hooks would disturb the user: they slow down every module, and compiled modules
warn of them.

# Note [Where Functions are seen]
`Function.apply` is a frame too, up to PyTorch 2.13. From 2.14 on it is compiled: it has a frame only inside `torch.func`. The
other calls are found by the frame of the Function's own `forward`, which is known by its code.
"""

from __future__ import annotations

import functools
import inspect
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
CALLS = {APPLY.co_name, "forward", CHECKPOINT.co_name}
_names: Alive[str] = Alive()  # by the code of a function named forward


class Around(NamedTuple):
    """Something around an op.

    Attributes:
        kind: "module", "scope", "checkpoint"; "function" for the outermost call of a user's Function.
        name: the full path of a module; the name of a scope.
        line: where the user's code called the module, by a number (`Parts`); 0 if a library called it.
    """

    kind: str
    name: str = ""
    line: int = 0


_checkpoint, _function = Around("checkpoint"), Around("function")


def calls_around(
    frame: FrameType | None, module_of: Callable[[FrameType], Around | None]
) -> tuple[FrameType | None, FrameType | None, tuple[Around, ...]]:
    """The calls around a frame, and the frame's own.

    Args:
        frame: the innermost.
        module_of: the frame of a module's call -> the module, if it has a path.

    Returns:
        the innermost frame of the user's code, around the Function if there is one.
        the outermost call of a user's Function.
        modules and the rest, from the innermost.
    """
    users = function = None
    around: list[Around] = []
    while frame is not None:
        code = frame.f_code
        if code.co_name in CALLS and _is_function(code):
            function, users = frame, None
            around.append(_function)
        elif code is MODULE_CALL:
            module = module_of(frame)
            if module is not None:
                around.append(module)
        elif code is CHECKPOINT:
            around.append(_checkpoint)
        elif users is None and is_users(code.co_filename):
            users = frame
        if open_scopes:
            around += [Around("scope", s.name or "") for s in reversed(open_scopes) if s.frame is frame]
        frame = frame.f_back
    return users, function, tuple(around)


@functools.cache  # every op asks
def is_users(file: str) -> bool:
    """Is a file the user's code?"""
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
