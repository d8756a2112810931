"""Calling a module: hooks before, forward, hooks after.

# Note [Hooks of a border]
A module with backward hooks has two extra nodes. The identity after its outputs receives grad_output. The identity before
its inputs returns grad_input. The user's hooks are called from hooks of these nodes, not from their backward. So a backward
pass through the pass (create_graph) does not call them again.
"""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..core.backward.hooks import RemovableHandle, register
from ..core.backward.node import Node
from ..core.base import events
from ..core.base.grad_mode import recording
from ..core.base.provenance import Place, forget_frame, is_ours, know_frame
from ..core.base.scopes import Stretch
from ..core.function.function import Function
from ..core.tensor import Tensor, refuse_if

Hook = Callable[..., Any]
_KINDS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
_MIXED = "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."


class HookedCall:
    """The part of Module that runs `forward` between its hooks."""

    forward: Callable[..., Any]

    def _init_hooks(self) -> None:
        for kind in _KINDS:
            self.__dict__[kind] = {}
        self.__dict__["_is_full_backward_hook"] = None  # None until the first backward hook decides the kind

    def _hook(self, kind: str, hook: Any, prepend: bool) -> RemovableHandle:
        registered = self.__dict__[kind]
        handle = register(registered, hook)
        if prepend:
            registered.update({k: registered.pop(k) for k in list(registered) if k != handle.id})
        return handle

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before forward. Its result replaces the arguments."""
        return self._hook("_forward_pre_hooks", (hook, with_kwargs), prepend)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after forward. Its result replaces the output."""
        return self._hook("_forward_hooks", (hook, with_kwargs), prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` when the gradient of the output arrives. Its result replaces the gradient."""
        return self._hook("_backward_pre_hooks", hook, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)``; its result replaces grad_input. Raises RuntimeError: old hooks."""
        refuse_if(self.__dict__["_is_full_backward_hook"] is False, _MIXED)
        self.__dict__["_is_full_backward_hook"] = True
        return self._hook("_backward_hooks", hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """PyTorch's old kind: ``hook(module, grad_input, grad_output)``, called after the last op of forward has run backward.

        Raises RuntimeError: the module has full backward hooks.
        """
        refuse_if(self.__dict__["_is_full_backward_hook"], _MIXED)
        self.__dict__["_is_full_backward_hook"] = False
        return self._hook("_backward_hooks", hook, False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`, with its hooks."""
        caller = sys._getframe(1)
        at = None if is_ours(caller.f_code.co_filename) else Place(caller.f_code, caller.f_lasti)
        stretch, known = Stretch("", weakref.ref(self), at=at), know_frame()
        try:
            return events.calling(self, self._run, args, kwargs)
        finally:
            forget_frame(known)
            stretch.close()

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        own = self.__dict__
        if own["_forward_pre_hooks"] or own["_forward_hooks"] or own["_backward_pre_hooks"] or own["_backward_hooks"]:
            return self._hooked(args, kwargs)
        return self.forward(*args, **kwargs)

    def _hooked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for hook, with_kwargs in list(self.__dict__["_forward_pre_hooks"].values()):
            changed = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if changed is not None and with_kwargs:
                args, kwargs = changed
            elif changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        before, after = tuple(self.__dict__["_backward_pre_hooks"].values()), tuple(self.__dict__["_backward_hooks"].values())
        old = () if self.__dict__["_is_full_backward_hook"] else after
        border = Border(self, before, () if old else after) if before or len(after) > len(old) else None
        if border is not None:
            args = border.at_inputs(args)
        output = self.forward(*args, **kwargs)
        for hook, with_kwargs in list(self.__dict__["_forward_hooks"].values()):
            changed = hook(self, args, kwargs, output) if with_kwargs else hook(self, args, output)
            output = output if changed is None else changed
        if border is not None:
            output = border.at_outputs(output)
        if old:
            hook_last_op(self, old, args, output)
        return output


NO_INPUT_WARNING = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
    "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module."
    "register_full_backward_hook for more details."
)


class BackwardHookFunction(Function):
    """The identity, as a node at the module's border."""

    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> Any:
        """The same tensors. No gradient goes to those that do not require it."""
        ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """The same gradients."""
        return grads


class Border:
    """One call of a module with backward hooks (see Note [Hooks of a border])."""

    def __init__(self, module: Any, before: Sequence[Hook], after: Sequence[Hook]) -> None:
        self.module, self.before, self.after = module, before, after
        self.grad_outputs: tuple[Any, ...] | None = None  # while the module's backward runs
        self.places: tuple[int, ...] | None = None  # which arguments are tensors; None if no hook needs the inputs
        self.n_inputs = 0

    def at_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, behind an identity if one requires grad."""
        self.n_inputs = len(args)
        args, places, node = _behind_identity(args)
        if node is not None:
            self.places = places

            def hook(grads: tuple[Any, ...], _: tuple[Any, ...]) -> tuple[Any, ...] | None:
                return self._leaving(grads)

            node.register_hook(hook)
        return args

    def at_outputs(self, output: Any) -> Any:
        """The outputs, behind an identity."""
        if not isinstance(output, Tensor | tuple):
            wanted = "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received"
            warnings.warn(f"{wanted} {type(output)}", UserWarning, stacklevel=4)
        several, places, node = _behind_identity(output if isinstance(output, tuple) else (output,))
        if node is not None:

            def hook(grads: tuple[Any, ...]) -> tuple[Any, ...]:
                return self._arriving(_among(grads, places, len(several)), places)

            node.register_prehook(hook)
        return several if isinstance(output, tuple) else several[0]

    def _arriving(self, grads: tuple[Any, ...], places: tuple[int, ...]) -> tuple[Any, ...]:
        """Called with grad_output."""
        for hook in self.before:
            grads = _replaced(grads, hook(self.module, grads), "Backward pre hook", "grad_output")
        self.grad_outputs = grads
        if self.places is None:
            self._without_inputs(grads)
            self.grad_outputs = None
        return tuple(grads[i] for i in places)

    def _without_inputs(self, grads: tuple[Any, ...]) -> None:
        """Call the hooks now, because no grad_input will come."""
        warnings.warn(NO_INPUT_WARNING, UserWarning, stacklevel=5)
        for hook in self.after:
            returned = hook(self.module, (None,) * self.n_inputs, grads)
            if returned is not None and not (isinstance(returned, tuple) and all(r is None for r in returned)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for all "
                    "gradients."
                )

    def _leaving(self, grads: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Called with grad_input."""
        if self.grad_outputs is None:  # it did not come through the module's outputs
            return None
        assert self.places is not None
        grads = _among(grads, self.places, self.n_inputs)
        for hook in self.after:
            grads = _replaced(grads, hook(self.module, grads, self.grad_outputs), "Backward hook", "grad_input")
        self.grad_outputs = None
        return tuple(grads[i] for i in self.places)


def _behind_identity(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[int, ...], Node | None]:
    """The tensors among the values behind one identity, their positions, and its node; None if nothing is recorded."""
    places = tuple(i for i, v in enumerate(values) if isinstance(v, Tensor))
    if not recording() or not any(values[i].requires_grad for i in places):
        return values, places, None
    behind = dict(zip(places, BackwardHookFunction.apply(*(values[i] for i in places)), strict=True))
    node = next(t.grad_fn for t in behind.values() if t.requires_grad)
    return tuple(behind.get(i, v) for i, v in enumerate(values)), places, node


def _among(grads: tuple[Any, ...], places: tuple[int, ...], count: int) -> tuple[Any, ...]:
    """The gradients of the tensors among `count` values; None for the others."""
    return tuple(map(dict(zip(places, grads, strict=True)).get, range(count)))


def _replaced(grads: tuple[Any, ...], returned: Any, what: str, which: str) -> Any:
    """The result of a hook, if it returned one."""
    if returned is None:
        return grads
    if len(returned) != len(grads):
        raise RuntimeError(f"{what} returned an invalid number of {which}, got {len(returned)}, but expected {len(grads)}")
    return returned


def hook_last_op(module: Any, hooks: Sequence[Hook], args: tuple[Any, ...], output: Any) -> None:
    """Register old-style backward hooks. They see the gradients of the last op of forward only."""
    while not isinstance(output, Tensor):
        output = next(v for v in output.values() if isinstance(v, Tensor)) if isinstance(output, dict) else output[0]
    node = output.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(_Bound(hook, module))
    given = {a.grad_fn for a in args if isinstance(a, Tensor) and a.grad_fn is not None}
    if given != {after for after, _ in node.next_functions}:
        warnings.warn(
            "Using a non-full backward hook when the forward contains multiple autograd Nodes is deprecated and will be "
            "removed in future versions. This hook will be missing some grad_input. Please use register_full_backward_hook "
            "to get the documented behavior.", FutureWarning, stacklevel=4,
        )  # fmt: skip


class _Bound:
    """A hook bound to its module, with the hook's name."""

    def __init__(self, hook: Hook, module: Any) -> None:
        self.hook, self.module = hook, module

    def __call__(self, grad_inputs: Any, grad_outputs: Any) -> Any:
        return self.hook(self.module, grad_inputs, grad_outputs)
