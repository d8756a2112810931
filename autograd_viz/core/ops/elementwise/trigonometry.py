"""Trigonometric functions, hyperbolic functions, and their inverses."""
# fmt: off
# tables of ops: their columns stay aligned

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.public import public
from ...base.readings import composite, inlined
from ...op.primitive import primitive
from .arithmetic import _as_float


@public("sin", inplace=True)
@primitive("SinBackward0")
def sin(self):
    """Sine."""
    return np.sin(_as_float(self))


@public("cos", inplace=True)
@primitive("CosBackward0")
def cos(self):
    """Cosine."""
    return np.cos(_as_float(self))


@public("tan", inplace=True)
@primitive("TanBackward0")
def tan(self):
    """Tangent."""
    return np.tan(_as_float(self))
tan.defvjp(
    self = lambda grad, result: grad * conjugated(1 + result**2),
)


@public("asin", "arcsin", inplace=True)
@primitive("AsinBackward0")
def asin(self):
    """The angle in [-pi/2, pi/2] whose sine this is."""
    return np.arcsin(_as_float(self))
asin.defvjp(
    self = lambda grad, self: grad / conjugated(sqrt(1 - self * self)),
)


@public("acos", "arccos", inplace=True)
@primitive("AcosBackward0")
def acos(self):
    """The angle in [0, pi] whose cosine this is."""
    return np.arccos(_as_float(self))
acos.defvjp(
    self = lambda grad, self: -grad / conjugated(sqrt(1 - self * self)),
)


@public("atan", "arctan", inplace=True)
@primitive("AtanBackward0")
def atan(self):
    """The angle in (-pi/2, pi/2) whose tangent this is."""
    return np.arctan(_as_float(self))
atan.defvjp(
    self = lambda grad, self: grad / conjugated(self * self + 1),
)


@public("atan2", "arctan2", inplace=True)
@primitive("Atan2Backward0", promotes=True)
def atan2(self, other):
    """The angle of the point (x=other, y=self)."""
    return np.arctan2(_as_float(self), _as_float(other))
atan2.defvjp(
    self  = lambda grad, self, other: over_square(grad *  other, self, other),
    other = lambda grad, self, other: over_square(grad * -self,  self, other),
)


@composite
def over_square(grad: Any, self: Any, other: Any) -> Any:
    """grad / (self**2 + other**2); 0 at the origin, where the angle has no gradient."""
    length = self * self + other * other
    return where(eq(length, 0), 0, grad / length)


@public("sinh", inplace=True)
@primitive("SinhBackward0")
def sinh(self):
    """Hyperbolic sine."""
    return np.sinh(_as_float(self))
sinh.defvjp(
    self = lambda grad, self: grad * conjugated(cosh(self)),
)


@public("cosh", inplace=True)
@primitive("CoshBackward0")
def cosh(self):
    """Hyperbolic cosine."""
    return np.cosh(_as_float(self))
cosh.defvjp(
    self = lambda grad, self: grad * conjugated(sinh(self)),
)


@public("asinh", "arcsinh", inplace=True)
@primitive("AsinhBackward0")
def asinh(self):
    """Inverse of sinh."""
    return np.arcsinh(_as_float(self))
asinh.defvjp(
    self = lambda grad, self: grad / conjugated(sqrt(self**2 + 1)),
)


@public("acosh", "arccosh", inplace=True)
@primitive("AcoshBackward0")
def acosh(self):
    """Inverse of cosh; nan below 1."""
    return np.arccosh(_as_float(self))
acosh.defvjp(
    self = lambda grad, self: grad / conjugated(acosh_divisor(self)),
)


@inlined
def acosh_divisor(self: Any) -> Any:
    """sqrt(self² - 1). Complex numbers need two roots, because a single root has the wrong sign in the left half-plane."""
    return sqrt(self + 1) * sqrt(self - 1) if is_complex(self) else sqrt(self * self - 1)


@public("atanh", "arctanh", inplace=True)
@primitive("AtanhBackward0")
def atanh(self):
    """Inverse of tanh."""
    return np.arctanh(_as_float(self))
atanh.defvjp(
    self = lambda grad, self: grad / conjugated(1 - self**2),
)


@public("sinc", "special.sinc", inplace=True)
@primitive("SincBackward0")
def sinc(self):
    """sin(pi * self) / (pi * self); 1 at 0."""
    x = _as_float(self)
    return np.sinc(x).astype(x.dtype, copy=False)
sinc.defvjp(
    self = lambda grad, self: where(eq(self, 0), 0, grad * conjugated((cos(3.141592653589793 * self) - sinc(self)) / self)),
)


@public("deg2rad", inplace=True)
@primitive("Deg2RadBackward0")
def deg2rad(self):
    """Degrees to radians."""
    return _as_float(self) * (np.pi / 180)
deg2rad.defvjp(
    self = lambda grad: grad * 0.017453292519943295,
)


@public("rad2deg", inplace=True)
@primitive("Rad2DegBackward0")
def rad2deg(self):
    """Radians to degrees."""
    return _as_float(self) * (180 / np.pi)
rad2deg.defvjp(
    self = lambda grad: grad * 57.29577951308232,
)
