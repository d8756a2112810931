"""Stochastic gradient descent, optionally with momentum."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Array, Tensor
from .optimizer import Group, Optimizer, State, options_of


class SGD(Optimizer):
    """``p -= lr * grad``, or with momentum ``v = momentum * v + grad`` and ``p -= lr * v``.

    `params` are the leaves to optimize, or dictionaries of them with options. `momentum` is the part of the last v that is
    added to this one, `dampening` the part of the gradient that is not added to v. `weight_decay` shrinks parameters towards 0.
    With `maximize` the loss grows. `foreach`, `differentiable` and `fused` have no effect.

    Raises ValueError: no parameters, or an option out of range. Raises TypeError: a parameter is not a tensor.
    """

    def __init__(
        self, params: Any, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
        nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, options_of(locals()))

    def _update(self, p: Array, grad: Array, state: State, group: Group) -> None:
        if group["weight_decay"]:
            grad = grad + group["weight_decay"] * p
        if group["momentum"]:
            velocity = grad.copy()
            if (kept := state.get("momentum_buffer")) is not None:
                velocity = group["momentum"] * kept._data + (1 - group["dampening"]) * grad
            state["momentum_buffer"] = Tensor(velocity)
            grad = grad + group["momentum"] * velocity if group["nesterov"] else velocity
        p -= group["lr"] * grad
