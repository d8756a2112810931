"""The products behind `@`: the ops for vectors and matrices, and how `matmul` chooses among them."""
# fmt: off

from __future__ import annotations

import math
from typing import Any

from ...base.dtypes import from_numpy_dtype
from ...base.names import conjugated, t, transpose_dims
from ...base.readings import SYMBOL_NAMES, TENSOR_NAMES, declare, rebound
from ...op import composite, public, public_primitive, row
from ...tensor import Tensor, check_scalar_type, check_tensor, refuse_if, scalar_type
from ..shape.shape import clone, unsafe_view
from ..shape.views import broadcast_shapes


def by(array: Any) -> str:
    """A shape as "2x3"."""
    return "x".join(map(str, array.shape))


def check_matrices(mat1: Any, mat2: Any, first: str, second: str) -> None:
    """Refuse operands that `mm` cannot multiply."""
    if mat1.ndim != 2 or mat2.ndim != 2:
        name, wrong = (first, mat1) if mat1.ndim != 2 else (second, mat2)
        if first == "self":
            raise RuntimeError(f"{name} must be a matrix")
        raise RuntimeError(f"{name} must be a matrix, got {wrong.ndim}-D tensor")
    if mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({by(mat1)} and {by(mat2)})")
    if mat1.dtype != mat2.dtype:
        names = [from_numpy_dtype(m.dtype).cpp for m in (mat1, mat2)]
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {names[0]} != {names[1]}")


@composite
def mT(matrix: Any) -> Any:  # noqa: N802 -- as in Tensor.mT
    """The transpose of each matrix in a batch."""
    return transpose_dims(matrix, dim0=-2, dim1=-1)


def adjoint(matrix: Any) -> Any:
    """The conjugate transpose of a matrix, in rules; `conjugate` returns a real array itself."""
    return matrix.T.conjugate()


def _of_either(matrix: Any) -> Any:
    return conjugated(t(matrix))


declare(adjoint, adjoint, rebound(_of_either, TENSOR_NAMES), rebound(_of_either, SYMBOL_NAMES))


@public_primitive("mm", "MmBackward0", written=lambda self, mat2: self @ mat2,
    also_saved=("self_sym_sizes", "self_sym_strides", "mat2_sym_sizes", "mat2_sym_strides"))
def mm(self, mat2):
    """Matrix times matrix: (n, k) @ (k, m) -> (n, m)."""
    if self.ndim != 2 or mat2.ndim != 2 or self.dtype is not mat2.dtype or self.shape[1] != mat2.shape[0]:
        check_matrices(self, mat2, "self", "mat2")
    return self.dot(mat2)  # for two matrices the same as `@`, in half the time


@public_primitive("mv", "MvBackward0")
def mv(self, vec):
    """Matrix times vector: (n, k) @ (k,) -> (n,). Raises RuntimeError: the shapes or the types do not fit."""
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {self.ndim}, {vec.ndim}")
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError(f"size mismatch, got input ({self.shape[0]}), mat ({by(self)}), vec ({by(vec)})")
    if self.dtype != vec.dtype:
        names = scalar_type(vec), scalar_type(self)
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {names[0]}, {names[1]}, and {names[0]}")
    return self @ vec


@public_primitive("dot", "DotBackward0")
def dot(self, tensor):
    """Vector times vector: (k,) @ (k,) -> ()."""
    check_vectors(self, tensor)
    return self @ tensor
dot.defvjp(
    self   = lambda grad, tensor: grad * conjugated(tensor),
    tensor = lambda grad, self:   grad * conjugated(self))


ger = row("ger", "GerBackward0", "Outer product: (n,), (m,) -> (n, m).",
    lambda self, vec2: self[:, None] * vec2[None, :],
    self = lambda grad, vec2: grad @ conjugated(vec2),
    vec2 = lambda grad, self: t(grad) @ conjugated(self))


@public_primitive("bmm", "BmmBackward0", written=lambda self, mat2: self @ mat2)
def bmm(self, mat2):
    """A batch of matrix products: (b, n, k) @ (b, k, m) -> (b, n, m)."""
    check_batches(self, mat2)
    return self @ mat2
bmm.defvjp(
    self = lambda grad, mat2: bmm(grad, conjugated(mT(mat2))),
    mat2 = lambda grad, self: bmm(conjugated(mT(self)), grad))


