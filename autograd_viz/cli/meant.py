"""What a program of the playground may have meant by a name or an option that does not exist."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import autograd_viz as av

from ..sources.asking import Where, place_of_error
from ..sources.shared.names import visible_names
from ..sources.shared.source_code import source_at

UNEXPECTED = re.compile(r"got an unexpected keyword argument '(\w+)'")
OF_ALL = ("requires_grad", "dtype", "device")  # what functions with ** take that make tensors


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
