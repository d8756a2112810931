"""Where an error of a backward pass came from."""

from __future__ import annotations

import os
import sys
from types import FrameType, TracebackType
from typing import Any, NamedTuple

from ..core.backward import as_tuple
from ..core.node import Node
from ..core.provenance import PACKAGE
from .anything import is_drawable


class Where(NamedTuple):
    """A frame of the user's, and the instruction at which it was."""

    frame: FrameType
    lasti: int


def users_frame(traceback: TracebackType | None, otherwise: FrameType) -> tuple[Where, Any]:
    """Where an error left the user's code for the last time, and the tensor on which backward() was called there, if any."""
    where, root = Where(otherwise, otherwise.f_lasti), None
    while traceback is not None:
        frame = traceback.tb_frame
        if not frame.f_code.co_filename.startswith(_libraries()):
            where, root = Where(frame, traceback.tb_lasti), None
        elif root is None and frame.f_code.co_name in ("backward", "grad"):
            given = next((frame.f_locals[n] for n in ("self", "tensors", "outputs") if n in frame.f_locals), None)
            candidates = (given,) if is_drawable(given) else as_tuple(given)
            root = next((t for t in candidates if is_drawable(t)), None)
        traceback = traceback.tb_next
    return where, root


def _libraries() -> tuple[str, ...]:
    """What the names of files that are not the user's begin with."""
    torch = sys.modules.get("torch")
    own = (PACKAGE, "<autograd_viz")
    return own if torch is None or not torch.__file__ else (*own, os.path.dirname(os.path.abspath(torch.__file__)) + os.sep)


def failing_node(traceback: TracebackType | None) -> Node | None:
    """The node of the core's that was running when the error was raised."""
    found = None
    while traceback is not None:
        frame = traceback.tb_frame
        node = next((frame.f_locals[n] for n in ("node", "self") if isinstance(frame.f_locals.get(n), Node)), None)
        if frame.f_code.co_filename.startswith((PACKAGE, "<autograd_viz")) and node is not None:
            found = node
        traceback = traceback.tb_next
    return found
