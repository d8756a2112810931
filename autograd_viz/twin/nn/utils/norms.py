"""The computations of weight norm and spectral norm."""

from __future__ import annotations

from typing import Any

from ...core.base.grad_mode import no_grad
from ..convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..functional import normalize


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
