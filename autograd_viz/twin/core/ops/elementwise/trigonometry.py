"""Trigonometric functions, hyperbolic functions, and their inverses."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import conjugated, eq, is_complex, sqrt, where
from ...base.public import public
from ...base.readings import composite, inlined
from ...op.primitive import primitive
from ...op.row import public_row
from .arithmetic import _as_float

sin = public_row("sin", "SinBackward0", "Sine.",
    lambda self: np.sin(_as_float(self)), inplace=True)
cos = public_row("cos", "CosBackward0", "Cosine.",
    lambda self: np.cos(_as_float(self)), inplace=True)
tan = public_row("tan", "TanBackward0", "Tangent.",
    lambda self: np.tan(_as_float(self)), inplace=True,
    self = lambda grad, result: grad * conjugated(1 + result**2))
asin = public_row("asin arcsin", "AsinBackward0", "The angle in [-pi/2, pi/2] whose sine this is.",
    lambda self: np.arcsin(_as_float(self)), inplace=True,
    self = lambda grad, self: grad / conjugated(sqrt(1 - self * self)))
acos = public_row("acos arccos", "AcosBackward0", "The angle in [0, pi] whose cosine this is.",
    lambda self: np.arccos(_as_float(self)), inplace=True,
    self = lambda grad, self: -grad / conjugated(sqrt(1 - self * self)))
atan = public_row("atan arctan", "AtanBackward0", "The angle in (-pi/2, pi/2) whose tangent this is.",
    lambda self: np.arctan(_as_float(self)), inplace=True,
    self = lambda grad, self: grad / conjugated(self * self + 1))
atan2 = public_row("atan2 arctan2", "Atan2Backward0", "The angle of the point (x=other, y=self).",
    lambda self, other: np.arctan2(_as_float(self), _as_float(other)), promotes=True, inplace=True,
    self  = lambda grad, self, other: over_square(grad *  other, self, other),
    other = lambda grad, self, other: over_square(grad * -self,  self, other))


@composite
def over_square(grad: Any, self: Any, other: Any) -> Any:
    """grad / (self**2 + other**2); 0 at the origin, where the angle has no gradient."""
    length = self * self + other * other
    return where(eq(length, 0), 0, grad / length)


sinh = public_row("sinh", "SinhBackward0", "Hyperbolic sine.",
    lambda self: np.sinh(_as_float(self)), inplace=True,
    self = lambda grad, self: grad * conjugated(cosh(self)))
cosh = public_row("cosh", "CoshBackward0", "Hyperbolic cosine.",
    lambda self: np.cosh(_as_float(self)), inplace=True,
    self = lambda grad, self: grad * conjugated(sinh(self)))
asinh = public_row("asinh arcsinh", "AsinhBackward0", "Inverse of sinh.",
    lambda self: np.arcsinh(_as_float(self)), inplace=True,
    self = lambda grad, self: grad / conjugated(sqrt(self**2 + 1)))
acosh = public_row("acosh arccosh", "AcoshBackward0", "Inverse of cosh; nan below 1.",
    lambda self: np.arccosh(_as_float(self)), inplace=True,
    self = lambda grad, self: grad / conjugated(acosh_divisor(self)))


@inlined
def acosh_divisor(self: Any) -> Any:
    """sqrt(self² - 1). Complex numbers need two roots, because a single root has the wrong sign in the left half-plane."""
    return sqrt(self + 1) * sqrt(self - 1) if is_complex(self) else sqrt(self * self - 1)


atanh = public_row("atanh arctanh", "AtanhBackward0", "Inverse of tanh.",
    lambda self: np.arctanh(_as_float(self)), inplace=True,
    self = lambda grad, self: grad / conjugated(1 - self**2))


@public("sinc", "special.sinc", inplace=True)
@primitive("SincBackward0")
def sinc(self):
    """sin(pi * self) / (pi * self); 1 at 0."""
    x = _as_float(self)
    return np.sinc(x).astype(x.dtype, copy=False)
sinc.defvjp(
    self = lambda grad, self: where(eq(self, 0), 0, grad * conjugated((cos(3.141592653589793 * self) - sinc(self)) / self)),
)


deg2rad = public_row("deg2rad", "Deg2RadBackward0", "Degrees to radians.",
    lambda self: _as_float(self) * (np.pi / 180), inplace=True,
    self = lambda grad: grad * 0.017453292519943295)
rad2deg = public_row("rad2deg", "Rad2DegBackward0", "Radians to degrees.",
    lambda self: _as_float(self) * (180 / np.pi), inplace=True,
    self = lambda grad: grad * 57.29577951308232)
