"""The part of the recorder that sees every call of PyTorch's functions.

# Note [Once per op]
This runs for every op of the user's, so it notes little. It notes the function, the line, and the ops that made the inputs.
Text, columns and names are found when somebody asks. An error in here is kept in `log.faults`. A user's class of tensors with
a `__torch_function__` must not see what we read, so `DisableTorchFunctionSubclass` is around it.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ..reading.call_place import Call, call_at, caller, deeper, hide_call, library, users_line
from ..reading.nodes import grad_fn_of, is_leaf
from ..reading.older import is_dynamo_compiling
from ..reading.op_log import Event, Log
from ..reading.op_pages import KEY, MARK, Leaf, model_call
from . import events, kinds
from .data import data_made
from .events import MODES, SEVERAL, behind, tensors_in
from .last_pass import LastPass, run_pass

T = torch.Tensor
PLAIN = (int, float, bool, str, type(None), torch.Size, torch.dtype, torch.device)
QUIET, OP, SKIP = kinds.QUIET, kinds.OP, kinds.SKIP
CALLS = (OP, QUIET)
PASSES = (kinds.BACKWARD, kinds.GRAD)
DisableTorchFunctionSubclass, DisableTorchFunction = torch._C.DisableTorchFunctionSubclass, torch._C.DisableTorchFunction
getframe, getweakrefs = sys._getframe, weakref.getweakrefs
in_transform = torch._C._functorch.peek_interpreter_stack


def _writes(kwargs: Any) -> bool:
    """Does a function write with `inplace=True`? Dropout in evaluation mode does not."""
    return bool(kwargs.get("training", True) and kwargs.get("p", 1))


class WatchMode(TorchFunctionMode):
    """Notes each call."""

    def __init__(self, log: Log, last: LastPass) -> None:
        super().__init__()
        self.log, self.last = log, last
        self._kinds = kinds.Kinds(log.fault)
        self._code: Any = None  # the user's code that ran last
        self.is_closed = False  # though it may still be there: Note [Closed from elsewhere]

    def __torch_function__(self, func: Any, types: object, args: Any = (), kwargs: Any = None) -> Any:
        """Run it, and note it."""
        if self.is_closed or is_dynamo_compiling():  # compiled as without the recorder
            return func(*args, **(kwargs or {}))
        __tracebackhide__ = True
        kind = kinds.INPLACE if kwargs and kwargs.get("inplace") and _writes(kwargs) else self._kinds[func]
        if kind == QUIET and not kwargs:
            result = func(*args)
        elif kind in CALLS:
            if kwargs and "_stacklevel" in kwargs:
                kwargs = deeper(kwargs)
            try:
                result = call_at(getframe(1))(func, args, kwargs)
            except BaseException as error:
                hide_call(error)
                raise
        else:
            return self._run(kind, call_at(getframe(1)), func, args, kwargs)
        try:
            if type(result) is T and not types:
                self._made(func, args, kwargs, result)
            elif type(result) not in PLAIN:
                with DisableTorchFunctionSubclass():
                    self._noted(OP, func, args, kwargs, result)
        except Exception as error:
            self.log.fault(error)
        return result

    def _run(self, kind: int, call: Call, func: object, args: Any, kwargs: object) -> Any:
        __tracebackhide__ = True
        if kind in PASSES:
            return run_pass(self.log, self.last, kind, call, func, args, kwargs or {})
        given = self._before(args, kwargs) if kind == kinds.INPLACE else None
        try:
            result = call(func, args, kwargs)
        except BaseException as error:
            hide_call(error)
            raise
        if kind == SKIP:
            return result
        try:
            if kind == kinds.SET_GRAD and args[1] is None and events.is_cleared_with_others(self.log, args[0], getframe(2)):
                return result
            with DisableTorchFunctionSubclass():
                self._noted(kind, func, args, kwargs, result, given)
        except Exception as error:
            self.log.fault(error)
        return result

    def _before(self, args: object, kwargs: object) -> list[Any]:
        """The inputs of an op, from before it changes one of them."""
        try:
            with DisableTorchFunctionSubclass():
                return self._given(args, kwargs)
        except Exception as error:
            self.log.fault(error)
            return []

    def _noted(
        self, kind: int, func: object, args: object, kwargs: object, result: object, given: list[Any] | None = None
    ) -> None:
        """Note a call other than an op that makes one plain tensor of plain ones."""
        if in_transform() is not None:
            return
        if kind not in CALLS:
            self._other(kind, func, args, kwargs or {}, result, given)
        elif isinstance(result, T):
            self._made(func, args, kwargs, result)
        else:
            self._made_several(func, args, kwargs, tensors_in(result))

    def _made_several(
        self, func: object, args: object, kwargs: object, results: list[Any], given: list[int] | None = None
    ) -> None:
        """Note several results of one call: they belong to one op, though each may have its own node."""
        first = None
        for out in results:
            node = grad_fn_of(out)
            if node is None or first is None:
                self._made(func, args, kwargs, out, given)
                first = first or node
            elif KEY not in node.metadata and KEY in first.metadata:
                node.metadata.update({key: first.metadata[key] for key in (KEY, MARK)})

    # -- ops ----------------------------------------------------------------------------------------------------------

    def _made(self, func: Any, args: Any, kwargs: Any, out: Any, given: list[int] | None = None) -> None:
        """Store the op on the node of its result. If the result has no node, the result leads to the op."""
        node = grad_fn_of(out) if out._is_view() else out.grad_fn
        if node is None:
            if is_leaf(out):
                self._without_history(func, args, kwargs, out)
            return
        known = node.metadata
        if KEY in known:
            if func in MODES:
                events.in_other_mode(self.log, func, args, kwargs, "off")
            return
        frame, log = getframe(2), self.log
        if frame.f_code is not self._code:
            frame = self._users(frame)
        now = log.now = log.now + 1
        page = log.page if now < log.page.end else log.turned()
        used = func, frame.f_code, frame.f_lasti, now
        page.rows += (now, func, used[1], used[2], len(page.given))
        if given is None:
            self._reads((*args, *kwargs.values()) if kwargs else args, page.given, used)
        else:
            log.gave(given, used)
        known[KEY], known[MARK] = now, page.mark
        try:  # noqa: SIM105 - it would cost every op time
            self.last.bytes += out.nbytes
        except RuntimeError:  # a sparse tensor refuses the question
            pass

    def _users(self, frame: Any) -> Any:
        """The user's innermost frame from here on."""
        while library[frame.f_code.co_filename] and frame.f_back is not None:
            frame = frame.f_back
        self._code = None if library[frame.f_code.co_filename] else frame.f_code
        return frame

    def _reads(self, args: Any, found: list[int], used: tuple[Any, ...]) -> None:
        """`_given` and `gave` for every argument. Plain results and leaves are handled inline, which is faster."""
        log = self.log
        for a in args:
            if isinstance(a, T) and not (a._is_view() and a._version):
                node = a.grad_fn
                if node is not None:
                    op = node.metadata.get(KEY)  # type: ignore[attr-defined]
                    if op is not None:
                        found.append(op)
                        if op < log.began:
                            self.last.met_old = True
                        continue
                elif refs := getweakrefs(a):
                    for leaf in refs:
                        if type(leaf) is Leaf and leaf.space == log.space and a.requires_grad:
                            leaf.used = used
                            found += leaf.numbers
                            break
                    else:
                        log.gave(self._given((a,), None), used)
                    continue
                elif not a.requires_grad:
                    continue
            elif type(a) in PLAIN:
                continue
            log.gave(self._given((a,), None), used)

    def _given(self, args: Any, kwargs: Any) -> list[int]:
        """The numbers of the ops that made the arguments, and of leaves that require grad."""
        found: list[int] = []
        for a in (*args, *kwargs.values()) if kwargs else args:
            if isinstance(a, T):
                node = grad_fn_of(a)
                if node is None:
                    if is_leaf(a):
                        self._add(a, found)
                    else:
                        self.last.met_unknown = True
                    continue
                op = node.metadata.get(KEY)
                if op is None:
                    self.last.met_unknown = True
                    for known in behind(node):
                        if isinstance(known, int):
                            found.append(known)
                        else:
                            self._add(known, found)
                    continue
                if op < self.log.began:
                    self.last.met_old = True
                found.append(op)
            elif isinstance(a, SEVERAL) and a:
                found += self._given(tensors_in(a), None)
        return found

    def _add(self, tensor: torch.Tensor, found: list[int]) -> None:
        """Add a leaf, or the result of an op that detached it."""
        log, refs = self.log, getweakrefs(tensor)
        made = log.made.get(tensor) if refs else None
        if tensor.requires_grad:
            known = next((ref for ref in refs if type(ref) is Leaf and ref.space == log.space), None)
            found += (known or log.leaf(tensor, made)).numbers
        elif made is not None:
            found.append(made[0])

    def _without_history(self, func: object, args: Any, kwargs: object, out: Any) -> None:
        """Note a result without a grad_fn: detached, made of data, or made of numbers."""
        if out.requires_grad and any(out is a for a in args):
            return  # a leaf that is returned as it is
        given, log = self._given(args, kwargs), self.log
        if func in MODES:
            events.in_other_mode(log, func, args, kwargs, "on")
        if given:
            events.predicted(log, func, args, kwargs, out)
            has_history = any(g < 0 or not log.is_cut(g) for g in given)
            why = "op" if torch.is_grad_enabled() else "inference" if torch.is_inference_mode_enabled() else "no_grad"
            log.cut(out, func, users_line(), given, why if has_history else "behind" if why == "op" else "behind_no_grad")
        elif not (data := [a for a in args if isinstance(a, T)] or tensors_in(args)):
            events.made_anew(log, func, out)
        elif out.ndim and out is not data[0] and not any(t.is_nested for t in (out, *data)):
            data_made(log, func, args, data, out)

    def ran(self, name: str, parameters: Iterable[Any], args: Any, output: Any) -> None:
        """The model of a run has run: it is one op."""
        if in_transform() is not None:
            return
        func, given = model_call(name), self._given((*tensors_in((args,)), *parameters), None)
        with_history = [out for out in tensors_in((output,)) if grad_fn_of(out) is not None]
        self._made_several(func, args, None, with_history, given)
        for out in tensors_in((output,)):
            if given and grad_fn_of(out) is None and not out.requires_grad:
                self.log.cut(out, func, users_line(), given, "op" if torch.is_grad_enabled() else "no_grad")

    def wrapped(self, kind: object, data: object, made: object) -> None:
        """A leaf was made of a tensor with a history, which ends there: `nn.Parameter(w * mask)`."""
        with DisableTorchFunction():
            if not is_leaf(data) and in_transform() is None:
                self.log.cut(made, kind, users_line(), self._given((data,), None), "op")

    # -- everything else ----------------------------------------------------------------------------------------------

    def _other(self, kind: int, func: Any, args: Any, kwargs: Any, result: Any, before: list[Any] | None) -> None:
        log = self.log
        log.now += 1
        if kind == kinds.LEFT:
            given = self._given(args[:1], None)
            if given and not isinstance(result, T):
                log.leaves_here(func, users_line(), given)
        elif kind == kinds.INPLACE:
            events.written(log, func, args, kwargs)
            if args and isinstance(args[0], T) and not args[0]._is_view():
                self._made(func, args, kwargs, args[0], before)
        elif kind == kinds.SET_GRAD:
            events.grad_set(log, args)
        elif kind == kinds.SET_DATA:
            log.note(args[1], Event("data", "data", users_line(), log.now))
        elif kind == kinds.SWITCH:
            is_on = bool((*args[1:], *kwargs.values(), True)[0])
            event = Event("switched_on" if is_on else "switched_off", "requires_grad", users_line(), log.now)
            log.note(args[0], event)
            if not is_on:
                log.switches.append(event)
        elif kind == kinds.LOOK:
            if result is not None and not library[caller().f_code.co_filename]:
                self.last.looked_at()
        elif kind == kinds.SHAPED:  # the argument gives only its shape or type
            self._made(func, args[:1], None, result)
        else:
            events.rare(log, kind, func, args, result)
