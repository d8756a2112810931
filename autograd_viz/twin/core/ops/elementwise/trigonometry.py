"""Trigonometric functions, hyperbolic functions, and their inverses."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import conjugated, eq, is_complex, sqrt, where
from ...op import composite, public_row
from .arithmetic import _as_float, of_floats

sin = of_floats("sin", "SinBackward0", "Sine.", np.sin)
cos = of_floats("cos", "CosBackward0", "Cosine.", np.cos)
tan = of_floats("tan", "TanBackward0", "Tangent.", np.tan, self = lambda grad, result: grad * conjugated(1 + result**2))
asin = of_floats("asin arcsin", "AsinBackward0", "The angle in [-pi/2, pi/2] whose sine this is.", np.arcsin,
    self = lambda grad, self: grad / conjugated(sqrt(1 - self * self)))
acos = of_floats("acos arccos", "AcosBackward0", "The angle in [0, pi] whose cosine this is.", np.arccos,
    self = lambda grad, self: -grad / conjugated(sqrt(1 - self * self)))
atan = of_floats("atan arctan", "AtanBackward0", "The angle in (-pi/2, pi/2) whose tangent this is.", np.arctan,
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


sinh = of_floats("sinh", "SinhBackward0", "Hyperbolic sine.", np.sinh,
    self = lambda grad, self: grad * conjugated(cosh(self)))
cosh = of_floats("cosh", "CoshBackward0", "Hyperbolic cosine.", np.cosh,
    self = lambda grad, self: grad * conjugated(sinh(self)))
asinh = of_floats("asinh arcsinh", "AsinhBackward0", "Inverse of sinh.", np.arcsinh,
    self = lambda grad, self: grad / conjugated(sqrt(self**2 + 1)))
acosh = of_floats("acosh arccosh", "AcoshBackward0", "Inverse of cosh; nan below 1.", np.arccosh,
    self = lambda grad, self: grad / conjugated(  # in the left half-plane a single root has the wrong sign
        sqrt(self + 1) * sqrt(self - 1) if is_complex(self) else sqrt(self * self - 1)))
atanh = of_floats("atanh arctanh", "AtanhBackward0", "Inverse of tanh.", np.arctanh,
    self = lambda grad, self: grad / conjugated(1 - self**2))


sinc = of_floats("sinc special.sinc", "SincBackward0", "sin(pi * self) / (pi * self); 1 at 0.",
    lambda x: np.sinc(x).astype(x.dtype, copy=False),
    self = lambda grad, self: where(eq(self, 0), 0, grad * conjugated((cos(3.141592653589793 * self) - sinc(self)) / self)))
deg2rad = of_floats("deg2rad", "Deg2RadBackward0", "Degrees to radians.", lambda x: x * (np.pi / 180),
    self = lambda grad: grad * 0.017453292519943295)
rad2deg = of_floats("rad2deg", "Rad2DegBackward0", "Radians to degrees.", lambda x: x * (180 / np.pi),
    self = lambda grad: grad * 57.29577951308232)
