"""User-defined ops, as torch.autograd.Function: forward and backward, which share a `ctx`; and how such an op is recorded."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backward.accumulate_grad import gradient_edge
from ..backward.instrumentation import attend, packed
from ..backward.node import Node, Wanted
from ..backward.saved import SavedResult, SavedTensor, keep
from ..base import provenance
from ..base.grad_mode import State, no_grad, recording, saved_hooks
from ..inplace.copy_slices import rebase_view
from ..inplace.inplace import check_inplace, detach_
from ..op.view import FUNCTION, SEVERAL, View
from ..tensor import Tensor, refuse_if
from ..tensor.former import formers, gone, history_of, remember
from .function_node import BackwardCFunction

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
            DeprecationWarning, stacklevel=2,
        )  # fmt: skip

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
            said = "Implementing both 'backward' and 'vjp' for a custom Function is not allowed."
            raise RuntimeError(f"{said} You should only implement one of them.")
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
        outputs = _record(node, args, inputs, edges, value if isinstance(value, tuple) else (value,), versions)
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


# -- after forward: the node is connected to inputs and outputs

NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified "
    "inplace must all be outputs of the Function."
)
NOT_INPUT = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be passed to "
    "ctx.mark_dirty()."
)
SEVERAL_OF_VIEW = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one "
    "Tensor. This is not supported by the current autograd engine. You should either make sure the input is not a view (using "
    ".clone() for example) or make your Function only return one Tensor (potentially splitting it into two Functions: one "
    "doing the inplace that returns a single Tensor and a second one that does the other operations). You can ask on the forum "
    "https://discuss.pytorch.org/ if you need help to do this change."
)


def _record(
    node: BackwardCFunction, args: tuple[Any, ...], inputs: tuple[Tensor, ...], edges: tuple[Any, ...],
    values: tuple[Any, ...], versions: tuple[int, ...],
) -> tuple[Any, ...]:  # fmt: skip
    """The `values` that forward returned, for the caller. If an input requires grad, the node (its ctx) becomes their grad_fn.

    Edges and versions are those of the inputs, the tensors among `args`, before forward.
    """
    node._check_marks()
    for d in node._dirty:
        d._bump_version()
    tracked = recording() and any(node.needs_input_grad)
    differentiable = [isinstance(v, Tensor) and v._data.dtype.kind in "fc" for v in values]
    node._fixed = frozenset(
        i for i, v in enumerate(values) if not (tracked and differentiable[i] and not _among(v, node._not_differentiable))
    )
    if tracked:
        _check_dirty(node, inputs, values)
    refuse_if(not all(_among(d, values) for d in node._dirty), NOT_RETURNED)
    outputs = tuple(_own(node, i, v, inputs) for i, v in enumerate(values))
    if len(values) - len(node._fixed) > 1:
        for o in outputs:
            if isinstance(o, Tensor) and o._view is not None:
                o._view.kind = SEVERAL
    if tracked:
        _hang(node, args, inputs, edges, outputs, versions)
    else:
        made = provenance.untracked(node._forward_cls.__name__, inputs, None, provenance.callers_frame())
        for o in outputs:
            if isinstance(o, Tensor) and not _among(o, inputs):
                o._made_by = made
    return outputs


def _among(tensor: Any, tensors: tuple[Any, ...]) -> bool:
    return any(tensor is t for t in tensors)


def _check_dirty(node: BackwardCFunction, inputs: tuple[Tensor, ...], values: tuple[Any, ...]) -> None:
    """Refuse in-place changes that would break the history: of a leaf, of a view among several outputs, ..."""
    for i, v in enumerate(values):
        if i in node._fixed or not _among(v, node._dirty):
            continue
        if v._node is None and v.requires_grad:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        if not _among(v, inputs):
            if v._view is not None:
                raise RuntimeError(NOT_INPUT)
            warnings.warn(NOT_INPUT, UserWarning, stacklevel=4)
        refuse_if(v._view is not None and len(values) > 1, SEVERAL_OF_VIEW)
        check_inplace(v, True)


def _own(node: BackwardCFunction, index: int, value: Any, inputs: tuple[Tensor, ...]) -> Any:
    """One value as an output of the op. An input that is returned itself becomes a view of itself."""
    if not isinstance(value, Tensor):
        return value
    is_input, is_dirty = _among(value, inputs), _among(value, node._dirty)
    if index in node._fixed and value.requires_grad:
        if is_input:
            value = value.detach()
        elif value._view is None:
            detach_(value)
    elif is_input and not is_dirty:
        given, value = value, value._without_history()
        base, cuts = (given, ()) if given._view is None else (given._view.base, given._view.cuts)
        value._view = View(base, cuts, FUNCTION)
    if value._view is not None and not (is_input and is_dirty):
        value._view.kind = FUNCTION
    return value


def _hang(
    node: BackwardCFunction, args: tuple[Any, ...], inputs: tuple[Tensor, ...], edges: tuple[Any, ...],
    outputs: tuple[Any, ...], versions: tuple[int, ...],
) -> None:  # fmt: skip
    """Connect the node to its inputs (with their edges and versions before forward) and outputs. Note the data for pictures."""
    tensors = tuple(o for o in outputs if isinstance(o, Tensor))
    for d in node._dirty:  # pictures show its value before the change
        version = next((v for t, v in zip(inputs, versions, strict=True) if t is d), 0)
        remember(d, history_of(d, gone(d)), version)
    frame = provenance.callers_frame()
    node._is_tensor = tuple(isinstance(a, Tensor) for a in args)
    node._next, node._index = tuple(e[0] for e in edges), tuple(e[1] for e in edges)
    node._places = tuple(i if isinstance(o, Tensor) else None for i, o in enumerate(outputs))
    metadata: list[Any] = [(o._data.shape, o._data.dtype) if isinstance(o, Tensor) else ((), None) for o in outputs]
    (node._shape, node._dtype), node._others = metadata[0] if metadata else ((), None), tuple(metadata[1:]) or None
    node._code, node._lasti = frame.f_code, frame.f_lasti
    node._call = provenance.untracked(node._forward_cls.__name__, inputs, None, frame)
    node._call.node = node
    node._call.inputs = tuple(next(formers(t))[0] if _among(t, node._dirty) else t for t in inputs)
    for i, o in enumerate(outputs):
        if i not in node._fixed:
            _set_history(node, i, o)
        elif isinstance(o, Tensor):
            o._made_by = node._call
    _keep(node, tensors)
    if State.attentive and tensors:
        attend(node, tensors[0])


def _set_history(node: BackwardCFunction, index: int, output: Tensor) -> None:
    """Make the node the grad_fn of the output. If forward changed a view, its base changes too."""
    old = output._node, output._output_nr
    view = output._view
    if view is not None and _among(output, node._dirty):
        rebase_view(output, node, history_of(view.base, gone(view.base)), output._version - 1)
        return
    output._set_history(node, index)
    output._made_by = node._call
    if view is not None:  # this is its history, whatever forward did to its memory
        view.settle()
    output._keep_retaining(*old)


def _keep(node: BackwardCFunction, outputs: tuple[Tensor, ...]) -> None:
    """After forward: remember versions, and save an output without its history (see Note [Own results])."""
    kept: list[Any] = []
    to_save, node._to_save = node._to_save, ()  # an output in it would make a reference cycle
    for t in to_save:
        own = t is not None and t._node is node and _among(t, outputs)
        saved = SavedResult(t) if own else None if t is None else keep(t)
        saved = SavedTensor(saved) if isinstance(saved, Tensor) else saved
        kept.append(packed(saved, saved_hooks[-1], node) if saved_hooks and saved is not None else saved)
    node._kept = tuple(kept)
