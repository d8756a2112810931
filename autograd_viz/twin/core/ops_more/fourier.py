"""The discrete Fourier transform, which gives the frequencies in a sequence of numbers; and torch.fft.

It is a linear map, F[k, t] = exp(-2πi k t / n). So its rule is the adjoint: the same transform with -i instead of i. The
transform of real numbers returns only half of the frequencies, because the others are their conjugates. The rules account
for the missing half.
"""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes
from ..op import composite, primitive, public, renamed
from ..ops.elementwise.casts import to
from ..ops.elementwise.complex_numbers import conj, real_part
from ..ops.layers.padding import constant_pad_nd
from ..ops.reduce.arranging import roll
from ..ops.shape.slicing import slice_dim
from ..tensor import Tensor, check_dim, refuse_if
from ..tensor.creation import leaf

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
        fft_c2c(grad, dim=dim, normalization=normalization, forward=not forward))


@primitive("FftR2CBackward0")
def fft_r2c(self, *, dim, normalization, onesided):
    """Real numbers to complex frequencies. With `onesided`, only the first half along the last of `dim`."""
    transform = np.fft.rfftn if onesided else np.fft.fftn
    return transform(self, axes=dim, norm=_DIVIDED_FORWARD[normalization])
fft_r2c.defvjp(
    self = lambda grad, self, dim, normalization, onesided: fft_r2c_backward(grad, self, dim, normalization, onesided))


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


Ints = tuple[int, ...]

# the divisor: 0 is 1, 1 is the root of the number of elements, 2 is that number
_NORMS: dict[bool, dict[Any, int]] = {
    True: {None: 0, "backward": 0, "ortho": 1, "forward": 2},
    False: {None: 2, "backward": 2, "ortho": 1, "forward": 0},
}


def _divisor(norm: str | None, forward: bool) -> int:
    """The number of a normalization mode, for a transform or its inverse."""
    refuse_if(norm not in _NORMS[forward], lambda: f'Invalid normalization mode: "{norm}"')
    return _NORMS[forward][norm]


def _floating(input: Tensor, to_complex: bool = False) -> Any:
    """Integers in the default type, and as complex numbers if the transform needs them."""
    refuse_if(input.dtype is dtypes.float16, lambda: f"Unsupported dtype {input.dtype.legacy}")
    kind = input._data.dtype if input._data.dtype.kind in "fc" else dtypes.get_default_dtype().numpy
    return to(input, dtypes.from_numpy_dtype(np.result_type(kind, np.complex64) if to_complex else kind))


def _check_lengths(*sizes: int) -> None:
    for n in sizes:
        if n < 1:
            raise RuntimeError(f"Invalid number of data points ({n}) specified")


def _one(input: Tensor, dim: int) -> int:
    """The dimension of a one-dimensional transform, counted from the front."""
    refuse_if(input.ndim == 0, lambda: f"Dimension specified as {dim} but tensor has no dimensions", IndexError)
    return check_dim(dim, input.ndim) % input.ndim


def resized(input: Any, dims: Ints, sizes: Ints) -> Any:
    """The input, cropped or padded with zeros to the lengths `sizes` of `dims`."""
    pad = [0] * (2 * input.ndim)
    for d, size in zip(dims, sizes, strict=True):
        if input.shape[d] < size:
            pad[2 * (input.ndim - 1 - d) + 1] = size - input.shape[d]
        elif input.shape[d] > size:
            input = slice_dim(input, dim=d, start=0, end=size)
    return constant_pad_nd(input, pad=tuple(pad)) if any(pad) else input


def _sized(input: Any, n: int | None, dim: int) -> tuple[Any, Ints]:
    """The input with `n` elements along `dim`, and `dim` counted from the front."""
    d = _one(input, dim)
    length = input.shape[d] if n is None else n
    _check_lengths(length)
    return resized(input, (d,), (length,)), (d,)


