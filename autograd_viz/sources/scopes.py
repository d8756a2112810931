"""In which module or scope an op of the core ran, as a path: "encoder.layers.0"."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ..core.base.scopes import Order, Stretch, stretches

LATEST: Order = (sys.maxsize, 0)


def scope_paths(orders: Sequence[Order]) -> list[str]:
    """The path of each op, given by its place in the order of all ops, in that order."""
    waiting = [s for s in stretches if orders and (s.end or LATEST) > orders[0] and s.begin < orders[-1]]
    waiting.reverse()
    open: list[tuple[Stretch, str]] = []
    names = _ModuleNames()
    paths = []
    for order in orders:
        while waiting and waiting[-1].begin < order:
            stretch = waiting.pop()
            _leave(open, stretch.begin)
            open.append((stretch, names.path(stretch, open)))
        _leave(open, order)
        paths.append(open[-1][1] if open else "")
    return paths


def _leave(open: list[tuple[Stretch, str]], order: Order) -> None:
    """Close what ended before."""
    while open and (open[-1][0].end or LATEST) < order:
        open.pop()


class _ModuleNames:
    """What a module is called in the one that calls it."""

    def __init__(self) -> None:
        self._of: dict[Any, dict[Any, str]] = {}

    def path(self, stretch: Stretch, open: list[tuple[Stretch, str]]) -> str:
        """The path of a stretch inside the open ones."""
        above = open[-1][1] if open else ""
        name = stretch.name if stretch.module is None else self._name(stretch.module(), open)
        return ".".join(filter(None, (above, name)))

    def _name(self, module: Any, open: list[tuple[Stretch, str]]) -> str:
        """Its name in the innermost open module; a module that no other calls needs none."""
        callers = [s.module() for s, _ in open if s.module is not None]
        if module is None or not callers or callers[-1] is None:
            return ""
        if callers[-1] not in self._of:
            self._of[callers[-1]] = {m: name for name, m in callers[-1].named_modules()}
        return self._of[callers[-1]].get(module, type(module).__name__)
