"""Products with more terms or factors: an added bias, all pairs, three factors."""
# fmt: off

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.names import bmm, conjugated, expand, ger, maybe_multiply, mT, unsqueeze
from ...op import primitive, public, public_primitive
from ...tensor import Tensor, check_dim, check_expands, check_scalar_type, of_tensors, refuse_if, scalar_type
from ..elementwise.arithmetic import add, mul
from ..shape.shape import t, unsafe_view, view_sizes
from ..shape.views import broadcast_shapes
from .matmul import by, check_batches, check_matrices, check_vectors, matmul


@public(inplace=True)
@primitive("AddmmBackward0", also_saved=("mat1_sym_sizes", "mat1_sym_strides", "mat2_sym_sizes", "mat2_sym_strides"))
def addmm(self, mat1, mat2, *, beta=1, alpha=1):
    """beta * self + alpha * (mat1 @ mat2)."""
    check_matrices(mat1, mat2, "mat1", "mat2")
    return _plus(self, beta, mat1.dot(mat2), alpha)


@public_primitive("addmv", "AddmvBackward0", inplace=True)
def addmv(self, mat, vec, *, beta=1, alpha=1):
    """beta * self + alpha * (mat @ vec). Raises RuntimeError: the shapes do not fit."""
    if mat.ndim != 2 or vec.ndim != 1 or self.ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {self.ndim}, {mat.ndim}, {vec.ndim}")
    if mat.shape[1] != vec.shape[0] or self.size not in (1, mat.shape[0]):
        raise RuntimeError(f"size mismatch, got input ({self.size}), mat ({by(mat)}), vec ({by(vec)})")
    return _plus(self, beta, mat @ vec, alpha)
addmv.defvjp(
    self = lambda grad, beta: maybe_multiply(grad, conjugated(beta)),
    mat  = lambda grad, vec, alpha: maybe_multiply(ger(grad, conjugated(vec)), conjugated(alpha)),
    vec  = lambda grad, mat, alpha: maybe_multiply(conjugated(t(mat)) @ grad, conjugated(alpha)))


@public_primitive("addr", "AddrBackward0", inplace=True)
def addr(self, vec1, vec2, *, beta=1, alpha=1):
    """beta * self + alpha * (outer product of vec1 and vec2). Raises RuntimeError: an argument is not a vector."""
    for name, vec in (("vec1", vec1), ("vec2", vec2)):
        if vec.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {vec.ndim}-D")
    return _plus(self, beta, vec1[:, None] * vec2, alpha)
addr.defvjp(
    self = lambda grad, beta: maybe_multiply(grad, conjugated(beta)),
    vec1 = lambda grad, vec2, alpha: maybe_multiply(grad @ conjugated(vec2), conjugated(alpha)),
    vec2 = lambda grad, vec1, alpha: maybe_multiply(t(grad) @ conjugated(vec1), conjugated(alpha)))


@public_primitive("baddbmm", "BaddbmmBackward0", inplace=True)
def baddbmm(self, batch1, batch2, *, beta=1, alpha=1):
    """beta * self + alpha * (batch1 @ batch2), matrix by matrix."""
    if batch1.ndim > 1 and batch2.ndim > 2:
        check_expands(self, (*batch1.shape[:2], batch2.shape[2]))
    check_batches(batch1, batch2)
    return _plus(self, beta, batch1 @ batch2, alpha)
baddbmm.defvjp(
    self   = lambda grad, beta: maybe_multiply(grad, conjugated(beta)),
    batch1 = lambda grad, batch2, alpha: maybe_multiply(bmm(grad, conjugated(mT(batch2))), conjugated(alpha)),
    batch2 = lambda grad, batch1, alpha: maybe_multiply(bmm(conjugated(mT(batch1)), grad), conjugated(alpha)))


@public_primitive("addbmm", "AddbmmBackward0", inplace=True)
def addbmm(self, batch1, batch2, *, beta=1, alpha=1):
    """beta * self + alpha * (the sum of the products batch1[i] @ batch2[i])."""
    if batch1.ndim > 1 and batch2.ndim > 2:
        check_expands(self, (batch1.shape[1], batch2.shape[2]))
    check_batches(batch1, batch2)
    return _plus(self, beta, (batch1 @ batch2).sum(0), alpha)
addbmm.defvjp(
    self   = lambda grad, beta: maybe_multiply(grad, conjugated(beta)),
    batch1 = lambda grad, batch2, alpha, batch1_sym_argsize_0, batch1_sym_argsize_1, batch2_sym_argsize_2:
        maybe_multiply(bmm(expand(unsqueeze(grad, dim=0), (batch1_sym_argsize_0, batch1_sym_argsize_1, batch2_sym_argsize_2)),
                           conjugated(mT(batch2))), conjugated(alpha)),
    batch2 = lambda grad, batch1, alpha, batch1_sym_argsize_0, batch1_sym_argsize_1, batch2_sym_argsize_2:
        maybe_multiply(bmm(conjugated(mT(batch1)), expand(unsqueeze(grad, dim=0), (
            batch1_sym_argsize_0, batch1_sym_argsize_1, batch2_sym_argsize_2))), conjugated(alpha)))


@public_primitive("vdot", "VdotBackward0")
def vdot(self, other):
    """Vector times vector: (k,), (k,) -> ()."""
    check_vectors(self, other)
    return np.vdot(self, other)
vdot.defvjp(
    self  = lambda grad, other: conjugated(grad) * other,
    other = lambda grad, self:  grad * self)


