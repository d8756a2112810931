"""The public names of ops: torch.exp, Tensor.exp_, torch.linalg.inv, torch.nn.functional.gelu.

The decorator of an op says its names:

    @public                                      torch.exp and Tensor.exp
    @public("abs", "absolute")                   both names, each as function and as method
    @public("torch.stack")                       a function only
    @public("Tensor.view_as")                    a method only
    @public("linalg.inv", "inverse")             in a namespace, and at the top
    @public(inplace=True)                        also Tensor.exp_
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar, overload

Function = TypeVar("Function", bound=Callable[..., Any] | property)

# the public callables by name, of "torch", "Tensor", "linalg", "nn.functional", ...
NAMESPACES: defaultdict[str, dict[str, Any]] = defaultdict(dict)
LATE: dict[str, dict[str, Callable[[], None]]] = {}  # by namespace: names not loaded yet, and what loads them
INPLACE: dict[str, Any] = {}  # by name without underscore: the ops whose result may overwrite the first input


@overload
def public(function: Function, /) -> Function: ...
@overload
def public(*names: str, inplace: bool = False) -> Callable[[Function], Function]: ...
def public(*names: Any, inplace: bool = False) -> Any:
    """Give a callable its public names, by default its own. Raises NameError: another file has given one to something else."""
    if len(names) == 1 and callable(names[0]):
        return public(names[0].__name__)(names[0])

    def decorate(function: Any) -> Any:
        for full in names or (function.__name__,):
            namespace, _, name = full.rpartition(".")
            for place in (namespace,) if namespace else ("torch", "Tensor"):
                before = NAMESPACES[place].get(name, function)
                if before is not function and home(function) != "__main__":
                    raise NameError(f"{place}.{name} is given twice: in {home(before)} and in {home(function)}")
                NAMESPACES[place][name] = function
            if inplace and namespace in ("", "Tensor"):
                INPLACE[name] = function
        return function

    return decorate


def renamed(function: Function, name: str, does: str) -> Function:
    """A function that a maker made, with its own name and docstring."""
    made: Any = function
    made.__name__ = made.__qualname__ = name
    made.__doc__ = does
    return function


def home(function: Any) -> str:
    """The module that defines a callable or an op."""
    return str(getattr(function, "forward", function).__module__)


def names_of(namespace: str) -> list[str]:
    """The public names of a namespace. Names that are not loaded yet are included."""
    return sorted({*NAMESPACES[namespace], *LATE.get(namespace, {})})


def found(namespace: str, name: str) -> Any:
    """The public callable of that name (KeyError: there is none). Its file is loaded if necessary."""
    known = NAMESPACES[namespace]
    if name not in known and name in LATE.get(namespace, {}):
        LATE[namespace][name]()
    return known[name]
