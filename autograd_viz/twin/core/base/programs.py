"""Functions from text: the straight-line programs of the ops (call.py, node_class.py)."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

from .provenance import PROGRAM

PLAIN = frozenset({int, float, bool, str, type(None)})  # types of options that cannot hold a tensor


def compiled(forward: Callable[..., Any], name: str, lines: list[str], names: dict[str, Any]) -> Any:
    """The function that `lines` define for an op. Tracebacks and `inspect` find its text."""
    text, file = "\n".join(lines) + "\n", f"{PROGRAM}{forward.__name__}: {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = dict(names)
    exec(compile(text, file, "exec"), namespace)
    function = namespace[name]
    function.__doc__, function.__module__, function.__qualname__ = forward.__doc__, forward.__module__, name
    return function
