"""What is kept of a pass: inputs, random state, parameters and buffers as they were. It runs again on a copy of the model.

# Note [A pass that runs again]
The copy is called with the same inputs, random state, modes, autocast and tensors. So it computes the same bits. What follows
the model, such as a loss function, is the user's code and does not run again. The gradient that reached the model's result in
the real pass is kept, and starts the backward pass. The line that called the model is kept, and calls it again.

# Note [A copy of the model]
Its modules are copied, with what they hold one level deep; its parameters are the copies that were kept. So a checkpoint,
which calls modules in the backward pass, finds the parameters of the pass there, and the user's model gets no gradient. While
the copy is called, the model itself has the same tensors, for what refers to its modules in other ways.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from types import MethodType
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils._pytree import tree_flatten, tree_map

from ...shared.replacement import own_hook
from ...shared.run.results import MOST_CALLS, Arrivals
from ...shared.source_code import Spot, call_from, spot_of
from ..reading.call_place import users_line
from ..reading.op_pages import Line
from ..recording.record import Recorder
from ..recording.watch import own_code
from .numbers import Copies, is_spread, own


@dataclass
class Call:
    """A call of the model."""

    at: Line | None  # the user's instruction that made it; None in a copy
    args: tuple[Any, ...]
    kwargs: dict[str, Any]  # args, kwargs: as they were given
    versions: list[int]  # the version counters of the tensors among them
    random: dict[Any, Any]  # the states of PyTorch's random numbers before the call, by device ("cpu" or an index)
    buffers: list[Any]  # copies of the buffers before the call
    modes: list[bool]  # which modules were in training mode
    # the kind of device, and the dtype to which autocast cast its ops there, or None; None where there is no autocast
    cast: tuple[str, Any] | None = None
    # the gradient of each tensor that the model returned, by its place among them
    arrived: dict[int, Any] = field(default_factory=dict)
    spot: Spot | None = None  # where that instruction stands, in a copy

    def changed(self) -> bool:
        """Has an input been changed in place since?"""
        return self.versions != [t._version for t in tensors_in((*self.args, self.kwargs))]


@dataclass
class Moment:
    """A pass that can run again."""

    step: int  # the step that it belongs to
    parameters: list[Any]  # copies of the parameters that are trained, as they were
    calls: list[Call]  # the calls of the model


class LastCalls:
    """The last pass of a model. `why_not`: why no pass can run again, or ""."""

    def __init__(self, model: torch.nn.Module, parameters: Sequence[Any], budget: int, arrivals: Arrivals) -> None:
        self._live = list(parameters)
        self._buffers, self._modules = list(model.buffers()), [weakref.ref(m) for m in model.modules()]
        size = sum(t.numel() * t.element_size() for t in [*map(own, self._live), *self._buffers])
        self.why_not = "" if size <= budget else f"copies of its tensors take {size:,} bytes, and keep is {budget:,}"
        self._copies = None if self.why_not else Copies(self._live)
        if any(map(is_spread, self._live)):
            self.why_not = "its parameters are spread over ranks, and this rank alone cannot run it"
        self._arrivals = arrivals
        self._cast = _cast_on(self._live[0].device.type)
        self.calls: list[Call] = []  # of the model in the last pass
        self.counts = True  # the gradients that arrive now are those of `backward`, not of `grad`
        self.reached = 0  # how many gradients have arrived at results of the model
        self._is_followed = False  # results of the model tell when a gradient arrives
        self._has_run = self._has_stepped = False

    def enters(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The model is called."""
        if self._has_run or len(self.calls) == MOST_CALLS:
            self.calls, self._has_run, self._is_followed = [], False, False
        if self.why_not:
            return
        versions = [t._version for t in tensors_in((*args, kwargs) if kwargs else args)]
        buffers = [b.detach().clone() for b in self._buffers]
        modes = [m.training for ref in self._modules if (m := ref()) is not None]
        random: dict[Any, Any] = {"cpu": torch.get_rng_state()}
        if torch.cuda.is_initialized():
            random |= dict(enumerate(torch.cuda.get_rng_state_all()))
        self.calls.append(Call(users_line(), args, kwargs, versions, random, buffers, modes, self._cast()))

    def leaves(self, output: object) -> None:
        """The model has returned: its gradients are noted when they arrive."""
        if not self.calls:
            return
        call = self.calls[-1]
        for place, result in enumerate(tensors_in(output)):
            self._is_followed |= self._arrivals.follow(result, self._noted(call, place, result.output_nr))

    def _noted(self, call: Call, place: int, output: int) -> Callable[[Any], object]:
        def arrives(grads: Sequence[Any]) -> None:
            if self.counts and grads[output] is not None:
                call.arrived[place] = grads[output]
                self.reached += 1

        return lambda node: node.register_prehook(own_hook(arrives))

    def has_run(self, reached: int) -> bool:
        """A backward pass has run, before which `reached` was this. Has it reached the model, as far as is known?"""
        if self._is_followed and self.reached == reached:
            return False
        self._has_run, self._has_stepped = True, False
        return True

    def before_step(self) -> None:
        """Parameters are about to move; under `no_grad`."""
        if self._copies is not None and not self._has_stepped:
            self._copies.take()
            self._has_stepped = True

    def has_moved(self, is_later: bool) -> bool:
        """Has a parameter moved since the first optimizer of this step began? Without copies: `is_later`, another one came."""
        return is_later if self._copies is None else self._copies.differ()

    @property
    def parameters(self) -> list[Any]:
        """Copies of the parameters before the last step, of shards that of this rank; empty if they are too large."""
        return [] if self._copies is None else self._copies.tensors

    def moment(self, step: int) -> Moment:
        """The last pass, with copies of its own. RuntimeError: it cannot run again."""
        if self.why_not:
            raise RuntimeError(f"the pass of step {step} cannot run again: {self.why_not}")
        if not self.calls:
            raise RuntimeError(
                f"the pass of step {step} cannot run again: since it is watched, the model was not called as a whole; "
                "if torch.compile(model) was called instead, watch what it returns"
            )
        if any(call.changed() for call in self.calls):
            raise RuntimeError(f"the pass of step {step} cannot run again: its inputs were changed in place after the call")
        tensors = self.parameters if self._has_stepped else self._live
        return Moment(step, [t.detach().clone() for t in tensors], [_copied(call) for call in self.calls])

    def let_go(self) -> None:
        """Free everything."""
        self.calls, self._copies = [], None
        self.why_not = self.why_not or "the run is closed"


