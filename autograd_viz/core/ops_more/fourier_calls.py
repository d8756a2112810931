"""torch.fft: transforms along one dimension or several, after bringing the input to the wanted lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes
from ..base.public import public
from ..ops.elementwise.casts import to
from ..ops.elementwise.complex_numbers import conjugate_copy
from ..ops.elementwise.conjugate import conj
from ..ops.layers.padding import constant_pad_nd
from ..ops.reduce.arranging import roll
from ..ops.shape.slicing import slice_dim
from ..tensor.arguments import check_dim
from ..tensor.creation import leaf
from ..tensor.tensor import Tensor
from .fourier import fft_c2c, fft_c2r, fft_r2c

Ints = tuple[int, ...]

# what the result is divided by: 0 nothing, 1 the root of the number of elements, 2 that number
_NORMS: dict[bool, dict[Any, int]] = {
    True: {None: 0, "backward": 0, "ortho": 1, "forward": 2},
    False: {None: 2, "backward": 2, "ortho": 1, "forward": 0},
}


def _divisor(norm: str | None, forward: bool) -> int:
    """The number of a normalization mode, for a transform or its inverse.

    Raises:
        RuntimeError: there is no such mode.
    """
    if norm not in _NORMS[forward]:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return _NORMS[forward][norm]


def _floating(input: Tensor, to_complex: bool = False) -> Any:
    """Integers in the default type; as complex numbers if the transform wants those.

    Raises:
        RuntimeError: half precision.
    """
    if input.dtype is dtypes.float16:
        raise RuntimeError(f"Unsupported dtype {input.dtype.legacy}")
    kind = input._data.dtype if input._data.dtype.kind in "fc" else dtypes.get_default_dtype().numpy
    return to(input, dtypes.from_numpy_dtype(np.result_type(kind, np.complex64) if to_complex else kind))


def _check_length(n: int) -> int:
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return n


def _one(input: Tensor, dim: int) -> int:
    """The dimension of a one-dimensional transform, counted from the front."""
    if input.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return check_dim(dim, input.ndim) % input.ndim


def resized(input: Any, dims: Ints, sizes: Ints) -> Any:
    """The input cut off, or continued with zeros, to the lengths `sizes` of `dims`."""
    pad = [0] * (2 * input.ndim)
    for d, size in zip(dims, sizes, strict=True):
        if input.shape[d] < size:
            pad[2 * (input.ndim - 1 - d) + 1] = size - input.shape[d]
        elif input.shape[d] > size:
            input = slice_dim(input, dim=d, start=0, end=size)
    return constant_pad_nd(input, pad=tuple(pad)) if any(pad) else input


# -- one dimension --------------------------------------------------------------------------------------------------------


def _to_frequencies(input: Any, n: int | None, dim: int, normalization: int, onesided: bool) -> Any:
    """Real numbers to frequencies."""
    d = _one(input, dim)
    input = resized(input, (d,), (_check_length(input.shape[d] if n is None else n),))
    return fft_r2c(input, dim=(d,), normalization=normalization, onesided=onesided)


def _complex_transform(input: Any, n: int | None, dim: int, normalization: int, forward: bool) -> Any:
    d = _one(input, dim)
    input = resized(input, (d,), (_check_length(input.shape[d] if n is None else n),))
    return fft_c2c(input, dim=(d,), normalization=normalization, forward=forward)


def _to_numbers(input: Tensor, n: int | None, dim: int, normalization: int, conjugate: bool) -> Any:
    """The first half of the frequencies to real numbers."""
    input = _floating(input, to_complex=True)
    d = _one(input, dim)
    n = _check_length(2 * (input.shape[d] - 1) if n is None else n)
    half = resized(input, (d,), (n // 2 + 1,))
    return fft_c2r(conj(half) if conjugate else half, dim=(d,), normalization=normalization, last_dim_size=n)


def _check_real(name: str, input: Tensor) -> None:
    if input.dtype.is_complex:
        raise RuntimeError(f"{name} expects a real input tensor, but got {input.dtype.legacy}")


@public("fft.fft")
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """All frequencies of `n` numbers along `dim`."""
    input = _floating(input)
    if input.dtype.is_complex:
        return _complex_transform(input, n, dim, _divisor(norm, True), True)
    return _to_frequencies(input, n, dim, _divisor(norm, True), onesided=False)


@public("fft.ifft")
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The numbers with these frequencies."""
    input = _floating(input)
    if input.dtype.is_complex:
        return _complex_transform(input, n, dim, _divisor(norm, False), False)
    return conj(_to_frequencies(input, n, dim, _divisor(norm, False), onesided=False))


