"""`x **= 2`, `2 ** x` and similar operators, and the functions that call an in-place method: torch.exp_(x)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...base.public import NAMESPACES, public, renamed
from ...tensor.tensor import Tensor


def _forwarding(name: str) -> Callable[..., Any]:
    """A method that calls the method `name`."""

    def method(self: Tensor, *args: Any, **options: Any) -> Any:
        return getattr(self, name)(*args, **options)

    return renamed(method, name, f"The same as {name}.")


for _alias, _name in (
    ("__ipow__", "pow_"),
    ("__ifloordiv__", "floor_divide_"),
    ("__imod__", "remainder_"),
    ("__iand__", "bitwise_and_"),
    ("__ior__", "bitwise_or_"),
    ("__ixor__", "bitwise_xor_"),
    ("__ilshift__", "bitwise_left_shift_"),
    ("__irshift__", "bitwise_right_shift_"),
    ("subtract_", "sub_"),
    ("multiply_", "mul_"),
    ("divide_", "div_"),
    ("true_divide_", "div_"),
):
    public(f"Tensor.{_alias}")(_forwarding(_name))


def _reflected(name: str, sign: str) -> Callable[..., Any]:
    """The method for `other ** self`, of the op `name`."""

    def method(self: Tensor, other: Any) -> Any:
        return NAMESPACES["torch"][name](other, self)

    return renamed(method, name, f"other {sign} self.")


for _alias, _name, _sign in (
    ("__rpow__", "pow", "**"),
    ("__rfloordiv__", "floor_divide", "//"),
    ("__rmod__", "remainder", "%"),
    ("__rmatmul__", "matmul", "@"),
    ("__rlshift__", "bitwise_left_shift", "<<"),
    ("__rrshift__", "bitwise_right_shift", ">>"),
):
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
