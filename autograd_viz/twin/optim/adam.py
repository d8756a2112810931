"""Adam and related optimizers: steps along the mean gradient. Each coordinate is scaled by the size of its gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.tensor.as_array import Array
from ..core.tensor.tensor import Tensor
from .optimizer import Group, Optimizer, State, counted, options_of, remembered

_Betas = tuple[float, float]


def _decayed(p: Array, grad: Array, group: Group) -> Array:
    """Apply weight decay: to the parameter if decoupled, else to the gradient."""
    if group["weight_decay"] and group.get("decoupled_weight_decay"):
        p *= 1 - group["lr"] * group["weight_decay"]
        return grad
    return grad + group["weight_decay"] * p if group["weight_decay"] else grad


def _moments(p: Array, grad: Array, state: State, group: Group) -> tuple[Array, Array]:
    """Running means of the gradient and of its square."""
    beta1, beta2 = group["betas"]
    mean, square = remembered(state, "exp_avg", p), remembered(state, "exp_avg_sq", p)
    mean += (1 - beta1) * (grad - mean)
    square *= beta2
    square += (1 - beta2) * grad * grad
    return mean, square


class Adam(Optimizer):
    """``p -= lr * m / (sqrt(v) + eps)``. m and v are running means of the gradient and its square, corrected for bias.

    Args:
        params: the leaves to optimize, or dictionaries of them with options.
        lr: the learning rate.
        betas: the decay rates of m and v.
        eps: keeps the divisor above 0.
        weight_decay: shrinks parameters towards 0.
        amsgrad: divide by the largest v so far.
        maximize: maximize the loss instead.
        decoupled_weight_decay: shrink the parameters directly, as AdamW.
        foreach: no effect, like `capturable`, `differentiable` and `fused`.
    """

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: _Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None, decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def update(self, p: Array, grad: Array, state: State, group: Group) -> None:
        """Update one parameter."""
        t, (beta1, beta2) = counted(state), group["betas"]
        mean, square = _moments(p, _decayed(p, grad, group), state, group)
        if group["amsgrad"]:
            largest = remembered(state, "max_exp_avg_sq", p)
            square = np.maximum(largest, square, out=largest)
        divisor = np.sqrt(square) / math.sqrt(1 - beta2**t) + group["eps"]
        p -= group["lr"] / (1 - beta1**t) * (mean / divisor)


class AdamW(Adam):
    """Adam with decoupled weight decay: also ``p *= 1 - lr * weight_decay``."""

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: _Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
        amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip


class Adamax(Optimizer):
    """Adam with the largest recent gradient instead of sqrt(v)."""

    def __init__(
        self, params: Any, lr: float = 2e-3, betas: _Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def update(self, p: Array, grad: Array, state: State, group: Group) -> None:
        """Update one parameter."""
        t, (beta1, beta2), grad = counted(state), group["betas"], _decayed(p, grad, group)
        mean, largest = remembered(state, "exp_avg", p), remembered(state, "exp_inf", p)
        mean += (1 - beta1) * (grad - mean)
        np.maximum(beta2 * largest, np.abs(grad) + group["eps"], out=largest)
        p -= group["lr"] / (1 - beta1**t) * (mean / largest)


class NAdam(Optimizer):
    """Adam with Nesterov momentum."""

    def __init__(
        self, params: Any, lr: float = 2e-3, betas: _Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def update(self, p: Array, grad: Array, state: State, group: Group) -> None:
        """Update one parameter."""
        t, (beta1, beta2), grad = counted(state), group["betas"], _decayed(p, grad, group)
        now, after = (beta1 * (1 - 0.5 * 0.96 ** (k * group["momentum_decay"])) for k in (t, t + 1))
        state.setdefault("mu_product", Tensor(np.array(1.0, np.float32)))
        product = state["mu_product"]._data
        product *= now
        mean, square = _moments(p, grad, state, group)
        divisor = np.sqrt(square / (1 - beta2**t)) + group["eps"]
        p -= group["lr"] * (1 - now) / (1 - float(product)) * (grad / divisor)
        p -= group["lr"] * after / (1 - float(product) * after) * (mean / divisor)


class RAdam(Optimizer):
    """Adam that begins as SGD with momentum, until v is reliable."""

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: _Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        decoupled_weight_decay: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def update(self, p: Array, grad: Array, state: State, group: Group) -> None:
        """Update one parameter."""
        t, (beta1, beta2) = counted(state), group["betas"]
        mean, square = _moments(p, _decayed(p, grad, group), state, group)
        unbiased, room = mean / (1 - beta1**t), 1 - beta2**t
        most = 2 / (1 - beta2) - 1
        seen = most - 2 * t * beta2**t / room
        if seen > 5:
            trust = math.sqrt((seen - 4) * (seen - 2) * most / ((most - 4) * (most - 2) * seen))
            unbiased = unbiased * (trust * math.sqrt(room) / (np.sqrt(square) + group["eps"]))
        p -= group["lr"] * unbiased
