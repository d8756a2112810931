"""Weight norm and spectral norm as parametrizations."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ..functional import normalize
from ..module import Module
from . import recomputed
from .parametrize import register_parametrization
from .recomputed import as_matrix, power_method

__all__ = ["spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        """The weight of a length and a direction."""
        return recomputed.weight_of(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        """Its length and itself."""
        return recomputed.norm_except_dim(weight, self.dim), weight


class _SpectralNorm(Module):
    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            bounds = f"[-{weight.ndim}, {weight.ndim - 1}]"
            raise IndexError(f"Dimension out of range (expected to be in range of {bounds} but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim, self.eps, self.n_power_iterations = dim % weight.ndim, eps, n_power_iterations
        if weight.ndim > 1:
            matrix = as_matrix(weight.detach(), self.dim)
            u, v = (recomputed.random_unit(matrix, length, eps) for length in matrix.shape)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)
            power_method(matrix, u, v, 15, eps, u_first=True)

    def forward(self, weight: Any) -> Any:
        """The weight divided by its largest singular value."""
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            power_method(matrix, self._u, self._v, self.n_power_iterations, self.eps, u_first=True)
        return weight / recomputed.largest_singular_value(matrix, self._u, self._v)

    def right_inverse(self, value: Any) -> Any:
        """The value itself."""
        return value


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Compute a weight from its direction and its length, one per slice along `dim`; None for a single length."""
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value, which a power method finds over the calls in training mode.

    The iterations are those per call; `dim` is where the weight has one slice per output. Raises ValueError: there is no such
    tensor.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    kind = _SpectralNorm(weight, n_power_iterations, recomputed.dim_of_outputs(module, dim), eps)
    return register_parametrization(module, name, kind)
