"""Layers that call one function. They store its options as attributes, and print them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, TypeVar, dataclass_transform

from . import functional
from .module import Module


def init_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of an ``__init__`` by name: its `locals()` at the start, without `self`."""
    return {name: value for name, value in arguments.items() if name not in ("self", "__class__")}


class Sized(Module):
    """A layer for sequences, images or volumes: ``class MaxPool2d(_MaxPool, n=2)``. Other words are class attributes too."""

    _n = 0  # the number of spatial dimensions

    def __init_subclass__(cls, n: int = 0, **traits: Any) -> None:
        super().__init_subclass__()
        cls._n = n or cls._n
        for name, value in traits.items():
            setattr(cls, name, value)


def tuple_of(n: int, value: Any) -> Any:
    """`value` n times, unless it is a tuple already."""
    return tuple(value) if isinstance(value, tuple | list) else (value,) * n


class Configured(Sized):
    """Calls the function of torch.nn.functional named `function`, with the options from `__init__`."""

    function = ""  # looked up at each call; `{n}` in it is the number of dimensions
    shown: tuple[str, ...] | None = None  # the options to print, if not all; `inplace` is printed if it is True
    bare = False  # print values without their names

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._options = tuple(options)
        for name, value in options.items():
            setattr(self, name, value)

    def options(self) -> dict[str, Any]:
        """The options by name; `inplace` only if it is True."""
        given = {n: getattr(self, n) for n in self._options}
        return {n: v for n, v in given.items() if n != "inplace" or v}

    def forward(self, *inputs: Any) -> Any:
        """The function, applied to the inputs."""
        return getattr(functional, self.function.format(n=self._n))(*inputs, **self.options())

    def extra_repr(self) -> str:
        """The options that are shown."""
        options = {n: getattr(self, n) for n in self.shown} if self.shown is not None else self.options()
        shown = {n: repr(v) if isinstance(v, str) else v for n, v in options.items()}
        return ", ".join(str(v) if self.bare and n != "inplace" else f"{n}={v}" for n, v in shown.items())


Kind = TypeVar("Kind", bound=type[Configured])


@dataclass_transform()
def layer(function: str = "") -> Callable[[Kind], Kind]:
    """Make a layer of a function of torch.nn.functional. Its options are the class's annotated attributes, in order."""

    def decorate(cls: Kind) -> Kind:
        made: Any = dataclass(eq=False, repr=False)(cls)
        take = made.__init__

        @wraps(take)
        def __init__(self: Any, *args: Any, **options: Any) -> None:  # noqa: N807
            Module.__init__(self)
            take(self, *args, **options)

        made.__init__, made.function = __init__, function
        made._options = tuple(f.name for f in fields(made))
        for name in made._options:  # instances have these attributes, the class does not
            if name in vars(made):
                delattr(made, name)
        return cls

    return decorate


def row(name: str, function: str, doc: str, *required: str, base: type[Configured] = Configured, **options: Any) -> Any:
    """The class `name`, a layer of a function. Its options (`shown` and `bare` are none) are `required`, or have a default."""
    traits: dict[str, Any] = {n: options.pop(n) for n in ("shown", "bare") if n in options}
    types: dict[str, Any] = dict.fromkeys(required, Any) | {n: Any if v is None else type(v) for n, v in options.items()}
    module = sys._getframe(1).f_globals["__name__"]
    members: dict[str, Any] = {"__annotations__": types, **options, **traits, "__doc__": doc, "__module__": module}
    return layer(function)(type(name, (base,), members))


class InTraining(Configured):
    """A layer whose function also takes the training mode."""

    def options(self) -> dict[str, Any]:
        """The options, and the training mode."""
        return {**super().options(), "training": self.training}
