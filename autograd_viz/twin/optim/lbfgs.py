"""L-BFGS: steps along the gradient, corrected by the curvature that the last steps have shown; and its line search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core.base import events
from ..core.base.grad_mode import enable_grad
from ..core.tensor import Array, Tensor, refuse_if
from .optimizer import Optimizer, options_of

ENOUGH, FLAT = 1e-4, 0.9  # of the first slope: the least mean descent, and the steepest slope at the end


class Trial(NamedTuple):
    """A point of the line."""

    t: float  # how far along the direction
    loss: float
    grad: Array  # as one vector
    slope: float  # of the loss along the direction


@np.errstate(all="ignore")
def lowest(a: Trial, b: Trial, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic through both points, with their slopes, is lowest within `bounds` (by default between them)."""
    if a.t > b.t:
        a, b = b, a
    least, most = bounds or (a.t, b.t)
    mean = a.slope + b.slope - np.float64(3 * (a.loss - b.loss)) / (a.t - b.t)
    square = mean**2 - a.slope * b.slope
    if not square >= 0:
        return (least + most) / 2.0
    root = np.sqrt(square)
    place = b.t - (b.t - a.t) * ((b.slope + root - mean) / (b.slope - a.slope + 2 * root))
    return float(min(max(place, least), most))


def strong_wolfe(
    attempt: Callable[[float], Trial], begin: Trial, t: float, largest: float, tolerance: float, most: int
) -> Trial:
    """The point to move to, by at most so many attempts, first at the distance t.

    A closer search than to the tolerance of the change of an element is not worth it; `largest` is that of the direction.
    """
    before, new = begin, attempt(t)
    for n in range(most):
        if new.loss > begin.loss + ENOUGH * new.t * begin.slope or (n > 1 and new.loss >= before.loss):
            return _zoom(attempt, begin, [before, new], largest, tolerance, most - n)
        if abs(new.slope) <= -FLAT * begin.slope:
            return new
        if new.slope >= 0:
            return _zoom(attempt, begin, [before, new], largest, tolerance, most - n)
        t = lowest(before, new, (new.t + 0.01 * (new.t - before.t), new.t * 10))
        before, new = new, attempt(t)
    return begin if begin.loss <= new.loss else new


def _zoom(
    attempt: Callable[[float], Trial], begin: Trial, ends: list[Trial], largest: float, tolerance: float, most: int
) -> Trial:
    """Narrow the interval between two ends until a point in it satisfies the conditions."""
    low, high = sorted(ends, key=lambda end: end.loss)
    is_stuck = False
    for _ in range(most):
        left, right = min(low.t, high.t), max(low.t, high.t)
        if (right - left) * largest < tolerance:
            break
        t, edge = lowest(low, high), 0.1 * (right - left)
        was_stuck, is_stuck = is_stuck, min(right - t, t - left) < edge
        if is_stuck and (was_stuck or t >= right or t <= left):
            t = right - edge if abs(t - right) < abs(t - left) else left + edge
            is_stuck = False
        new = attempt(t)
        if new.loss > begin.loss + ENOUGH * t * begin.slope or new.loss >= low.loss:
            low, high = sorted((low, new), key=lambda end: end.loss)
            continue
        if abs(new.slope) <= -FLAT * begin.slope:
            return new
        if new.slope * (high.t - low.t) >= 0:
            high = low
        low = new
    return low


class LBFGS(Optimizer):
    """A quasi-Newton method. `step` needs a closure, because it evaluates the loss several times.

    `params` are one group. A step has at most `max_iter` iterations, and `max_eval` (default: 1.25 max_iter) calls of the
    closure. It ends when all gradients are below `tolerance_grad`, or parameters and loss change less than `tolerance_change`.
    `history_size` is the number of remembered steps, `line_search_fn` "strong_wolfe", or None for steps of length lr.
    """

    def __init__(
        self, params: Any, lr: float = 1, max_iter: int = 20, max_eval: int | None = None, tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9, history_size: int = 100, line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        super().__init__(params, options_of(locals()))
        refuse_if(len(self.param_groups) != 1, "LBFGS doesn't support per-parameter options (parameter groups)", ValueError)
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

    def _line_search(self, closure: Callable[[], Any], begin: Trial, direction: Array, t: float, most: int) -> Trial:
        """The point that a line search finds. The parameters stay where they are."""
        refuse_if(self.param_groups[0]["line_search_fn"] != "strong_wolfe", "only 'strong_wolfe' is supported")
        here, count = [p._data.copy() for p in self._params], self.state[self._params[0]]

        def attempt(t: float) -> Trial:
            self._move(_times(direction, t))
            loss, grad = _number(self._evaluated(closure)), self._gradient()
            count["func_evals"] += 1
            for p, values in zip(self._params, here, strict=True):
                np.copyto(p._data, values)
                p._bump_version()
            return Trial(t, loss, grad, float(grad @ direction))

        tolerance = self.param_groups[0]["tolerance_change"]
        return strong_wolfe(attempt, begin, t, float(np.abs(direction).max()), tolerance, most)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Run up to `max_iter` iterations; return the first loss. Raises TypeError: no closure; RuntimeError: line search."""
        if closure is None:
            raise TypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        group, state = self.param_groups[0], self.state[self._params[0]]
        first = self._evaluated(closure)
        loss, grad = _number(first), self._gradient()
        state["func_evals"] = state.get("func_evals", 0) + 1
        events.stepping(self)
        most = state["func_evals"] - 1 + group["max_eval"]
        if np.abs(grad).max() <= group["tolerance_grad"]:
            return first
        for n in range(1, group["max_iter"] + 1):
            direction = self._direction(state, grad, group["history_size"])
            rate = min(1.0, 1.0 / float(np.abs(grad).sum())) * group["lr"] if state["n_iter"] == 1 else group["lr"]
            slope, before, old = float(grad @ direction), loss, grad
            if slope > -group["tolerance_change"]:
                break
            if group["line_search_fn"] is not None:
                left = most - state["func_evals"]
                rate, loss, grad, _ = self._line_search(closure, Trial(0.0, loss, grad, slope), direction, rate, left)
            by = _times(direction, rate)
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
        """Minus the inverse Hessian times the gradient. The state_array steps approximate the Hessian (two-loop recursion)."""
        state["n_iter"] = state.get("n_iter", 0) + 1
        memory = state.setdefault("memory", [])
        if "last" in state:
            before, moved = state["last"]
            change = grad - before
            if (bend := float(change @ moved)) > 1e-10:
                memory.append((change, moved, 1.0 / bend))
                del memory[:-size]
                state["scale"] = bend / float(change @ change)
        q, shares = -grad, []
        for change, moved, inverse in reversed(memory):
            share = float(moved @ q) * inverse
            q = q - share * change
            shares.append(share)
        r: Array = q * state.get("scale", 1.0)
        for (change, moved, inverse), share in zip(memory, reversed(shares), strict=True):
            r = r + moved * (share - float(change @ r) * inverse)
        return r


@np.errstate(all="ignore")
def _is_settled(group: dict[str, Any], slope: float, moved: float, change: float) -> bool:
    """Is the gradient almost zero, or has the change stopped?"""
    least = group["tolerance_change"]
    return bool(slope <= group["tolerance_grad"] or moved <= least or change < least)


@np.errstate(all="ignore")
def _times(a: Array, by: float) -> Array:
    return a * by


def _number(loss: Any) -> float:
    """The loss as a number. A closure may return a tensor or a number."""
    return loss.item() if isinstance(loss, Tensor) else float(loss)
