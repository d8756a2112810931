"""Parametrizations: a parameter that is computed from others each time it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...core.base.grad_mode import no_grad
from ...core.tensor import Tensor
from ..container import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Parameter


class _Cache:
    depth = 0
    tensors: dict[tuple[Module, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """A block in which each parametrized tensor is computed once."""
    _Cache.depth += 1
    try:
        yield
    finally:
        _Cache.depth -= 1
        if not _Cache.depth:
            _Cache.tensors.clear()


def _register(module: Module, name: str, tensor: Any) -> None:
    (module.register_parameter if isinstance(tensor, Parameter) else module.register_buffer)(name, tensor)


class ParametrizationList(ModuleList):
    """What computes one tensor: functions, and what they begin with, `original` (or `original0`, `original1`, ...)."""

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        super().__init__(modules)
        self.unsafe = unsafe  # the functions may change shape and type
        with no_grad():
            new: Any = original
            for module in reversed([*self]):
                new = module.right_inverse(new) if hasattr(module, "right_inverse") else new
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        shape, dtype = original.shape, original.dtype
        if self.is_tensor:
            original.data = new
            _register(self, "original", original)
        else:
            for i, part in enumerate(new):
                kept = Parameter(part.detach(), original.requires_grad) if isinstance(original, Parameter) else part
                _register(self, f"original{i}", kept)
        if not unsafe:
            check(self(), shape, dtype)

    def _originals(self) -> list[Any]:
        return [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def forward(self) -> Any:
        """The tensor: each function of the result of the one before."""
        first, *others = self
        x = first(*self._originals())
        for module in others:
            x = module(x)
        return x

    def right_inverse(self, value: Any) -> None:
        """Choose the originals so that the result is `value`. Raises RuntimeError: a function has no right inverse."""
        with no_grad():
            for module in reversed([*self]):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            for original, new in zip(self._originals(), [value] if self.is_tensor else value, strict=True):
                original.data = new


def check(result: Any, shape: Any, dtype: Any) -> None:
    """Refuse a function that changes shape or type. Raises ValueError: it does."""
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    for what, before, after in (("dtype", dtype, result.dtype), ("shape", shape, result.shape)):
        if before != after:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is enabled.\n"
                f"unparametrized {what}: {before}\nparametrized {what}: {after}"
            )


def _inject(module: Module, name: str) -> None:
    """Make the tensor a property of the module's own class."""

    def read(self: Any) -> Any:
        if not _Cache.depth:
            return self.parametrizations[name]()
        if (self, name) not in _Cache.tensors:
            _Cache.tensors[self, name] = self.parametrizations[name]()
        return _Cache.tensors[self, name]

    def write(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(read, write))


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Is a tensor of the module computed; or the one of that name?"""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Module:
    """Compute a parameter or buffer by `parametrization` each time it is read. Several run one after the other.

    It is a module from the original to the tensor. Its `right_inverse` makes an original of a tensor.
    Raises ValueError: there is no such tensor, or its shape or type changes, which `unsafe` allows.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        before, parts = getattr(module, tensor_name), module.parametrizations[tensor_name]
        if not unsafe:
            check(parametrization(before), before.shape, before.dtype)
        parts.append(parametrization)
        parts.unsafe |= unsafe
    elif tensor_name in module._parameters or tensor_name in module._buffers:
        parts = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            kind = type(module)
            module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), {})
            module.parametrizations = ModuleDict()
        _inject(module, tensor_name)
        module.parametrizations[tensor_name] = parts
    else:
        wanted = "a parameter, a buffer, or a parametrized element"
        raise ValueError(f"Module '{module}' does not have {wanted} with name '{tensor_name}'")
    return module


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make the tensor an ordinary one again: with its present values, or with the original ones.

    Raises ValueError: it is not parametrized; or it is made of several originals, and not left as it is.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parts, now = module.parametrizations[tensor_name], getattr(module, tensor_name)
    if parts.is_tensor:
        original = parts.original
        if leave_parametrized:
            original.data = now.detach()
    elif leave_parametrized:
        original = Parameter(now.detach()) if now.requires_grad else now
    else:
        said = "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of"
        raise ValueError(f"{said} a sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module
