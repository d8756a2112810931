"""The three readings of a gradient rule.

# Note [A rule is read three times]
1. on arrays: this is what `backward()` runs;
2. on tensors with grad mode on: `create_graph=True`, so the rule's own ops are recorded;
3. on Symbols: the rule writes its own text, which is the formula on the screen.
It is one code object, bound to three namespaces of op names: NumPy forwards, primitives, writers of text. Ops find each
other by name in these, whichever file declares them.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from .symbol import Symbol, call

# op names in each reading, filled as ops are declared
ARRAY_NAMES: dict[str, Any] = {"np": np}
TENSOR_NAMES: dict[str, Any] = {"np": np}
SYMBOL_NAMES: dict[str, Any] = {"np": np}


def rebound(function: Callable[..., Any], names: dict[str, Any]) -> FunctionType:
    """The same code, its global names looked up in `names`."""
    code, defaults = function.__code__, function.__defaults__
    copy = FunctionType(code, names, function.__name__, defaults, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def composite(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare a function written in ops, for use in rules. A formula shows it as a call of its name."""
    TENSOR_NAMES[function.__name__] = rebound(function, TENSOR_NAMES)
    ARRAY_NAMES[function.__name__] = rebound(function, ARRAY_NAMES)
    SYMBOL_NAMES[function.__name__] = writer(function.__name__)
    return rebound(function, TENSOR_NAMES)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare a function that decides on plain values only; a formula shows what it comes to."""
    TENSOR_NAMES[function.__name__] = rebound(function, TENSOR_NAMES)
    ARRAY_NAMES[function.__name__] = rebound(function, ARRAY_NAMES)
    SYMBOL_NAMES[function.__name__] = rebound(function, SYMBOL_NAMES)
    return function


def writer(name: str) -> Callable[..., Symbol]:
    """What shows a call of `name` in a formula."""
    return lambda *args, **options: call(name, *args, **options)
