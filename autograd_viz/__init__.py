"""See autograd: NumPy tensors with PyTorch's semantics, drawn as Elliot Waite draws them and stepped one grad_fn at a time."""

from . import autograd, nn, optim
from .core import methods as _methods  # noqa: F401
from .core.creation import arange, from_numpy, full, manual_seed, ones, ones_like, rand, randn, tensor, zeros, zeros_like
from .core.dtypes import bool_ as bool  # noqa: A004
from .core.dtypes import (
    double, dtype, float16, float32, float64, get_default_dtype, half, int8, int16, int32, int64, long, set_default_dtype,
    short, uint8,
)  # fmt: skip
from .core.dtypes import float_ as float  # noqa: A004
from .core.dtypes import int_ as int  # noqa: A004
from .core.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .core.methods import expand as _expand
from .core.methods import permute, reshape, squeeze, t, transpose, unbind, unsqueeze
from .core.ops.activation import relu, sigmoid, tanh
from .core.ops.arithmetic import abs, add, cos, div, exp, log, mul, neg, pow, reciprocal, sign, sin, sqrt, square, sub, where  # noqa: A004
from .core.ops.comparison import eq, ge, gt, le, lt, ne
from .core.ops.linalg import dot, ger, matmul, mm, mv
from .core.ops.reduction import mean, sum  # noqa: A004
from .core.ops.shape import clone, detach, stack
from .core.tensor import Size, Tensor
