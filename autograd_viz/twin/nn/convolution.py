"""Convolution layers for sequences, images and volumes, and their transposes."""
# fmt: off
# tables of layers: the dimensions of one layer

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor, refuse_if
from . import functional, init
from .configured import Sized, init_arguments, tuple_of
from .linear import parameter, unusual

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class _Convolution(Sized):
    """The common base: options, parameters, printing."""

    transposed = False

    def _set_up(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
        groups: int, bias: bool, padding_mode: str, device: Any, dtype: Any, output_padding: Any = 0,
    ) -> None:
        super().__init__()
        refuse_if(groups <= 0, "groups must be a positive integer", ValueError)
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"{'in' if in_channels % groups else 'out'}_channels must be divisible by groups")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            known = "{'zeros', 'reflect', 'replicate', 'circular'}"
            raise ValueError(f"padding_mode must be one of {known}, but got padding_mode='{padding_mode}'")
        self.in_channels, self.out_channels, self.groups, self.padding_mode = in_channels, out_channels, groups, padding_mode
        self.kernel_size, self.stride = tuple_of(self._n, kernel_size), tuple_of(self._n, stride)
        self.dilation, self.output_padding = tuple_of(self._n, dilation), tuple_of(self._n, output_padding)
        self.padding = self._checked(padding)
        front = (in_channels, out_channels // groups) if self.transposed else (out_channels, in_channels // groups)
        self.weight = parameter(*front, *self.kernel_size, dtype=dtype, device=device)
        self.register_parameter("bias", parameter(out_channels, dtype=dtype) if bias else None)
        self.reset_parameters()

    def _checked(self, padding: Any) -> Any:
        if not isinstance(padding, str):
            return tuple_of(self._n, padding)
        if padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
        if padding == "same" and any(s != 1 for s in self.stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
        return padding

    def reset_parameters(self) -> None:
        """Uniform numbers within 1 / sqrt(fan_in)."""
        init.reset_like_linear(self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes, and the options that differ from their defaults."""
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        zeros, ones = (0,) * self._n, (1,) * self._n
        text += unusual(self, {"padding": zeros, "dilation": ones, "output_padding": zeros, "groups": 1})
        text += "" if self.bias is not None else ", bias=False"
        return text + unusual(self, {"padding_mode": "zeros"})


class _Conv(_Convolution):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:
        self._set_up(**init_arguments(locals()))

    def _border(self) -> tuple[int, ...]:
        """The padding before and after, last dimension first."""
        if self.padding == "valid":
            return (0,) * (2 * self._n)
        if self.padding == "same":
            total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            return tuple(side for t in reversed(total) for side in (t // 2, t - t // 2))
        return tuple(p for p in reversed(self.padding) for _ in range(2))

    def forward(self, input: Tensor) -> Any:
        """Convolve the input with the kernels."""
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = functional.pad(input, self._border(), mode=self.padding_mode), (0,) * self._n
        convolve = getattr(functional, f"conv{self._n}d")
        return convolve(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Conv, n=1): """Convolution of sequences (N, C, L)."""
class Conv2d(_Conv, n=2): """Convolution of images (N, C, H, W)."""
class Conv3d(_Conv, n=3): """Convolution of volumes (N, C, D, H, W)."""


class _ConvTranspose(_Convolution):
    transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self._set_up(**init_arguments(locals()))

    def forward(self, input: Tensor, output_size: Any = None) -> Any:
        """The transposed convolution. Several input sizes give the same convolution; `output_size` chooses one."""
        extra = self.output_padding if output_size is None else self._extra(input, output_size)
        convolve = getattr(functional, f"conv_transpose{self._n}d")
        return convolve(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)

    def _extra(self, input: Tensor, output_size: Any) -> tuple[int, ...]:
        """The output_padding that gives the wanted output size."""
        wanted = tuple(output_size)[-self._n :]
        sizes = zip(input.shape[-self._n :], self.stride, self.padding, self.dilation, self.kernel_size, strict=True)
        least = [(length - 1) * s - 2 * p + d * (k - 1) + 1 for length, s, p, d, k in sizes]
        most = [low + s - 1 for low, s in zip(least, self.stride, strict=True)]
        if not all(low <= w <= high for low, w, high in zip(least, wanted, most, strict=True)):
            valid = f"valid sizes range from {least} to {most} (for an input of {list(input.shape[2:])})"
            raise ValueError(f"requested an output size of {list(wanted)}, but {valid}")
        return tuple(w - low for w, low in zip(wanted, least, strict=True))


class ConvTranspose1d(_ConvTranspose, n=1): """The transpose of Conv1d."""
class ConvTranspose2d(_ConvTranspose, n=2): """The transpose of Conv2d: it maps small images to large ones."""
class ConvTranspose3d(_ConvTranspose, n=3): """The transpose of Conv3d."""
