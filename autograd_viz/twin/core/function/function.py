"""User-defined ops, as torch.autograd.Function: a class with forward and backward, which share a `ctx`.

`once_differentiable` marks a backward that cannot be differentiated.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backward.accumulate_grad import gradient_edge
from ..backward.node import Node, Wanted
from ..base.grad_mode import no_grad, recording
from ..tensor.tensor import Tensor
from .function_node import BackwardCFunction
from .function_record import record

FunctionCtx = BackwardCFunction


class Function:
    """Subclass it with static methods `forward(ctx, *inputs)` and `backward(ctx, *grad_outputs)`; call `apply`.

    Or split forward in two: `forward(*inputs)` without ctx, and `setup_context(ctx, inputs, output)`. `backward` returns one
    gradient per input of forward; None for an input that is not a tensor.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should invoke them "
            "on the class itself. Instantiating an autograd function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Always raises: the forward of a Function is static. Call ``apply`` on the class."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
            "with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    _backward_cls: type[BackwardCFunction]  # made at first use
    generate_vmap_rule = False  # for PyTorch's vmap, which autograd_viz lacks

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs. Save what backward needs with ``ctx.save_for_backward``."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save what backward needs, if `forward` takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Turn the gradients of the outputs into gradients of the inputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward "
            "mode AD."
        )

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        """Another name of `backward`."""
        raise NotImplementedError("implement backward")

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """The method that PyTorch's vmap would call."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set generate_vmap_rule=True."
        )

    @classmethod
    def _rule(cls) -> Callable[..., Any]:
        """The user's `backward`, or the user's `vjp`; both are refused."""
        if cls.vjp is Function.vjp:
            return cls.backward
        if cls.backward is not Function.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of "
                "them."
            )
        return cls.vjp

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward, and record one node for the whole op if an input requires grad."""
        separate = cls.setup_context is not Function.setup_context
        if separate or kwargs:  # in order, with defaults: a node has one gradient for each
            given = inspect.signature(cls.forward).bind(*(() if separate else (None,)), *args, **kwargs)
            given.apply_defaults()
            args = given.args if separate else given.args[1:]
        if "_backward_cls" not in cls.__dict__:
            body = {"_forward_cls": cls, "__module__": cls.__module__}
            cls._backward_cls = type(f"{cls.__name__}Backward", (BackwardCFunction,), body)
        node = cls._backward_cls()
        node.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        inputs = tuple(a for a in args if isinstance(a, Tensor))
        edges, versions = tuple(gradient_edge(a) for a in inputs), tuple(a._counter[0] if a._counter else 0 for a in inputs)
        with no_grad():
            if separate:
                value = cls.forward(*args)
                cls.setup_context(node, args, value)
            else:
                value = cls.forward(node, *args)
        outputs = record(node, args, edges, value if isinstance(value, tuple) else (value,), versions)
        return outputs if isinstance(value, tuple) else outputs[0]


class InplaceFunction(Function):
    """A Function that may work in place (PyTorch's helper class)."""


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
        if not (recording() and any(isinstance(g, Tensor) and g.requires_grad for g in grads)):
            return outputs
        results = tuple(None if o is None else o.detach() for o in (outputs if isinstance(outputs, tuple) else (outputs,)))
        stand_ins = tuple(None if r is None else r.detach().requires_grad_() for r in results)
        node = Error(ONCE, stand_ins, tuple(Tensor(np.empty(0)) if r is None else r for r in results))
        for i, r in enumerate(results):
            if r is not None:
                r._set_history(node, i)
        return results if isinstance(outputs, tuple) else results[0]

    return wrapper
