"""A user's Function against finite differences."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from ...graph.model import Value

STEP = 1e-3  # to see whether its result moves at all


def disagrees(torch: Any, function: Any, given: list[Value]) -> bool | None:
    """Does the backward of a Function differ from the finite differences of its forward?

    Args:
        torch: the library of the Function.
        function: its class.
        given: its inputs.

    Returns:
        None if that cannot be told: it takes more than these tensors, or is random; or it is meant: its result is its input (a
        reversed gradient), or does not move (a straight-through one).
    """
    has_context = function.setup_context is torch.autograd.Function.setup_context
    wanted = len(inspect.signature(function.forward).parameters) - has_context
    if wanted != len(given) or any(not v.numbers or not v.dtype.startswith(("float", "bfloat")) for v in given):
        return None
    inputs = [torch.tensor(v.numbers, dtype=torch.float64).reshape(v.shape).requires_grad_() for v in given]
    with warnings.catch_warnings(), torch.enable_grad():
        warnings.simplefilter("ignore")
        try:
            results = [function.apply(*(t.detach() + step for t in inputs)) for step in (0.0, 0.0, STEP)]
            same = [r.shape == results[0].shape and bool((r == results[0]).all()) for r in (*results[1:], inputs[0])]
            return None if same != [True, False, False] else not torch.autograd.gradcheck(function.apply, inputs)
        except RuntimeError as error:
            return "Jacobian mismatch" in str(error) or None
        except Exception:  # of the user's code
            return None
