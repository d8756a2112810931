"""Calls a function at the place of a caller, so that a warning has the file and line that it has without the recorder.

# Note [Where a warning is]
Python and PyTorch name the frame that called the op, and look for filters and earlier warnings in its module. With the
recorder, its frame would be there. So a small function with the caller's file, line and module stands between. `nn.Softmax`
blames a frame farther out, and counts the frames up to it. Ours, and PyTorch's that lead to us, are added.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import Any

from torch.overrides import handle_torch_function

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
