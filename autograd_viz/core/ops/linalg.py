"""Matrix products."""
# fmt: off
# (ops are a table: the columns are kept)

from __future__ import annotations

from ..primitive import primitive
from ..tensor import Tensor


def by(array) -> str:
    """A shape as "2x3"."""
    return "x".join(map(str, array.shape))


@primitive("MmBackward0")
def mm(self, mat2):
    """Matrix times matrix: (n, k) @ (k, m) -> (n, m)."""
    if self.ndim != 2 or mat2.ndim != 2:
        raise RuntimeError(f"self must be a matrix and mat2 must be a matrix, got {self.ndim}D and {mat2.ndim}D")
    if self.shape[1] != mat2.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({by(self)} and {by(mat2)})")
    return self @ mat2
mm.defvjp(
    self = lambda grad, mat2: grad @ t(mat2),
    mat2 = lambda grad, self: t(self) @ grad,
)


@primitive("MvBackward0")
def mv(self, vec):
    """Matrix times vector: (n, k) @ (k,) -> (n,)."""
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {self.ndim}, {vec.ndim}")
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError(f"size mismatch, got input ({self.shape[0]}), mat ({by(self)}), vec ({by(vec)})")
    return self @ vec
mv.defvjp(
    self = lambda grad, vec:  ger(grad, vec),
    vec  = lambda grad, self: t(self) @ grad,
)


@primitive("DotBackward0")
def dot(self, tensor):
    """Vector times vector: (k,) @ (k,) -> ()."""
    if self.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors")
    if self.shape != tensor.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{self.size}] and src [{tensor.size}] to have the same number of "
            f"elements, but got {self.size} and {tensor.size} elements respectively"
        )
    return self @ tensor
dot.defvjp(
    self   = lambda grad, tensor: grad * tensor,
    tensor = lambda grad, self:   grad * self,
)


@primitive("GerBackward0")
def ger(self, vec2):
    """Outer product: (n,), (m,) -> (n, m)."""
    return self[:, None] * vec2[None, :]
ger.defvjp(
    self = lambda grad, vec2: grad @ vec2,
    vec2 = lambda grad, self: t(grad) @ self,
)


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """`input @ other` for vectors and matrices; the op (dot, mv, mm) depends on the dimensions, as in PyTorch.

    Raises:
        RuntimeError: the shapes do not fit.
        NotImplementedError: a tensor of more than two dimensions.
    """
    if not isinstance(other, Tensor):
        raise TypeError(f"matmul(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")
    if input.dtype is not other.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {input.dtype.legacy} != {other.dtype.legacy}")
    if input.ndim == 0 or other.ndim == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {input.ndim}D and {other.ndim}D")
    if input.ndim > 2 or other.ndim > 2:
        raise NotImplementedError(f"matmul of more than two dimensions ({by(input)}, {by(other)}) is not in autograd_viz yet")
    if input.ndim == 1 and other.ndim == 1:
        return dot(input, other)
    if input.ndim == 2 and other.ndim == 1:
        return mv(input, other)
    if input.ndim == 2:
        return mm(input, other)
    return input.unsqueeze(0).mm(other).squeeze(0)
