"""What the recorder notes of calls other than ops: grads cleared, tensors changed, optimizers made."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType
from typing import Any

import torch

from ..reading.call_place import called_by_user, caller, library, only_wraps, users_frame, users_line
from ..reading.handles import version_of
from ..reading.op_log import Event, Log
from ..reading.op_pages import KEY, Leaf, name_of_function
from . import kinds

T = torch.Tensor
SEVERAL = (list, tuple)
COPYING = ("copy_", "lerp_")
DRAWING = ("rand", "normal", "bernoulli", "poisson")  # how names of random functions begin
BEHIND = 100  # nodes without an op that are searched
SCALED = ("sub_", "div_", "mul_", "__isub__", "__itruediv__", "__imul__")  # as data are normalized
MANY = 1000  # samples in a list that are looked at
SCALING = ("mul_", "_foreach_mul_")  # their factor is kept


def is_cleared_with_others(log: Log, tensor: Any, frame: FrameType) -> bool:
    """Is the clearing part of the last zero_grad()? Then it is noted there: all parameters of the owner share one event."""
    last = log.cleared[-1] if log.cleared else None
    if last is None or last.number != log.now or frame.f_code.co_name != "zero_grad":
        return False
    if last.detail() is not frame.f_locals.get("self"):
        return False
    log.now = last.number = log.now + 1
    covers(last, tensor)
    return True


def covers(event: Event, tensor: object) -> None:
    """Note that a call of zero_grad() has cleared the leaf: its owner may be gone when somebody asks."""
    event.leaves += [ref.numbers[0] for ref in weakref.getweakrefs(tensor) if type(ref) is Leaf]


def grad_set(log: Log, args: Any) -> None:
    """`p.grad = None`, or another grad."""
    frame = caller()
    owner = frame.f_locals.get("self") if frame.f_code.co_name == "zero_grad" else None
    if args[1] is not None or owner is None:
        log.note(args[0], Event("cleared" if args[1] is None else "set", "grad", users_line(), log.now))
    else:
        cleared_by(log, owner, args[:1])


def cleared_by(log: Log, owner: Any, leaves: Iterable[Any]) -> None:
    """zero_grad() of an optimizer or a module clears the grads of leaves."""
    event = Event("cleared", "zero_grad", users_line(), log.now, weakref.ref(owner))
    log.cleared.append(event)
    for leaf in leaves:
        covers(event, leaf)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) or (isinstance(value, T) and value.ndim == 0 and not value.requires_grad)


def _are_one(given: Any) -> bool:
    """Are two tensors the same elements in memory?"""
    if len(given) < 2 or not all(isinstance(t, T) and t.layout is torch.strided and t.numel() for t in given):
        return False
    return len({(t.data_ptr(), t.shape, t.stride()) for t in given}) == 1


def written(log: Log, func: Any, args: Any, kwargs: Any) -> None:
    """Note every tensor that the call changed, with its version now."""
    line, by, name = users_line(), called_by_user(), name_of_function(func)
    if (name in COPYING or "alpha" in kwargs) and _are_one(args[:2]) and args[0].is_floating_point():  # no counter of batches
        log.onto_itself.append(Event("onto_itself", by or name, line, log.now))
    factor = args[1] if len(args) > 1 and name in SCALING and _is_number(args[1]) else None
    for t in tensors_in(args[:1] if args else tuple(kwargs.values())[:1]):
        if t.layout is torch.strided:
            log.note(t, Event("written", by or name, line, log.now, (version_of(t), tuple(t.shape), factor)))
            if line[0].co_name == "__getitem__" and name in SCALED and type(t) is T and _is_sample(users_frame().f_locals, t):
                log.layers.append(Event("sample_written", name, line, log.now))


def _is_sample(names: Mapping[str, Any], tensor: Any) -> bool:
    """Has it a name of its own, and the memory of an attribute of `self`: a tensor, an array, or a list of tensors?"""
    is_named = any(value is tensor for value in [*names.values()])
    if not is_named or torch._C._functorch.peek_interpreter_stack() is not None:  # there no tensor tells where its memory is
        return False
    at = tensor.data_ptr()
    for value in getattr(names.get("self"), "__dict__", {}).values():
        for part in value[:MANY] if type(value) in SEVERAL else (value,):
            begin = part.untyped_storage().data_ptr() if type(part) is T and part.layout is torch.strided else None
            size = 0 if begin is None else part.untyped_storage().nbytes()
            if type(part).__module__ == "numpy" and hasattr(part, "__array_interface__"):
                begin, size = part.__array_interface__["data"][0], part.nbytes
            if begin is not None and begin <= at < begin + size:
                return True
    return False


def mode_set(log: Log, is_on: bool) -> None:
    """Grad mode is switched: note the function that the user called."""
    frame = outer = caller()
    while library[frame.f_code.co_filename] and frame.f_back is not None:
        outer, frame = outer if only_wraps(frame.f_code) else frame, frame.f_back
    by, owner = outer.f_code.co_name, type(outer.f_locals.get("self")).__name__
    name = owner if by.startswith("__") else by
    log.modes.append(Event("mode_on" if is_on else "mode_off", name, users_line(), log.now))


def optimizer_made(log: Log) -> None:
    """An optimizer is made: it asks its parameters whether they are leaves."""
    frame = caller()
    owner = frame.f_locals.get("self") if frame.f_code.co_name == "add_param_group" else None
    if owner is None:
        return
    line = users_line()
    last = log.optimizers[-1] if log.optimizers else None
    if last is None or last.detail() is not owner or last.line != line:
        log.optimizers.append(Event("optimizer", type(owner).__name__, line, log.now, weakref.ref(owner)))


def tensors_in(values: object) -> list[Any]:
    """The tensors in tuples, lists and dicts, two levels deep."""
    found: list[Any] = []
    for v in values.values() if isinstance(values, dict) else values if isinstance(values, SEVERAL) else ():
        if isinstance(v, T):
            found.append(v)
        elif isinstance(v, SEVERAL):
            for w in v:
                if isinstance(w, T):
                    found.append(w)
                elif isinstance(w, SEVERAL):
                    found += [t for t in w if isinstance(t, T)]
        elif isinstance(v, dict):
            found += [t for t in v.values() if isinstance(t, T)]
    return found


def behind(node: Any) -> Iterator[Any]:
    """The numbers of ops, and the leaves, behind a node whose op was not recorded, as that of a user's Function."""
    stack = [node]
    for _ in range(BEHIND):
        if not stack:
            return
        for after, _ in stack.pop().next_functions:
            leaf = getattr(after, "variable", None)
            op = None if after is None else after.metadata.get(KEY)
            if leaf is not None or op is not None:
                yield leaf if leaf is not None else op
            elif after is not None:
                stack.append(after)


