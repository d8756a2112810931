"""The short-time Fourier transform: the frequencies of a signal over time.

A window slides along the signal, and its contents are transformed. The inverse adds the pieces at their positions, and
divides by the sum of the windows over each position.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..op import public
from ..ops.elementwise.complex_numbers import view_as_complex, view_as_real
from ..ops.layers.padding import constant_pad_nd, pad
from ..ops.layers.windows import window_count
from ..ops.shape.shape import as_strided
from ..ops.shape.slicing import slice_dim, unfold_backward
from ..tensor import Tensor, refuse_if
from .fourier import fft_c2c, fft_c2r, fft_r2c

PAIRS_ARE_DEPRECATED = (
    "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex tensors for all "
    "inputs, and return_complex=False will raise an error.\nNote: you can still call torch.view_as_real on the complex "
    "output to recover the old return format."
)
PAIRS_OR_NUMBERS = (
    "stft requires the return_complex parameter be given for real inputs, and will further require that "
    "return_complex=True in a future PyTorch release."
)


def _need(right: bool, call: str, message: str) -> None:
    refuse_if(not right, lambda: f"{call} : {message}")


def _said(**options: Any) -> str:
    """Options as PyTorch's messages show them."""
    return ", ".join(f"{name}={_shown(value)}" for name, value in options.items())


def _shown(value: Any) -> Any:
    if isinstance(value, Tensor):
        return f"torch.{value.dtype.legacy}Tensor{{{list(value.shape)}}}"
    return int(value) if isinstance(value, bool) else value


def _centred(window: Tensor | None, like: Tensor, win_length: int, n_fft: int) -> Any:
    """The window (ones by default) in the middle of `n_fft` elements."""
    kind = np.result_type(like._data.real.dtype if window is None else window._data.dtype)
    whole = Tensor(np.zeros(n_fft, kind))
    left = (n_fft - win_length) // 2
    whole[left : left + win_length] = 1 if window is None else window
    return whole


