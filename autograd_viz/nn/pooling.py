"""Pooling: the maximum or the mean of a window that moves over the input. One class per kind, then 1d, 2d and 3d of it."""
# fmt: off
# (forms of one layer are a table)

from __future__ import annotations

from typing import Any

from . import functional
from .configured import Configured, given, tuple_of


class _MaxPool(Configured):
    function = "max_pool{n}d"
    shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        return_indices: bool = False, ceil_mode: bool = False,
    ) -> None:
        stride = kernel_size if stride is None else stride
        super().__init__(**given(locals()))


class MaxPool1d(_MaxPool, n=1):
    """The largest value of each window of a sequence."""
class MaxPool2d(_MaxPool, n=2):
    """The largest value of each window of an image."""
class MaxPool3d(_MaxPool, n=3):
    """The largest value of each window of a volume."""


class AvgPool1d(Configured, n=1):
    """The mean of each window of a sequence."""

    function = "avg_pool1d"
    shown = ("kernel_size", "stride", "padding")

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True
    ) -> None:
        stride = tuple_of(1, kernel_size if stride is None else stride)
        kernel_size, padding = tuple_of(1, kernel_size), tuple_of(1, padding)
        super().__init__(**given(locals()))


class AvgPool2d(Configured, n=2):
    """The mean of each window of an image."""

    function = "avg_pool{n}d"
    shown = ("kernel_size", "stride", "padding")

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:
        stride = kernel_size if stride is None else stride
        super().__init__(**given(locals()))


class AvgPool3d(AvgPool2d, n=3):
    """The mean of each window of a volume."""


class _LPPool(Configured):
    function = "lp_pool{n}d"

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__(**given(locals()))


class LPPool1d(_LPPool, n=1):
    """The p-norm of each window of a sequence."""
class LPPool2d(_LPPool, n=2):
    """The p-norm of each window of an image."""
class LPPool3d(_LPPool, n=3):
    """The p-norm of each window of a volume."""


class _AdaptiveAvgPool(Configured):
    function = "adaptive_avg_pool{n}d"

    def __init__(self, output_size: Any) -> None:
        super().__init__(output_size=output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPool, n=1):
    """The means of windows so chosen that a sequence gets the length `output_size`."""
class AdaptiveAvgPool2d(_AdaptiveAvgPool, n=2):
    """The means of windows so chosen that an image gets the size `output_size`."""
class AdaptiveAvgPool3d(_AdaptiveAvgPool, n=3):
    """The means of windows so chosen that a volume gets the size `output_size`."""


class _AdaptiveMaxPool(Configured):
    function = "adaptive_max_pool{n}d"
    shown = ("output_size",)

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(**given(locals()))


class AdaptiveMaxPool1d(_AdaptiveMaxPool, n=1):
    """The maxima of windows so chosen that a sequence gets the length `output_size`."""
class AdaptiveMaxPool2d(_AdaptiveMaxPool, n=2):
    """The maxima of windows so chosen that an image gets the size `output_size`."""
class AdaptiveMaxPool3d(_AdaptiveMaxPool, n=3):
    """The maxima of windows so chosen that a volume gets the size `output_size`."""


class _MaxUnpool(Configured):
    function = "max_unpool{n}d"

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        stride = kernel_size if stride is None else stride
        super().__init__(**{name: tuple_of(self._n, value) for name, value in given(locals()).items()})

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        """Every value back at the place that MaxPool says it came from."""
        return getattr(functional, f"max_unpool{self._n}d")(input, indices, output_size=output_size, **self.options())


class MaxUnpool1d(_MaxUnpool, n=1):
    """Puts the maxima of a sequence back where they were, zeros elsewhere."""
class MaxUnpool2d(_MaxUnpool, n=2):
    """Puts the maxima of an image back where they were, zeros elsewhere."""
class MaxUnpool3d(_MaxUnpool, n=3):
    """Puts the maxima of a volume back where they were, zeros elsewhere."""