@public("fft.rfft")
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The first half of the frequencies of `n` real numbers; the others are their conjugates."""
    _check_real("rfft", input)
    return _to_frequencies(_floating(input), n, dim, _divisor(norm, True), onesided=True)


@public("fft.ihfft")
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The inverse of hfft: real frequencies to the first half of the numbers."""
    _check_real("ihfft", input)
    return conj(_to_frequencies(_floating(input), n, dim, _divisor(norm, False), onesided=True))


@public("fft.irfft")
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The inverse of rfft: the `n` real numbers (2 (length - 1) if not said) of which these are half of the frequencies."""
    return _to_numbers(input, n, dim, _divisor(norm, False), conjugate=False)


@public("fft.hfft")
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The real frequencies of numbers of which the second half is the conjugate of the first."""
    return _to_numbers(input, n, dim, _divisor(norm, True), conjugate=True)


# -- several dimensions ---------------------------------------------------------------------------------------------------


def _dims_and_sizes(input: Tensor, s: Any, dim: Any) -> tuple[Ints, list[int]]:
    """The dimensions counted from the front, and the lengths there; all dimensions (the last ones of `s`) if none is given.

    Raises:
        RuntimeError: they do not fit each other, or the input.
    """
    s = None if s is None else (s,) if isinstance(s, int) else tuple(s)
    dim = (dim,) if isinstance(dim, int) else dim
    if dim is not None:
        dims = tuple(check_dim(d, input.ndim) % max(input.ndim, 1) for d in dim)
        if len(set(dims)) < len(dims):
            raise RuntimeError("FFT dims must be unique")
        if s is not None and len(s) != len(dims):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
    else:
        if s is not None and len(s) > input.ndim:
            raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {input.ndim} dimensions.")
        dims = tuple(range(input.ndim - len(s) if s is not None else 0, input.ndim))
    sizes = [input.shape[d] if n == -1 else n for d, n in zip(dims, s if s is not None else (-1,) * len(dims), strict=True)]
    for n in sizes:
        _check_length(n)
    return dims, sizes


