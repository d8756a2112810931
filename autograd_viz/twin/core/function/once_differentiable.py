"""Marks a backward that cannot be differentiated."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backward.accumulate_grad import gradient_edge
from ..backward.node import Node, Wanted
from ..base.grad_mode import no_grad, recording
from ..tensor.tensor import Tensor


class Error(Node):
    """The grad_fn of the results of a backward that can be differentiated only once. Running it raises."""

    __slots__ = ("message",)

    def __init__(self, message: str, inputs: tuple[Tensor | None, ...], results: tuple[Tensor, ...]) -> None:
        edges = tuple((None, 0) if t is None else gradient_edge(t) for t in inputs)
        super().__init__(edges, tuple((r._data.shape, r._data.dtype) for r in results))
        self.message = message

    def name(self) -> str:
        """The name with PyTorch's namespace. The name of the class has none."""
        return "torch::autograd::Error"

    def apply(self, grads: tuple[Any, ...], on_tensors: bool, wanted: Wanted = None) -> tuple[Any, ...]:
        """Raise."""
        raise RuntimeError(self.message)


ONCE = "trying to differentiate twice a function that was marked with @once_differentiable"


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a Function's backward as not differentiable."""

    @functools.wraps(backward)
    def wrapper(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            outputs = backward(ctx, *grads)
        asks = any(isinstance(g, Tensor) and g.requires_grad for g in grads)
        if not recording() or not asks:
            return outputs
        guarded = _guarded(outputs if isinstance(outputs, tuple) else (outputs,))
        return guarded if isinstance(outputs, tuple) else guarded[0]

    return wrapper


def _guarded(outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The results of a backward, with one Error as their grad_fn."""
    results = tuple(None if o is None else o.detach() for o in outputs)
    stand_ins = tuple(None if r is None else r.detach().requires_grad_() for r in results)
    node = Error(ONCE, stand_ins, tuple(Tensor(np.empty(0)) if r is None else r for r in results))
    for i, r in enumerate(results):
        if r is not None:
            r._set_history(node, i)
    return results
