"""The three readings of a backward rule.

# Note [A rule is read three times]
1. On arrays: `backward()` runs this reading.
2. On tensors with grad mode on: `create_graph=True` records the rule's own ops.
3. On Symbols: the rule writes its own text, which is the formula on the screen.
All three are one code object, bound to three namespaces of op names: NumPy forwards, primitives, writers of text. Ops find
each other by name in these, in whichever file they are declared.
"""

from __future__ import annotations

import builtins
import difflib
import dis
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, TypeVar, overload

import numpy as np

from .symbol import Symbol, call

Function = TypeVar("Function", bound=Callable[..., Any])

# op names in each reading, filled as ops are declared
ARRAY_NAMES: dict[str, Any] = {"np": np}
TENSOR_NAMES: dict[str, Any] = {"np": np}
SYMBOL_NAMES: dict[str, Any] = {"np": np, "call": call}
LATER: list[Callable[[], None]] = []  # each declares further ops, once


def rebound(function: Callable[..., Any], names: dict[str, Any]) -> FunctionType:
    """The same code with `names` as its globals."""
    code, defaults = function.__code__, function.__defaults__
    copy = FunctionType(code, names, function.__name__, defaults, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def refuse_unknown_names(forward: Callable[..., Any], target: str, rule: Callable[..., Any]) -> None:
    """Refuse a rule of a user that uses, or calls a function that uses, a name that is neither an op's nor one of Python's."""
    own = forward.__module__.startswith(f"{__name__.partition('.')[0]}.")
    left, seen = [] if own else [rule.__code__], set()
    while left:
        code = left.pop()
        seen.add(code)
        inner = [c for c in code.co_consts if isinstance(c, CodeType)]
        for name in (i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"):
            if name not in TENSOR_NAMES and not hasattr(builtins, name):
                for load in LATER:
                    load()
                if name not in TENSOR_NAMES:
                    raise NameError(_unknown(forward.__name__, target, name, rule.__globals__))
            known: Any = TENSOR_NAMES.get(name)
            inner += [known.__code__] if getattr(known, "__globals__", None) is TENSOR_NAMES else []
        left += [c for c in inner if c not in seen]


def _unknown(op: str, target: str, name: str, variables: dict[str, Any]) -> str:
    """What is wrong with the name, and what to write in its place."""
    text = f"{op}: the rule for {target!r} uses the name {name!r}, which is no op that is declared by now."
    if name in variables:
        return f"{text} A rule does not see the variables of its file: write `*, {name}={name}` after its parameters"
    close = difflib.get_close_matches(name, TENSOR_NAMES, n=1)
    return f"{text} Did you mean {close[0]!r}?" if close else text


def as_reading(written: Callable[..., Any]) -> Callable[..., Any]:
    """The text form of an op. A lambda finds ops by name, as a rule does; a function of a module is returned unchanged."""
    return rebound(written, SYMBOL_NAMES) if written.__name__ == "<lambda>" and not written.__closure__ else written


def declare(function: Callable[..., Any], on_arrays: Any, on_tensors: Any, on_symbols: Any) -> None:
    """Enter `function` under its name in each reading. Refuse a name of another file; a notebook's cell may be run again."""
    name = function.__name__
    if name in ARRAY_NAMES and function.__module__ != "__main__":
        raise NameError(f"op {name!r} is declared twice: at {_place(ARRAY_NAMES[name])} and at {_place(function)}")
    ARRAY_NAMES[name], TENSOR_NAMES[name], SYMBOL_NAMES[name] = on_arrays, on_tensors, on_symbols


def _place(function: Any) -> str:
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