def _half(name: str, input: Tensor, s: Any, dim: Any) -> tuple[Ints, list[int], int]:
    """As `_dims_and_sizes` for the first half of the frequencies, and the last length of the whole."""
    dims, sizes = _dims_and_sizes(input, s, dim)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    said = s is not None and (s if isinstance(s, int) else tuple(s)[-1]) != -1
    n = _check_length(sizes[-1] if said else 2 * (input.shape[dims[-1]] - 1))
    return dims, [*sizes[:-1], n // 2 + 1], n


def _complex_transforms(input: Tensor, s: Any, dim: Any, norm: str | None, forward: bool) -> Any:
    dims, sizes = _dims_and_sizes(input, s, dim)
    x = resized(_floating(input, to_complex=True), dims, tuple(sizes))
    return fft_c2c(x, dim=dims, normalization=_divisor(norm, forward), forward=forward)


@public("fft.fftn")
def fftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """All frequencies along several dimensions."""
    return _complex_transforms(input, s, dim, norm, forward=True)


@public("fft.ifftn")
def ifftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The inverse of fftn."""
    return _complex_transforms(input, s, dim, norm, forward=False)


@public("fft.rfftn")
def rfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The frequencies of real numbers, the first half of those along the last dimension."""
    if input.dtype.is_complex:
        raise RuntimeError(f"rfftn expects a real-valued input tensor, but got {input.dtype.legacy}")
    dims, sizes = _dims_and_sizes(input, s, dim)
    if not dims:
        raise RuntimeError("rfftn must transform at least one axis")
    return fft_r2c(resized(_floating(input), dims, tuple(sizes)), dim=dims, normalization=_divisor(norm, True), onesided=True)


@public("fft.irfftn")
def irfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The inverse of rfftn."""
    dims, sizes, n = _half("irfftn", input, s, dim)
    x = resized(_floating(input, to_complex=True), dims, tuple(sizes))
    return fft_c2r(x, dim=dims, normalization=_divisor(norm, False), last_dim_size=n)


@public("fft.hfftn")
def hfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The real frequencies of numbers whose other half, along the last dimension, is the conjugate."""
    dims, sizes, n = _half("hfftn", input, s, dim)
    x, normalization = resized(_floating(input, to_complex=True), dims, tuple(sizes)), _divisor(norm, True)
    if len(dims) > 1:
        x = fft_c2c(x, dim=dims[:-1], normalization=normalization, forward=True)
    return fft_c2r(conj(x), dim=dims[-1:], normalization=normalization, last_dim_size=n)


@public("fft.ihfftn")
def ihfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The inverse of hfftn."""
    if input.dtype.is_complex:
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {input.dtype.legacy}")
    dims, sizes = _dims_and_sizes(input, s, dim)
    if not dims:
        raise RuntimeError("ihfftn must transform at least one axis")
    normalization = _divisor(norm, False)
    half = fft_r2c(resized(_floating(input), dims, tuple(sizes)), dim=dims[-1:], normalization=normalization, onesided=True)
    if len(dims) == 1:
        return conj(half)
    return fft_c2c(conjugate_copy(half), dim=dims[:-1], normalization=normalization, forward=False)


def _in_planes(name: str, transform: Any) -> None:
    """Publish the transform of the last two dimensions."""

    def plane(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
        return transform(input, s, dim, norm)

    plane.__name__, plane.__doc__ = name, f"{transform.__name__} of the last two dimensions."
    public(f"fft.{name}")(plane)


for _transform in (fftn, ifftn, rfftn, irfftn, hfftn, ihfftn):
    _in_planes(_transform.__name__.replace("tn", "t2"), _transform)


# -- the order of frequencies ---------------------------------------------------------------------------------------------


def _shifted(input: Tensor, dim: Any, extra: int) -> Any:
    dims = tuple(range(input.ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    return roll(input, tuple((input.size(d) + extra) // 2 for d in dims), dims)


@public("fft.fftshift")
def fftshift(input: Tensor, dim: Any = None) -> Any:
    """Frequency 0 in the middle, the negative ones before it."""
    return _shifted(input, dim, 0)


@public("fft.ifftshift")
def ifftshift(input: Tensor, dim: Any = None) -> Any:
    """The inverse of fftshift: frequency 0 first."""
    return _shifted(input, dim, 1)


@public("fft.fftfreq")
def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, **made: Any) -> Tensor:
    """The frequencies that fft gives, in cycles per unit if samples are `d` apart: 0, 1, ..., -2, -1 over n d."""
    return _frequencies("fftfreq", np.r_[: (n + 1) // 2, -(n // 2) : 0], n, d, dtype, made)


@public("fft.rfftfreq")
def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, **made: Any) -> Tensor:
    """The frequencies that rfft gives: 0, 1, ..., n // 2 over n d."""
    return _frequencies("rfftfreq", np.arange(n // 2 + 1), n, d, dtype, made)


def _frequencies(name: str, whole: Any, n: int, d: float, dtype: Any, made: dict[str, Any]) -> Tensor:
    return leaf(name, (whole * (1 / (n * d))).astype((dtype or dtypes.get_default_dtype()).numpy), **made)
