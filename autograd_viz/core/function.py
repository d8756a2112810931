"""User-defined ops: a class with a forward and a backward, and `ctx` between them, as torch.autograd.Function."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from . import provenance
from .attention import attend, packed, saved_hooks
from .forbidden import FUNCTION, SEVERAL
from .grad_mode import State, no_grad
from .inplace import check_inplace, rebase_view
from .node import Node, gradient_edge
from .saved import FREED, FREED_MESSAGE, SavedResult, SavedTensor, keep
from .tensor import Tensor
from .view import View


class BackwardCFunction(Node):
    """The backward node of a Function, and the `ctx` that its forward and backward get.

    # Note [Names on ctx]
    The user keeps whatever is needed as attributes of ctx, by any name. What a node tells pictures by names that are likely
    (`inputs`, `outputs`, `op`) is therefore told by a Call beside it, and these names are free.
    """

    __slots__ = (
        "__dict__",
        "_call",
        "_dirty",
        "_fixed",
        "_is_tensor",
        "_kept",
        "_materialize_non_diff_grads",
        "_not_differentiable",
        "_places",
        "_zeros",
        "at",
        "inputs",
        "needs_input_grad",
        "node",
        "op",
        "options",
        "order",
        "outputs",
    )  # fmt: skip
    _forward_cls: type[Function]
    _call: provenance.Call  # the op, for pictures

    def __init__(self) -> None:
        super().__init__((), ())
        self._kept: tuple[Any, ...] = ()
        self._is_tensor: tuple[bool, ...] = ()  # which arguments of forward were tensors; only those have an edge
        self._places: tuple[int | None, ...] = ()  # for each value that forward returned, which output of the node it is
        self._dirty: tuple[Tensor, ...] = ()
        self._fixed: frozenset[int] = frozenset()  # the outputs that have no gradient
        self._not_differentiable: tuple[Tensor, ...] = ()
        self._zeros = True
        self._materialize_non_diff_grads = True  # zeros for those of outputs without gradient too
        self.needs_input_grad: tuple[bool, ...] = ()

    @property
    def _as_call(self) -> provenance.Call:
        return self._call

    # -- ctx ----------------------------------------------------------------------------------------------------------

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for backward; changes in place to them are noticed.

        Raises:
            TypeError: something else than a tensor or None (keep that as an attribute of ctx).
        """
        for i, t in enumerate(tensors):
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument {i} is of type {type(t).__name__}")
        self._kept = tensors

    save_for_forward = save_for_backward

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs forward has changed in place; it must return them."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which outputs have no gradient."""
        self._not_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (True) or None (False) for an output that nobody used."""
        self._zeros = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept.

        Raises:
            RuntimeError: it has been freed, or modified in place.
        """
        if FREED in self._kept:
            raise RuntimeError(FREED_MESSAGE)
        return tuple(s.unpack(self) if isinstance(s, SavedTensor) else s for s in self._kept)

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The old name of `saved_tensors`."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        if FREED in self._kept:
            raise RuntimeError(FREED_MESSAGE)
        return self._kept

    # -- as a node ----------------------------------------------------------------------------------------------------

    def _saved(self) -> dict[str, Any]:
        """The kept tensors as `saved_tensors[i]`."""
        return {f"saved_tensors[{i}]": s for i, s in enumerate(self._kept)}

    def _release(self) -> None:
        """Free the kept tensors."""
        self._kept = tuple(FREED if isinstance(s, SavedTensor) else s for s in self._kept)

    def _remember(self) -> tuple[Any, ...]:
        """What passed, and the kept tensors."""
        return (self._passed, self._kept)

    def _recall(self, remembered: tuple[Any, ...]) -> None:
        """Put both back."""
        self._passed, self._kept = remembered

    def apply(self, grads: tuple[Any, ...], on_tensors: bool) -> tuple[Any, ...]:
        """Call the user's backward.

        Raises:
            RuntimeError: it returned the wrong number of gradients, or one for an argument that is no tensor.
            TypeError: it returned something else than tensors.
        """
        given = [None if place is None else self._given(grads[place], place) for place in self._places]
        backward = self._forward_cls.backward
        if backward is Function.backward and self._forward_cls.vjp is not Function.vjp:
            backward = self._forward_cls.vjp
        if self._forward_cls.vjp is not Function.vjp and self._forward_cls.backward is not Function.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of "
                "them."
            )
        returned = backward(self, *given)
        returned = returned if isinstance(returned, tuple) else (returned,)
        out = self._for_tensors(returned)
        return out if on_tensors else tuple(r if r is None else r._data for r in out)

    def _given(self, grad: Any, place: int) -> Any:
        """A grad_output as backward wants it: a tensor, zeros if nobody used the output."""
        if grad is None:
            shape, kind = self._outputs_metadata()[place]
            wanted = self._zeros and (self._materialize_non_diff_grads or place not in self._fixed)
            return Tensor(np.zeros(shape, kind)) if wanted else None
        return grad if isinstance(grad, Tensor) else Tensor(grad)

    def _for_tensors(self, returned: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of the arguments that are tensors."""
        expected = len(self._is_tensor)
        if len(returned) > expected and all(r is None for r in returned[expected:]):
            returned = returned[:expected]
        if len(returned) != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {expected}, got {len(returned)})"
            )
        for i, (r, is_tensor) in enumerate(zip(returned, self._is_tensor, strict=True)):
            if r is not None and not is_tensor:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different than None at position {i + 1}, but the "
                    "corresponding forward input was not a Variable"
                )
            if r is not None and not isinstance(r, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(r).__name__})")
        kept = (r for r, is_tensor in zip(returned, self._is_tensor, strict=True) if is_tensor)
        return tuple(r if after is not None else None for r, after in zip(kept, self._next, strict=True))


FunctionCtx = BackwardCFunction


class Function:
    """Subclass it with static methods `forward(ctx, *inputs)` and `backward(ctx, *grad_outputs)`; call `apply`.

    Or split forward in two: `forward(*inputs)` without ctx, and `setup_context(ctx, inputs, output)`. `backward` returns one
    gradient per input of forward, None for what is not a tensor.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should invoke them "
            "on the class itself. Instantiating an autograd function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refused: the forward of a Function is static; call ``apply`` on the class."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
            "with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    _backward_cls: type[BackwardCFunction]  # made when first wanted

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; keep what backward needs with ``ctx.save_for_backward``."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Keep what backward needs, if `forward` takes no ctx."""
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

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward, and record one node for the whole of it if an input requires grad."""
        separate = cls.setup_context is not Function.setup_context
        if separate or kwargs:
            args = _with_defaults(cls.forward, args, kwargs, separate)
        node = _node_class(cls)()
        node.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        edges = tuple(gradient_edge(a) for a in args if isinstance(a, Tensor))
        with no_grad():
            if separate:
                value = cls.forward(*args)
                cls.setup_context(node, args, value)
            else:
                value = cls.forward(node, *args)
        outputs = value if isinstance(value, tuple) else (value,)
        inputs = tuple(a for a in args if isinstance(a, Tensor))
        outputs = _own(node, inputs, outputs)
        if State.enabled:
            _record(node, args, edges, outputs)
        return outputs if isinstance(value, tuple) else outputs[0]


class InplaceFunction(Function):
    """A Function that may be asked to work in place (PyTorch's helper class)."""


def _with_defaults(forward: Any, args: tuple[Any, ...], kwargs: dict[str, Any], separate: bool) -> tuple[Any, ...]:
    """The arguments of `forward` in order, with its defaults: a node has one gradient for each."""
    given = inspect.signature(forward).bind(*(() if separate else (None,)), *args, **kwargs)
    given.apply_defaults()
    return given.args if separate else given.args[1:]


def _own(node: BackwardCFunction, inputs: tuple[Tensor, ...], outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The outputs as tensors of their own: an input that is returned as it is becomes a view of itself."""
    if any(all(d is not o for o in outputs) for d in node._dirty):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified "
            "inplace must all be outputs of the Function."
        )
    found = []
    for o in outputs:
        if isinstance(o, Tensor) and any(o is i for i in inputs) and not any(o is d for d in node._dirty):
            twin = o._without_history()
            twin._view = View(o if o._view is None else o._view.base, () if o._view is None else o._view.cuts, FUNCTION)
            found.append(twin)
        else:
            if isinstance(o, Tensor) and o._view is not None and not any(o is d for d in node._dirty):
                o._view.kind = FUNCTION if len(outputs) == 1 else SEVERAL
            found.append(o)
    return tuple(found)


def _record(node: BackwardCFunction, args: tuple[Any, ...], edges: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Hang the node between inputs and outputs, if an input requires grad."""
    inputs = tuple(a for a in args if isinstance(a, Tensor))
    tensors = tuple(o for o in outputs if isinstance(o, Tensor))
    frame = provenance.callers_frame()
    if not any(node.needs_input_grad):
        made = provenance.untracked(node._forward_cls.__name__, inputs, None, frame)
        for o in tensors:
            o._made_by = o._made_by if any(o is i for i in inputs) else made
        return
    fixed = node._not_differentiable
    node._fixed = frozenset(i for i, o in enumerate(outputs) if any(o is f for f in fixed))
    tracked = [o for o in tensors if o._data.dtype.kind in "fc" and not any(o is f for f in fixed)]
    for d in node._dirty:
        if d._view is None and d.is_leaf and d._requires_grad:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        check_inplace(d, any(node.needs_input_grad))
        d._bump_version()
    _place(node, args, edges, outputs, frame)
    for i, o in enumerate(outputs):
        if any(o is t for t in tracked):
            if o._view is not None and any(o is d for d in node._dirty):
                rebase_view(o, node)
            else:
                o._set_history(node, i)
                if o._view is not None:  # whatever forward did to its memory, this is its history
                    o._view.settle()
        if isinstance(o, Tensor):
            o._made_by = node._call
    _keep(node, tensors)
    if State.attentive and tensors:
        attend(node, tensors[0])


def _place(
    node: BackwardCFunction, args: tuple[Any, ...], edges: tuple[Any, ...], outputs: tuple[Any, ...], frame: FrameType
) -> None:
    """Tell the node what it stands between: edges, the outputs' shapes, and what pictures show."""
    inputs = tuple(a for a in args if isinstance(a, Tensor))
    node._is_tensor = tuple(isinstance(a, Tensor) for a in args)
    node._next, node._index = tuple(e[0] for e in edges), tuple(e[1] for e in edges)
    node._places = tuple(i if isinstance(o, Tensor) else None for i, o in enumerate(outputs))
    metadata: list[Any] = [(o._data.shape, o._data.dtype) if isinstance(o, Tensor) else ((), None) for o in outputs]
    (node._shape, node._dtype), node._others = metadata[0], tuple(metadata[1:]) or None
    node._inputs, node._code, node._lasti = inputs, frame.f_code, frame.f_lasti
    node._call = provenance.untracked(node._forward_cls.__name__, inputs, None, frame)
    node._call.node = node


def _keep(node: BackwardCFunction, outputs: tuple[Tensor, ...]) -> None:
    """After forward: remember versions, and keep an output bare (see Note [Own results])."""
    kept: list[Any] = []
    for t in node._kept:
        own = t is not None and t._grad_fn is node and any(t is o for o in outputs)
        saved = SavedResult(t) if own else None if t is None else keep(t)
        saved = SavedTensor(saved) if isinstance(saved, Tensor) else saved
        kept.append(packed(saved, saved_hooks[-1], node) if saved_hooks and saved is not None else saved)
    node._kept = tuple(kept)


def _node_class(cls: type[Function]) -> type[BackwardCFunction]:
    """The node's class, named after the Function, made once."""
    if "_backward_cls" not in cls.__dict__:
        body = {"_forward_cls": cls, "__module__": cls.__module__}
        cls._backward_cls = type(f"{cls.__name__}Backward", (BackwardCFunction,), body)
    return cls._backward_cls


class Error(Node):
    """Stands behind the results of a backward that can be differentiated only once; raises if it is asked to run."""

    __slots__ = ("message",)

    def __init__(self, message: str, inputs: tuple[Tensor | None, ...], results: tuple[Tensor, ...]) -> None:
        edges = tuple((None, 0) if t is None else gradient_edge(t) for t in inputs)
        super().__init__(edges, tuple((r._data.shape, r._data.dtype) for r in results))
        self.message = message

    def name(self) -> str:
        """The name with PyTorch's namespace; the class is plain Error."""
        return "torch::autograd::Error"

    def apply(self, grads: tuple[Any, ...], on_tensors: bool) -> tuple[Any, ...]:
        """Raise."""
        raise RuntimeError(self.message)


ONCE = "trying to differentiate twice a function that was marked with @once_differentiable"


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a Function's backward as one that cannot itself be differentiated."""

    @functools.wraps(backward)
    def wrapper(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            outputs = backward(ctx, *grads)
        asks = any(isinstance(g, Tensor) and g.requires_grad for g in grads)
        if not State.enabled or not asks:
            return outputs
        guarded = _guarded(outputs if isinstance(outputs, tuple) else (outputs,))
        return guarded if isinstance(outputs, tuple) else guarded[0]

    return wrapper


def _guarded(outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The results of a backward, all behind one Error."""
    results = tuple(None if o is None else o.detach() for o in outputs)
    stand_ins = tuple(None if r is None else r.detach().requires_grad_() for r in results)
    node = Error(ONCE, stand_ins, tuple(Tensor(np.empty(0)) if r is None else r for r in results))
    for i, r in enumerate(results):
        if r is not None:
            r._set_history(node, i)
    return results
