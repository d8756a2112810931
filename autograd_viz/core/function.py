"""User-defined ops: a class with a forward and a backward, and `ctx` between them, as torch.autograd.Function."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import provenance
from .grad_mode import is_grad_enabled, no_grad
from .node import FREED, FREED_MESSAGE, Node, SavedTensor, gradient_edge
from .tensor import Tensor


class FunctionNode(Node):
    """The backward node of a Function, and the `ctx` that its forward and backward get."""

    __slots__ = ("__dict__", "_is_tensor", "_kept", "needs_input_grad")
    function: type[Function]

    def __init__(self) -> None:
        super().__init__((), ())
        self._kept: tuple[Any, ...] = ()
        self._is_tensor: tuple[bool, ...] = ()  # which arguments of forward were tensors; only those have an edge
        self.needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for backward; changes in place to them are noticed.

        Raises:
            TypeError: something else than a tensor or None (keep that as an attribute of ctx).
        """
        for t in tensors:
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument is of type {type(t).__name__}")
        self._kept = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept.

        Raises:
            RuntimeError: it has been freed, or modified in place.
        """
        if FREED in self._kept:
            raise RuntimeError(FREED_MESSAGE)
        return tuple(s.unpack(self) if isinstance(s, SavedTensor) else s for s in self._kept)

    def saved(self) -> dict[str, Any]:
        """The kept tensors as `saved_tensors[i]`."""
        return {f"saved_tensors[{i}]": s for i, s in enumerate(self._kept)}

    def release(self) -> None:
        """Free the kept tensors."""
        self._kept = tuple(FREED if isinstance(s, SavedTensor) else s for s in self._kept)

    def remember(self) -> tuple[Any, ...]:
        """What passed, and the kept tensors."""
        return (self._passed, self._kept)

    def recall(self, remembered: tuple[Any, ...]) -> None:
        """Put both back."""
        self._passed, self._kept = remembered

    def _wrap_kept(self, outputs: tuple[Tensor, ...]) -> None:
        """After forward: remember versions, and keep an output bare (see SavedTensor)."""
        position = {o: i for i, o in enumerate(outputs)}
        self._kept = tuple(t if t is None else SavedTensor(t, position.get(t)) for t in self._kept)

    def apply(self, grads: tuple[Any, ...], on_tensors: bool) -> tuple[Any, ...]:
        """Call the user's backward.

        Raises:
            RuntimeError: it returned the wrong number of gradients.
        """
        given = [
            Tensor(np.zeros(shape, kind)) if g is None else g if isinstance(g, Tensor) else Tensor(g)
            for g, (shape, kind) in zip(grads, self._input_metadata, strict=True)
        ]
        returned = self.function.backward(self, *given)
        returned = returned if isinstance(returned, tuple) else (returned,)
        expected = len(self._is_tensor)
        if len(returned) > expected and all(r is None for r in returned[expected:]):
            returned = returned[:expected]
        if len(returned) != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {expected}, got {len(returned)})"
            )
        for i, r in enumerate(returned):
            if r is not None and not isinstance(r, Tensor):
                raise TypeError(f"{self.name()}: gradient {i} must be a Tensor or None, got {type(r).__name__}")
        for_tensors = (r for r, is_tensor in zip(returned, self._is_tensor, strict=True) if is_tensor)
        out = tuple(r if e[0] is not None else None for r, e in zip(for_tensors, self.next_functions, strict=True))
        return out if on_tensors else tuple(r if r is None else r._data for r in out)


class Function:
    """Subclass it with static methods `forward(ctx, *inputs)` and `backward(ctx, *grad_outputs)`; call `apply`.

    `backward` returns one gradient per input of forward, None for what is not a tensor.
    """

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Compute the outputs; keep what backward needs with ``ctx.save_for_backward``."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Turn the gradients of the outputs into gradients of the inputs."""
        raise NotImplementedError("You must implement the backward function to use it in a backward pass.")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run forward, and record one node for the whole of it if an input requires grad.

        Raises:
            TypeError: forward returned something else than tensors.
        """
        node = _node_class(cls)()
        node.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        with no_grad():
            value = cls.forward(node, *args)
        outputs = value if isinstance(value, tuple) else (value,)
        for o in outputs:
            if not isinstance(o, Tensor):
                raise TypeError(f"{cls.__name__}.forward must return tensors, got {type(o).__name__}")
        outputs = tuple(o._without_history() if any(o is a for a in args) else o for o in outputs)
        if is_grad_enabled():
            _record(cls, node, args, outputs)
        return outputs if isinstance(value, tuple) else outputs[0]


def _record(cls: type[Function], node: FunctionNode, args: tuple[Any, ...], outputs: tuple[Tensor, ...]) -> None:
    tracked = any(node.needs_input_grad)
    inputs = tuple(a for a in args if isinstance(a, Tensor))
    if tracked:
        node._is_tensor = tuple(isinstance(a, Tensor) for a in args)
        node.next_functions = tuple(gradient_edge(t) for t in inputs)
        node._input_metadata = tuple((o._data.shape, o._data.dtype) for o in outputs)
        node._wrap_kept(outputs)
        for i, o in enumerate(outputs):
            o._set_history(node, i)
    provenance.record(cls.__name__, inputs, {}, outputs, node if tracked else None)


def _node_class(cls: type[Function]) -> type[FunctionNode]:
    """The node's class, named after the Function, made once."""
    if "_backward_cls" not in cls.__dict__:
        cls._backward_cls = type(f"{cls.__name__}Backward", (FunctionNode,), {"function": cls, "__module__": cls.__module__})  # type: ignore[attr-defined]
    return cls._backward_cls  # type: ignore[attr-defined, no-any-return]
