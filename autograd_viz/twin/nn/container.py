"""Containers of modules (in sequence, in a list, by name) and of parameters."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..core.tensor import Tensor, refuse_if
from .module import Module, indented
from .parameter import Parameter

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class _Numbered(Module):
    """Submodules named "0", "1", ... The base of Sequential and ModuleList."""

    def _replace_all(self, modules: Iterable[Module]) -> None:
        self._modules.clear()
        for i, m in enumerate(modules):
            self.add_module(str(i), m)

    def _name(self, index: Any) -> str:
        index = operator.index(index)
        refuse_if(not -len(self) <= index < len(self), lambda: f"index {index} is out of range", IndexError)
        return str(list(self._modules)[index])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._part(list(self._modules.items())[index])
        return self._modules[self._name(index)]

    def _part(self, items: list[tuple[str, Module]]) -> Any:
        kind: Any = type(self)
        return kind([m for _, m in items])

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name(index), module)

    def __delitem__(self, index: Any) -> None:
        kept = list(self._modules.values())
        del kept[index]
        self._replace_all(kept)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __iadd__(self, others: Iterable[Module]) -> Any:
        return self.extend(others)

    def __add__(self, others: Iterable[Module]) -> Any:
        joined: Any = [*self, *others]
        return type(self)(joined) if isinstance(self, ModuleList) else type(self)(*joined)

    def append(self, module: Module) -> Any:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add modules at the end."""
        for m in list(modules):
            self.append(m)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Add a module before the one at `index`."""
        modules = list(self)
        modules.insert(index, module)
        self._replace_all(modules)
        return self

    def pop(self, index: int | slice = -1) -> Any:
        """Remove and return a module."""
        module = self[index]
        del self[index]
        return module


class Sequential(_Numbered):
    """Modules called one after the other. An ordered dictionary gives them names."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], dict) else ((str(i), m) for i, m in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def _part(self, items: list[tuple[str, Module]]) -> Any:
        return type(self)(dict(items))

    def forward(self, input: Any) -> Any:
        """Call each module with the output of the one before."""
        for module in self:
            input = module(input)
        return input


class ModuleList(_Numbered):
    """A list of modules. Their parameters are registered."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def __repr__(self) -> str:
        """Equal neighbours are written once, with their number."""
        blocks, start = "", 0
        for text, equal in itertools.groupby(repr(m) for m in self):
            count = len(list(equal))
            line = f"({start}): {text}" if count == 1 else f"({start}-{start + count - 1}): {count} x {text}"
            blocks, start = f"{blocks}\n  {indented(line)}", start + count
        return f"{self._get_name()}({blocks}\n)" if blocks else f"{self._get_name()}()"


class _Named(Module):
    """Members by name. The base of ModuleDict and ParameterDict."""

    def _members(self) -> dict[str, Any]:
        return self._modules

    def __getitem__(self, key: str) -> Any:
        return self._members()[key]

    def __len__(self) -> int:
        return len(self._members())

    def __iter__(self) -> Iterator[str]:
        return iter(self._members())

    def __contains__(self, key: str) -> bool:
        return key in self._members()

    def keys(self) -> Any:
        """The names."""
        return self._members().keys()

    def items(self) -> Any:
        """Names and members."""
        return self._members().items()

    def values(self) -> Any:
        """The members."""
        return self._members().values()

    def update(self, members: Mapping[str, Any] | Iterable[Any]) -> None:
        """Add or replace members by name."""
        for name, member in dict(members).items():
            self[name] = member

    def pop(self, key: str) -> Any:
        """Remove and return a member."""
        member = self[key]
        del self[key]
        return member


class ModuleDict(_Named):
    """A dictionary of modules. Their parameters are registered."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.update(modules or {})

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def clear(self) -> None:
        """Remove all."""
        self._modules.clear()


def _as_parameter(value: Any) -> Any:
    """The value; a tensor becomes a Parameter."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _line(key: Any, value: Any, of: Any) -> str:
    if not isinstance(value, Tensor):
        return f"({key}): Object of type: {type(value).__name__}"
    size = "x".join(str(s) for s in value.shape)
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"({key}): {kind} containing: [{of(value)} of size {size}]"


class ParameterList(Module):
    """A list of parameters, which are registered."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        self.extend(values or ())

    def __len__(self) -> int:
        return self._size

    def _name(self, index: Any) -> str:
        index = operator.index(index)
        refuse_if(not -self._size <= index < self._size, lambda: f"index {index} is out of range", IndexError)
        return str(index % self._size)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)([getattr(self, str(i)) for i in range(*index.indices(self._size))])
        return getattr(self, self._name(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._name(index), _as_parameter(value))

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, str(i)) for i in range(self._size))

    def append(self, value: Any) -> Any:
        """Add one at the end."""
        setattr(self, str(self._size), _as_parameter(value))
        self._size += 1
        return self

    extend: Any = _Numbered.extend
    __iadd__: Any = _Numbered.__iadd__

    def __repr__(self) -> str:
        lines = "".join(f"\n    {_line(i, v, lambda t: t.dtype)}" for i, v in enumerate(self))
        return f"{self._get_name()}({lines}\n)" if lines else f"{self._get_name()}()"


class ParameterDict(_Named):
    """A dictionary of parameters, which are registered."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        self.update(parameters or {})

    def _members(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in self._keys}

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __repr__(self) -> str:
        lines = "\n".join(f"  {_line(k, v, lambda t: f'torch.{t.dtype.legacy}Tensor')}" for k, v in self.items())
        return f"{self._get_name()}({lines})" if lines else f"{self._get_name()}()"
