"""Optimizers that scale each coordinate by the size of its gradients: Adam and its relatives, RMSprop, Adagrad, Rprop."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.tensor import Array, Tensor, refuse_if
from .optimizer import Group, Optimizer, State, next_step, options_of, state_array

_Betas = tuple[float, float]


def _weight_decay(p: Array, grad: Array, group: Group) -> Array:
    """Apply weight decay: to the parameter if decoupled, else to the gradient."""
    if group["weight_decay"] and group.get("decoupled_weight_decay"):
        p *= 1 - group["lr"] * group["weight_decay"]
        return grad
    return grad + group["weight_decay"] * p if group["weight_decay"] else grad


def _moments(p: Array, grad: Array, state: State, group: Group) -> tuple[Array, Array]:
    """Running means of the gradient and of its square."""
    beta1, beta2 = group["betas"]
    mean, square = state_array(state, "exp_avg", p), state_array(state, "exp_avg_sq", p)
    mean += (1 - beta1) * (grad - mean)
    square *= beta2
    square += (1 - beta2) * grad * grad
    return mean, square


class Adam(Optimizer):
    """``p -= lr * m / (sqrt(v) + eps)``. m and v are running means of the gradient and its square, corrected for bias.

    `params` are the leaves to optimize, or dictionaries of them with options. `betas` are the decay rates of m and v.
    `weight_decay` shrinks parameters towards 0: directly, as in AdamW, if it is decoupled. With `amsgrad` the divisor is the
    largest v so far; with `maximize` the loss grows. `foreach`, `capturable`, `differentiable` and `fused` have no effect.
    """

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: _Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None, decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _update(self, p: Array, grad: Array, state: State, group: Group) -> None:
        t, (beta1, beta2) = next_step(state), group["betas"]
        mean, square = _moments(p, _weight_decay(p, grad, group), state, group)
        if group["amsgrad"]:
            largest = state_array(state, "max_exp_avg_sq", p)
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
        foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _update(self, p: Array, grad: Array, state: State, group: Group) -> None:
        t, (beta1, beta2), grad = next_step(state), group["betas"], _weight_decay(p, grad, group)
        mean, largest = state_array(state, "exp_avg", p), state_array(state, "exp_inf", p)
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

    def _update(self, p: Array, grad: Array, state: State, group: Group) -> None:
        t, (beta1, beta2), grad = next_step(state), group["betas"], _weight_decay(p, grad, group)
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

    def _update(self, p: Array, grad: Array, state: State, group: Group) -> None:
        t, (beta1, beta2) = next_step(state), group["betas"]
        mean, square = _moments(p, _weight_decay(p, grad, group), state, group)
        unbiased, room = mean / (1 - beta1**t), 1 - beta2**t
        most = 2 / (1 - beta2) - 1
        seen = most - 2 * t * beta2**t / room
        if seen > 5:
            trust = math.sqrt((seen - 4) * (seen - 2) * most / ((most - 4) * (most - 2) * seen))
            unbiased = unbiased * (trust * math.sqrt(room) / (np.sqrt(square) + group["eps"]))
        p -= group["lr"] * unbiased


class RMSprop(Optimizer):
    """``p -= lr * grad / (sqrt(v) + eps)``, with v the running mean of the squared gradient.

    `alpha` is the decay rate of v, `momentum` the part of the last step that is added to this one. With `centered` the divisor
    is the standard deviation of the gradient instead of its root mean square. The other arguments are those of Adam.
    """

    def __init__(
        self, params: Any, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _update(self, p: Array, grad: Array, state: State, group: Group) -> None:
        next_step(state)
        grad, alpha = _weight_decay(p, grad, group), group["alpha"]
        square = state_array(state, "square_avg", p)
        square *= alpha
        square += (1 - alpha) * grad * grad
        spread = square
        if group["centered"]:
            mean = state_array(state, "grad_avg", p)
            mean += (1 - alpha) * (grad - mean)
            spread = square - mean * mean
        step = grad / (np.sqrt(spread) + group["eps"])
        if group["momentum"] > 0:
            velocity = state_array(state, "momentum_buffer", p)
            velocity *= group["momentum"]
            velocity += step
            step = velocity
        p -= group["lr"] * step


class Adagrad(Optimizer):
    """``p -= lr * grad / (sqrt(sum of all squared gradients) + eps)``."""

    def __init__(
        self, params: Any, lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *, maximize: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        if initial_accumulator_value < 0:
            raise ValueError(f"Invalid initial_accumulator_value value: {initial_accumulator_value}")
        super().__init__(params, options_of(locals()))
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["step"] = Tensor(np.array(0.0, np.float32))
                state_array(self.state[p], "sum", p._data, initial_accumulator_value)

    def _update(self, p: Array, grad: Array, state: State, group: Group) -> None:
        t, grad, total = next_step(state), _weight_decay(p, grad, group), state_array(state, "sum", p)
        total += grad * grad
        p -= group["lr"] / (1 + (t - 1) * group["lr_decay"]) * (grad / (np.sqrt(total) + group["eps"]))


class Adadelta(Optimizer):
    """The step size adapts to the size of the last steps. It needs no tuned learning rate."""

    def __init__(
        self, params: Any, lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _update(self, p: Array, grad: Array, state: State, group: Group) -> None:
        next_step(state)
        grad, rho, eps = _weight_decay(p, grad, group), group["rho"], group["eps"]
        square, moved = state_array(state, "square_avg", p), state_array(state, "acc_delta", p)
        square *= rho
        square += (1 - rho) * grad * grad
        step = np.sqrt(moved + eps) / np.sqrt(square + eps) * grad
        moved *= rho
        moved += (1 - rho) * step * step
        p -= group["lr"] * step


class Rprop(Optimizer):
    """The step size grows while the gradient keeps its sign, and shrinks when the sign changes. Only the sign counts."""

    def __init__(
        self, params: Any, lr: float = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        refuse_if(not 0.0 < etas[0] < 1.0 < etas[1], lambda: f"Invalid eta values: {etas[0]}, {etas[1]}", ValueError)
        super().__init__(params, options_of(locals()))

    def _update(self, p: Array, grad: Array, state: State, group: Group) -> None:
        next_step(state)
        before, length = state_array(state, "prev", p), state_array(state, "step_size", p, group["lr"])
        agreement = np.sign(grad * before)
        factor = np.where(agreement > 0, group["etas"][1], np.where(agreement < 0, group["etas"][0], 1.0)).astype(p.dtype)
        np.clip(length * factor, *group["step_sizes"], out=length)
        grad = np.where(agreement < 0, 0, grad).astype(p.dtype)
        p -= np.sign(grad) * length
        before[...] = grad


class ASGD(Optimizer):
    """SGD that also keeps the average of the parameters, in the state's "ax"."""

    def __init__(
        self, params: Any, lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _update(self, p: Array, grad: Array, state: State, group: Group) -> None:
        t, grad = next_step(state), _weight_decay(p, grad, group)
        eta = state.setdefault("eta", Tensor(np.array(group["lr"], np.float32)))._data
        share = state.setdefault("mu", Tensor(np.array(1.0, np.float32)))._data
        mean = state_array(state, "ax", p)
        p *= 1 - group["lambd"] * float(eta)
        p -= float(eta) * grad
        mean[...] = p if float(share) == 1 else mean + (p - mean) * float(share)
        eta[...] = group["lr"] / (1 + group["lambd"] * group["lr"] * t) ** group["alpha"]
        share[...] = 1 / max(1, t - group["t0"])
