"""The same elements in another shape, or some of them: views share memory with their input."""
# fmt: off
# (ops are a table: the columns are kept)

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitive import primitive
from ..readings import composite, inlined


@primitive("ViewBackward0", view=True)
def view_sizes(self, *, size):
    """Another shape over the same memory."""
    return self.reshape(size)
view_sizes.defvjp(
    self = lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes),
)


@primitive("UnsafeViewBackward0")
def unsafe_view(self, *, size):
    """The second half of a reshape that had to copy."""
    return self.reshape(size)
unsafe_view.defvjp(
    self = lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes),
)


@primitive("ExpandBackward0", view=True)
def expand_sizes(self, *, size):
    """Repeat along dimensions of length 1, without copying."""
    return np.broadcast_to(self, size)
expand_sizes.defvjp(
    self = lambda grad, self_sym_sizes: sum_to(grad, self_sym_sizes),
)


@primitive("TBackward0", view=True)
def t(self):
    """Transpose of a matrix; a vector stays as it is."""
    return self.T
t.defvjp(
    self = lambda grad: t(grad),
)


@primitive("PermuteBackward0", view=True)
def permute_dims(self, *, dims):
    """Dimensions in another order."""
    return self.transpose(dims)
permute_dims.defvjp(
    self = lambda grad, dims: permute_dims(grad, dims=inverse_order(dims)),
)


@primitive("TransposeBackward0", view=True)
def transpose_dims(self, *, dim0, dim1):
    """Two dimensions swapped."""
    return self.swapaxes(dim0, dim1) if self.ndim else self[...]
transpose_dims.defvjp(
    self = lambda grad, dim0, dim1: transpose_dims(grad, dim0=dim0, dim1=dim1),
)


@primitive("UnsqueezeBackward0", view=True)
def unsqueeze(self, *, dim):
    """A new dimension of length 1 at `dim`."""
    return np.expand_dims(self, dim)
unsqueeze.defvjp(
    self = lambda grad, dim: squeeze_dim(grad, dim=dim),
)


@primitive("SqueezeBackward0", view=True)
def squeeze_all(self):
    """Without the dimensions of length 1."""
    return self.squeeze()
squeeze_all.defvjp(
    self = lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes),
)


@primitive("SqueezeBackward1", view=True)
def squeeze_dim(self, *, dim):
    """Without dimension `dim`, if its length is 1."""
    return self.squeeze(dim) if self.ndim and self.shape[dim] == 1 else self[...]
squeeze_dim.defvjp(
    self = lambda grad, self_sym_sizes, dim: reshape(grad, self_sym_sizes),
)


@primitive("SelectBackward0", view=True)
def select(self, *, dim, index):
    """One slice along `dim`, without that dimension."""
    return self[(slice(None),) * dim + (index, ...)]
select.defvjp(
    self = lambda grad, self_sym_sizes, dim, index: select_backward(grad, size=self_sym_sizes, dim=dim, index=index),
)


@primitive("SelectBackwardBackward0")
def select_backward(grad_output, *, size, dim, index):
    """Zeros in `size` with grad_output at the slice."""
    out = np.zeros(size, grad_output.dtype)
    out[(slice(None),) * dim + (index, ...)] = grad_output
    return out
select_backward.defvjp(
    grad_output = lambda grad, dim, index: select(grad, dim=dim, index=index),
)


@primitive("UnbindBackward0", view=True, several=True)
def unbind_dim(self, *, dim):
    """All slices along `dim`."""
    return tuple(np.moveaxis(self, dim, 0)[i, ...] for i in range(self.shape[dim]))
unbind_dim.defvjp(
    self = lambda grads, dim: stack(grads, dim),
)


@primitive("StackBackward0")
def stack_tensors(*tensors, dim):
    """Slices along a new dimension `dim`."""
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    for i, t in enumerate(tensors):
        if t.shape != tensors[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and "
                f"{list(t.shape)} at entry {i}"
            )
    return np.stack(tensors, dim)
stack_tensors.defvjp(
    tensors = lambda grad, dim: unbind_dim(grad, dim=dim),
)


@primitive("CloneBackward0")
def clone(self):
    """A copy in new memory."""
    return self.copy()
clone.defvjp(
    self = lambda grad: grad,
)


@primitive("CopyBackwards")
def copy_into(self, src):
    """`src` in the shape and type of `self`, whose old values are lost."""
    return np.array(np.broadcast_to(src, self.shape), dtype=self.dtype)
copy_into.defvjp(
    self = lambda grad: zeros_like(grad),
    src  = lambda grad: grad,
)


@primitive("ToCopyBackward0")
def to_copy(self, *, dtype):
    """The values in another type."""
    return self.astype(dtype.numpy)
to_copy.defvjp(
    self = lambda grad: grad,
)


@primitive(view=True, cuts=True)
def detach(self):
    """The same memory outside the graph."""
    return self


# fmt: on
@inlined
def inverse_order(dims: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that undoes `dims`."""
    return tuple(int(i) for i in np.argsort(dims))


@composite
def expand(input: Any, size: tuple[int, ...]) -> Any:
    """Repeat along dimensions of length 1 (new ones in front)."""
    return expand_sizes(input, size=tuple(size))


@composite
def reshape(input: Any, size: tuple[int, ...]) -> Any:
    """Another shape: a view if the memory allows, else a copy."""
    return view_sizes(input, size=tuple(size))


@composite
def stack(tensors: Any, dim: int = 0) -> Any:
    """Join tensors of one shape along a new dimension."""
    return stack_tensors(*tensors, dim=dim)


@composite
def sum_to(grad: Any, shape: tuple[int, ...]) -> Any:
    """Undo broadcasting: add up along every dimension that was stretched or added."""
    lead = grad.ndim - len(shape)
    stretched = tuple(i for i in range(grad.ndim) if i < lead or (shape[i - lead] == 1 and grad.shape[i] != 1))
    if stretched:
        grad = sum_dim(grad, dim=stretched, keepdim=True)
    return view_sizes(grad, size=tuple(shape)) if lead else grad
