"""A user's Function against finite differences, along random directions.

The backward of f gives J^T w for a gradient w of the result. For a direction v, (J^T w) . v is w . (J v), and J v is about
(f(x + h v) - f(x - h v)) / 2h. In float64 both agree to many digits, however many numbers the inputs have.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

SHIFT = 1e-3  # to see whether its result moves at all
STEP, NEAR = 1e-6, 1e-4  # h, and a difference, as a part of the larger number
TRIES = 3  # directions of an input
STILL = 0.5  # the part of a result that does not move, from which on a Function is made of steps


def disagrees(torch: Any, function: Any, given: Sequence[Any], wanted: Sequence[int]) -> bool | None:
    """Does the backward of a Function differ from the finite differences of its forward?

    Args:
        torch: the library of the Function.
        function: its class.
        given: its inputs; tensors as arrays.
        wanted: which of them had a gradient.

    Returns:
        None if that cannot be told: it refuses these inputs, or is random; or if it is meant: its result is an input (a
        reversed gradient), or moves in steps, or only in places, and its backward ignores that (a straight-through one).
    """
    random = np.random.default_rng(0)
    with warnings.catch_warnings(), torch.enable_grad():
        warnings.simplefilter("ignore")
        try:
            return _disagrees(torch, function, [_in_double(g) for g in given], wanted, random)
        except Exception:  # of the user's code
            return None


def _in_double(given: Any) -> Any:
    is_float = isinstance(given, np.ndarray) and given.dtype.kind == "f"
    return given.astype(np.float64) if is_float else given


def _disagrees(torch: Any, function: Any, given: list[Any], wanted: Sequence[int], random: Any) -> bool | None:
    def run(values: list[Any], is_tracked: bool = False) -> Any:
        inputs = [
            torch.tensor(v.tolist(), dtype=getattr(torch, v.dtype.name)) if isinstance(v, np.ndarray) else v for v in values
        ]
        for k in wanted if is_tracked else ():
            inputs[k].requires_grad_()
        found = function.apply(*inputs)
        return inputs, found if isinstance(found, tuple) else (found,)

    def values_of(results: Any) -> Any:
        return np.concatenate([np.asarray(r.detach().tolist(), dtype=np.float64).ravel() for r in results])

    def moved(k: int, by: Any) -> Any:
        return values_of(run([v + by if i == k else v for i, v in enumerate(given)])[1])

    inputs, results = run(given, True)
    first = values_of(results)
    is_double = all(r.dtype == torch.float64 for r in results)
    if not (is_double and np.isfinite(first).all() and (first == values_of(run(given)[1])).all()):
        return None
    if any(v.size == first.size and (v.ravel() == first).all() for v in given if isinstance(v, np.ndarray)):
        return None
    weights = random.standard_normal(first.size)
    parts = np.split(weights, np.cumsum([r.numel() for r in results])[:-1])
    total = sum(
        (r * torch.tensor(w.tolist(), dtype=r.dtype).reshape(r.shape)).sum() for r, w in zip(results, parts, strict=True)
    )
    total.backward()
    for k in wanted:
        by = moved(k, SHIFT) - first
        is_one = inputs[k].grad is not None and np.array_equal(np.ravel(inputs[k].grad.tolist()), weights)
        if (by == 0).mean() >= STILL or (is_one and np.allclose(by[by != 0], SHIFT, 1e-3)):
            return None
    for k in wanted:
        grad = inputs[k].grad
        grad = np.zeros(given[k].shape) if grad is None else np.asarray(grad.tolist(), dtype=np.float64).reshape(given[k].shape)
        wrong = 0
        for _ in range(TRIES):
            along = random.standard_normal(given[k].shape)
            own = float((grad * along).sum())
            near, far = (float(weights @ (moved(k, h * along) - moved(k, -h * along))) / (2 * h) for h in (STEP, 4 * STEP))
            if not abs(near - far) <= NEAR * max(abs(near), abs(far)):
                return None  # it is not smooth here, or computes in float32 inside
            wrong += abs(own - near) > 10 * NEAR * max(abs(own), abs(near))
        if wrong > TRIES // 2:
            return True
    return False
