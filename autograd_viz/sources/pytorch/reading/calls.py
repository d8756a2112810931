"""What the calls on the stack belong to: the user's code, a module, a checkpoint, a user's Function, so the place of an op.

# Note [Where modules are seen]
The call of a module is a frame on the stack. Hooks would disturb the user: they slow modules down, and compiled ones warn.

# Note [Where the user's functions are seen]
They are frames too, inside of the one in which the recording began, and of the outermost of a program. What leads from the call
of a module to its `forward` is the module's. A frame is kept until the next op, so that no later call is taken for it.

# Note [Where Functions are seen]
`Function.apply` is a frame too, up to PyTorch 2.13. From 2.14 on it is compiled: it has a frame only inside `torch.func`. The
other calls are found by the frame of the Function's own `forward`, which is known by its code.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch
import torch.utils.checkpoint
from torch.autograd.function import FunctionCtx

from ....graph.surroundings import Module
from ....runtime.alive import Alive
from ....twin.core.base.provenance import PACKAGE
from ....twin.core.base.scopes import open_scopes
from ...shared.modules import CallRecord, module_at
from ...shared.names import elements
from ...shared.source_code import source_at
from .call_place import NAME, PYTHON, TORCH
from .hooked import subclasses

MODULE_CALL = torch.nn.Module._call_impl.__code__
_apply = getattr(torch.autograd.Function.apply, "__func__", None) or torch.autograd.function._call_custom_function_call  # type: ignore[attr-defined]
APPLY = _apply.__code__
CHECKPOINT = inspect.unwrap(torch.utils.checkpoint.checkpoint).__code__
CALLS = {APPLY.co_name, "forward", CHECKPOINT.co_name}
_numbers = itertools.count(1)
_names: Alive[str] = Alive()  # by the code of a function named forward


class Around(NamedTuple):
    """Something around an op."""

    kind: str  # "module", "scope", "checkpoint"; "call" of a function of the user's; "function": the outermost of a Function
    name: str = ""  # the full path of a module; the name of a scope or function
    number: int = 0  # tells the calls of a function apart
    line: int = 0  # where the user's code called the module, by a number (`Parts`); 0 if a library called it


_checkpoint, _function = Around("checkpoint"), Around("function")


class Running:
    """The calls of the user's functions that are running around `frame`, which is no part of the recorded program.

    `module_of`: the frame of a module's call -> the module, if it has a path. If no module has one (`knows_modules`), the
    functions that modules call have no place.
    """

    def __init__(
        self, module_of: Callable[[FrameType], Around | None], knows_modules: bool = True, frame: FrameType | None = None
    ) -> None:
        self.module_of, self._knows_modules = module_of, knows_modules
        self.calls, self.outside = dict[FrameType, Around](), set[FrameType]()  # around the last op; around the program
        self.is_in_module = False  # a module ran the last op, whether it has a path or not
        # the calls of modules around the last op, each with its module if it has a path: an op reads only new ones
        self.modules: dict[FrameType, Around | None] = {}
        users, function, around = calls_around(frame, self)
        # what is around the program, but for calls and scopes
        self.beyond = (users, function, [a for a in around if a.kind not in ("call", "scope")])
        self.calls.clear()
        self.modules.clear()
        while frame is not None:
            self.outside.add(frame)
            frame = frame.f_back

    def called_module(
        self, frame: FrameType, around: list[Around], start: int, before: Mapping[FrameType, Around | None]
    ) -> None:
        """Note the call of a module. Forget those by which it gets to its `forward`: they are among those from `start` on."""
        self.is_in_module = True
        calls = [k for k in range(start, len(around)) if around[k].kind == "call"]
        if self._knows_modules:
            forward = next((k for k in reversed(calls) if around[k].name == "forward"), calls[-1] if calls else start)
            calls = [k for k in calls if k >= forward]
        for k in reversed(calls):
            del around[k]
        module = self.modules[frame] = before[frame] if frame in before else self.module_of(frame)
        if module is not None:
            around.append(module)


def _begun(code: CodeType) -> Around | None:
    """A call that begins; None if its function has no name of the program's own."""
    if code.co_name[0] == "<" or (code.co_filename.startswith(PYTHON) and "site-packages" not in code.co_filename):
        return None
    name = code.co_name if code.co_name != "__call__" else code.co_qualname.split(".")[-2:][0]
    return Around("call", name, next(_numbers))


