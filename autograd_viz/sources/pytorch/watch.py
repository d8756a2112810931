"""The recorder that can stay on: `av.watch()`.

# Note [What is hooked]
A function mode sees the user's calls of PyTorch. It is below all other modes, so that those come and go in their own order.
PyTorch's own global hooks report the steps of optimizers, and parameters and modules that a module gets.
Four names are replaced while the recorder is on:
- `torch.overrides.has_torch_function` would say that every tensor is overloaded, and `nn.MultiheadAttention` would leave its
  fast path.
- `torch.utils.swap_tensors` refuses tensors that have references.
- `torch.nn.Parameter.__new__` makes a leaf of a tensor, and no function mode sees it.
- `torch.autograd._engine_run_backward` also runs passes that no function mode sees: those that start at a node.

# Note [A step that raised]
An optimizer's own ops need no notes, so the mode is switched off for a step. PyTorch does not say when a step has raised. So
a global hook on modules exists during the step. The first module that runs after a step that raised calls it.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from functools import partial, update_wrapper
from types import TracebackType
from typing import Any

import torch
from torch.compiler import is_dynamo_compiling
from torch.nn import Parameter
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers

from .watch_lines import users_line
from .watch_log import Event, Log
from .watch_mode import WatchMode
from .watch_pass import LastPass

pop, push = torch._C._pop_torch_function_stack, torch._C._push_on_torch_function_stack
depth, at = torch._C._len_torch_function_stack, torch._C._get_function_stack_at

AFTER_STEP = -1  # no hook of PyTorch's has this number
MODULES = 10_000  # parts of a module that are searched


class Watch:
    """The recorder, while it is on: a context manager; `close()` ends it, too.

    Args:
        keep: bytes of the last pass that may be kept; 0 for none.

    Attributes:
        log: what it has seen.
        last: the last pass, if it is kept.
    """

    def __init__(self, keep: int) -> None:
        self.log = Log()
        self.last = LastPass(self.log, keep)
        self._mode = WatchMode(self.log, self.last)
        self._thread = threading.get_ident()
        self._is_stepping = False
        self._has_torch_function, self._swap_tensors = torch.overrides.has_torch_function, torch.utils.swap_tensors
        torch.overrides.has_torch_function = self._is_overloaded  # type: ignore[assignment]
        torch.utils.swap_tensors = self._swapped
        self._new = vars(Parameter)["__new__"]
        self._news = staticmethod(update_wrapper(partial(self._wraps), self._new.__func__))
        Parameter.__new__ = self._news  # type: ignore[method-assign]
        self._run_backward = getattr(torch.autograd, "_engine_run_backward", None)
        if self._run_backward is not None:
            torch.autograd._engine_run_backward = self._runs  # type: ignore[attr-defined]
        self._hooks = [
            optimizers.register_optimizer_step_pre_hook(self._step_begins),
            optimizers.register_optimizer_step_post_hook(self._step_ends),
            modules.register_module_parameter_registration_hook(self._placed),
            modules.register_module_module_registration_hook(self._placed),
        ]
        self.is_on = True
        self._enter()

    def __repr__(self) -> str:
        state = f"{len(self.log.passes)} passes seen, {self.held:,} bytes held" if self.is_on else "closed"
        return f"<watch: {state}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        """What holds it can be pickled and copied; the copy has None, as this process alone is watched."""
        return type(None), ()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def held(self) -> int:
        """Bytes of the last pass that are kept."""
        return self.last.held

    @property
    def keep(self) -> int:
        """Bytes of the last pass that may be kept."""
        return self.last.budget

    @property
    def faults(self) -> tuple[Exception, ...]:
        """Errors inside the recorder; the user's program did not notice them."""
        return tuple(self.log.faults)

    def close(self) -> None:
        """Stop, and drop the last pass. Questions about the recorded program still get answers."""
        if not self.is_on:
            return
        self.rearm()
        self.is_on = False
        try:
            self.last.let_go()
        except Exception as error:
            self.log.fault(error)
        for hook in self._hooks:
            hook.remove()
        if torch.overrides.has_torch_function == self._is_overloaded:
            torch.overrides.has_torch_function = self._has_torch_function
        if torch.utils.swap_tensors == self._swapped:
            torch.utils.swap_tensors = self._swap_tensors
        if vars(Parameter)["__new__"] is self._news:
            Parameter.__new__ = self._new  # type: ignore[method-assign]
        if self._run_backward is not None and torch.autograd._engine_run_backward == self._runs:  # type: ignore[attr-defined]
            torch.autograd._engine_run_backward = self._run_backward  # type: ignore[attr-defined]
        if threading.get_ident() == self._thread:
            self._leave()

    def rearm(self, *_: Any) -> None:
        """Go on after a step()."""
        if self._is_stepping and threading.get_ident() == self._thread:
            self._is_stepping = False
            del modules._global_forward_pre_hooks[AFTER_STEP]
            self._enter()

    def _enter(self) -> None:
        """Put the mode below all others except that of `set_default_device`, which must be the lowest."""
        above = [pop() for _ in range(depth())]
        lowest = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
        if above and above[-1] is lowest:
            push(above.pop())
        push(self._mode)
        for mode in reversed(above):
            push(mode)

    def _leave(self) -> None:
        """Remove the mode from its place in the stack."""
        modes = [pop() for _ in range(depth())]
        for mode in reversed(modes):
            if mode is not self._mode:
                push(mode)

    def _is_overloaded(self, values: Any) -> bool:
        """`has_torch_function`, as if this mode did not exist."""
        if depth() != 1 or at(0) is not self._mode:
            return bool(self._has_torch_function(values))
        pop()
        try:
            return bool(self._has_torch_function(values))
        finally:
            push(self._mode)

    def _runs(self, *args: Any, **kwargs: Any) -> Any:
        """A pass begins. If no function of a tensor started it, it may run through the kept graph."""
        if depth() and any(at(k) is self._mode for k in range(depth())):
            try:
                self.last.let_go()
            except Exception as error:
                self.log.fault(error)
        return self._run_backward(*args, **kwargs)  # type: ignore[misc]

    def _swapped(self, t1: Any, t2: Any) -> Any:
        """`swap_tensors`, as if nothing here referred to the two tensors."""
        self.last.let_go()
        with self.log.apart((t1, t2)):
            return self._swap_tensors(t1, t2)

    def _wraps(self, kind: Any, data: Any = None, *args: Any, **kwargs: Any) -> Any:
        """`nn.Parameter(data)`."""
        made = self._new(kind, data, *args, **kwargs)
        try:
            if data is not None and not is_dynamo_compiling() and threading.get_ident() == self._thread:
                self._mode.wrapped(kind, data, made)
        except Exception as error:
            self.log.fault(error)
        return made

    # -- PyTorch's own hooks ------------------------------------------------------------------------------------------

    def _step_begins(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """An optimizer's step begins. Its ops are its own; only a closure runs the user's code."""
        if is_dynamo_compiling():
            return
        try:
            self.rearm()
            self.log.now += 1
            event = Event("step", type(optimizer).__name__, users_line(), self.log.now, weakref.ref(optimizer))
            self.log.steps.append(event)
            has_closure = any(a is not None for a in (*args[1:], *kwargs.values()))
            if not has_closure and threading.get_ident() == self._thread and depth() and at(depth() - 1) is self._mode:
                modules._global_forward_pre_hooks[AFTER_STEP] = self.rearm  # no handle: it would cost as much as an op
                self._is_stepping = True
                pop()
        except Exception as error:
            self.log.fault(error)

    def _step_ends(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not is_dynamo_compiling():
            self.rearm()

    def _placed(self, owner: Any, name: str, value: Any) -> None:
        """A module has got a parameter, or a module as a part."""
        if value is None:
            return
        try:
            before = [vars(owner).get(kind, {}).get(name) for kind in ("_modules", "_parameters")]
            self.log.now += 1
            module = None if isinstance(value, torch.Tensor) else weakref.ref(value)  # Note [A tensor is known by its storage]
            detail = (weakref.ref(owner), name, any(b is not None for b in before), module)
            event = Event("placed", name, users_line(), self.log.now, detail)
            self.log.places.append(event)
            for p in [value] if isinstance(value, torch.Tensor) else _parameters(value):
                if not self.log.events_of(p, "placed"):
                    self.log.note(p, event)
        except Exception as error:
            self.log.fault(error)


def _parameters(module: Any) -> Iterator[Any]:
    """The parameters of the module and its parts.

    It calls no method of the user's, and ends for modules that contain each other.
    """
    stack = [module]
    for _ in range(MODULES):
        if not stack:
            return
        inside = vars(stack.pop())
        yield from (p for p in inside.get("_parameters", {}).values() if p is not None)
        stack += [m for m in inside.get("_modules", {}).values() if m is not None]


current: Watch | None = None


def watch(keep: int) -> Watch:
    """The recorder: a new one, or the one that is already on."""
    global current
    if current is None or not current.is_on:
        current = Watch(keep)
    current.rearm()
    current.last.budget = keep
    return current
