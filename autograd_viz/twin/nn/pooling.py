"""Pooling: the maximum or the mean of a moving window. There is one class per kind, then its 1d, 2d and 3d forms."""
# fmt: off
# tables of layers: the function, a docstring, the options

from __future__ import annotations

from typing import Any

from . import functional
from .configured import Configured, init_arguments, layer, tuple_of

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d",
    "MaxUnpool2d", "MaxUnpool3d",
]


class _MaxPool(Configured):
    function = "max_pool{n}d"
    shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        return_indices: bool = False, ceil_mode: bool = False,
    ) -> None:
        stride = kernel_size if stride is None else stride
        super().__init__(**init_arguments(locals()))


class MaxPool1d(_MaxPool, n=1): """The largest value of each window of a sequence."""
class MaxPool2d(_MaxPool, n=2): """The largest value of each window of an image."""
class MaxPool3d(_MaxPool, n=3): """The largest value of each window of a volume."""


class AvgPool1d(Configured, n=1):
    """The mean of each window of a sequence."""

    function = "avg_pool1d"
    shown = ("kernel_size", "stride", "padding")

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True
    ) -> None:
        stride = tuple_of(1, kernel_size if stride is None else stride)
        kernel_size, padding = tuple_of(1, kernel_size), tuple_of(1, padding)
        super().__init__(**init_arguments(locals()))


class AvgPool2d(Configured, n=2):
    """The mean of each window of an image."""

    function = "avg_pool{n}d"
    shown = ("kernel_size", "stride", "padding")

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:
        stride = kernel_size if stride is None else stride
        super().__init__(**init_arguments(locals()))


class AvgPool3d(AvgPool2d, n=3): """The mean of each window of a volume."""


@layer("adaptive_avg_pool{n}d")
class _AdaptiveAvgPool(Configured):
    output_size: Any

class AdaptiveAvgPool1d(_AdaptiveAvgPool, n=1): """The means of windows; `output_size` gives the output length of a sequence."""
class AdaptiveAvgPool2d(_AdaptiveAvgPool, n=2): """The means of windows; `output_size` gives the output size of an image."""
class AdaptiveAvgPool3d(_AdaptiveAvgPool, n=3): """The means of windows; `output_size` gives the output size of a volume."""


@layer("adaptive_max_pool{n}d")
class _AdaptiveMaxPool(Configured):
    output_size: Any
    return_indices: bool = False
    shown = ("output_size",)

class AdaptiveMaxPool1d(_AdaptiveMaxPool, n=1): """The maxima of windows; `output_size` gives the length of a new sequence."""
class AdaptiveMaxPool2d(_AdaptiveMaxPool, n=2): """The maxima of windows; `output_size` gives the output size of an image."""
class AdaptiveMaxPool3d(_AdaptiveMaxPool, n=3): """The maxima of windows; `output_size` gives the output size of a volume."""


class _MaxUnpool(Configured):
    function = "max_unpool{n}d"

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        stride = kernel_size if stride is None else stride
        super().__init__(**{name: tuple_of(self._n, value) for name, value in init_arguments(locals()).items()})

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        """Write each value at its index, which MaxPool returned."""
        return getattr(functional, f"max_unpool{self._n}d")(input, indices, output_size=output_size, **self.options())


class MaxUnpool1d(_MaxUnpool, n=1): """Writes the maxima of a sequence at their indices, with zeros elsewhere."""
class MaxUnpool2d(_MaxUnpool, n=2): """Writes the maxima of an image at their indices, with zeros elsewhere."""
class MaxUnpool3d(_MaxUnpool, n=3): """Writes the maxima of a volume at their indices, with zeros elsewhere."""
