"""Norms of vectors for every p, and ops that scale by a norm."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import names as op
from ...base.names import conjugated, eq, is_same, keep_dims, real_part, sgn, shared, sum_dim, where, zeros_like
from ...op import composite, found, inlined, primitive, public, public_row, row
from ...tensor import Array, Tensor, check_dim, refuse_if, scalar_type
from .dims import optional_dims, reduced_dims, tensor_call

vector_norm_dims = row("vector_norm_dims", "LinalgVectorNormBackward0",
    "(sum of |self| ** ord) ** (1 / ord) over the dimensions `dim`. For inf the largest, for 0 the number of nonzeros.",
    lambda self, *, ord=2, dim=None, keepdim=False, dtype=None:
        norm_of(self if dtype is None else self.astype(dtype.numpy), ord, dim, keepdim),
    self = lambda grad, self, ord, dim, keepdim, result:
        norm_backward(keep_dims(grad, self, dim, keepdim), self, ord, keep_dims(result, self, dim, keepdim), dim))
norm_dims = row("norm_dims", "NormBackward1", "Like vector_norm, as PyTorch's older op.",
    lambda self, *, p, dim, keepdim=False: norm_of(self, p, dim, keepdim),
    self = lambda grad, self, p, dim, keepdim, result:
        norm_backward(keep_dims(grad, self, dim, keepdim), self, p, keep_dims(result, self, dim, keepdim), dim))
dist = public_row("dist", "DistBackward0", "The p-norm of self - other.",
    lambda self, other, *, p=2: norm_of(self - other, p, None, False), promotes=True,
    self  = lambda grad, self, other, p, result: norm_backward(grad, self - other, p, result),
    other = lambda grad, self, other, p, result: -norm_backward(grad, self - other, p, result))


@primitive("RenormBackward0")
def renorm_dim(self, *, p, dim, maxnorm):
    """Each slice along `dim`, scaled down to the p-norm maxnorm if its p-norm is larger."""
    norms = norm_of(self, p, other_dims(self, dim), True)
    return self * np.where(norms > maxnorm, maxnorm / (norms + 1e-7), 1).astype(self.dtype)
renorm_dim.defvjp(self = lambda grad, self, p, dim, maxnorm: renorm_backward(grad, self, p, dim, maxnorm))


@inlined
def norm_backward(grad: Any, self: Any, p: Any, result: Any, dim: Any = None) -> Any:
    """grad * sgn(self) * (|self| / result) ** (p - 1); 0 instead of 0 / 0."""
    if p == 0:
        return None  # a count has no gradient
    if p == 1:
        return grad * sgn(self)
    if p == 2:
        return grad * where(eq(result, 0), zeros_like(self), self / result)
    if p in (float("inf"), -float("inf")):
        return shared(grad, is_same(abs(self), result), dim) * sgn(self)
    if p > 2:  # no division by |self|, so the second derivative at 0 is 0
        return self * abs(self) ** (p - 2) * where(eq(result, 0), 0, grad / result ** (p - 1))
    return grad * where(eq(self, 0), zeros_like(self), sgn(self) * (abs(self) / result) ** (p - 1))


@composite
def renorm_backward(grad: Any, self: Any, p: Any, dim: int, maxnorm: float) -> Any:
    """A slice that was scaled by maxnorm / norm gets the gradient of both factors. Other slices get grad unchanged."""
    dims = other_dims(self, dim)
    norm = norm_dims(self, p=p, dim=dims, keepdim=True)
    scale = 1 / (norm + 1e-7)
    through_norm = norm_backward(real_part(sum_dim(grad * conjugated(self), dim=dims, keepdim=True)), self, p, norm, dims)
    return where(norm > maxnorm, maxnorm * scale * (grad - scale * through_norm), grad)


@inlined
def other_dims(self: Any, dim: int) -> tuple[int, ...]:
    """All dimensions except this one."""
    return tuple(d for d in range(self.ndim) if d != dim % self.ndim)


def norm_of(self: Array, p: float, dim: Any, keepdim: bool) -> Any:
    """The p-norm. Common values of p avoid powers."""
    size, options = np.abs(self), {"axis": dim, "keepdims": keepdim}
    if p == 0:
        return np.sum(self != 0, **options).astype(size.dtype)
    if p in (np.inf, -np.inf):
        return np.max(size, **options) if p > 0 else np.min(size, **options)
    if p == 1:
        return np.sum(size, **options)
    if p == 2:
        return np.sqrt(np.sum(size * size, **options))
    return np.sum(size**p, **options) ** (1 / p)


def _check_vector(input: Tensor, ord: float, dim: Any, dtype: Any) -> None:
    """Refuse arguments that have no vector norm."""
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {input.dtype.legacy}"
        )
    if dtype is not None and dtype.numpy.itemsize < input.dtype.numpy.itemsize:
        raise RuntimeError(
            f"linalg.vector_norm: the dtype of the input ({input.dtype.legacy}) should be convertible without narrowing to the "
            f"specified dtype ({dtype.legacy})"
        )
    if (ord < 0 or ord == np.inf) and 0 in (input.shape[d] for d in reduced_dims(input, () if dim is None else dim)):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {float(ord):g} norm on an empty tensor because the operation does not "
            "have an identity"
        )


@tensor_call("linalg.vector_norm")
def vector_norm(x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of the vector that the elements over `dim` form. Raises TypeError: `ord` is a str."""
    refuse_if(isinstance(ord, str), "linalg_vector_norm(): argument 'ord' (position 2) must be Number, not str", TypeError)
    _check_vector(x, ord, dim, dtype)
    return vector_norm_dims(x, ord=ord, dim=optional_dims(x, dim), keepdim=keepdim, dtype=dtype)


