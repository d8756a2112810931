"""An error of a program of the playground, as the page shows it, and what may have been meant by an unknown name or option."""

from __future__ import annotations

import ast
import builtins
import contextlib
import inspect
import re
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import autograd_viz as av

from .. import words
from ..sources.asking import Where, place_of_error
from ..sources.shared.names import visible_names
from ..sources.shared.source_code import source_at
from .program import traceback_text

FILE = "program.py"  # the name of the program
UNEXPECTED = re.compile(r"got an unexpected keyword argument '(\w+)'")
OF_ALL = ("requires_grad", "dtype", "device")  # what functions with ** take that make tensors


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


def meant(error: BaseException) -> str | None:
    """The name that is spelt almost as the unknown one; None if there is none, or if the error names one."""
    if "did you mean" in str(error).lower():
        return None
    where = place_of_error(error.__traceback__, sys._getframe())
    if isinstance(error, AttributeError) and error.name and error.obj is not None:
        return _nearest(error.name, (name for name in dir(error.obj) if not name.startswith("_")))
    if isinstance(error, NameError) and error.name:
        return _nearest(error.name, [*visible_names(where.frame), *dir(builtins)])
    found = UNEXPECTED.search(str(error)) if isinstance(error, TypeError) else None
    return None if found is None else _nearest(found[1], _options(where, found[1]))


def _nearest(name: str, known: Iterable[str]) -> str | None:
    return next(iter(get_close_matches(name, known, 1, 0.75)), None)


def _options(where: Where, option: str) -> list[str]:
    """The arguments of the function that a line calls with an option."""
    source = source_at(where.frame.f_code, where.lasti)
    try:
        tree = ast.parse("" if source is None else source.expression or source.text.strip())
    except SyntaxError:
        return []
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and any(k.arg == option for k in n.keywords)]
    function = _value(calls[0].func, visible_names(where.frame)) if calls else None
    try:
        parameters = inspect.signature(function).parameters.values() if callable(function) else ()
    except (TypeError, ValueError):
        return []
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters)
    return [*(p.name for p in parameters), *(OF_ALL if takes_all else ())]


def _value(path: ast.expr, names: dict[str, Any]) -> Any:
    """The value of `torch.nn.Linear`; None if that would run code."""
    if isinstance(path, ast.Name):
        return names.get(path.id, getattr(builtins, path.id, None))
    if not isinstance(path, ast.Attribute):
        return None
    owner = _value(path.value, names)
    return getattr(av.Tensor if owner is None else owner, path.attr, None)  # most likely a tensor: (x * x).backward
