"""Pruning: a parameter times a mask of zeros and ones, computed anew before each forward."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

from ...core.base.grad_mode import no_grad
from ...core.tensor import ones_like, rand_like, zeros_like
from ..parameter import Parameter
from .gradients import parameters_to_vector


class BasePruningMethod:
    """A way to choose what is pruned, and the hook that prunes it. A subclass defines `compute_mask`."""

    PRUNING_TYPE = "unstructured"  # it sees the elements that are left; "structured" the channels that are left, "global" all
    dim = -1
    _tensor_name: str

    def __call__(self, module: Any, inputs: Any) -> None:
        """Compute the pruned parameter."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask of `t`: zeros where it is pruned, else `default_mask`."""
        raise NotImplementedError

    def apply_mask(self, module: Any) -> Any:
        """The parameter times its mask."""
        original = getattr(module, f"{self._tensor_name}_orig")
        return getattr(module, f"{self._tensor_name}_mask").to(original.dtype) * original

    @no_grad()
    def masked(self, t: Any, mask: Any) -> Any:
        """The mask of before with what this method prunes of the rest."""
        where: Any = slice(None)
        if self.PRUNING_TYPE == "unstructured":
            where = mask == 1
        elif self.PRUNING_TYPE == "structured" and t.dim() > 1:
            dim = self.dim % t.dim()
            where = (*[slice(None)] * dim, mask.sum([d for d in range(t.dim()) if d != dim]) != 0)
        new = mask.clone()
        new[where] = self.compute_mask(t[where], mask[where]).to(mask.dtype)
        return new

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, **kwargs: Any) -> BasePruningMethod:
        """Prune ``module.<name>``. The original is then ``<name>_orig``, the mask ``<name>_mask``."""
        method, original = cls(*args, **kwargs), getattr(module, name)
        method._tensor_name = name
        _forget_hooks(module, name)
        before = getattr(module, f"{name}_mask", None)
        mask = method.masked(original.detach(), ones_like(original).detach() if before is None else before)
        if before is None:
            del module._parameters[name]
            module.register_parameter(f"{name}_orig", original)
            module.register_buffer(f"{name}_mask", mask)
        else:
            module._buffers[f"{name}_mask"] = mask
        method(module, None)
        module.register_forward_pre_hook(method)
        return method


def _forget_hooks(module: Any, name: str) -> bool:
    """Remove the pruning hooks of a parameter. Was there one?"""
    hooks = module._forward_pre_hooks
    found = [n for n, (h, _) in hooks.items() if isinstance(h, BasePruningMethod) and h._tensor_name == name]
    for number in found:
        del hooks[number]
    return bool(found)


def _count(amount: float, size: int) -> int:
    """How many to prune."""
    if isinstance(amount, numbers.Integral) and amount > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return int(amount) if isinstance(amount, numbers.Integral) else round(amount * size)


class _ByAmount(BasePruningMethod):
    amount: float

    def __init__(self, amount: float) -> None:
        if not isinstance(amount, numbers.Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        if amount < 0 or (amount > 1 and not isinstance(amount, numbers.Integral)):
            raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
        self.amount = amount

    def _scores(self, t: Any) -> Any:
        raise NotImplementedError

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Prune the elements with the lowest scores."""
        mask = default_mask.clone().flatten()
        if count := _count(self.amount, t.numel()):
            mask[self._scores(t).flatten().topk(count, largest=False).indices] = 0
        return mask.view_as(default_mask)


class RandomUnstructured(_ByAmount):
    """Prunes random elements."""

    def _scores(self, t: Any) -> Any:
        return -rand_like(t)


class L1Unstructured(_ByAmount):
    """Prunes the smallest elements."""

    def _scores(self, t: Any) -> Any:
        return t.abs()


class LnStructured(_ByAmount):
    """Prunes the channels along `dim` with the smallest n-norm."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.n, self.dim = n, dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Prune the channels with the smallest norms."""
        if t.dim() <= 1:
            said = "Structured pruning can only be applied to multidimensional tensors."
            raise ValueError(f"{said} Found tensor of shape {t.shape} with {t.dim()} dims")
        size, dim = t.shape[self.dim], self.dim % t.dim()
        count = _count(self.amount, size)
        if count == 0:
            return default_mask
        norms, mask = t.norm(self.n, [d for d in range(t.dim()) if d != dim]), zeros_like(default_mask)
        mask[(*[slice(None)] * dim, norms.topk(size - count).indices)] = 1
        return mask * default_mask


class CustomFromMask(BasePruningMethod):
    """Prunes where a given mask is 0."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Both masks."""
        return default_mask * self.mask.to(default_mask.dtype)


def random_unstructured(module: Any, name: str, amount: float) -> Any:
    """Prune random elements: a number of them, or a fraction."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: float) -> Any:
    """Prune the smallest elements: a number of them, or a fraction."""
    L1Unstructured.apply(module, name, amount)
    return module


def ln_structured(module: Any, name: str, amount: float, n: Any, dim: int) -> Any:
    """Prune the channels along `dim` with the smallest n-norm."""
    LnStructured.apply(module, name, amount, n, dim)
    return module


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune where `mask` is 0."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Iterable[Any], pruning_method: Any, **kwargs: Any) -> None:
    """Prune several parameters, (module, name), as if they were one."""
    pairs, method = list(parameters), pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        said = 'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`.'
        raise TypeError(f"{said} Found method {pruning_method} of type {method.PRUNING_TYPE}")
    tensors = [getattr(module, name) for module, name in pairs]
    masks = [getattr(m, f"{n}_mask", ones_like(t)) for (m, n), t in zip(pairs, tensors, strict=True)]
    values, before = (parameters_to_vector(t).detach() for t in (tensors, masks))
    parts = method.masked(values, before).split([t.numel() for t in tensors])
    for (module, name), t, part in zip(pairs, tensors, parts, strict=True):
        custom_from_mask(module, name, part.view_as(t))


def remove(module: Any, name: str) -> Any:
    """Make the pruned parameter an ordinary one, with zeros where it was pruned. Raises ValueError: it is not pruned."""
    if not _forget_hooks(module, name):
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    original: Parameter = module._parameters.pop(f"{name}_orig")
    original.data = original.detach() * module._buffers.pop(f"{name}_mask").to(original.dtype)
    delattr(module, name)
    module.register_parameter(name, original)
    return module


def is_pruned(module: Any) -> bool:
    """Is a parameter of the module or of a submodule pruned?"""
    return any(isinstance(h, BasePruningMethod) for m in module.modules() for h, _ in m._forward_pre_hooks.values())