# fmt: on
def check_vectors(a: Any, b: Any) -> None:
    """Refuse operands that `dot` cannot multiply."""
    refuse_if(a.ndim != 1 or b.ndim != 1, lambda: f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype != b.dtype:
        raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {scalar_type(a)} and {scalar_type(b)}")
    if a.shape != b.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a.size}] and src [{b.size}] to have the same number of "
            f"elements, but got {a.size} and {b.size} elements respectively"
        )


def check_batches(batch1: Any, batch2: Any) -> None:
    """Refuse operands that `bmm` cannot multiply."""
    for i, batch in enumerate((batch1, batch2)):
        if batch.ndim != 3:
            raise RuntimeError(f"batch{i + 1} must be a 3D tensor")
    wanted = [batch1.shape[0], batch1.shape[2]]
    if list(batch2.shape[:2]) != wanted:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {wanted} but got: {list(batch2.shape[:2])}."
        )
    check_scalar_type(batch2, batch1)


@public("Tensor.matmul", "linalg.matmul", "Tensor.__matmul__")
def matmul(input: Tensor, other: Tensor) -> Any:
    """`input @ other` for vectors, matrices and batches of matrices. Raises RuntimeError: the shapes do not fit.

    As in PyTorch, the dimensions decide the op (dot, mv, mm, bmm) and the views around it.
    """
    if type(other) is Tensor and input._data.ndim == 2 == other._data.ndim:
        return (mm._program or mm.program)(input, other)
    check_tensor("matmul", other, "other", 2)
    dims = input.ndim, other.ndim
    if 0 in dims:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {dims[0]}D and {dims[1]}D")
    if dims == (1, 1):
        return dot(input, other)
    if dims == (2, 1):
        return mv(input, other)
    if dims == (2, 2):
        return mm(input, other)
    if dims == (1, 2):
        return mm(input.unsqueeze(0), other).squeeze_(0)
    if dims == (3, 3) and 1 in (len(input), len(other)) and len(input) != len(other):
        # a batch of one is dropped, so that its gradient takes one product
        input, other = (x.squeeze(0) if len(x) == 1 and x.requires_grad else x for x in (input, other))
    return _folded(input, other) if _folds(input, other) else _batched(input, other)


public("torch.matmul")(matmul)
mm.enter(matmul, "__matmul__", "type(mat2) is Tensor and self._data.ndim == 2 == mat2._data.ndim")


def _folds(a: Tensor, b: Tensor) -> bool:
    """Can the batch become rows of a single matrix product? Only one operand may have a batch."""
    big, small = (a, b) if a.ndim >= b.ndim else (b.mT, a)
    if big.ndim < 3 or small.ndim > 2:
        return False
    if small.requires_grad:  # one product for all rows also gives the small factor one gradient
        return True
    if a.ndim == 2:
        return False
    steps, lengths = big._data.strides, big.shape
    in_order = all(steps[i] == steps[i + 1] * lengths[i + 1] for i in range(big.ndim - 2))
    return big.numel() == 0 or in_order


def _folded(a: Tensor, b: Tensor) -> Any:
    """(b, n, k) @ (k, m) as (b * n, k) @ (k, m). A batch on the right is first transposed to the left."""
    swapped = b.ndim > a.ndim
    big, small = (b.mT, a.t() if a.ndim == 2 else a) if swapped else (a, b)
    rows = big.reshape(math.prod(big.shape[:-1]), big.shape[-1])
    if small.ndim == 1:
        return unsafe_view(mv(rows, small), size=tuple(big.shape[:-1]))
    out = unsafe_view(mm(rows, small), size=(*big.shape[:-1], small.shape[1]))
    return contiguous(out.mT) if swapped else out


def contiguous(tensor: Tensor) -> Any:
    """The tensor itself if its elements are contiguous, else a contiguous copy."""
    return tensor if tensor._data.flags.c_contiguous else clone(tensor)


def _batched(a: Tensor, b: Tensor) -> Any:
    """Both broadcast to one batch, with one product per matrix."""
    left, right = a, b.unsqueeze(1) if b.ndim == 1 else b
    n, k = left.shape[-2:] if a.ndim > 1 else (1, a.shape[0])
    batch = broadcast_shapes(left.shape[:-2], right.shape[:-2])
    size = math.prod(batch)
    left = left.expand(*batch, n, k).reshape(size, n, k)
    right = right.expand(*batch, *right.shape[-2:]).reshape(size, *right.shape[-2:])
    shape = (*batch, *((n,) if a.ndim > 1 else ()), *((b.shape[-1],) if b.ndim > 1 else ()))
    product = bmm(left, right)
    return unsafe_view(product if b.ndim > 1 else product.squeeze(-1), size=shape)