def made_anew(log: Log, func: Any, made: Any) -> None:
    """Note a tensor that was made of no other, and that of a random function."""
    log.now += 1
    event = Event("made", name_of_function(func), users_line(), log.now, tuple(made.shape))
    log.note(made, event)
    if event.name.startswith(DRAWING):
        log.draws.append(event)


def rare(log: Log, kind: int, func: Any, args: Any, result: object) -> None:
    """Note a rare call that is no op."""
    if kind == kinds.LIKE:
        made_anew(log, func, result)
    elif kind == kinds.MODE:
        mode_set(log, bool(args[0]))
    elif kind == kinds.HELD:
        optimizer_made(log)
    elif kind == kinds.UNSCALE:
        log.scalers.append(Event("unscaled", "GradScaler", users_line(), log.now, args[1]))


DROPOUT = torch.nn.functional.dropout
COMPARING, PREDICTING, TWO = ("eq", "ne"), ("eq", "ne", "argmax"), 2
MODES = {DROPOUT: (2, True), torch.nn.functional.batch_norm: (5, False)}  # where `training` is, and its default


def predicted(log: Log, func: Any, args: Any, kwargs: Any, out: Any) -> None:
    """Note a comparison of a column with a row, and the place of the largest among one."""
    name, given = name_of_function(func).strip("_"), args[0] if args else None
    if name not in PREDICTING or torch._C._get_tracing_state() is not None:  # a trace would contain the question for a size
        return
    if any(type(n) is not int for n in out.shape):  # a symbolic size would get a guard
        return
    shapes = [tuple(a.shape) for a in args[:2] if isinstance(a, T)]
    if name in COMPARING and len(shapes) == TWO and out.ndim == TWO and out.shape[0] == out.shape[1] > 1:
        of = [a if a._base is None else a._base for a in args[:2]]  # in a transform no tensor tells where its memory is
        if {*shapes} == {out.shape[:1], (*out.shape[:1], 1)} and of[0] is not of[1]:
            log.layers.append(Event("compared_in_pairs", name, users_line(), log.now, sorted(shapes, key=len, reverse=True)))
    elif isinstance(given, T) and name == "argmax" and given.ndim == TWO and len(given) > 1:
        dim = (kwargs or {}).get("dim", args[1] if len(args) > 1 else None)
        if dim in (1, -1) and given.shape[1] == 1:
            log.layers.append(Event("largest_of_one", name, users_line(), log.now, shapes))


def in_other_mode(log: Log, func: Any, args: Any, kwargs: Any, mode: str) -> None:
    """Note a layer that trains under no_grad() ("on"), or that evaluates while gradients are wanted ("off")."""
    at, usual = MODES[func]
    given = kwargs or {}
    trains = given.get("training", args[at] if len(args) > at else usual)
    is_idle = func is DROPOUT and not given.get("p", args[1] if len(args) > 1 else 0.5)
    if bool(trains) == (mode == "on") and torch.is_grad_enabled() == (mode == "off") and not is_idle:
        log.now += 1
        owner = users_frame().f_locals.get("self") if mode == "on" else None  # a module in evaluation mode, with all its parts?
        evaluates = isinstance(owner, torch.nn.Module) and not any(m.training for m in owner.modules())
        log.layers.append(Event(mode, name_of_function(func), users_line(), log.now, evaluates))