@public
def stft(
    input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    center: bool = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Any:  # fmt: skip
    """The frequencies (..., frequency, time) of one signal (time,), or of several (signal, time).

    The windows have `n_fft` elements and are `hop_length` apart (default: a quarter of n_fft). `window` has the weights of
    `win_length` elements in their middle (default: ones). With `center`, the signal is padded at both ends by `pad_mode`; so
    the first window is centred at its beginning. `normalized` divides by the root of n_fft. `onesided` gives only the first
    half of the frequencies, as is usual for real numbers. `return_complex` gives complex numbers, otherwise pairs in a last
    dimension of length 2. Raises RuntimeError: lengths that do not fit each other.
    """
    hop_length, win_length = n_fft // 4 if hop_length is None else hop_length, win_length or n_fft
    several = input.ndim > 1
    if center:
        ndim = input.ndim
        input = pad(input.view((1,) * (3 - ndim) + tuple(input.shape)), (n_fft // 2, n_fft // 2), pad_mode)
        input = input.view(tuple(input.shape[-ndim:]))
    is_complex = input.dtype.is_complex or (window is not None and window.dtype.is_complex)
    refuse_if(return_complex is None and not is_complex, PAIRS_OR_NUMBERS)
    if return_complex is False:
        warnings.warn(PAIRS_ARE_DEPRECATED, UserWarning, stacklevel=2)
    _check_signal(
        input, window, n_fft, hop_length, win_length,
        normalized=normalized, onesided=onesided, return_complex=return_complex, align_to_window=None,
    )  # fmt: skip
    refuse_if(onesided and is_complex, "Cannot have onesided output if window or input is complex")
    if win_length < n_fft:
        window = _centred(window, input, win_length, n_fft)
    signals = input if several else input.unsqueeze(0)
    count, (line, step) = window_count(signals.shape[1], n_fft, hop_length, 0), signals.stride()
    frames = as_strided(signals, size=(len(signals), count, n_fft), stride=(line, hop_length * step, step))
    out = _frequencies(frames if window is None else frames * window, normalized, onesided is not False)
    out = out.transpose_(1, 2)
    out = out if several else out.squeeze_(0)
    return out if return_complex is not False else view_as_real(out)


def _check_signal(input: Tensor, window: Tensor | None, n_fft: int, hop_length: int, win_length: int, **how: Any) -> None:
    """Refuse a signal and lengths that do not fit each other."""
    shown = f"stft(torch.{input.dtype.legacy}Tensor{list(input.shape)}, " + _said(
        n_fft=n_fft, hop_length=hop_length, win_length=win_length, window=window, **how
    ) + ")"  # fmt: skip
    _need(input._data.dtype.kind in "fc", shown, "expected a tensor of floating point or complex values")
    _need(input.ndim in (1, 2), shown, "expected a 1D or 2D tensor")
    length = input.shape[-1]
    _need(0 < n_fft <= length, shown, f"expected 0 < n_fft < {length}, but got n_fft={n_fft}")
    _need(hop_length > 0, shown, f"expected hop_length > 0, but got hop_length={hop_length}")
    _need(0 < win_length <= n_fft, shown, f"expected 0 < win_length <= n_fft, but got win_length={win_length}")
    size = None if window is None else list(window.shape)
    wanted = f"expected a 1D window tensor of size equal to win_length={win_length}, but got window with size {size}"
    _need(size is None or size == [win_length], shown, wanted)


def _frequencies(frames: Any, normalized: bool, onesided: bool) -> Any:
    """The transform of each frame."""
    if frames.is_complex():
        return fft_c2c(frames, dim=(2,), normalization=int(normalized), forward=True)
    return fft_r2c(frames, dim=(2,), normalization=int(normalized), onesided=onesided)


@public
def istft(
    input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    center: bool = True, normalized: bool = False, onesided: bool | None = None, length: int | None = None,
    return_complex: bool = False,
) -> Any:  # fmt: skip
    """The signal with these frequencies (..., frequency, time): the inverse of stft, with the same arguments.

    Raises RuntimeError: lengths that do not fit each other, or windows that do not cover the signal.
    """
    hop_length, win_length = n_fft // 4 if hop_length is None else hop_length, win_length or n_fft
    if not input.dtype.is_complex:
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    shown = f"istft(CPU{input.dtype.legacy}Type{list(input.shape)}, " + _said(
        n_fft=n_fft, hop_length=hop_length, win_length=win_length, window=window, center=center,
        normalized=normalized, onesided=onesided, length=length, return_complex=return_complex,
    ) + ")"  # fmt: skip
    onesided = input.shape[-2] != n_fft if onesided is None else onesided
    _check_spectrum(shown, input, n_fft, onesided)
    _check_window(shown, window, n_fft, hop_length, win_length)
    window = _whole_window(window, input, n_fft, win_length)
    refuse_if(onesided and return_complex, "Cannot have onesided output if window or input is complex")
    several, pairs = input.ndim == 3, view_as_real(input)
    spectra = view_as_complex((pairs if several else pairs.unsqueeze(0)).transpose(1, 2))
    frames = _numbers(spectra, n_fft, 1 if normalized else 2, onesided, return_complex)
    whole = n_fft + hop_length * (frames.shape[1] - 1)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else -(n_fft // 2) if center else whole
    place = {"whole": whole, "hop": hop_length, "start": start, "end": end}
    weight = _added_up(window.pow(2).expand(1, frames.shape[1], n_fft), **place)
    refuse_if(not np.all(np.abs(weight._data) > 1e-11), lambda: f"{shown} window overlap add min: 1\n[ CPUBoolType{{}} ]")
    signal = _added_up(frames * window.view(1, 1, n_fft), **place) / weight
    signal = signal if several else signal.squeeze(0)
    if end <= whole:
        return signal
    warnings.warn("The length of signal is shorter than the length parameter. Result is being padded with zeros in the "
                  "tail. Please check your center and hop_length settings.", UserWarning, stacklevel=2)  # fmt: skip
    return constant_pad_nd(signal, pad=(0, end - whole))


def _whole_window(window: Tensor | None, like: Tensor, n_fft: int, win_length: int) -> Any:
    """The window (ones by default) in the middle of `n_fft` elements. It is recorded if it requires grad."""
    if window is None:
        return _centred(None, like, win_length, n_fft)
    left = (n_fft - win_length) // 2
    return window if win_length == n_fft else constant_pad_nd(window, pad=(left, n_fft - win_length - left))


def _added_up(frames: Any, whole: int, hop: int, start: int, end: int) -> Any:
    """Frames, summed at positions `hop` apart in `whole` elements. The result is the part from `start` to `end`."""
    out = unfold_backward(frames, input_sizes=(len(frames), whole), dim=1, size=frames.shape[2], step=hop)
    return slice_dim(out, dim=1, start=start, end=end, step=1)


def _check_window(shown: str, window: Tensor | None, n_fft: int, hop_length: int, win_length: int) -> None:
    _need(0 < hop_length <= win_length, shown, "expected 0 < hop_length <= win_length")
    _need(0 < win_length <= n_fft, shown, "expected 0 < win_length <= n_fft")
    fits = window is None or tuple(window.shape) == (win_length,)
    _need(fits, shown, "Invalid window shape. window has to be 1D and length of `win_length`")


def _check_spectrum(shown: str, input: Tensor, n_fft: int, onesided: bool) -> None:
    _need(input.numel() > 0, shown, "input tensor cannot be empty.")
    _need(input.ndim in (2, 3), shown, f"expected a tensor with 3 or 4 dimensions, but got {input.ndim + 1}")
    wanted, of = (n_fft // 2 + 1, "n_fft / 2 + 1") if onesided else (n_fft, "n_fft")
    _need(
        input.shape[-2] == wanted, shown,
        f"expected the frequency dimension (3rd to the last) of the input tensor to match {of} when onesided={onesided}, "
        f"but got {input.shape[-2]}",
    )  # fmt: skip


def _numbers(spectra: Any, n_fft: int, normalization: int, onesided: bool, complex_: bool) -> Any:
    """The inverse transform of each spectrum."""
    if complex_:
        return fft_c2c(spectra, dim=(2,), normalization=normalization, forward=False)
    half = spectra if onesided else slice_dim(spectra, dim=-1, start=0, end=n_fft // 2 + 1)
    return fft_c2r(half, dim=(2,), normalization=normalization, last_dim_size=n_fft)
