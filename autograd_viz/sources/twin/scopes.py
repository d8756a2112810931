"""In which module or scope an op of the core ran, as a path ("encoder.layers.0"), and these modules and scopes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ...graph.surroundings import Module
from ...twin.core.base.scopes import Order, Stretch, stretches
from ..shared.modules import module_at, together
from ..shared.statements import place_of

LATEST: Order = (sys.maxsize, 0)


def scopes_of(orders: Sequence[Order]) -> tuple[list[str], tuple[Module, ...]]:
    """The path of each op, in the order of all ops; and the modules and scopes that ran."""
    waiting = _near(orders)
    open: list[tuple[Stretch, str]] = []
    names = _ModuleNames()
    paths, modules = [], list[Module]()
    for order in orders:
        while waiting and waiting[-1].begin < order:
            stretch = waiting.pop()
            _leave(open, stretch.begin)
            path = names.path(stretch, open)
            if not stretch.is_checkpoint:
                modules.append(_module(stretch, path, is_checkpointed=bool(open) and open[-1][0].is_checkpoint))
            open.append((stretch, path))
        _leave(open, order)
        paths.append(open[-1][1] if open else "")
    used = {path[:end] for path in set(paths) for end in (0, *(i for i, c in enumerate(path) if c == "."), len(path))}
    return paths, together(m for m in modules if m.path in used or m.marks)


def _near(orders: Sequence[Order]) -> list[Stretch]:
    """The stretches around and between ops, the last first. A Function's op comes after the ops inside it."""
    begun = [s for s in stretches if orders and s.begin < orders[-1]]
    first = next((i for i, s in enumerate(begun) if (s.end or LATEST) > orders[0]), len(begun))
    return begun[: first - 1 if first else None : -1]


def _module(stretch: Stretch, path: str, is_checkpointed: bool) -> Module:
    module = None if stretch.module is None else stretch.module()
    marks = ("checkpointed",) if is_checkpointed else ()
    return Module(path, marks=marks) if module is None else module_at(path, module, marks, place_of(stretch.at))


def _leave(open: list[tuple[Stretch, str]], order: Order) -> None:
    while open and (open[-1][0].end or LATEST) < order:
        open.pop()


class _ModuleNames:
    def __init__(self) -> None:
        self._of: dict[Any, dict[Any, str]] = {}

    def path(self, stretch: Stretch, open: list[tuple[Stretch, str]]) -> str:
        above = open[-1][1] if open else ""
        name = stretch.name or "" if stretch.module is None else self._name(stretch.module(), open)
        return ".".join(filter(None, (above, name)))

    def _name(self, module: Any, open: list[tuple[Stretch, str]]) -> str:
        """Its name in the innermost open module; a module without a caller has none."""
        callers = [s.module() for s, _ in open if s.module is not None]
        if module is None or not callers or callers[-1] is None:
            return ""
        if callers[-1] not in self._of:
            self._of[callers[-1]] = {m: name for name, m in callers[-1].named_modules()}
        return self._of[callers[-1]].get(module, type(module).__name__)
