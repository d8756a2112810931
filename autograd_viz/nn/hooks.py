"""Calling a module: hooks before, forward, hooks after; and hooks that see the gradients pass its border."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import Any

from ..core.function import Function
from ..core.hooks import RemovableHandle, register
from ..core.scopes import Stretch
from ..core.tensor import Tensor

_KINDS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")


NO_INPUT_WARNING = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
    "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module."
    "register_full_backward_hook for more details."
)


class HookedCall:
    """The part of Module that runs `forward` between its hooks."""

    forward: Callable[..., Any]

    def _init_hooks(self) -> None:
        for kind in _KINDS:
            self.__dict__[kind] = {}

    def _hook(self, kind: str, hook: Any, prepend: bool) -> RemovableHandle:
        registered = self.__dict__[kind]
        handle = register(registered, hook)
        if prepend:
            later = {k: registered.pop(k) for k in list(registered) if k != handle.id}
            registered.update(later)
        return handle

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before forward; what it returns replaces the arguments."""
        return self._hook("_forward_pre_hooks", (hook, with_kwargs), prepend)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after forward; what it returns replaces the output."""
        return self._hook("_forward_hooks", (hook, with_kwargs), prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` when the gradient of the output arrives; what it returns replaces it."""
        return self._hook("_backward_pre_hooks", hook, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the gradient of the inputs is known; a return replaces it."""
        return self._hook("_backward_hooks", hook, prepend)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`, and the hooks around it."""
        stretch = Stretch("", weakref.ref(self))
        try:
            if any(self.__dict__[kind] for kind in _KINDS):
                return self._hooked(args, kwargs)
            return self.forward(*args, **kwargs)
        finally:
            stretch.close()

    def _hooked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for hook, with_kwargs in list(self.__dict__["_forward_pre_hooks"].values()):
            changed = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if changed is not None and with_kwargs:
                args, kwargs = changed
            elif changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        border = None
        if self.__dict__["_backward_hooks"] or self.__dict__["_backward_pre_hooks"]:
            border = Border(self)
            args = border.at_inputs(args)
        output = self.forward(*args, **kwargs)
        for hook, with_kwargs in list(self.__dict__["_forward_hooks"].values()):
            changed = hook(self, args, kwargs, output) if with_kwargs else hook(self, args, output)
            output = output if changed is None else changed
        return border.at_outputs(output) if border is not None else output


class BackwardHookFunction(Function):
    """The identity, with a hook in its backward: a node on the module's border."""

    @staticmethod
    def forward(ctx: Any, hook: Any, *tensors: Any) -> Any:
        """The tensors as they are."""
        ctx.hook = hook
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """What the hook makes of the gradients."""
        return (None, *ctx.hook(grads))


class Border:
    """One call of a module with backward hooks: identities around its inputs and around its outputs."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.grad_outputs: tuple[Any, ...] = ()
        self.watches_inputs = False

    def at_inputs(self, args: Any) -> Any:
        """The inputs behind an identity whose backward calls the hooks with grad_input and grad_output."""
        self.watches_inputs = any(isinstance(a, Tensor) and a.requires_grad for a in args)
        return self._wrapped(args, self._input_grads)[0] if self.watches_inputs else args

    def at_outputs(self, output: Any) -> Any:
        """The outputs behind an identity whose backward keeps grad_output."""
        given = output if isinstance(output, tuple) else (output,)
        wrapped, _ = self._wrapped(given, self._output_grads)
        return wrapped if isinstance(output, tuple) else wrapped[0]

    def _wrapped(self, values: tuple[Any, ...], hook: Any) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        places = tuple(i for i, v in enumerate(values) if isinstance(v, Tensor))
        behind = BackwardHookFunction.apply(hook, *(values[i] for i in places))
        out = list(values)
        for i, t in zip(places, behind, strict=True):
            out[i] = t
        return tuple(out), places

    def _output_grads(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in list(self.module._backward_pre_hooks.values()):
            changed = hook(self.module, grads)
            if changed is not None:
                grads = changed if isinstance(changed, tuple) else (changed,)
        self.grad_outputs = grads
        if not self.watches_inputs:
            if self.module._backward_hooks:
                warnings.warn(NO_INPUT_WARNING, UserWarning, stacklevel=2)
            for hook in list(self.module._backward_hooks.values()):
                if hook(self.module, (None,), grads) is not None:
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None for all "
                        "gradients."
                    )
        return grads

    def _input_grads(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in list(self.module._backward_hooks.values()):
            changed = hook(self.module, grads, self.grad_outputs)
            if changed is not None:
                grads = changed if isinstance(changed, tuple) else (changed,)
        return grads
