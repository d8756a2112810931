"""The recorder that can stay on: `av.watch()`. Of runs (`av.watch(model)`) it sees what stands outside of their models.

# Note [A model is one op]
A run needs the loss and the loop, and its model's ops would cost most. So while only runs ask, the mode leaves its place in a
call of their model, and the call is noted as one op of its inputs and parameters. No pass is kept: the run has its own.

# Note [What is hooked]
A function mode sees the user's calls of PyTorch. It is below all other modes, so that those come and go in their own order.
PyTorch's own global hooks report the steps of optimizers, and parameters and modules that a module gets.
Names are replaced while the recorder is on:
- `torch.overrides.has_torch_function` would call every tensor overloaded, and `nn.MultiheadAttention` leave its fast path.
- `torch.utils.swap_tensors` refuses tensors that have references. A program may have imported it by name before, so the module
  `weakref` that it asks is replaced, too.
- `torch.nn.Parameter.__new__` makes a leaf of a tensor, and no function mode sees it.
- `torch.manual_seed` is no function of tensors, and neither are the two `load_state_dict()`, of modules and of optimizers.
- `Optimizer.zero_grad` reads and sets each grad.
- `torch.autograd._engine_run_backward` also runs passes that no function mode sees: those that start at a node.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import torch
from torch.nn import Parameter
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers

from ...shared.replacement import Replacement
from ..reading.call_place import users_line
from ..reading.older import is_dynamo_compiling
from ..reading.op_log import Event, Log
from ..reading.values import unseen
from . import events
from .last_pass import LastPass
from .mode import WatchMode
from .place import ModePlace, at, depth, leave_out, pop, push

MODULES = 10_000  # parts of a module that are searched


class _References:
    """The module `weakref` as `swap_tensors` asks it."""

    def __init__(self, forget: Callable[[Any], None]) -> None:
        self._forget = forget

    def getweakrefs(self, tensor: torch.Tensor) -> list[Any]:
        self._forget(tensor)
        return weakref.getweakrefs(tensor)

    def __getattr__(self, name: str) -> Any:
        return getattr(weakref, name)


class Watch:
    """The recorder, while it is on: a context manager; `close()` ends it, too.

    Args:
        keep: bytes of the last pass that may be kept; 0 for none.
        is_whole: it sees the ops inside of watched models, too: Note [A model is one op].
    """

    def __init__(self, keep: int, *, is_whole: bool = True) -> None:
        self.is_whole, self.runs = is_whole, 0  # so many runs need it
        self.log = Log()
        self.last = LastPass(self.log, keep)
        self._mode = WatchMode(self.log, self.last)
        self._stepped: weakref.WeakSet[Any] = weakref.WeakSet()  # optimizers
        self._has_closure = False  # the last step
        self.place = ModePlace(self._mode)
        self._hooks: list[Any] = [
            Replacement(torch.overrides, "has_torch_function", self._is_overloaded),
            *([Replacement(torch.utils, "swap_tensors", self._swapped)] if hasattr(torch.utils, "swap_tensors") else []),
            Replacement(Parameter, "__new__", self._wraps),
            Replacement(torch.autograd, "_engine_run_backward", self._runs),
            Replacement(torch, "manual_seed", self._seeds),
            Replacement(torch.nn.Module, "load_state_dict", self._loads),
            Replacement(optimizers.Optimizer, "load_state_dict", self._state_loads),
            Replacement(optimizers.Optimizer, "zero_grad", self._clears),
            optimizers.register_optimizer_step_pre_hook(self._step_begins),
            optimizers.register_optimizer_step_post_hook(self._step_ends),
            modules.register_module_parameter_registration_hook(self._placed),
            modules.register_module_module_registration_hook(self._placed),
        ]
        vars(torch.manual_seed)["_torchdynamo_disable"] = True  # as the function itself
        torch.utils.weakref = _References(self._forget)  # type: ignore[attr-defined, assignment]
        leave_out()
        self.joined: int | None = None  # what `keep` was before the last call of watch(), if it was already on then
        self._around = list[int | None]()  # the same for each block around
        self.is_on = True
        self.place.enter()

    def __repr__(self) -> str:
        is_on = self.is_on and self.is_whole
        state = f"{len(self.log.passes)} passes seen, {self.held:,} bytes held" if is_on else "closed"
        return f"<watch: {state}>"

    def __reduce_ex__(self, protocol: object) -> Any:
        """What holds it can be pickled and copied; the copy has None, as this process alone is watched."""
        return type(None), ()

    def __enter__(self) -> Watch:
        self._around.append(self.joined)
        self.joined = None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """The outermost block closes it. An inner one leaves it on, as it was before."""
        keep = self._around.pop()
        if keep is None:
            self.close()
        else:
            self.last.budget = keep

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
        with self.log:
            unseen(self.last.let_go)()
        for hook in self._hooks:
            hook.remove()
        torch.utils.weakref = weakref  # type: ignore[attr-defined]
        self.place.close()

    def rearm(self, *_: object) -> None:
        """Go on after a step()."""
        self.place.resume()

    def run_ends(self) -> None:
        """A run does not need it any more."""
        self.runs -= 1
        if not self.runs and not self.is_whole:
            self.close()

    def calls(self, call: Any, model: Any, parameters: Sequence[Any], args: Any, kwargs: Any) -> Any:
        """The model of a run is called: Note [A model is one op]."""
        if self.is_whole or not self.is_on or self.place.is_away or not self.place.is_here:
            return call(*args, **kwargs)
        with self.place.away():
            output = call(*args, **kwargs)
            with self.log, torch._C.DisableTorchFunction():
                self._mode.ran(type(model).__name__, parameters, (*args, *kwargs.values()), output)
        return output

    def _is_overloaded(self, has_torch_function: Any, values: Any) -> bool:
        """`has_torch_function`, as if this mode did not exist."""
        if depth() != 1 or at(0) is not self._mode:
            return bool(has_torch_function(values))
        pop()
        try:
            return bool(has_torch_function(values))
        finally:
            push(self._mode)

    def _runs(self, run: Any, *args: Any, **kwargs: Any) -> Any:
        """A pass begins. If no function of a tensor started it, it may run through the kept graph."""
        if self.place.is_taken():
            with self.log:
                unseen(self.last.let_go)()
        return run(*args, **kwargs)

    def _seeds(self, seed: Any, *args: Any, **kwargs: Any) -> Any:
        """The seed of random numbers is set."""
        if not (is_dynamo_compiling() or self.place.is_away):
            with self.log:
                self.log.now += 1
                given = next(iter((*args, *kwargs.values())), None)
                self.log.seeds.append(Event("seeded", "manual_seed", users_line(), self.log.now, str(given)))
        return seed(*args, **kwargs)

    def _loads(self, load: Any, module: Any, *args: Any, **kwargs: Any) -> Any:
        """A module is filled: note it if `strict=False` has left out all of its parameters, whose names have another prefix."""
        __tracebackhide__ = True
        found = load(module, *args, **kwargs)
        if is_dynamo_compiling() or not getattr(found, "missing_keys", ()) or self.place.is_away:
            return found
        with self.log:
            given: Any = next(iter((*args, *kwargs.values())), {})
            own, missing = dict(torch.nn.Module.named_parameters(module)), {*found.missing_keys}
            pairs = [next((k for k in found.unexpected_keys if _is_renamed(k, n, given[k], p)), None) for n, p in own.items()]
            if own and own.keys() <= missing and None not in pairs:
                self.log.now += 1
                detail = (next(iter(own)), pairs[0], weakref.ref(module))
                self.log.layers.append(Event("nothing_loaded", "load_state_dict", users_line(), self.log.now, detail))
        return found

    def _state_loads(self, load: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """An optimizer's averages are filled: note it of its parameters."""
        __tracebackhide__ = True
        load(optimizer, *args, **kwargs)
        if not is_dynamo_compiling() and not self.place.is_away and optimizer.state:
            with self.log:
                self.log.now += 1
                event = Event("state_loaded", type(optimizer).__name__, users_line(), self.log.now)
                for leaf in (p for group in optimizer.param_groups for p in group["params"]):
                    self.log.note(leaf, event)

    def _clears(self, clear: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """An optimizer clears its grads: one event, and not two calls of each parameter."""
        if is_dynamo_compiling() or args or kwargs or self.place.is_away or not self.place.is_here:
            return clear(optimizer, *args, **kwargs)
        with self.log, torch._C.DisableTorchFunction():
            self.log.now += 1
            leaves = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
            if leaves:
                events.cleared_by(self.log, optimizer, leaves)
        with self.place.away():
            return clear(optimizer)

    def _swapped(self, swap: Any, t1: Any, t2: Any) -> Any:
        """`swap_tensors`, as if nothing here referred to the two tensors."""
        unseen(self.last.let_go)()
        with self.log.apart((t1, t2)):
            return swap(t1, t2)

    def _forget(self, tensor: torch.Tensor) -> None:
        unseen(self.last.let_go)()
        self.log.part((tensor,))
        self.log.made.pop(tensor)
        self.log.data.pop(tensor)
        self.log.met.pop(tensor)

    def _wraps(self, new: Any, kind: Any, data: Any = None, *args: Any, **kwargs: Any) -> Any:
        made = new(kind, data, *args, **kwargs)
        try:
            is_users = not (self.place.is_away or is_dynamo_compiling())
            if data is not None and is_users and self.place.is_here:
                self._mode.wrapped(kind, data, made)
        except Exception as error:
            self.log.fault(error)
        return made

    def _step_begins(self, optimizer: object, args: Any, kwargs: Any) -> None:
        """An optimizer's step begins. Its ops are its own; only a closure runs the user's code."""
        if is_dynamo_compiling():
            return
        with self.log:
            self.rearm()
            self.log.now += 1
            event = Event("step", type(optimizer).__name__, users_line(), self.log.now, weakref.ref(optimizer))
            self.log.steps.append(event)
            if optimizer not in self._stepped:
                self._stepped.add(optimizer)
                self.log.steps_first(optimizer)
            self._has_closure = any(a is not None for a in (*args[1:], *kwargs.values()))
            if not self._has_closure and self.place.is_here:
                self.place.pause()

    def _step_ends(self, optimizer: torch.optim.Optimizer, args: object, kwargs: object) -> None:
        if is_dynamo_compiling():
            return
        self.rearm()
        if self.log.steps and self._has_closure:  # it has run its passes before anything moved
            self.log.now += 1
            self.log.steps[-1].number = self.log.now

    def _placed(self, owner: object, name: str, value: object) -> None:
        """A module has got a parameter, or a module as a part."""
        if value is None or self.place.is_away:
            return
        with self.log:
            before = [vars(owner).get(kind, {}).get(name) for kind in ("_modules", "_parameters")]
            self.log.now += 1
            module = None if isinstance(value, torch.Tensor) else weakref.ref(value)  # Note [A tensor is known by its storage]
            detail = (weakref.ref(owner), name, any(b is not None for b in before), module)
            event = Event("placed", name, users_line(), self.log.now, detail)
            self.log.places.append(event)
            for p in [value] if isinstance(value, torch.Tensor) else _parameters(value):
                if not self.log.events_of(p, "placed"):
                    self.log.note(p, event)


def _is_renamed(key: str, name: str, value: object, own: torch.Tensor) -> bool:
    """Are they one name, but for a prefix of one, and of one shape?"""
    return (f".{key}".endswith(f".{name}") or f".{name}".endswith(f".{key}")) and getattr(value, "shape", None) == own.shape


def _parameters(module: object) -> Iterator[Any]:
    """The parameters of the module and its parts. It calls no method of the user's, and ends if modules contain each other."""
    stack = [module]
    for _ in range(MODULES):
        if not stack:
            return
        inside = vars(stack.pop())
        yield from (p for p in inside.get("_parameters", {}).values() if p is not None)
        stack += [m for m in inside.get("_modules", {}).values() if m is not None]


current: Watch | None = None


@contextmanager
def own_code() -> Iterator[None]:
    """Inside, or in a function with this decorator, ops and passes are ours. They are not noted as the program's."""
    if current is None:
        yield
        return
    with current.place.away():
        yield


def watch(keep: int) -> Watch:
    """The recorder: a new one, or the one that is already on."""
    global current
    if current is None or not current.is_on:
        current = Watch(keep)
    else:
        current.joined = current.keep if current.is_whole else None
        current.is_whole = True
    current.rearm()
    current.last.budget = keep
    return current


def watch_outside() -> Watch:
    """The recorder for a run: the one that is on, or a new one that sees no ops of models. `run_ends()` gives it back."""
    global current
    if current is None or not current.is_on:
        current = Watch(0, is_whole=False)
    current.runs += 1
    return current
