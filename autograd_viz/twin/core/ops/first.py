"""The thirty most common rules: the vjp of an op with respect to each of its inputs. Other rules stand below their op.

`grad` is the gradient of the op's output. The other names are inputs, options and `result`; an op saves what its rules name.
Formulas and node names are PyTorch's.
"""
# fmt: off

from ..base.names import (  # isort: skip
    adjoint, cat_backward, conjugated, eq, expand, ger, log_softmax_backward_data, maybe_multiply, mean_divisor,
    mse_loss_backward, nll_loss_backward, pow_backward, reshape, select_backward, sgn, sigmoid_backward,
    softmax_backward_data, sum_backward, sum_to, tanh_backward, threshold_backward, where,
)
from .activation.activation import sigmoid, tanh
from .activation.activation_kinked import relu
from .activation.softmax import log_softmax_dim, softmax_dim
from .elementwise.arithmetic import add, div_tensors, mul, neg, sub
from .elementwise.choosing import maximum, where_tensors
from .elementwise.powers import exp, log, pow_scalar, sqrt
from .elementwise.rounding import abs  # noqa: A004 -- PyTorch's name
from .elementwise.trigonometry import cos, sin
from .loss.loss import mse_loss
from .loss.loss_classes import nll_loss_forward
from .matrix.matmul import mm, mv
from .matrix.matrix_products import addmm
from .reduce.reduction import mean_all, mean_dim, sum_all, sum_dim
from .shape.joining import cat_tensors
from .shape.shape import expand_sizes, t, transpose_dims, view_sizes
from .shape.slicing import select

# -- arithmetic -----------------------------------------------------------------------------------------------------------

add.defvjp(self = lambda grad: grad, other = lambda grad, alpha: maybe_multiply(grad, alpha))
sub.defvjp(self = lambda grad: grad, other = lambda grad, alpha: maybe_multiply(-grad, alpha))
mul.defvjp(self = lambda grad, other: grad * conjugated(other), other = lambda grad, self: grad * conjugated(self))
div_tensors.defvjp(
    self  = lambda grad, other: grad / conjugated(other),
    other = lambda grad, other, self: -grad * conjugated((self / other) / other),
)
neg.defvjp(self = lambda grad: -grad)

# -- functions of one number ----------------------------------------------------------------------------------------------

pow_scalar.defvjp(self = lambda grad, self, exponent: pow_backward(grad, self, exponent))  # grad * n * self ** (n - 1)
sqrt.defvjp(self = lambda grad, result: grad / conjugated(2 * result))
exp.defvjp(self = lambda grad, result: grad * conjugated(result))
log.defvjp(self = lambda grad, self: grad / conjugated(self))
sin.defvjp(self = lambda grad, self: grad * conjugated(cos(self)))
cos.defvjp(self = lambda grad, self: grad * -conjugated(sin(self)))
abs.defvjp(self = lambda grad, self: grad * sgn(self))

# -- choosing -------------------------------------------------------------------------------------------------------------

maximum.defvjp(
    self  = lambda grad, self, other: where(eq(self, other), grad / 2, where(self < other, 0, grad)),
    other = lambda grad, self, other: where(eq(self, other), grad / 2, where(self > other, 0, grad)),
)
where_tensors.defvjp(
    self  = lambda grad, condition: where(condition, grad, 0),
    other = lambda grad, condition: where(condition, 0, grad),
)

# -- activations: `x_backward` is an op, so a second derivative has PyTorch's nodes ------------------------------------------

relu.defvjp(self = lambda grad, result: threshold_backward(grad, result, threshold=0))  # grad where result > 0, else 0
sigmoid.defvjp(self = lambda grad, result: sigmoid_backward(grad, conjugated(result)))  # grad * (1 - result) * result
tanh.defvjp(self = lambda grad, result: tanh_backward(grad, conjugated(result)))  # grad * (1 - result ** 2)
softmax_dim.defvjp(  # (grad - sum(grad * result)) * result
    self = lambda grad, result, dim: softmax_backward_data(grad, result, dim=dim),
)
log_softmax_dim.defvjp(  # grad - exp(result) * sum(grad)
    self = lambda grad, result, dim: log_softmax_backward_data(grad, result, dim=dim),
)

# -- sums -----------------------------------------------------------------------------------------------------------------

sum_all.defvjp(self = lambda grad, self_sym_sizes: expand(grad, self_sym_sizes))
sum_dim.defvjp(self = lambda grad, self_sym_sizes, dim, keepdim: sum_backward(grad, self_sym_sizes, dim, keepdim))
mean_all.defvjp(self = lambda grad, self_sym_sizes, self_sym_numel: expand(grad, self_sym_sizes) / self_sym_numel)
mean_dim.defvjp(
    self = lambda grad, self_sym_sizes, self_sym_numel, dim, keepdim:
        sum_backward(grad, self_sym_sizes, dim, keepdim) / mean_divisor(self_sym_sizes, dim),
)

# -- shapes ---------------------------------------------------------------------------------------------------------------

view_sizes.defvjp(self = lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes))
expand_sizes.defvjp(self = lambda grad, self_sym_sizes: sum_to(grad, self_sym_sizes))
t.defvjp(self = lambda grad: t(grad))
transpose_dims.defvjp(self = lambda grad, dim0, dim1: transpose_dims(grad, dim0=dim0, dim1=dim1))
select.defvjp(  # zeros with grad at that index
    self = lambda grad, self_sym_sizes, dim, index: select_backward(grad, size=self_sym_sizes, dim=dim, index=index),
)
cat_tensors.defvjp(  # each input gets its part of grad
    tensors = lambda grad, dim, _tensors_sym_sizes: cat_backward(grad, dim, _tensors_sym_sizes),
)

# -- products of matrices -------------------------------------------------------------------------------------------------

mm.defvjp(self = lambda grad, mat2: mm(grad, adjoint(mat2)), mat2 = lambda grad, self: mm(adjoint(self), grad))
mv.defvjp(self = lambda grad, vec: ger(grad, conjugated(vec)), vec = lambda grad, self: adjoint(self) @ grad)
addmm.defvjp(
    self = lambda grad, beta: maybe_multiply(grad, conjugated(beta)),
    mat1 = lambda grad, mat2, alpha: maybe_multiply(mm(grad, adjoint(mat2)), conjugated(alpha)),
    mat2 = lambda grad, mat1, alpha: maybe_multiply(mm(adjoint(mat1), grad), conjugated(alpha)),
)

# -- losses ---------------------------------------------------------------------------------------------------------------

mse_loss.defvjp(  # grad * 2 * (self - target), divided by the count for a mean
    self   = lambda grad, self, target, reduction: mse_loss_backward(grad, self, target, reduction=reduction),
    target = lambda grad, self, target, reduction: mse_loss_backward(grad, target, self, reduction=reduction),
)
nll_loss_forward.defvjp(  # cross entropy is log_softmax followed by this: -grad at each target
    self = lambda grad, self, target, weight, reduction, ignore_index, total_weight:
        nll_loss_backward(grad, self, target=target, weight=weight, reduction=reduction, ignore_index=ignore_index,
                          total_weight=total_weight),
)
