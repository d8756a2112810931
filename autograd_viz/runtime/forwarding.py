"""One name of a package for another: `import torch.nn` means `autograd_viz.twin.nn`, and both are one module."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Forward:
    """Finds modules of the package `name` in `target`, but not what stands in `name` itself."""

    def __init__(self, name: str, target: str, but: Collection[str] = ()) -> None:
        self.name, self.target, self.but = name, target, but

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The import system asks for a module."""
        package, _, rest = fullname.partition(".")
        if package != self.name or (self.but and (not rest or rest.partition(".")[0] in self.but)):
            return None
        return ModuleSpec(fullname, _Loader(lambda: import_module(self.target + fullname[len(self.name) :])))  # type: ignore[arg-type]


class Made:
    """Finds modules of a package without files, which another file makes: `torch.linalg`, `torch.nn.modules.linear`. `makers`
    are these files, by the first part of the modules' names; by "" that of all others.
    """

    def __init__(self, package: str, makers: Mapping[str, str]) -> None:
        self.package, self.makers = package, makers

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The import system asks for a module that has no file."""
        if not fullname.startswith(f"{self.package}."):
            return None
        maker = self.makers.get(fullname[len(self.package) + 1 :].partition(".")[0], self.makers[""])
        import_module(f"{self.package}.{maker}")
        made = sys.modules.get(fullname)
        return None if made is None else ModuleSpec(fullname, _Loader(lambda: made))  # type: ignore[arg-type]


class _Loader:
    """Python makes an empty module, and then takes what stands in `sys.modules`: the one that is meant, with its own spec."""

    def __init__(self, meant: Callable[[], ModuleType]) -> None:
        self._meant = meant

    def create_module(self, spec: ModuleSpec) -> None:
        pass

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = self._meant()
