"""The names under which ops are public: torch.exp, Tensor.exp_, torch.linalg.inv, torch.nn.functional.gelu.

An op says its names where it is written:

    @public                                      torch.exp and Tensor.exp
    @public("abs", "absolute")                   these, both as function and as method
    @public("torch.stack")                       a function only
    @public("Tensor.view_as")                    a method only
    @public("linalg.inv", "inverse")             in a namespace of its own, and at the top
    @public(inplace=True)                        Tensor.exp_ too
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

# "torch" and "Tensor", then "linalg", "nn.functional", ...: the public callables of each by name
NAMESPACES: defaultdict[str, dict[str, Any]] = defaultdict(dict)
INPLACE: dict[str, Any] = {}  # the ops whose result may be written into the first input, by the name without underscore


def public(*names: Any, inplace: bool = False) -> Any:
    """Give a callable its public names; used as a decorator, with or without arguments.

    Args:
        names: "x" for torch.x and Tensor.x, "torch.x" or "Tensor.x" for one of them, "linalg.x" for torch.linalg.x; the
            callable's own name if left out.
        inplace: there is a method with an underscore too.
    """
    if len(names) == 1 and callable(names[0]):
        _publish(names[0], (names[0].__name__,), inplace)
        return names[0]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        _publish(function, names or (function.__name__,), inplace)
        return function

    return decorate


def _publish(function: Any, names: tuple[str, ...], inplace: bool) -> None:
    for full in names:
        namespace, _, name = full.rpartition(".")
        for place in (namespace,) if namespace else ("torch", "Tensor"):
            NAMESPACES[place][name] = function
        if inplace and namespace in ("", "Tensor"):
            INPLACE[name] = function
