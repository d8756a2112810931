"""What is kept of a pass, so that it can run again: inputs, random state, parameters and buffers as they were.

# Note [A pass that runs again]
A copy of the model is called with the same inputs, random state, modes, autocast and tensors (again.py). So it computes
the same bits. What follows the model, such as a loss function, is the user's code and does not run again. The gradient that
reached the model's result in the real pass is kept, and starts the backward pass. The line that called the model is kept, and
calls it again.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from ...shared.replaced import own_hook
from ...shared.run.results import MOST_CALLS, Arrivals
from ...shared.source_code import Spot, spot_of
from ..reading.call_place import users_line
from ..reading.op_pages import Line
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
    """The last pass of a model.

    Attributes:
        calls: the calls of the model in the last pass.
        why_not: why no pass can run again, or "".
        counts: the gradients that arrive now are those of `backward`, not of `grad`.
        reached: how many gradients have arrived at results of the model.
    """

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
        self.calls: list[Call] = []
        self.counts = True
        self.reached = 0
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
        """The last pass, with copies of its own.

        Raises:
            RuntimeError: it cannot run again.
        """
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
