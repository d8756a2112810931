"""fill_ and zero_; `x **= 2`, `2 ** x` and similar operators; functions that call an in-place method: torch.exp_(x)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.names import sum_all, zeros_like
from ...op import INPLACE, NAMESPACES, public, renamed, row
from ...tensor import Tensor, fitted


def _forwarding(name: str) -> Callable[..., Any]:
    """A method that calls the method `name`."""

    def method(self: Tensor, *args: Any, **options: Any) -> Any:
        return getattr(self, name)(*args, **options)

    return renamed(method, name, f"The same as {name}.")


for _alias, _name in {
    "__ipow__": "pow_", "__ifloordiv__": "floor_divide_", "__imod__": "remainder_", "__iand__": "bitwise_and_",
    "__ior__": "bitwise_or_", "__ixor__": "bitwise_xor_", "__ilshift__": "bitwise_left_shift_",
    "__irshift__": "bitwise_right_shift_", "subtract_": "sub_", "multiply_": "mul_", "divide_": "div_", "true_divide_": "div_",
}.items():  # fmt: skip
    public(f"Tensor.{_alias}")(_forwarding(_name))


def _reflected(name: str, sign: str) -> Callable[..., Any]:
    """The method for `other ** self`, of the op `name`."""

    def method(self: Tensor, other: Any) -> Any:
        return NAMESPACES["torch"][name](other, self)

    return renamed(method, name, f"other {sign} self.")


for _alias, _name, _sign in (
    ("__rpow__", "pow", "**"), ("__rfloordiv__", "floor_divide", "//"), ("__rmod__", "remainder", "%"),
    ("__rmatmul__", "matmul", "@"), ("__rlshift__", "bitwise_left_shift", "<<"), ("__rrshift__", "bitwise_right_shift", ">>"),
):  # fmt: skip
    public(f"Tensor.{_alias}")(_reflected(_name, _sign))

_ALSO_FUNCTIONS = (
    "abs", "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "asin", "asinh", "atan", "atanh",
    "ceil", "clamp", "clamp_max", "clamp_min", "clip", "cos", "cosh", "deg2rad", "erf", "erfc", "exp", "exp2", "expm1",
    "fill", "fix", "floor", "frac", "gcd", "lcm", "ldexp", "log", "log10", "log1p", "log2", "logit", "nan_to_num", "neg",
    "negative", "rad2deg", "reciprocal", "round", "rsqrt", "sigmoid", "sin", "sinc", "sinh", "sqrt", "square", "tan", "tanh",
    "trunc", "xlogy", "zero",
)  # fmt: skip
for _name in _ALSO_FUNCTIONS:
    public(f"torch.{_name}_")(_forwarding(f"{_name}_"))


# fmt: off
def filled(self, value) -> Any:
    """An array like `self` with one value everywhere."""
    if np.ndim(value):
        raise RuntimeError(f"fill only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    return np.full_like(self, value if isinstance(value, np.ndarray) else fitted(value, self.dtype))


zero = row("zero", "ZeroBackward0", "Zeros, for zero_().", lambda self: np.zeros_like(self),
    self = lambda grad: zeros_like(grad))
fill_scalar = row("fill_scalar", "FillBackward0", "A number in every element.",
    lambda self, *, value: filled(self, value),
    self = lambda grad: zeros_like(grad))
fill_tensor = row("fill_tensor", "FillBackward1", "The value of a 0-d tensor in every element.",
    lambda self, value: filled(self, value),
    self  = lambda grad: zeros_like(grad),
    value = lambda grad: sum_all(grad))
refill_scalar = row("refill_scalar", "FillBackward2", "fill_ with a number.",
    lambda self, *, value: filled(self, value),
    self = lambda grad: zeros_like(grad))
refill_tensor = row("refill_tensor", "FillBackward3", "fill_ with a 0-d tensor.",
    lambda self, value: filled(self, value),
    self  = lambda grad: zeros_like(grad),
    value = lambda grad: sum_all(grad))


# fmt: on
@public("torch.fill")
def fill(input: Tensor, value: Any) -> Any:
    """One value everywhere, as a new tensor."""
    return fill_tensor(input, value) if isinstance(value, Tensor) else fill_scalar(input, value=value)


def refill(input: Tensor, value: Any) -> Any:
    """One value everywhere."""
    return refill_tensor(input, value) if isinstance(value, Tensor) else refill_scalar(input, value=value)


INPLACE["fill"] = refill