@tensor_call()
def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: None = None, dtype: Any = None) -> Any:
    """The norm of all elements or over `dim`. p is a number, "fro" (2) or "nuc" (of a matrix)."""
    if p is None or p == "fro":
        p = 2
    if isinstance(p, str):
        dims = (-2, -1) if dim is None else dim
        return found("linalg", "matrix_norm")(input, p, dims, keepdim, dtype=dtype)
    return vector_norm(input, p, dim, keepdim, dtype=dtype)


@tensor_call("linalg.norm")
def norm_of_either(
    A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """A vector or matrix norm: `ord` and the number of dimensions decide. Raises RuntimeError: neither vector nor matrix."""
    dims = (dim,) if isinstance(dim, int) else dim
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    if ord is None:
        return vector_norm(A, 2, dims, keepdim, dtype=dtype)
    if dims is None and A.ndim not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D.")
    if (len(dims) if dims is not None else A.ndim) == 2:
        return found("linalg", "matrix_norm")(A, ord, (0, 1) if dims is None else dims, keepdim, dtype=dtype)
    return vector_norm(A, ord, dims, keepdim, dtype=dtype)


@tensor_call(inplace=True)
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Any:
    """Each slice along `dim`, scaled down to the p-norm maxnorm if its norm is larger. Raises RuntimeError: no such norm."""
    refuse_if(p <= 0, "renorm: non-positive-norm not supported")
    refuse_if(maxnorm < 0, lambda: f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    refuse_if(input.ndim < 2, lambda: f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    return renorm_dim(input, p=p, dim=check_dim(dim, input.ndim), maxnorm=float(maxnorm))


@tensor_call("nn.functional.normalize")
def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: None = None) -> Any:
    """input divided by its p-norm over `dim`, or by eps if that is larger."""
    return input / vector_norm(input, p, dim, keepdim=True).clamp_min(eps).expand(input.shape)


@public("pairwise_distance", "nn.functional.pairwise_distance")
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of x1 - x2 (+ eps) along the last dimension."""
    last = max(x1.ndim, x2.ndim) - 1
    return norm_dims(op.add_scalar(x1 - x2, other=eps), p=p, dim=(last,), keepdim=keepdim)


@public("torch.cosine_similarity", "nn.functional.cosine_similarity")
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between x1 and x2 along `dim`: the dot product of both, scaled to length 1."""
    if (kind := np.result_type(x1._data, x2._data)).kind != "f":
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {scalar_type(np.empty(0, kind))}")
    shape = np.broadcast_shapes(x1.shape, x2.shape)
    scaled = []
    for given in (x1, x2):
        x = given if given.shape == shape else given.expand(shape)
        length = vector_norm(x, 2, dim, keepdim=True).clone()
        length._data = np.maximum(length._data, length._data.dtype.type(eps))  # no gradient flows through eps
        scaled.append(x / length)
    return op.sum_dim(scaled[0] * scaled[1], dim=reduced_dims(scaled[0], dim))
