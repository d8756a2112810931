"""Small programs about PyTorch's behaviour, written once and run in both: each says things, raises, or warns.

A program is a generator over a torch-like module; what it yields is compared as text.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

PROGRAMS: dict[str, Callable[[Any], Iterator[Any]]] = {}


def program(function: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
    PROGRAMS[function.__name__] = function
    return function


def outcome(function: Callable[[Any], Iterator[Any]], torch: Any) -> list[str]:
    """Everything that a run of the program says, with the error that ended it and the warnings on the way."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            said.extend(map(text, function(torch)))
        except Exception as error:
            said.append(f"!! {type(error).__name__}: {error}")
    said += [f"?? {w.category.__name__}: {str(w.message).split(' Traceback of')[0].split(' (Triggered')[0]}" for w in warned]
    return [re.sub(r"0x[0-9a-f]+", "0x…", s) for s in said]


def text(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "(" + ", ".join(text(v) for v in value) + ")"
    return str(value)


def told(act: Callable[[], Any]) -> Any:
    """What an act gives, or the error that it raises: a program says several of them."""
    try:
        return act()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def names(node: Any) -> list[Any]:
    """The names behind next_functions."""
    return [(n.name() if n is not None else None, i) for n, i in node.next_functions]


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(list(values) if len(values) != 1 else values[0], requires_grad=True)
