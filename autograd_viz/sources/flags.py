"""What is worth stopping at in a step: gradients that became nan, infinite or all zero there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core.engine import Step
from ..core.tensor import Tensor


def flags_of(step: Step) -> tuple[str, ...]:
    """The words nan, inf and zero for what a gradient that left is and none that arrived was: where it was born.

    A pass that starts with such a gradient has it from its first step.
    """
    arrived, left = _arrays(step.grad_outputs), _arrays(step.grad_inputs)
    starts = step.node._passed is not None and step.node._passed[2]
    found = []
    for name, test in (("nan", _has_nan), ("inf", _has_inf), ("zero", _is_zero)):
        if any(map(test, left)) and (starts or not any(map(test, arrived))):
            found.append(name)
    return tuple(found)


def _arrays(grads: Iterable[Any]) -> list[Any]:
    return [np.asarray(g._data if isinstance(g, Tensor) else g) for g in grads if g is not None]


def _has_nan(array: Any) -> bool:
    return array.dtype.kind in "fc" and bool(np.isnan(array).any())


def _has_inf(array: Any) -> bool:
    return array.dtype.kind in "fc" and bool(np.isinf(array).any())


def _is_zero(array: Any) -> bool:
    return array.size > 0 and not array.any()
