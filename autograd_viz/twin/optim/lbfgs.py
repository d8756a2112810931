"""L-BFGS: steps along the gradient, corrected by the curvature that the last steps have shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.base import happened
from ..core.base.grad_mode import enable_grad
from ..core.tensor.as_array import Array
from ..core.tensor.tensor import Tensor
from .line_search import Trial, strong_wolfe
from .optimizer import Optimizer, options_of


class LBFGS(Optimizer):
    """A quasi-Newton method. `step` needs a closure, because it evaluates the loss several times.

    Args:
        params: the leaves to optimize, one group.
        lr: scales each step.
        max_iter: iterations per step.
        max_eval: calls of the closure per step; default: 1.25 max_iter.
        tolerance_grad: stop when all gradients are smaller.
        tolerance_change: stop when parameters and loss change less.
        history_size: the number of remembered steps.
        line_search_fn: "strong_wolfe", or None for steps of length lr.
    """

    def __init__(
        self, params: Any, lr: float = 1, max_iter: int = 20, max_eval: int | None = None, tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9, history_size: int = 100, line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        super().__init__(params, options_of(locals()))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _gradient(self) -> Array:
        """All gradients as one vector."""
        return np.concatenate([(np.zeros_like(p._data) if p.grad is None else p.grad._data).reshape(-1) for p in self._params])

    @np.errstate(all="ignore")  # a diverging training reaches inf and nan without a warning
    def _move(self, by: Array) -> None:
        place = 0
        for p in self._params:
            p._data += by[place : place + p._data.size].reshape(p._data.shape)
            p._bump_version()
            place += p._data.size

    def _searched(self, closure: Callable[[], Any], begin: Trial, direction: Array, t: float, most: int) -> Trial:
        """The point that a line search finds. The parameters stay where they are."""
        if self.param_groups[0]["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        here, count = [p._data.copy() for p in self._params], self.state[self._params[0]]

        def attempt(t: float) -> Trial:
            self._move(_scaled(direction, t))
            loss, grad = _number(self._evaluated(closure)), self._gradient()
            count["func_evals"] += 1
            for p, values in zip(self._params, here, strict=True):
                np.copyto(p._data, values)
                p._bump_version()
            return Trial(t, loss, grad, _product(grad, direction))

        tolerance = self.param_groups[0]["tolerance_change"]
        return strong_wolfe(attempt, begin, t, float(np.abs(direction).max()), tolerance, most)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Run up to `max_iter` iterations. Returns the loss before the first.

        Raises:
            TypeError: no closure.
            RuntimeError: an unknown line search.
        """
        if closure is None:
            raise TypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        group, state = self.param_groups[0], self.state[self._params[0]]
        first = self._evaluated(closure)
        loss, grad = _number(first), self._gradient()
        state["func_evals"] = state.get("func_evals", 0) + 1
        happened.stepping(self)
        most = state["func_evals"] - 1 + group["max_eval"]
        if np.abs(grad).max() <= group["tolerance_grad"]:
            return first
        for n in range(1, group["max_iter"] + 1):
            direction = self._direction(state, grad, group["history_size"])
            rate = min(1.0, 1.0 / float(np.abs(grad).sum())) * group["lr"] if state["n_iter"] == 1 else group["lr"]
            slope, before, old = _product(grad, direction), loss, grad
            if slope > -group["tolerance_change"]:
                break
            if group["line_search_fn"] is not None:
                left = most - state["func_evals"]
                rate, loss, grad, _ = self._searched(closure, Trial(0.0, loss, grad, slope), direction, rate, left)
            by = _scaled(direction, rate)
            state["last"] = (old, by)
            self._move(by)
            if group["line_search_fn"] is None and n != group["max_iter"]:
                loss, grad = _number(self._evaluated(closure)), self._gradient()
                state["func_evals"] += 1
            changes = (np.abs(grad).max(), np.abs(by).max(), abs(loss - before))
            if state["func_evals"] >= most or _is_settled(group, *changes):
                break
        return first

    @staticmethod
    def _evaluated(closure: Callable[[], Any]) -> Any:
        with enable_grad():
            return closure()

    @staticmethod
    @np.errstate(all="ignore")
    def _direction(state: dict[str, Any], grad: Array, size: int) -> Array:
        """Minus the inverse Hessian times the gradient. The remembered steps approximate the Hessian (two-loop recursion)."""
        state["n_iter"] = state.get("n_iter", 0) + 1
        memory = state.setdefault("memory", [])
        if "last" in state:
            before, moved = state["last"]
            change = grad - before
            if (bend := _product(change, moved)) > 1e-10:
                memory.append((change, moved, 1.0 / bend))
                del memory[:-size]
                state["scale"] = bend / _product(change, change)
        q, shares = -grad, []
        for change, moved, inverse in reversed(memory):
            share = _product(moved, q) * inverse
            q = q - share * change
            shares.append(share)
        r: Array = q * state.get("scale", 1.0)
        for (change, moved, inverse), share in zip(memory, reversed(shares), strict=True):
            r = r + moved * (share - _product(change, r) * inverse)
        return r


@np.errstate(all="ignore")
def _is_settled(group: dict[str, Any], slope: float, moved: float, change: float) -> bool:
    """Is the gradient almost zero, or has the change stopped?"""
    least = group["tolerance_change"]
    return bool(slope <= group["tolerance_grad"] or moved <= least or change < least)


def _product(a: Array, b: Array) -> float:
    return float(a @ b)


@np.errstate(all="ignore")
def _scaled(a: Array, by: float) -> Array:
    return a * by


def _number(loss: Any) -> float:
    """The loss as a number. A closure may return a tensor or a number."""
    return loss.item() if isinstance(loss, Tensor) else float(loss)
