"""Which modules and scopes an op of a recording ran in, and what was seen of each."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from functools import partial
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch

from ....graph.surroundings import Module
from ....runtime.alive import Alive
from ....twin.core.base.provenance import PACKAGE
from ...shared.modules import CallRecord, module_at
from ...shared.source_code import source_at
from .calls import Around, is_users


class Inside(NamedTuple):
    """What is around an op; ops at one place share it."""

    path: str = ""  # of the innermost module that has one, with the scopes around and in it, or ""
    modules: tuple[Module, ...] = ()  # all modules and scopes, from the outermost
    calls: tuple[CallRecord, ...] = ()  # calls of the user's functions, from the outermost


NOWHERE = Inside()
WRAPPED = "_wrapped_call_impl"


class Parts:
    """The parts of a model."""

    def __init__(self, model: object) -> None:
        self._around: Alive[Around] = Alive()
        self._modules: dict[str, weakref.ref[Any]] = {}
        self._inside: dict[tuple[Around, ...], Inside] = {}
        # by path of the module, and the caller's first line and instruction
        self._calls: dict[tuple[str, int, int], Around] = {}
        self._lines: list[tuple[CodeType, int] | None] = [None]
        for name, module in model.named_modules() if isinstance(model, torch.nn.Module) else ():
            path = ".".join(part for part in name.split(".") if part != "_orig_mod")  # torch.compile adds it
            self._around[module] = Around("module", path)
            self._modules[path] = weakref.ref(module)
        self.are_known = bool(self._modules)  # has it any modules?

    def begin(self) -> None:
        """A recording begins: modules may have other hooks by now."""
        self._inside = {}

    def called(self, call: FrameType) -> Around | None:
        """The module whose call a frame is, and the line that called it."""
        around = self._around.get(call.f_locals.get("self")) if self._modules else None
        caller = call.f_back
        if around is None or caller is None:
            return around
        while (back := caller.f_back) is not None and (  # PyTorch's code between call and caller, or that of a watched run
            caller.f_code.co_name == WRAPPED or caller.f_code.co_filename.startswith(PACKAGE)
        ):
            caller = back
        code, instruction = caller.f_code, caller.f_lasti
        if not is_users(code.co_filename):
            return around
        key = around.name, code.co_firstlineno, instruction
        if key not in self._calls:
            self._calls[key] = Around("module", around.name, line=len(self._lines))
            self._lines.append((code, instruction))
        return self._calls[key]

    def inside(self, around: tuple[Around, ...], function: Sequence[Any] = ()) -> Inside:
        """The modules and scopes around an op."""
        run = self._run_by(function[0]) if function else None
        key = around if run is None else (run, *around)
        found = self._inside.get(key)
        if found is None:
            seen = [*self._seen(around, run)]
            modules = tuple(s for s in seen if isinstance(s, Module))
            calls = tuple(s for s in seen if isinstance(s, CallRecord))
            found = self._inside[key] = Inside(modules[-1].path if modules else "", modules, calls)
        return found

    def _run_by(self, function: object) -> Around | None:
        """The module that reentrant checkpointing runs."""
        while isinstance(function, partial):
            function = function.func
        owner = getattr(function, "__self__", None) if getattr(function, "__name__", "").endswith("_call_impl") else function
        return self._around.get(owner) if isinstance(owner, torch.nn.Module) else None

    def _seen(self, around: tuple[Around, ...], run: Around | None) -> Iterator[Module | CallRecord]:
        """Modules, scopes and calls, from the outermost."""
        parts, above = list[str](), ""
        marks: tuple[str, ...] = ()
        for kind, name, number, line in _from_outside(around, run):
            if kind == "call" and name != "forward":
                yield CallRecord(number, name, ".".join(parts))
            if kind in ("call", "checkpoint"):
                marks = ("checkpointed",) if kind == "checkpoint" else marks
                continue
            module = self._modules[name]() if kind == "module" else None
            if module is None:
                parts.append(name)
            elif above != name:
                parts.append(name.removeprefix(f"{above}.") if above else name)
                above = name
            path = ".".join(parts)
            called_at = self._lines[line]
            source = None if called_at is None else source_at(*called_at)
            yield Module(path, marks=marks) if module is None else module_at(path, module, marks, source)
            marks = ()


def _from_outside(around: tuple[Around, ...], run: Around | None) -> Iterator[Around]:
    """All but what is inside a user's Function. There, only the module that a checkpoint runs is known."""
    for a in reversed(around):
        if a.kind == "function":
            break
        yield a
    else:
        return
    if run is not None:
        yield run