def _cast_on(kind: str) -> Callable[[], tuple[str, Any] | None]:
    """What tells the autocast of a kind of device."""
    if not hasattr(torch, "get_autocast_dtype"):  # before PyTorch 2.4
        given = {"cpu": (torch.is_autocast_cpu_enabled, torch.get_autocast_cpu_dtype),
                 "cuda": (torch.is_autocast_enabled, torch.get_autocast_gpu_dtype)}  # fmt: skip
        if kind not in given:
            return lambda: None
        is_on, dtype = given[kind]
        return lambda: (kind, dtype() if is_on() else None)
    if not torch.amp.is_autocast_available(kind):
        return lambda: None
    return lambda: (kind, torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None)


def _copied(call: Call) -> Call:
    """The call with inputs that nobody else changes."""

    def own(t: object) -> Any:
        return t.detach().clone().requires_grad_(t.requires_grad) if isinstance(t, torch.Tensor) else t

    args, kwargs = tree_map(own, (call.args, call.kwargs))
    arrived = {place: grad.detach().clone() for place, grad in call.arrived.items()}
    versions = [t._version for t in tensors_in((*args, kwargs))]
    spot = None if call.at is None else spot_of(*call.at)
    return Call(None, args, kwargs, versions, call.random, call.buffers, call.modes, call.cast, arrived, spot)


def tensors_in(values: object) -> list[Any]:
    """The tensors in nested tuples, lists and dictionaries, in order."""
    if isinstance(values, torch.Tensor):
        return [values]
    if type(values) is tuple and all(type(v) is torch.Tensor for v in values):
        return list(values)
    return [v for v in tree_flatten(values)[0] if isinstance(v, torch.Tensor)]


def results_again(model: Any, moment: Moment, live: Sequence[Any]) -> tuple[list[tuple[Any, Any]], dict[str, Any], list[Any]]:
    """Each result that a gradient has reached, computed again under a recording, with the gradient; the parameters; the inputs.

    The model is as before afterwards. `live` are the trained parameters, in the order of the moment's.
    RuntimeError: no gradient reached a result of the model, a parameter was not kept, or the model is gone (None).
    """
    if model is None:
        raise RuntimeError(f"the pass of step {moment.step} cannot run again: the model is gone")
    calls, kept = [call for call in moment.calls if call.arrived], set(live)
    if not calls:
        raise RuntimeError(f"no gradient reached the result of the model in step {moment.step}")
    if late := [name for name, p in model.named_parameters() if p.requires_grad and p not in kept]:
        why = f"{late[0]} did not require grad when av.watch(model) was called; call it again"
        raise RuntimeError(f"the pass of step {moment.step} cannot run again: {why}")
    copies = {p: torch.nn.Parameter(c.detach().clone()) for p, c in zip(live, moment.parameters, strict=True)}
    parameters = {name: copies.get(p, p) for name, p in model.named_parameters()}
    again, reached = copy_of(model, copies), list[tuple[Any, Any]]()
    for call in calls:
        results = _call_again(model, again, call, parameters)
        reached += [(results[place], grad) for place, grad in call.arrived.items()]
    for result, _ in reached:
        (result._backward_hooks or {}).clear()  # what arrived had been through the hooks of the result
    inputs = [t for call in calls for t in tensors_in((call.args, call.kwargs))]
    return reached, {name: p for name, p in parameters.items() if p.requires_grad}, inputs


