"""An error of a program of the playground, as the page shows it."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import autograd_viz as av

from .. import words
from .meant import meant
from .program import traceback_text

FILE = "program.py"  # the name of the program


def told(error: BaseException) -> dict[str, Any]:
    """An error for the page: its line (1 is the first), what Python says, the cause, and the traceback."""
    lines, frame = [], error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == FILE:
            lines.append(frame.tb_lineno)
        frame = frame.tb_next
    is_syntax = isinstance(error, SyntaxError) and error.filename == FILE
    line = error.lineno if is_syntax else lines[-1] if lines else None  # type: ignore[attr-defined]
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return {"line": line, "text": text, "advice": _advice(error), "traceback": traceback_text(error)}


def _advice(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError):
        return words.site()["no_module"]
    if isinstance(error, MemoryError) or "array is too big" in str(error):  # NumPy counts before it asks for memory
        return words.site()["no_memory"]
    if (name := meant(error)) is not None:
        return words.site()["meant"].format(name=name)
    is_ours = isinstance(error, RuntimeError) or "NoneType" in str(error)  # of autograd, or of a grad that is None
    return _explained(error) if is_ours else ""


def _explained(error: BaseException) -> str:
    with contextlib.suppress(Exception):
        said = str(av.explain(error))
        return "" if said == words.CAUSE_UNKNOWN_ERROR else re.sub(r"\n→ av\.show\(error\).*", "", said)
    return ""
