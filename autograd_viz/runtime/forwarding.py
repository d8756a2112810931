"""One name of a package for another: `import torch.nn` means `autograd_viz.twin.nn`, and both are one module."""

from __future__ import annotations

import sys
from collections.abc import Collection
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Forward:
    """Finds modules under one name where they are, under another.

    Args:
        name: the package by its other name.
        target: the package that is meant.
        but: what stands in `name` itself.
    """

    def __init__(self, name: str, target: str, but: Collection[str] = ()) -> None:
        self.name, self.target, self.but = name, target, but

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The import system asks for a module."""
        package, _, rest = fullname.partition(".")
        if package != self.name or (self.but and (not rest or rest.partition(".")[0] in self.but)):
            return None
        return ModuleSpec(fullname, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Python makes an empty one; `exec_module` puts the other in its place."""

    def exec_module(self, module: ModuleType) -> None:
        """Python takes what stands in `sys.modules` after this: the module that is meant, with its own name and spec."""
        sys.modules[module.__name__] = import_module(self.target + module.__name__[len(self.name) :])


def forward(name: str, target: str, but: Collection[str] = ()) -> Forward:
    """From now on imports of `name` find `target`; likewise what is inside it."""
    found = Forward(name, target, but)
    sys.meta_path.insert(0, found)
    return found