def vjp(outputs: list[Any], grads: list[Any], wanted: Any) -> Any:
    """The gradient that reaches a tensor; None if none does."""
    return torch.autograd.grad(outputs, [wanted], grads, retain_graph=True, allow_unused=True)[0]


def _call_again(model: Any, again: Any, call: Call, parameters: dict[str, Any]) -> list[Any]:
    buffers = dict(zip((name for name, _ in model.named_buffers()), (b.clone() for b in call.buffers), strict=True))
    for name, buffer in buffers.items():
        path, _, own_name = name.rpartition(".")
        again.get_submodule(path)._buffers[own_name] = buffer
    tensors = {f"model.{name}": tensor for name, tensor in (parameters | buffers).items()}
    alone = again.module if isinstance(again, DistributedDataParallel) else again  # its own call waits for the other ranks
    run = partial(call_from, call.spot, alone, *call.args, **call.kwargs)
    for module, mode in zip(again.modules(), call.modes, strict=True):
        module.training = mode  # for good: a checkpoint calls it again in the backward pass
    with Recorder(again), as_it_was(model, call), torch.enable_grad():
        return tensors_in(torch.func.functional_call(_Around(model), tensors, (run,)))


class _Around(torch.nn.Module):
    """Calls a function while a model has other tensors."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, run: Callable[[], Any]) -> Any:
        return run()


def copy_of(model: Any, copies: dict[Any, Any]) -> Any:
    """A model with the same modules, other parameters and dictionaries of its own."""
    twins = {m: m if isinstance(m, torch.jit.ScriptModule) else object.__new__(type(m)) for m in model.modules()}

    def twin(value: Any) -> Any:
        if isinstance(value, MethodType):
            return MethodType(value.__func__, twins[value.__self__]) if _is_in(value.__self__, twins) else value
        if _is_in(value, twins):
            return twins[value]
        return copies.get(value, value) if isinstance(value, torch.nn.Parameter) else value

    def one_level(value: Any) -> Any:
        if type(value) in (dict, OrderedDict):
            return type(value)((key, twin(v)) for key, v in value.items())
        return [twin(v) for v in value] if type(value) is list else twin(value)

    for module, copied in twins.items():
        if copied is not module:
            object.__setattr__(copied, "__dict__", {key: one_level(value) for key, value in vars(module).items()})
    return twins[model]


def _is_in(value: object, modules: dict[Any, Any]) -> bool:
    return isinstance(value, torch.nn.Module) and value in modules


@contextmanager
def as_it_was(model: Any, call: Call) -> Iterator[None]:
    """Random state, modes and autocast of a call; afterwards those of now."""
    devices = [d for d in call.random if d != "cpu"]
    modules = list(model.modules())
    now = [m.training for m in modules]
    cast = nullcontext() if call.cast is None else torch.autocast(call.cast[0], call.cast[1], enabled=call.cast[1] is not None)
    with torch.random.fork_rng(devices), cast:
        torch.set_rng_state(call.random["cpu"])
        for device in devices:
            torch.cuda.set_rng_state(call.random[device], device)
        try:
            for module, mode in zip(modules, call.modes, strict=True):
                module.training = mode
            yield
        finally:
            for module, mode in zip(modules, now, strict=True):
                module.training = mode


MOST = 32  # moments; when there are more, every other one goes


class Moments:
    """Moments in a temporary folder, which is removed with this object."""

    def __init__(self) -> None:
        self.steps: list[int] = []

    @cached_property
    def _folder(self) -> Path:
        folder = tempfile.mkdtemp(prefix="autograd_viz_run_")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def _file(self, step: int) -> Path:
        return self._folder / f"{step}.pt"

    @own_code()
    def keep(self, moment: Moment) -> None:
        """Write a moment. Exception: an input of the model cannot be pickled, or the disk is full."""
        torch.save(moment, self._file(moment.step))
        self.steps = [*(s for s in self.steps if s != moment.step), moment.step]
        if len(self.steps) > MOST:
            for step in self.steps[1:-1:2]:
                self._file(step).unlink(missing_ok=True)
                self.steps.remove(step)

    @own_code()
    def at(self, step: int) -> Moment:
        """The moment of a step. KeyError: it is not kept."""
        if step not in self.steps:
            raise KeyError(step)
        return torch.load(self._file(step), weights_only=False)  # type: ignore[no-any-return]  # our own file
