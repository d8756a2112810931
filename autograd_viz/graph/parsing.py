"""The syntax tree of the user's code.

# Note [One parse at a time]
CPython 3.11 counts how deep it is in a tree for all threads together. Two threads that parse at once raise SystemError
(github.com/python/cpython/issues/106905).
"""

from __future__ import annotations

import ast
import threading
import warnings

_one_at_a_time = threading.Lock()


def parsed(text: str) -> ast.Module:
    """The syntax tree of code that has run. Python's warnings are silenced, as Python has already given them."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)
