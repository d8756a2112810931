"""The user's line that has called PyTorch."""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType

import torch

from ....twin.core.base.provenance import PACKAGE
from ..reading.op_pages import Line

TORCH = os.path.dirname(torch.__file__) + os.sep
PYTHON = os.path.dirname(os.__file__) + os.sep
WRAPPERS = ("_no_grad_wrapper", "decorate_context", "wrapper", "inner", "__torch_function__", "handle_torch_function", "_fn")
_HERE = os.path.dirname(os.path.abspath(__file__))
RECORDER = (_HERE + os.sep, os.path.join(os.path.dirname(_HERE), "reading", "call_place.py"))
getframe = sys._getframe


class _Library(dict[str, bool]):
    """By file: is its code a library's? Each file is checked once."""

    def __missing__(self, file: str) -> bool:
        is_python = file.startswith(PYTHON) and "site-packages" not in file
        found = self[file] = is_python or file.startswith(
            (TORCH, PACKAGE, "<frozen", "<string>", "<autograd_viz", "<eval_with")
        )
        return found


library = _Library()


def users_line() -> Line:
    """The user's innermost instruction; the outermost one if all code is a library's."""
    frame = getframe(1)
    while library[frame.f_code.co_filename] and frame.f_back is not None:
        frame = frame.f_back
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
