"""Bessel functions and similar ones. As in PyTorch, only the modified ones of the first kind have gradients."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.names import eq, exp, lgamma, log, no_derivative_of, sgn, where
from ..base.public import public
from ..base.scipy_special import special
from ..base.symbol import call
from ..op.primitive import primitive
from ..op.row import public_row, row
from ..ops.elementwise.arithmetic import _as_float
from ..ops.elementwise.special import computed
from ..tensor.refusals import refusing
from ..tensor.tensor import Tensor

i0 = public_row("i0 special.i0", "I0Backward0", "Modified Bessel function of the first kind, order 0.",
    lambda self: computed(special.i0, self), inplace=True,
    self = lambda grad, self: grad * i1(self))
i0e = public_row("special.i0e", "SpecialI0EBackward0", "exp(-|self|) * i0(self), without overflow.",
    lambda self: computed(special.i0e, self),
    self = lambda grad, self, result: grad * (i1e(self) - sgn(self) * result))
i1 = public_row("special.i1", "SpecialI1Backward0", "Modified Bessel function of the first kind, order 1.",
    lambda self: computed(special.i1, self),
    self = lambda grad, self, result: grad * where(eq(self, 0), 0.5, i0(self) - result / where(eq(self, 0), 1.0, self)))
i1e = public_row("special.i1e", "SpecialI1EBackward0", "exp(-|self|) * i1(self), without overflow.",
    lambda self: computed(special.i1e, self),
    self = lambda grad, self, result:
        grad * where(eq(self, 0), 0.5, i0e(self) - result * (sgn(self) + 1 / where(eq(self, 0), 1.0, self))))
igamma = public_row("igamma special.gammainc", "IgammaBackward0",
    "The regularized lower incomplete gamma function: the integral from 0 to other, divided by gamma(self).",
    refusing("iub", "igamma_cpu", lambda self, other: computed(special.gammainc, self, other)), promotes=True, inplace=True,
    self  = lambda grad: no_derivative_of("igamma: input"),
    other = lambda grad, self, other: grad * exp((self - 1) * log(other) - other - lgamma(self)))
igammac = public_row("igammac special.gammaincc", "IgammacBackward0", "1 - igamma(self, other).",
    refusing("iub", "igammac_cpu", lambda self, other: computed(special.gammaincc, self, other)), promotes=True, inplace=True,
    self  = lambda grad: no_derivative_of("igammac: input"),
    other = lambda grad, self, other: -grad * exp((self - 1) * log(other) - other - lgamma(self)))
zeta_tensors = row("zeta_tensors", "SpecialZetaBackward0",
    "Hurwitz's zeta function: the sum of (k + other)**-self over k = 0, 1, ...",
    lambda self, other: computed(special.zeta, self, other), promotes=True,
    written=lambda self, other: call("zeta", self, other),
    self  = lambda grad: no_derivative_of("zeta"),
    other = lambda grad, self, other: grad * -self * zeta_tensors(self + 1, other))
zeta_of_number = row("zeta_of_number", "SpecialZetaBackward1", "Hurwitz's zeta function of a number `self`.",
    lambda other, *, self: computed(special.zeta, np.full_like(_as_float(other), self), other),
    written=lambda other, self: call("zeta", self, other),
    other = lambda grad, self, other: grad * -self * zeta_of_number(other, self=self + 1))
zeta_number = row("zeta_number", "SpecialZetaBackward2", "Hurwitz's zeta function with a number `other`.",
    lambda self, *, other: computed(special.zeta, self, np.full_like(_as_float(self), other)),
    self = lambda grad: no_derivative_of("zeta"))


@public("special.zeta")
def zeta(input: Any, other: Any) -> Any:
    """Hurwitz's zeta function: the sum of (k + other)**-input over k = 0, 1, ..."""
    if not isinstance(input, Tensor):
        return zeta_of_number(other, self=input)
    return zeta_tensors(input, other) if isinstance(other, Tensor) else zeta_number(input, other=other)


def _without_gradient(name: str, function: str, doc: str) -> None:
    """Publish a function of SciPy as an op without a gradient."""
    def forward(self):
        return computed(NUMPY_FUNCTIONS[function], self)
    forward.__name__, forward.__doc__ = f"special_{name}", doc
    public(f"special.{name}")(primitive()(forward))


NUMPY_FUNCTIONS = {
    **{n: getattr(special, n) for n in ("j0", "j1", "y0", "y1", "i0", "i1", "k0", "k1", "k0e", "k1e")},
    "airy": lambda x: special.airy(x)[0], "spherical_j0": lambda x: np.sinc(x / np.pi),
}

for _name, _function, _doc in (
    ("bessel_j0",                    "j0",  "Bessel function of the first kind, order 0."),
    ("bessel_j1",                    "j1",  "Bessel function of the first kind, order 1."),
    ("bessel_y0",                    "y0",  "Bessel function of the second kind, order 0."),
    ("bessel_y1",                    "y1",  "Bessel function of the second kind, order 1."),
    ("modified_bessel_i0",           "i0",  "Modified Bessel function of the first kind, order 0."),
    ("modified_bessel_i1",           "i1",  "Modified Bessel function of the first kind, order 1."),
    ("modified_bessel_k0",           "k0",  "Modified Bessel function of the second kind, order 0."),
    ("modified_bessel_k1",           "k1",  "Modified Bessel function of the second kind, order 1."),
    ("scaled_modified_bessel_k0",    "k0e", "exp(self) times modified_bessel_k0."),
    ("scaled_modified_bessel_k1",    "k1e", "exp(self) times modified_bessel_k1."),
    ("spherical_bessel_j0",          "spherical_j0", "sin(self) / self."),
    ("airy_ai",                      "airy", "Airy's function Ai."),
):
    _without_gradient(_name, _function, _doc)
