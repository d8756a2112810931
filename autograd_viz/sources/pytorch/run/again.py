"""Runs a kept pass again, on a copy of the model.

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
from functools import cached_property, partial
from pathlib import Path
from types import MethodType
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel

from ...shared.source_code import call_from
from ..recording.record import Recorder
from ..recording.watch import own_code
from .moment import Call, Moment, tensors_in


def results_again(model: Any, moment: Moment, live: Sequence[Any]) -> tuple[list[tuple[Any, Any]], dict[str, Any], list[Any]]:
    """Each result that a gradient has reached, computed again under a recording, with the gradient; the parameters; the inputs.

    The model is as before afterwards. `live` are the trained parameters, in the order of the moment's.

    Raises:
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
        """Write a moment.

        Raises:
            Exception: an input of the model cannot be pickled, or the disk is full.
        """
        torch.save(moment, self._file(moment.step))
        self.steps = [*(s for s in self.steps if s != moment.step), moment.step]
        if len(self.steps) > MOST:
            for step in self.steps[1:-1:2]:
                self._file(step).unlink(missing_ok=True)
                self.steps.remove(step)

    @own_code()
    def at(self, step: int) -> Moment:
        """The moment of a step.

        Raises:
            KeyError: it is not kept.
        """
        if step not in self.steps:
            raise KeyError(step)
        return torch.load(self._file(step), weights_only=False)  # type: ignore[no-any-return]  # our own file
