"""The moments of a run of our own core: what a pass needs to run again, for chosen steps."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...twin.core.base.provenance import Place
from ...twin.core.tensor.random import default_generator
from ...twin.core.tensor.tensor import Tensor
from ..shared.source_code import call_from, spot_of

MOST = 32  # moments


@dataclass
class CoreCall:
    """A call of the model."""

    at: Place  # the user's instruction that called the model
    model: Any  # a copy of the model before the call
    args: tuple[Any, ...]
    kwargs: dict[str, Any]  # args, kwargs: copies of those of the call
    random: Any  # the state of the random numbers before it
    arrived: dict[int, Any] = field(default_factory=dict)  # the gradients of what the model returned, by its place there
    is_followed: bool = False  # some of these tensors tell when a gradient arrives


class CoreMoment(NamedTuple):
    """A pass that can run again: the step that it belongs to, and the calls of the model that a gradient has reached."""

    step: int
    calls: list[CoreCall]


class CoreMoments:
    """Chosen steps, in memory. `at` gives the moment of one."""

    def __init__(self) -> None:
        self._moments = dict[int, CoreMoment]()
        self.at = self._moments.__getitem__

    @property
    def steps(self) -> list[int]:
        """The steps."""
        return list(self._moments)

    def keep(self, moment: CoreMoment) -> None:
        """Keep a moment. When there are more than `MOST`, every other one goes."""
        self._moments[moment.step] = moment
        if len(self._moments) > MOST:
            for step in self.steps[1:-1:2]:
                del self._moments[step]


def results_again(moment: CoreMoment) -> tuple[list[tuple[Any, Any]], dict[str, Any], list[Any]]:
    """Each result that a gradient has reached, computed again, with the gradient; the copy's parameters by name; inputs."""
    reached, inputs, leaves = list[tuple[Any, Any]](), list[Any](), dict[str, Any]()
    state = default_generator.get_state()
    try:
        for call in moment.calls:
            model = copy.deepcopy(call.model)
            own = {p: leaves.setdefault(name, p) for name, p in model.named_parameters()}
            for module in model.modules():  # all calls have the same leaves
                module._parameters.update({name: own[p] for name, p in module._parameters.items() if p is not None})
            default_generator.set_state(call.random)
            args, kwargs = without_history((call.args, call.kwargs))
            inputs += tensors_in((args, kwargs))
            results = tensors_in(call_from(spot_of(*call.at), model, *args, **kwargs))
            reached += [(results[place], grad) for place, grad in call.arrived.items()]
    finally:
        default_generator.set_state(state)
    for p in leaves.values():
        p.grad = None
    for result, _ in reached:  # what arrived had been through the hooks of the result
        result.grad_fn._more_of().tensor_hooks.pop(result.output_nr, None)
    return reached, leaves, inputs


def without_history(value: Any) -> Any:
    """A copy of arguments, as leaves: the ops that made them do not run again."""
    if isinstance(value, Tensor):
        return Tensor(value._data.copy()).requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {key: without_history(v) for key, v in value.items()}
    return type(value)(map(without_history, value)) if type(value) in (tuple, list) else value


def tensors_in(values: Any) -> list[Any]:
    """The tensors in nested tuples, lists and dictionaries, in order."""
    found, todo = [], [values]
    while todo:
        value = todo.pop()
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (tuple, list, dict)):
            todo += reversed(list(value.values() if isinstance(value, dict) else value))
    return found


def node_of(tensor: Tensor) -> Any:
    """Its grad_fn; None for a leaf, and for a view that makes another when it is asked."""
    return None if tensor._view is not None and tensor._view.is_old else tensor.grad_fn


def is_leaf(tensor: Tensor) -> bool:
    """Did no op make it?"""
    return not tensor.requires_grad or (tensor._view is None and tensor.grad_fn is None)