def calls_around(frame: FrameType | None, running: Running) -> tuple[FrameType | None, FrameType | None, tuple[Around, ...]]:
    """The calls around a frame, and the frame's own: first the innermost frame of the user's code, around the Function if there
    is one; then the outermost call of a user's Function; then modules and the rest, from the innermost.
    """
    users = function = None
    around: list[Around] = []
    inner, is_inside, outside = 0, True, running.outside  # how many are in the latest module; since the recording began
    before, running.calls, running.is_in_module = running.calls, {}, False
    modules, running.modules = running.modules, {}
    while frame is not None:
        if frame in outside:
            if not open_scopes and running.beyond[1] is None:
                return users or running.beyond[0], function, (*around, *running.beyond[2])
            is_inside = False
        code, call = frame.f_code, None
        if code.co_name in CALLS and (code is APPLY or (code.co_name == "forward" and function_name(code))):
            function, users = frame, None
            around.append(_function)
        elif code is MODULE_CALL:
            running.called_module(frame, around, inner if is_inside else len(around), modules)
            inner = len(around)
        elif code is CHECKPOINT:
            around.append(_checkpoint)
        elif code.co_name != NAME and is_users(code.co_filename):
            users = users or frame
            is_inside = is_inside and code.co_name != "<module>"
            call = (before.get(frame) or _begun(code)) if is_inside else None
        if open_scopes:
            around += [Around("scope", s.name or "") for s in reversed(open_scopes) if s.frame is frame]
        if call is not None:
            running.calls[frame] = call
            around.append(call)
        frame = frame.f_back
    return users, function, tuple(around)


@functools.cache  # every op asks
def is_users(file: str) -> bool:
    """Is a file the user's code? Python's `contextlib` stands between the user's and ours."""
    return not file.startswith((TORCH, PACKAGE, contextlib.__file__))


def function_and_arguments(frame: FrameType) -> tuple[str, list[Any]]:
    """The name of the Function that a frame calls, and the arguments."""
    if frame.f_code is APPLY:
        return getattr(frame.f_locals.get("cls"), "__name__", "Function"), list(frame.f_locals.get("args", ()))
    names, more, _, values = inspect.getargvalues(frame)
    given = [values[name] for name in names if name in values]
    given = given[1:] if given and isinstance(given[0], FunctionCtx) else given  # `apply` is called without it
    return function_name(frame.f_code), [*given, *(values.get(more, ()) if more else ())]


def function_name(code: CodeType) -> str:
    """The name of the Function whose `forward` has this code; "" if there is none."""
    if (name := _names.get(code)) is None:
        own = (f for f in subclasses(torch.autograd.Function) if getattr(inspect.unwrap(f.forward), "__code__", None) is code)
        name = _names[code] = next((f.__name__ for f in own), "")
    return name


def is_given(handle: Any) -> bool:
    """Was the tensor made outside the recording, or by an op without inputs?"""
    return (maker := handle.maker) is None or not maker.inputs


def note_argument(handle: Any, tensor: torch.Tensor, frame: FrameType | None) -> None:
    """Keep what the outermost module calls a tensor that no recorded op has made, when an op first reads the tensor."""
    calls: list[FrameType] = []
    handle.argument = ""
    while frame is not None:
        if frame.f_code is MODULE_CALL:
            calls.append(frame)
        frame = frame.f_back
    for call in reversed(calls):
        found = list(_names_in(call, tensor))
        if found and found[0]:
            handle.argument = found[0]
        if not found or found[0]:  # otherwise it went through *args of a wrapper, and an inner module may name it
            return


def _names_in(call: FrameType, tensor: torch.Tensor) -> Iterator[str]:
    """The names of a tensor among the arguments of a module's call; "" for one in *args."""
    given = call.f_locals
    try:
        bound = inspect.signature(given["self"].forward).bind(*given.get("args", ()), **given.get("kwargs", {}))
    except (KeyError, TypeError, ValueError):
        return
    for name, value in bound.arguments.items():
        if bound.signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            named = [("", v) for of in value for _, v in (("", of), *elements("", of))]
        elif bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            named = list(value.items())
        else:
            named = [(name, value), *elements(name, value)]
        yield from (n for n, v in named if v is tensor)


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
        owner = function[0] if function else None
        while isinstance(owner, partial):
            owner = owner.func
        owner = getattr(owner, "__self__", None) if getattr(owner, "__name__", "").endswith("_call_impl") else owner
        run = self._around.get(owner) if isinstance(owner, torch.nn.Module) else None  # what reentrant checkpointing runs
        key = around if run is None else (run, *around)
        found = self._inside.get(key)
        if found is None:
            seen = [*self._seen(around, run)]
            modules = tuple(s for s in seen if isinstance(s, Module))
            calls = tuple(s for s in seen if isinstance(s, CallRecord))
            found = self._inside[key] = Inside(modules[-1].path if modules else "", modules, calls)
        return found

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