@public_primitive("linalg.cross", "LinalgCrossBackward0")
def linalg_cross(self, other, *, dim=-1):
    """The cross product of vectors of length 3 along `dim`. Raises RuntimeError: another length or number of dimensions."""
    refuse_if(self.ndim != other.ndim, "linalg.cross: inputs must have the same number of dimensions.")
    refuse_if((self.shape[dim], other.shape[dim]) != (3, 3), lambda:
        f"linalg.cross: inputs dimension {dim} must have length 3. Got {self.shape[dim]} and {other.shape[dim]}")
    broadcast_shapes(self.shape, other.shape)
    check_scalar_type(other, self)
    self, other = np.broadcast_arrays(self, other)
    return np.cross(self, other, axis=dim)
linalg_cross.defvjp(
    self  = lambda grad, other, dim: linalg_cross(conjugated(other), grad, dim=dim),
    other = lambda grad, self, dim:  linalg_cross(grad, conjugated(self), dim=dim))


@primitive("TrilinearBackward0")
def trilinear(i1, i2, i3, *, expand1, expand2, expand3, sumdim):
    """The product of three tensors, each with new dimensions at `expand`, summed over `sumdim`."""
    i1, i2, i3 = (np.expand_dims(i, e) for i, e in ((i1, expand1), (i2, expand2), (i3, expand3)))
    return (i1 * i2 * i3).sum(tuple(sumdim))
trilinear.defvjp(  # the gradient of a factor is again trilinear: grad replaces the factor, and two lists change their roles
    i1 = lambda grad, i2, i3, expand1, expand2, expand3, sumdim:
        trilinear(grad, i2, i3, expand1=sumdim, expand2=expand2, expand3=expand3, sumdim=expand1),
    i2 = lambda grad, i1, i3, expand1, expand2, expand3, sumdim:
        trilinear(i1, grad, i3, expand1=expand1, expand2=sumdim, expand3=expand3, sumdim=expand2),
    i3 = lambda grad, i1, i2, expand1, expand2, expand3, sumdim:
        trilinear(i1, i2, grad, expand1=expand1, expand2=expand2, expand3=sumdim, sumdim=expand3))


# fmt: on
def _plus(self: Any, beta: Any, product: Any, alpha: Any) -> Any:
    """beta * self + alpha * product. For beta = 0, self is ignored, even nan."""
    check_expands(self, product.shape)
    if self.dtype != product.dtype:
        raise RuntimeError(f"self and mat2 must have the same dtype, but got {scalar_type(self)} and {scalar_type(product)}")
    scaled = product if alpha == 1 else product * product.dtype.type(alpha)
    if beta == 0:
        return scaled
    return scaled + (self if beta == 1 else self * self.dtype.type(beta))


@public
@of_tensors
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Any:
    """The cross product along `dim`, by default the first of length 3. Raises RuntimeError: there is none."""
    if dim is None:
        dim = next((d for d, n in enumerate(input.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return linalg_cross(input, other, dim=check_dim(dim, input.ndim))


@public("outer", "ger")
@of_tensors
def outer(input: Tensor, vec2: Tensor) -> Any:
    """The products of all pairs of elements of two vectors. Raises RuntimeError: one is not a vector."""
    for name, vec in (("self", input), ("vec2", vec2)):
        if vec.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {vec.ndim}-D")
    return mul(input.reshape(len(input), 1), vec2)


@public
@of_tensors
def kron(input: Tensor, other: Tensor) -> Any:
    """The Kronecker product: each element of `input` times the whole of `other`, as blocks."""
    ndim = max(input.ndim, other.ndim)
    a = (1,) * (ndim - input.ndim) + tuple(input.shape)
    b = (1,) * (ndim - other.ndim) + tuple(other.shape)
    left = unsafe_view(input, size=tuple(n for length in a for n in (length, 1)))
    right = unsafe_view(other, size=tuple(n for length in b for n in (1, length)))
    return unsafe_view(mul(left, right), size=tuple(n * m for n, m in zip(a, b, strict=True)))


@public("nn.functional.linear")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    """`input @ weight.T + bias`, with one row of weights per output feature.

    A batch of more than one dimension is flattened, so that a single addmm computes it.
    """
    turned = t(weight)
    if bias is None or weight.ndim != 2:
        product = matmul(input, turned)
        return product if bias is None else add(product, bias)
    if input.ndim == 2:
        return addmm(bias, input, turned)
    if not input._data.flags.c_contiguous or bias.ndim != 1:
        return add(matmul(input, turned), bias)
    lead = input._data.shape[:-1]
    rows = view_sizes(input, size=(math.prod(lead), input._data.shape[-1]))
    return view_sizes(addmm(bias, rows, turned), size=(*lead, weight._data.shape[0]))


@public("nn.functional.bilinear", "torch.bilinear")
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    """input1 @ weight[k] @ input2 + bias[k] for each output feature k. Raises RuntimeError: the shapes do not fit."""
    for d, (a, b) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if a != b:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {d}: got {a} and {b}")
    for i, (x, n) in enumerate(((input1, weight.shape[1]), (input2, weight.shape[2]))):
        if x.shape[-1] != n:
            raise RuntimeError(f"bilinear(): input{i + 1} size does not match weight size: got {x.shape[-1]} but expected {n}")
    if bias is not None and len(bias) != len(weight):
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got {len(bias)} but expected {len(weight)}")
    size = math.prod(input1.shape[:-1])
    left, right = (x.reshape(size, x.shape[-1]) for x in (input1, input2))
    out = trilinear(left, weight, right, expand1=(1, 3), expand2=(0,), expand3=(1, 2), sumdim=(2, 3))
    out = out.reshape((*input1.shape[:-1], len(weight)))
    return out if bias is None else add(out, bias)
