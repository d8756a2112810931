"""Softmax (positive numbers with sum 1), its logarithm, logsumexp, and gumbel_softmax."""
# fmt: off

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...base.names import conjugated, exp, keep_dims, sum_dim
from ...op import Primitive, composite, primitive, public, renamed, row
from ...tensor import Array, Tensor, check_dim, refuse
from ...tensor.factories import empty, zeros_like
from ..elementwise.arithmetic import _as_float
from ..reduce.dims import on_vectors, reduced_dims, tensor_call


@primitive("SoftmaxBackward0")
@on_vectors
def softmax_dim(self, *, dim):
    """exp(self) / sum(exp(self)) along `dim`."""
    x = self.astype(np.float32) if self.dtype == np.float16 else self
    e = np.exp(x - _largest(x, dim))
    return (e / e.sum(dim, keepdims=True)).astype(self.dtype, copy=False)


safe_softmax_dim = row("safe_softmax_dim", "SafeSoftmaxBackward0", "softmax, but 0 if all elements along `dim` are -inf.",
    on_vectors(lambda self, *, dim:
        np.where(np.all(self == -np.inf, axis=dim, keepdims=True), self.dtype.type(0), softmax_dim.forward(self, dim=dim))),
    self = lambda grad, result, dim: softmax_backward_data(grad, result, dim=dim))


softmax_backward_data = row("softmax_backward_data", "SoftmaxBackwardDataBackward0",
    "(grad_output - sum(grad_output * output)) * output.",
    on_vectors(lambda grad_output, output, *, dim, input_dtype=None:
        (grad_output - (grad_output * output).sum(dim, keepdims=True)) * output),
    written=lambda grad_output, output, dim: (grad_output - sum_dim(grad_output * output, dim, keepdim=True)) * output,
    grad_output = lambda grad, output, dim: softmax_backward_data(grad, output, dim=dim),
    output      = lambda grad, grad_output, output, dim:
        grad * grad_output - grad * sum_along(grad_output * output, dim) - grad_output * sum_along(grad * output, dim))
public("torch._softmax_backward_data")(softmax_backward_data)


@primitive("LogSoftmaxBackward0")
@on_vectors
def log_softmax_dim(self, *, dim):
    """log(softmax(self)) along `dim`, without overflow."""
    shifted = self - _largest(self, dim)
    return shifted - np.log(np.exp(shifted).sum(dim, keepdims=True))


log_softmax_backward_data = row("log_softmax_backward_data", "LogSoftmaxBackwardDataBackward0",
    "grad_output - exp(output) * sum(grad_output).",
    on_vectors(lambda grad_output, output, *, dim, input_dtype=None:
        grad_output - np.exp(output) * grad_output.sum(dim, keepdims=True)),
    written=lambda grad_output, output, dim: grad_output - exp(output) * sum_dim(grad_output, dim, keepdim=True),
    grad_output = lambda grad, output, dim: grad - sum_along(grad * exp(output), dim),
    output      = lambda grad, grad_output, output, dim: -grad * exp(output) * sum_along(grad_output, dim))


@primitive("LogsumexpBackward0")
def logsumexp_dims(self, *, dim, keepdim=False):
    """log(sum(exp(self))) over the dimensions `dim`, without overflow."""
    x = _as_float(self)
    largest = _largest(x, dim)
    largest = np.where(np.isfinite(largest), largest, largest.dtype.type(0))
    return np.log(np.exp(x - largest).sum(dim, keepdims=keepdim)) + (largest if keepdim else largest.squeeze(dim))
logsumexp_dims.defvjp(self = lambda grad, self, result, dim, keepdim:
    keep_dims(grad, self, dim, keepdim) * conjugated(exp(self - keep_dims(result, self, dim, keepdim))))


@composite
def sum_along(input: Any, dim: int) -> Any:
    """The sum along `dim`, which stays with length 1."""
    return sum_dim(input, dim=(dim,) if input.ndim else (), keepdim=True)


def _largest(x: Array, dim: Any) -> Any:
    """The largest element along `dim`. It is subtracted before exp."""
    return np.max(x.real, axis=dim, keepdims=True, initial=-np.inf)


def _along(kernel: str, op: Primitive, does: str, *names: str) -> Any:
    """The call of one of the three ops."""

    def call(input: Tensor, dim: int, dtype: Any = None) -> Any:
        check_dim(dim, input.ndim)
        x = input if dtype is None else input.to(dtype)
        last = "_lastdim" if dim in (-1, max(x.ndim, 1) - 1) else ""
        refuse(x, "iubc", f"{kernel}{last}_kernel_impl")
        return op(x, dim=dim)

    return tensor_call(*names)(renamed(call, names[0].rpartition(".")[2], does))


softmax = _along("softmax", softmax_dim, "Positive numbers with sum 1 along `dim`.", "softmax", "special.softmax")
log_softmax = _along("log_softmax", log_softmax_dim, "The logarithm of softmax.", "log_softmax", "special.log_softmax")
_safe_softmax = _along(
    "softmax", safe_softmax_dim, "softmax, but 0 if all elements along `dim` are -inf.", "torch._safe_softmax"
)


def _with_usual_dim(name: str, along: Any, does: str, called: str) -> None:
    """Publish a function of nn.functional whose `dim` is optional. The default is PyTorch's old one, with its warning."""

    def function(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
        if dim is None:
            warnings.warn(
                f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
                stacklevel=3,
            )
            dim = 0 if input.ndim in (0, 1, 3) else 1
        return along(-input if name == "softmin" else input, dim, dtype)

    tensor_call(f"nn.functional.{name}")(renamed(function, called, does))


_with_usual_dim("softmax", softmax, "nn.functional's softmax, where `dim` is optional.", "softmax_function")
_with_usual_dim("log_softmax", log_softmax, "nn.functional's log_softmax, where `dim` is optional.", "log_softmax_function")
_with_usual_dim("softmin", softmax, "softmax of -input: the smallest element becomes the largest.", "softmin")


@tensor_call("logsumexp", "special.logsumexp")
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Any:
    """log of the sum of exp(input) over the dimensions `dim`."""
    return logsumexp_dims(input, dim=reduced_dims(input, dim), keepdim=keepdim)


# fmt: on
@public("nn.functional.gumbel_softmax")
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """The softmax of logits (unnormalized log probabilities) with Gumbel noise, along `dim`.

    A smaller `tau` makes the result sharper. With `hard`, vectors are one-hot, with the gradient of the soft ones. `eps` has no
    effect, as in PyTorch.
    """
    noise = -empty(logits.shape, dtype=logits.dtype).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = zeros_like(logits).scatter_(dim, soft.max(dim, keepdim=True)[1], 1.0)
    return chosen - soft.detach() + soft
