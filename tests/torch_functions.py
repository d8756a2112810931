"""Functions of a user's, each with one peculiarity that PyTorch's engine knows how to treat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def with_backward(rule: Callable[[Any, Any], Any]) -> Any:
    """A Function that doubles its input, with a backward of its own."""

    class Doubles(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            return a * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return rule(ctx, g)

    return Doubles


class TwoOutputs(torch.autograd.Function):
    """Two outputs, an argument that is no tensor between tensors."""

    @staticmethod
    def forward(ctx: Any, a: Any, k: float, b: Any) -> Any:
        ctx.save_for_backward(a, b)
        ctx.k = k
        return a * b * k, a + b

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any) -> Any:
        a, b = ctx.saved_tensors
        return g * b * ctx.k + h, None, g * a * ctx.k + h


def _no_zeros(ctx: Any) -> None:
    ctx.set_materialize_grads(False)


class NotMaterialized(torch.autograd.Function):
    """Gets None for an unused output; it says so in a function of its own."""

    @staticmethod
    @torch.no_grad()
    def forward(ctx: Any, a: Any) -> Any:
        _no_zeros(ctx)
        return a * 2, a * 3

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any) -> Any:
        return torch.full_like(g, 7.0) if h is None else g + h


class Once(torch.autograd.Function):
    """With `once_differentiable` and `setup_context`."""

    @staticmethod
    def forward(a: Any, b: Any) -> Any:
        return a.sin() * b

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        a, b, _ = ctx.saved_tensors
        return g * a.cos() * b, g * a.sin()


class Doubled(torch.autograd.Function):
    """Changes its input in place."""

    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        a.mul_(2)
        ctx.mark_dirty(a)
        return a

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


class SomeOutputs(torch.autograd.Function):
    """One differentiable output of three, more gradients than arguments."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        count, signs = torch.tensor(3), a > 0
        ctx.mark_non_differentiable(count, signs)
        return a * b.detach(), count, signs

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any, i: Any) -> Any:
        return g * 2, None, None, None


class Boxed(torch.autograd.Function):
    """Its backward is given a list, which it may empty, as compiled code's is."""

    boxed_grads_call = True

    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        ctx.save_for_backward(a)
        return a.sin(), a.exp()

    @staticmethod
    def backward(ctx: Any, grads: Any, *more: Any) -> Any:
        g, h = grads if isinstance(grads, list) else (grads, *more)  # releases before 2.9 know no boxes
        (a,) = ctx.saved_tensors
        return g * a.cos() + h * a.exp()
