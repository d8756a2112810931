"""Calling a module: hooks before, forward, hooks after."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any

from ..core.backward.hooks import RemovableHandle, register
from ..core.base import happened
from ..core.base.provenance import Place, forget_frame, know_frame, ours
from ..core.base.scopes import Stretch
from ..core.tensor import refuse_if
from .border import Border, hook_last_op

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
            later = {k: registered.pop(k) for k in list(registered) if k != handle.id}
            registered.update(later)
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
        """Call ``hook(module, grad_input, grad_output)`` when the gradient of the inputs is known. Its result replaces it.

        Raises RuntimeError: the module has hooks of the old kind.
        """
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
        at = None if ours[caller.f_code.co_filename] else Place(caller.f_code, caller.f_lasti)
        stretch, known = Stretch("", weakref.ref(self), at=at), know_frame()
        try:
            return happened.calling(self, self._run, args, kwargs)
        finally:
            forget_frame(known)
            stretch.close()

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if any(self.__dict__[kind] for kind in _KINDS):
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