def _complex_to_complex(name: str, input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    """All frequencies, or the inverse. Of real numbers, the inverse is conjugated frequencies."""
    x, normalization = _floating(input), _divisor(norm, forward)
    x, dims = _sized(x, n, dim)
    if x.dtype.is_complex:
        return fft_c2c(x, dim=dims, normalization=normalization, forward=forward)
    out = fft_r2c(x, dim=dims, normalization=normalization, onesided=False)
    return out if forward else conj(out)


def _real_to_complex(name: str, input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    """The first half of the frequencies of real numbers."""
    refuse_if(input.dtype.is_complex, lambda: f"{name} expects a real input tensor, but got {input.dtype.legacy}")
    x, normalization = _floating(input), _divisor(norm, forward)
    x, dims = _sized(x, n, dim)
    return fft_r2c(x, dim=dims, normalization=normalization, onesided=True)


def _complex_to_real(name: str, input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    """Real numbers from the first half of their frequencies."""
    normalization = _divisor(norm, forward)
    input = _floating(input, to_complex=True)
    d = _one(input, dim)
    n = 2 * (input.shape[d] - 1) if n is None else n
    _check_lengths(n)
    return fft_c2r(resized(input, (d,), (n // 2 + 1,)), dim=(d,), normalization=normalization, last_dim_size=n)


def _dims_and_sizes(input: Tensor, s: Any, dim: Any, name: str = "") -> tuple[Ints, list[int]]:
    """The dimensions counted from the front, and their lengths. The default is all dimensions, or the last ones for `s`.

    With a `name`, there must be at least one.
    """
    s = None if s is None else (s,) if isinstance(s, int) else tuple(s)
    dim = (dim,) if isinstance(dim, int) else dim
    if dim is not None:
        dims = tuple(check_dim(d, input.ndim) % max(input.ndim, 1) for d in dim)
        refuse_if(len(set(dims)) < len(dims), "FFT dims must be unique")
        refuse_if(s is not None and len(s) != len(dims), "When given, dim and shape arguments must have the same length")
    else:
        if s is not None and len(s) > input.ndim:
            raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {input.ndim} dimensions.")
        dims = tuple(range(input.ndim - len(s) if s is not None else 0, input.ndim))
    sizes = [input.shape[d] if n == -1 else n for d, n in zip(dims, s if s is not None else (-1,) * len(dims), strict=True)]
    _check_lengths(*sizes)
    refuse_if(name and not dims, lambda: f"{name} must transform at least one axis")
    return dims, sizes


def _complex_to_complex_n(name: str, input: Tensor, s: Any, dim: Any, norm: str | None, forward: bool) -> Any:
    dims, sizes = _dims_and_sizes(input, s, dim)
    x = resized(_floating(input, to_complex=True), dims, tuple(sizes))
    return fft_c2c(x, dim=dims, normalization=_divisor(norm, forward), forward=forward)


def _real_to_complex_n(name: str, input: Tensor, s: Any, dim: Any, norm: str | None, forward: bool) -> Any:
    refuse_if(input.dtype.is_complex, lambda: f"{name} expects a real-valued input tensor, but got {input.dtype.legacy}")
    dims, sizes = _dims_and_sizes(input, s, dim, name)
    x = resized(_floating(input), dims, tuple(sizes))
    return fft_r2c(x, dim=dims, normalization=_divisor(norm, forward), onesided=True)


def _complex_to_real_n(name: str, input: Tensor, s: Any, dim: Any, norm: str | None, forward: bool) -> Any:
    dims, sizes = _dims_and_sizes(input, s, dim, name)
    is_default = s is None or (s if isinstance(s, int) else tuple(s)[-1]) == -1
    n = 2 * (input.shape[dims[-1]] - 1) if is_default else sizes[-1]
    _check_lengths(n)
    x = resized(_floating(input, to_complex=True), dims, (*sizes[:-1], n // 2 + 1))
    return fft_c2r(x, dim=dims, normalization=_divisor(norm, forward), last_dim_size=n)


# name, function along one dimension, along several, forwards or not, and what each does
_TRANSFORMS: list[tuple[str, Any, Any, bool, str, str]] = [
    ("fft", _complex_to_complex, _complex_to_complex_n, True,
     "All frequencies of `n` numbers along `dim`.", "All frequencies along several dimensions."),
    ("ifft", _complex_to_complex, _complex_to_complex_n, False,
     "The numbers with these frequencies.", "The inverse of fftn."),
    ("rfft", _real_to_complex, _real_to_complex_n, True,
     "The first half of the frequencies of `n` real numbers; the others are their conjugates.",
     "The frequencies of real numbers; only the first half along the last dimension."),
    ("irfft", _complex_to_real, _complex_to_real_n, False,
     "The inverse of rfft: `n` real numbers (default 2 (length - 1)) from the first half of their frequencies.",
     "The inverse of rfftn."),
]  # fmt: skip


def _publish(name: str, along_one: Any, along_several: Any, forward: bool, one_does: str, several_do: str) -> None:
    """Publish the transform along one dimension, along several, and along the last two."""

    def one(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
        return along_one(name, input, n, dim, norm, forward)

    def several(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
        return along_several(f"{name}n", input, s, dim, norm, forward)

    def plane(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
        return several(input, s, dim, norm)

    two_do = f"{name}n of the last two dimensions."
    for end, function, does in (("", one, one_does), ("n", several, several_do), ("2", plane, two_do)):
        public(f"fft.{name}{end}")(renamed(function, name + end, does))


for _row in _TRANSFORMS:
    _publish(*_row)


def _shifted(input: Tensor, dim: Any, extra: int) -> Any:
    dims = tuple(range(input.ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    return roll(input, tuple((input.size(d) + extra) // 2 for d in dims), dims)


@public("fft.fftshift")
def fftshift(input: Tensor, dim: Any = None) -> Any:
    """Frequency 0 moved to the middle, negative frequencies before it."""
    return _shifted(input, dim, 0)


@public("fft.ifftshift")
def ifftshift(input: Tensor, dim: Any = None) -> Any:
    """The inverse of fftshift: frequency 0 first."""
    return _shifted(input, dim, 1)


@public("fft.fftfreq")
def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, **made: Any) -> Tensor:
    """The frequencies of fft, in cycles per unit, for samples `d` apart: 0, 1, ..., -2, -1, divided by n d."""
    return _frequencies("fftfreq", np.r_[: (n + 1) // 2, -(n // 2) : 0], n, d, dtype, made)


@public("fft.rfftfreq")
def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, **made: Any) -> Tensor:
    """The frequencies of rfft: 0, 1, ..., n // 2, divided by n d."""
    return _frequencies("rfftfreq", np.arange(n // 2 + 1), n, d, dtype, made)


def _frequencies(name: str, whole: Any, n: int, d: float, dtype: Any, made: dict[str, Any]) -> Tensor:
    return leaf(name, (whole * (1 / (n * d))).astype((dtype or dtypes.get_default_dtype()).numpy), **made)
