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
FLAT = 1e-5  # a slope, as a part of the steps


def disagrees(torch: Any, function: Any, given: Sequence[Any], wanted: Sequence[int]) -> bool | None:
    """Does the backward of a Function differ from the finite differences of its forward?

    `torch` is the library of the Function, `function` its class. `given` are its inputs, tensors as arrays; those that are
    `wanted` had a gradient. None if that cannot be told: it refuses these inputs, or is random; or if it is meant: its result
    is an input (a reversed gradient), or moves in steps, or only in places, and its backward ignores that (a straight-through
    one).
    """
    in_double = [g.astype(np.float64) if isinstance(g, np.ndarray) and g.dtype.kind == "f" else g for g in given]
    with warnings.catch_warnings(), torch.enable_grad():
        warnings.simplefilter("ignore")
        try:
            return _Trial(torch, function, in_double).disagrees(wanted)
        except Exception:  # of the user's code
            return None


class _Trial:
    """A Function that runs on some inputs, and near them."""

    def __init__(self, torch: Any, function: Any, given: list[Any], shrinks: bool = True) -> None:
        self._shrinks, self._is_flat = shrinks, False
        self._torch, self._function, self._given, self._random = torch, function, given, np.random.default_rng(0)

    def disagrees(self, wanted: Sequence[int]) -> bool | None:
        """Does a gradient of these inputs differ from the differences of the results?"""
        first, results = self._values(self._run(self._given)[1]), self._run(self._given)[1]
        is_double = all(r.dtype == self._torch.float64 for r in results)
        if not (is_double and np.isfinite(first).all() and (first == self._values(results)).all()):
            return None
        arrays = [v for v in self._given if isinstance(v, np.ndarray)]
        along = self._random.standard_normal(first.size)
        grads = self._gradients(wanted, along)
        # a gradient that is reversed, or clipped, depends on what came
        if any(v.size == first.size and (v.ravel() == first).all() for v in arrays):
            other = self._gradients(wanted, -2 * along)
            return True if all(grads[k].any() and (grads[k] == other[k]).all() for k in wanted) else None
        if any(self._is_meant(k, first, grads[k], along) for k in wanted):
            return None
        found = [self._differs(k, grads[k], along) for k in wanted]
        if self._is_flat and self._shrinks:  # training has led to where its slope is 0: nearer to 0 it has one
            given = [v / 2 if k in wanted else v for k, v in enumerate(self._given)]
            return _Trial(self._torch, self._function, given, shrinks=False).disagrees(wanted)
        return None if None in found else any(found)

    def _run(self, values: list[Any], wanted: Sequence[int] = ()) -> Any:
        torch = self._torch
        dtypes = [getattr(torch, v.dtype.name) if isinstance(v, np.ndarray) else None for v in values]
        inputs = [v if d is None else torch.tensor(v.tolist(), dtype=d) for v, d in zip(values, dtypes, strict=True)]
        for k in wanted:
            inputs[k].requires_grad_()
        found = self._function.apply(*inputs)
        return inputs, found if isinstance(found, tuple) else (found,)

    @staticmethod
    def _values(results: Any) -> Any:
        return np.concatenate([np.asarray(r.detach().tolist(), dtype=np.float64).ravel() for r in results])

    def _moved(self, k: int, by: Any) -> Any:
        return self._values(self._run([v + by if i == k else v for i, v in enumerate(self._given)])[1])

    def _gradients(self, wanted: Sequence[int], along: Any) -> dict[int, Any]:
        inputs, results = self._run(self._given, wanted)
        parts = np.split(along, np.cumsum([r.numel() for r in results])[:-1])
        weights = [self._torch.tensor(w.tolist(), dtype=r.dtype).reshape(r.shape) for r, w in zip(results, parts, strict=True)]
        sum((r * w).sum() for r, w in zip(results, weights, strict=True)).backward()
        grads = {k: np.zeros(self._given[k].shape) if inputs[k].grad is None else inputs[k].grad.tolist() for k in wanted}
        return {k: np.asarray(g, dtype=np.float64) for k, g in grads.items()}

    def _is_meant(self, k: int, first: Any, grad: Any, along: Any) -> bool:
        """Do the results move in steps? Or as the input does, where they move, and its gradient is theirs everywhere?"""
        by = self._moved(k, SHIFT) - first
        is_passed_on = np.array_equal(np.ravel(grad), along) and np.allclose(by[by != 0], SHIFT, SHIFT)
        return bool((by == 0).mean() >= STILL or is_passed_on)

    def _differs(self, k: int, grad: Any, weights: Any) -> bool | None:
        """Does it in most directions? None if the results are not smooth here, or are computed in float32 inside."""
        wrong = 0
        for _ in range(TRIES):
            along = self._random.standard_normal(self._given[k].shape)
            own = float((grad * along).sum())
            moved = ((h, self._moved(k, h * along) - self._moved(k, -h * along)) for h in (STEP, 4 * STEP))
            near, far = (float(weights @ by) / (2 * h) for h, by in moved)
            self._is_flat |= max(abs(near), abs(far)) <= FLAT * float(np.linalg.norm(weights) * np.linalg.norm(along))
            if not abs(near - far) <= NEAR * max(abs(near), abs(far)):
                return None
            wrong += abs(own - near) > 10 * NEAR * max(abs(own), abs(near))
        return wrong > TRIES // 2
