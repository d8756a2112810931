"""Where an error of a backward pass came from."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from types import FrameType, TracebackType
from typing import Any, NamedTuple

from ..runtime.pytorch import pytorch
from ..twin.core.backward.node import Node
from ..twin.core.base.provenance import PACKAGE
from .anything import is_drawable
from .shared.names import INSIDE, visible_names

PYTHON = os.path.dirname(os.path.abspath(os.__file__)) + os.sep


class Where(NamedTuple):
    """A frame of the user's, its instruction, and the arguments of its call."""

    frame: FrameType  # the frame
    lasti: int  # the instruction
    outer: Mapping[str, Any] = {}  # the variables of the function around it, if it is a comprehension
    roots: tuple[Any, ...] = ()  # the arguments of backward() or grad(), if it was called there
    wanted: tuple[Any, ...] = ()  # the tensors of an optimizer, or those whose gradients grad() computes


def place_of_error(traceback: TracebackType | None, otherwise: FrameType) -> Where:
    """The last place in the user's code that the error went through."""
    where = Where(otherwise, otherwise.f_lasti)
    while traceback is not None:
        frame, called = traceback.tb_frame, traceback.tb_frame.f_code.co_name
        if not is_library(frame.f_code.co_filename):
            is_inside = frame.f_code.co_name in INSIDE and where.frame.f_code.co_filename == frame.f_code.co_filename
            where = Where(frame, traceback.tb_lasti, visible_names(where.frame) if is_inside else {})
        elif not where.roots and called in ("backward", "grad"):
            wanted = _tensors(frame, ("inputs",)) if called == "grad" else ()
            where = where._replace(roots=_tensors(frame, ("self", "tensors", "outputs")), wanted=wanted)
        elif called == "add_param_group":
            where = where._replace(wanted=_tensors(frame, ("param", "p")))
        traceback = traceback.tb_next
    return where


def ran_before(traceback: TracebackType | None) -> Any:
    """The last tensor with a graph that the frames of an error hold, the innermost frame first; None if nothing ran."""
    found = None
    while traceback is not None:
        there = [v for v in traceback.tb_frame.f_locals.values() if is_drawable(v) and v.grad_fn is not None]
        found, traceback = (there or [found])[-1], traceback.tb_next
    return found


def users_names() -> dict[str, Any]:
    """The variables of the user's innermost code."""
    frame = sys._getframe(1)
    while is_library(frame.f_code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
    return visible_names(frame)


def _tensors(frame: FrameType, names: tuple[str, ...]) -> tuple[Any, ...]:
    """The tensors in a frame, under the first of the names that it has."""
    given = next((frame.f_locals[n] for n in names if n in frame.f_locals), None)
    several = (given,) if is_drawable(given) else given if isinstance(given, Sequence) else ()
    return tuple(t for t in several if is_drawable(t))


def is_library(file: str) -> bool:
    """Is it ours, PyTorch's, or Python's own? `copy.deepcopy` calls methods of what it copies."""
    torch = pytorch()
    theirs = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep if torch is not None and torch.__file__ else PACKAGE
    return file.startswith((PACKAGE, "<autograd_viz", theirs)) or (file.startswith(PYTHON) and "site-packages" not in file)


def failing_node(traceback: TracebackType | None) -> Node | None:
    """The node of the core that was running when the error was raised."""
    found = None
    while traceback is not None:
        frame = traceback.tb_frame
        node = next((frame.f_locals[n] for n in ("node", "self") if isinstance(frame.f_locals.get(n), Node)), None)
        if frame.f_code.co_filename.startswith((PACKAGE, "<autograd_viz")) and node is not None:
            found = node
        traceback = traceback.tb_next
    return found
