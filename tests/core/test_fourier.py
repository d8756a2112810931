"""Complex numbers and Fourier transforms, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

RNG = np.random.default_rng(0)
REAL = RNG.normal(size=(3, 4, 5))
COMPLEX = REAL + 1j * RNG.normal(size=REAL.shape)


def both(values: Any) -> list[Any]:
    """The same leaf here and there."""
    return [av.tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)]


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("name", ["fft", "ifft", "irfft", "fftn", "ifftn", "irfftn"])
def test_the_gradient_of_a_complex_input_is_pytorchs(name: str, norm: str | None) -> None:
    x, y = both(COMPLEX)
    for m, t in ((av, x), (torch, y)):
        (getattr(m.fft, name)(t, norm=norm).abs() ** 2 * m.tensor(0.3)).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), y.grad.resolve_conj().numpy(), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", ["rfft", "rfft2", "rfftn"])
def test_the_second_derivative_is_pytorchs(name: str) -> None:
    def twice(m: Any, t: Any) -> Any:
        (g,) = m.autograd.grad((getattr(m.fft, name)(t).real ** 3).sum(), t, create_graph=True)
        return m.autograd.grad((g**2).sum(), t)[0].numpy()

    x, y = both(REAL)
    np.testing.assert_allclose(twice(av, x), twice(torch, y), rtol=1e-9, atol=1e-9)


def test_a_transform_and_its_inverse_give_back_the_numbers() -> None:
    x = av.tensor(REAL)
    for forward, inverse in (("fft", "ifft"), ("fftn", "ifftn"), ("fft2", "ifft2")):
        back = getattr(av.fft, inverse)(getattr(av.fft, forward)(x, norm="ortho"), norm="ortho")
        np.testing.assert_allclose(back.real.numpy(), REAL)
    np.testing.assert_allclose(av.fft.irfft(av.fft.rfft(x), n=5).numpy(), REAL)
    np.testing.assert_allclose(av.fft.ifftshift(av.fft.fftshift(x)).numpy(), REAL)


def test_single_precision_stays_single() -> None:
    x = av.tensor([1.0, 2.0, 3.0])
    assert av.fft.rfft(x).dtype is av.complex64
    assert av.fft.irfft(av.fft.rfft(x)).dtype is av.float32
    assert av.fft.fft(av.arange(4)).dtype is av.complex64


@pytest.mark.parametrize("n", [1, 4, 5])
def test_frequencies_are_pytorchs(n: int) -> None:
    for name in ("fftfreq", "rfftfreq"):
        assert getattr(av.fft, name)(n, d=0.5).tolist() == getattr(torch.fft, name)(n, d=0.5).tolist()


@pytest.mark.parametrize(
    "refused",
    [
        lambda m: m.fft.fft(m.tensor(1.0)),
        lambda m: m.fft.fft(m.ones(3), n=0),
        lambda m: m.fft.fft(m.ones(3), dim=5),
        lambda m: m.fft.fft(m.ones(3), norm="abc"),
        lambda m: m.fft.fft(m.ones(3, dtype=m.float16)),
        lambda m: m.fft.irfft(m.ones(3, 1)),
        lambda m: m.fft.rfft(m.ones(3, dtype=m.complex64)),
        lambda m: m.fft.rfftn(m.ones(3, dtype=m.complex64)),
        lambda m: m.fft.fftn(m.ones(3, 3), s=(1, 2), dim=(0,)),
        lambda m: m.fft.fftn(m.ones(3, 3), dim=(0, -2)),
        lambda m: m.fft.fftn(m.ones(3, 3), s=(1, 2, 3)),
        lambda m: m.fft.irfftn(m.tensor(1.0)),
        lambda m: m.imag(m.ones(3)),
        lambda m: m.view_as_real(m.ones(3)),
        lambda m: m.view_as_complex(m.ones(3)),
        lambda m: m.view_as_complex(m.tensor(1.0)),
        lambda m: m.view_as_complex(m.ones(3, 4)[:, ::2]),
        lambda m: m.complex(m.ones(3), m.ones(3, dtype=m.float64)),
        lambda m: m.polar(m.arange(3), m.arange(3)),
    ],
)
def test_bad_input_is_refused_in_pytorchs_words(refused: Callable[[Any], Any]) -> None:
    with pytest.raises((RuntimeError, IndexError)) as theirs:
        refused(torch)
    with pytest.raises(theirs.type) as ours:
        refused(av)
    assert str(ours.value) == str(theirs.value).split("\nException")[0]


def test_parts_share_memory_and_may_be_written() -> None:
    def written(m: Any) -> Any:
        part = m.tensor([1.0, 2.0], requires_grad=True)
        z = m.tensor([1 + 1j, 2 + 2j])
        z.real = part
        z.imag = 3
        (z * z).real.sum().backward()
        return z.tolist(), part.grad.tolist()

    assert written(av) == written(torch)


def test_a_view_of_another_type_keeps_its_history_through_a_change_in_place() -> None:
    def changed(m: Any) -> Any:
        pairs = m.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        x = pairs * 1
        z = m.view_as_complex(x)
        z.mul_(2j)
        (x * x).sum().backward()
        return x.tolist(), z.tolist(), pairs.grad.tolist(), type(z.grad_fn).__name__

    assert changed(av) == changed(torch)


def test_a_complex_number_by_length_and_direction() -> None:
    x, y = both([1.0, 0.0, 2.0])
    for m, t in ((av, x), (torch, y)):
        z = m.polar(t, t * 2)
        (z * z).imag.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-6)
    assert av.real(x) is x


@pytest.mark.parametrize(
    "options",
    [
        {"hop_length": 4, "return_complex": True},
        {"return_complex": True, "center": False, "normalized": True},
        {"win_length": 6, "onesided": False, "return_complex": True, "pad_mode": "constant"},
    ],
)
def test_the_short_time_transform_is_pytorchs(options: dict[str, Any]) -> None:
    def transformed(m: Any, x: Any, weights: Any) -> Any:
        out = m.stft(x, 8, window=weights, **options)
        (m.view_as_real(out) ** 3).sum().backward()
        return out.detach().numpy(), x.grad.numpy(), weights.grad.numpy()

    signals, windows = both(RNG.normal(size=(2, 30))), both(0.2 + np.hanning(8)[: options.get("win_length", 8)])
    results = [transformed(m, *leaves) for m, leaves in zip((av, torch), zip(signals, windows, strict=True), strict=True)]
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"length": 27}, {"normalized": True, "win_length": 6}])
def test_a_signal_comes_back_from_its_short_time_transform(options: dict[str, Any]) -> None:
    x = RNG.normal(size=(2, 28))
    window = av.hann_window(options.get("win_length", 8), dtype=av.float64)
    how = {"n_fft": 8, "hop_length": 2, "window": window, **options}
    z = av.stft(av.tensor(x), return_complex=True, **{k: v for k, v in how.items() if k != "length"})
    np.testing.assert_allclose(av.istft(z, **how).numpy(), x[:, : options.get("length", 28)], atol=1e-12)


@pytest.mark.parametrize(
    "refused",
    [
        lambda m, x: m.stft(x, 8),
        lambda m, x: m.stft(x, 8, win_length=9, return_complex=True),
        lambda m, x: m.stft(x, 8, hop_length=0, return_complex=True),
        lambda m, x: m.stft(x, 8, window=m.ones(3), return_complex=True),
        lambda m, x: m.stft(x, 100, center=False, return_complex=True),
        lambda m, x: m.stft(x[None], 8, return_complex=True),
        lambda m, x: m.istft(x, 8),
        lambda m, x: m.istft(m.complex(x, x), 8),
        lambda m, x: m.istft(m.complex(x, x).reshape(2, 5, 8), 8, window=m.zeros(8)),
        lambda m, x: m.istft(m.complex(x, x).reshape(2, 5, 8), 8, hop_length=9),
    ],
)
def test_lengths_that_do_not_fit_are_refused_in_pytorchs_words(refused: Callable[[Any, Any], Any]) -> None:
    x = RNG.normal(size=(2, 40))
    with pytest.raises(RuntimeError) as theirs:
        refused(torch, torch.tensor(x))
    with pytest.raises(RuntimeError) as ours:
        refused(av, av.tensor(x))
    assert str(ours.value) == str(theirs.value).split("\nException")[0]
