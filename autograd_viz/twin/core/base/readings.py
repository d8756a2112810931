"""The three readings of a backward rule.

# Note [A rule is read three times]
1. On arrays: `backward()` runs this reading.
2. On tensors with grad mode on: `create_graph=True` records the rule's own ops.
3. On Symbols: the rule writes its own text, which is the formula on the screen.
All three are one code object, bound to three namespaces of op names: NumPy forwards, primitives, writers of text. Ops find
each other by name in these, in whichever file they are declared.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, overload

import numpy as np

from .symbol import Symbol, call

Function = TypeVar("Function", bound=Callable[..., Any])

# op names in each reading, filled as ops are declared
ARRAY_NAMES: dict[str, Any] = {"np": np}
TENSOR_NAMES: dict[str, Any] = {"np": np}
SYMBOL_NAMES: dict[str, Any] = {"np": np, "call": call}


class _ByName:
    """The ops of all files by name, looked up when they are used: `op.gather(x, ...)`."""

    def __getattr__(self, name: str) -> Any:
        return TENSOR_NAMES[name]


op = _ByName()


def rebound(function: Callable[..., Any], names: dict[str, Any]) -> FunctionType:
    """The same code with `names` as its globals."""
    code, defaults = function.__code__, function.__defaults__
    copy = FunctionType(code, names, function.__name__, defaults, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def as_reading(written: Callable[..., Any]) -> Callable[..., Any]:
    """The text form of an op. A lambda finds ops by name, as a rule does; a function of a module is returned unchanged."""
    return rebound(written, SYMBOL_NAMES) if written.__name__ == "<lambda>" and not written.__closure__ else written


def declare(function: Callable[..., Any], on_arrays: Any, on_tensors: Any, on_symbols: Any) -> None:
    """Enter `function` under its name in each reading.

    Raises:
        NameError: another file has declared the name. A notebook's cell may be run again.
    """
    name = function.__name__
    if name in ARRAY_NAMES and function.__module__ != "__main__":
        raise NameError(f"op {name!r} is declared twice: at {_place(ARRAY_NAMES[name])} and at {_place(function)}")
    ARRAY_NAMES[name], TENSOR_NAMES[name], SYMBOL_NAMES[name] = on_arrays, on_tensors, on_symbols


def _place(function: Any) -> str:
    """File and line of a function."""
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}" if hasattr(function, "__code__") else "np"


@overload
def composite(function: Function, /, *, written: Callable[..., Any] | None = None) -> Function: ...


@overload
def composite(*, written: Callable[..., Any]) -> Callable[[Function], Function]: ...


def composite(function: Any = None, /, *, written: Callable[..., Any] | None = None) -> Any:
    """Declare a function of ops for use in rules. A formula shows a call of its name, or the text that `written` makes."""
    if function is None:
        return lambda function: composite(function, written=written)
    on_tensors = rebound(function, TENSOR_NAMES)
    shown = as_reading(written) if written else writer(function.__name__)
    declare(function, rebound(function, ARRAY_NAMES), on_tensors, shown)
    return on_tensors


def inlined(function: Function) -> Function:
    """Declare a function whose branches depend only on plain values. A formula shows the result of the branch."""
    declare(function, *(rebound(function, names) for names in (ARRAY_NAMES, TENSOR_NAMES, SYMBOL_NAMES)))
    return function


def writer(name: str) -> Callable[..., Symbol]:
    """The function that writes a call of `name` in a formula."""
    return lambda *args, **options: call(name, *args, **options)
