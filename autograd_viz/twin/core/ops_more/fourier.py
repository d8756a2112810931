"""The discrete Fourier transform, which gives the frequencies in a sequence of numbers.

It is a linear map, F[k, t] = exp(-2πi k t / n). So its rule is the adjoint: the same transform with -i instead of i. The
transform of real numbers returns only half of the frequencies, because the others are their conjugates. The rules account
for the missing half.
"""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.readings import composite
from ..op.primitive import primitive
from ..ops.elementwise.complex_numbers import real_part
from ..ops.layers.padding import constant_pad_nd

# NumPy's names for division by 1, by the root of n, and by n
_DIVIDED_FORWARD: Any = ("backward", "ortho", "forward")
_DIVIDED_BACKWARD: Any = ("forward", "ortho", "backward")


@primitive("FftC2CBackward0")
def fft_c2c(self, *, dim, normalization, forward):
    """Complex numbers to complex frequencies along `dim`, or back."""
    transform, norms = (np.fft.fftn, _DIVIDED_FORWARD) if forward else (np.fft.ifftn, _DIVIDED_BACKWARD)
    return transform(self, axes=dim, norm=norms[normalization]) if dim else self + 0
fft_c2c.defvjp(
    self = lambda grad, dim, forward, normalization:
        fft_c2c(grad, dim=dim, normalization=normalization, forward=not forward),
)


@primitive("FftR2CBackward0")
def fft_r2c(self, *, dim, normalization, onesided):
    """Real numbers to complex frequencies. With `onesided`, only the first half along the last of `dim`."""
    transform = np.fft.rfftn if onesided else np.fft.fftn
    return transform(self, axes=dim, norm=_DIVIDED_FORWARD[normalization])
fft_r2c.defvjp(
    self = lambda grad, self, dim, normalization, onesided: fft_r2c_backward(grad, self, dim, normalization, onesided),
)


@primitive("FftC2RBackward0")
def fft_c2r(self, *, dim, normalization, last_dim_size):
    """The first half of the frequencies to real numbers. The last of `dim` gets the length `last_dim_size`."""
    sizes = [*(self.shape[d] for d in dim[:-1]), last_dim_size]
    return np.fft.irfftn(self, sizes, dim, norm=_DIVIDED_BACKWARD[normalization])
fft_c2r.defvjp(self = lambda grad, dim, normalization: fft_c2r_backward(grad, dim, normalization))


@primitive()
def times_heard(self, *, dim):
    """How often each frequency of the first half occurs: 2, but 1 for frequency 0 and for the exact middle."""
    n = self.shape[dim]
    times: Any = np.full(n // 2 + 1, 2, self.dtype)
    times[0] = 1
    if n % 2 == 0:
        times[-1] = 1
    return times.reshape((-1,) + (1,) * (self.ndim - 1 - dim))


# fmt: on
@composite
def fft_r2c_backward(grad: Any, self: Any, dim: Any, normalization: int, onesided: bool) -> Any:
    """The real part of the inverse transform, with zeros for the omitted frequencies."""
    if onesided:
        missing = self.shape[dim[-1]] - grad.shape[dim[-1]]
        grad = constant_pad_nd(grad, pad=(*(0, 0) * (grad.ndim - 1 - dim[-1]), 0, missing))
    return real_part(fft_c2c(grad, dim=dim, normalization=normalization, forward=False))


@composite
def fft_c2r_backward(grad: Any, dim: Any, normalization: int) -> Any:
    """The transform. A frequency whose conjugate was omitted counts twice."""
    return fft_r2c(grad, dim=dim, normalization=normalization, onesided=True) * times_heard(grad, dim=dim[-1])
