"""Optimizers: what turns gradients into better parameters."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .core.grad_mode import no_grad
from .core.tensor import Tensor

__all__ = ["SGD"]


class SGD:
    """Stochastic gradient descent: ``p -= lr * p.grad``.

    Args:
        params: the leaves to change.
        lr: the learning rate, not negative.

    Raises:
        ValueError: no parameters, or a negative learning rate.
        TypeError: a parameter is no tensor.
    """

    def __init__(self, params: Iterable[Tensor], lr: float = 1e-3) -> None:
        self.params = list(params)
        self.lr = lr
        if not self.params:
            raise ValueError("optimizer got an empty parameter list")
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        for p in self.params:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients: None, or zeros in place."""
        for p in self.params:
            if set_to_none or p.grad is None:
                p.grad = None
            else:
                p.grad = Tensor(np.zeros_like(p.grad._data))

    def step(self) -> None:
        """Move every parameter that has a gradient."""
        with no_grad():
            for p in self.params:
                if p.grad is not None:
                    p.sub_(p.grad, alpha=self.lr)
