"""Weight norm and spectral norm as hooks: the weight is an attribute, computed anew before each forward."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ...core.base.grad_mode import no_grad
from ...core.tensor import refuse_if
from ..convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..functional import normalize
from ..parameter import Parameter


def norm_except_dim(v: Any, dim: int) -> Any:
    """The length of each slice along `dim`; of all, for -1."""
    return v.norm() if dim == -1 else v.norm(2, [d for d in range(v.dim()) if d != dim], keepdim=True)


def weight_of(v: Any, g: Any, dim: int) -> Any:
    """The direction of v with the length g."""
    return v * (g / norm_except_dim(v, dim))


def dim_of_outputs(module: Any, dim: int | None) -> int:
    """Where the weight has one slice per output."""
    is_transposed = isinstance(module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d)
    return dim if dim is not None else int(is_transposed)


def as_matrix(weight: Any, dim: int) -> Any:
    """The weight with one row per output."""
    return (weight.transpose(0, dim) if dim else weight).flatten(1)


def random_unit(weight: Any, length: int, eps: float) -> Any:
    """A random vector of length 1."""
    return normalize(weight.new_empty(length).normal_(0, 1), dim=0, eps=eps)


@no_grad()
def power_method(matrix: Any, u: Any, v: Any, steps: int, eps: float, u_first: bool) -> None:
    """Turn u and v, in place, towards the singular vectors of the largest singular value."""
    for _ in range(steps):
        for is_u in (u_first, not u_first):
            found = normalize(matrix.mv(v) if is_u else matrix.T.mv(u), dim=0, eps=eps)
            (u if is_u else v).copy_(found)


def largest_singular_value(matrix: Any, u: Any, v: Any) -> Any:
    """Of the matrix, by the vectors that the power method found."""
    return u.clone().dot(matrix.mv(v.clone()))


_OLD = "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`."


class Recomputed:
    """A hook that computes the attribute `name` before each forward. `kind` is what it does: "weight_norm"."""

    def __init__(self, kind: str, name: str, compute: Callable[[Any], Any]) -> None:
        self.kind, self.name, self.compute = kind, name, compute

    def __call__(self, module: Any, inputs: Any = None) -> None:
        """Compute it."""
        setattr(module, self.name, self.compute(module))


def begin(module: Any, hook: Recomputed, parameters: dict[str, Any], buffers: dict[str, Any]) -> None:
    """Replace a parameter by what it is computed from. Raises RuntimeError: such a hook is there already."""
    if find(module, hook.kind, hook.name) is not None:
        raise RuntimeError(f"Cannot register two {hook.kind} hooks on the same parameter {hook.name}")
    del module._parameters[hook.name]
    for name, value in parameters.items():
        module.register_parameter(name, value if isinstance(value, Parameter) else Parameter(value.detach()))
    for name, value in buffers.items():
        module.register_buffer(name, value)
    module.register_forward_pre_hook(hook)


def find(module: Any, kind: str, name: str) -> int | None:
    """The number of a hook of that kind."""
    hooks = module._forward_pre_hooks.items()
    return next((n for n, (h, _) in hooks if isinstance(h, Recomputed) and (h.kind, h.name) == (kind, name)), None)


def end(module: Any, kind: str, name: str, inputs: list[str]) -> Any:
    """Make the present value the parameter again, without what it was computed from. Raises ValueError: no such hook."""
    number = find(module, kind, name)
    refuse_if(number is None, lambda: f"{kind} of '{name}' not found in {module}", ValueError)
    hook = module._forward_pre_hooks.pop(number)[0]
    with no_grad():
        value = hook.compute(module)
    delattr(module, name)
    for part in inputs:
        delattr(module, part)
    module.register_parameter(name, Parameter(value.detach()))
    return module


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Compute a weight from its length, ``weight_g``, and its direction, ``weight_v``. Arguments as of the parametrization."""
    warnings.warn(_OLD, FutureWarning, stacklevel=2)
    along = -1 if dim is None else dim
    hook = Recomputed("weight_norm", name, lambda m: weight_of(getattr(m, f"{name}_v"), getattr(m, f"{name}_g"), along))
    weight = getattr(module, name)
    begin(module, hook, {f"{name}_g": norm_except_dim(weight.detach(), along), f"{name}_v": weight.detach()}, {})
    hook(module)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight a parameter again."""
    return end(module, "weight_norm", name, [f"{name}_g", f"{name}_v"])


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide a weight, ``weight_orig``, by its largest singular value. Arguments as of the parametrization."""
    along = dim_of_outputs(module, dim)
    if n_power_iterations <= 0:
        raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")

    def compute(m: Any) -> Any:
        weight, u, v = (getattr(m, f"{name}_{part}") for part in ("orig", "u", "v"))
        matrix = as_matrix(weight, along)
        if m.training:
            power_method(matrix, u, v, n_power_iterations, eps, u_first=False)
        return weight / largest_singular_value(matrix, u, v)

    weight = getattr(module, name)
    matrix = as_matrix(weight.detach(), along)
    u, v = (random_unit(matrix, length, eps) for length in matrix.shape)
    begin(module, Recomputed("spectral_norm", name, compute), {f"{name}_orig": weight}, {f"{name}_u": u, f"{name}_v": v})
    setattr(module, name, weight.detach())
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight a parameter again."""
    was_training, module.training = module.training, False  # no power iteration
    end(module, "spectral_norm", name, [f"{name}_orig", f"{name}_u", f"{name}_v"])
    module.training = was_training
    return module
