"""The user's line that has called PyTorch; and calls at its place, so that a warning has the file and line as without us.

# Note [Where a warning is]
Python and PyTorch name the frame that called the op, and look for filters and earlier warnings in its module. With the
recorder, its frame would be there. So a small function with the caller's file, line and module stands between. `nn.Softmax`
blames a frame farther out, and counts the frames up to it. Ours, and PyTorch's that lead to us, are added.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import Any

import torch
from torch.overrides import handle_torch_function

from ....twin.core.base.provenance import PACKAGE
from .op_pages import Line

Call = Callable[[Any, Any, Any], Any]
PLACES = 10_000  # that are known
NAME = "<op>"  # of such a function: it is nobody's code

CALLER, OURS = 3, 4  # the level of the caller; frames between: `<op>`, `__torch_function__`, and two of PyTorch's

_CALL = (lambda func, args, kwargs: func(*args, **kwargs) if kwargs else func(*args)).__code__
_HANDLER = handle_torch_function.__code__  # between a function and the recorder; what called the function counts
places: dict[tuple[str, int], tuple[CodeType, Call]] = {}


def call_at(frame: FrameType) -> Call:
    """What calls a function at the place where a frame is now."""
    code = frame.f_code
    if code is _HANDLER and frame.f_back is not None and frame.f_back.f_back is not None:
        frame = frame.f_back.f_back
        code = frame.f_code
    known = places.get((code.co_filename, frame.f_lasti))
    return known[1] if known is not None and known[0] is code else _made(frame)


def _made(frame: FrameType) -> Call:
    code, names = frame.f_code, frame.f_globals
    there = _CALL.replace(co_filename=code.co_filename, co_firstlineno=frame.f_lineno, co_name=NAME)
    made = FunctionType(there, names)
    module = sys.modules.get(names.get("__name__", ""))
    if module is not None and vars(module) is names and len(places) < PLACES:  # other names may hold what must not stay alive
        places[code.co_filename, frame.f_lasti] = code, made
    return made


def deeper(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a function that counts frames: beyond its caller, ours are between."""
    level = options["_stacklevel"]
    return {**options, "_stacklevel": level + OURS if level > CALLER else level}


def hide_call(error: BaseException) -> None:
    """Take the call out of the traceback of an error that it raised."""
    trace = error.__traceback__
    error.__traceback__ = trace.tb_next.tb_next if trace is not None and trace.tb_next is not None else None


TORCH = os.path.dirname(torch.__file__) + os.sep
PYTHON = os.path.dirname(os.__file__) + os.sep
LIBRARIES = (TORCH, PACKAGE, "<frozen", "<string>", "<autograd_viz", "<eval_with")
WRAPPERS = ("_no_grad_wrapper", "decorate_context", "wrapper", "inner", "__torch_function__", "handle_torch_function", "_fn")
_FILE = os.path.abspath(__file__)
RECORDER = (_FILE, os.path.join(os.path.dirname(os.path.dirname(_FILE)), "recording", ""))
getframe = sys._getframe


class _Library(dict[str, bool]):
    """By file: is its code a library's? Each file is checked once."""

    def __missing__(self, file: str) -> bool:
        self[file] = found = file.startswith(LIBRARIES) or (file.startswith(PYTHON) and "site-packages" not in file)
        return found


library = _Library()


def users_frame() -> FrameType:
    """The user's innermost frame; the outermost one if all code is a library's."""
    frame = getframe(1)
    while library[frame.f_code.co_filename] and frame.f_back is not None:
        frame = frame.f_back
    return frame


def users_line() -> Line:
    """The instruction of that frame."""
    frame = users_frame()
    return frame.f_code, frame.f_lasti


def only_wraps(code: CodeType) -> bool:
    """Does a function only pass on a call of the user's? So does what a watched run has put in its place."""
    return code.co_name in WRAPPERS or code.co_filename.startswith(PACKAGE)


def caller() -> FrameType:
    """The innermost frame outside the recorder."""
    frame = getframe(1)
    while frame.f_code.co_filename.startswith(RECORDER) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def called_by_user() -> str:
    """The library's function that the user's line has called: "clip_grad_norm_"."""
    frame, name = caller(), ""
    while frame.f_back is not None and library[frame.f_code.co_filename]:
        name = name if only_wraps(frame.f_code) else frame.f_code.co_name
        frame = frame.f_back
    return name
