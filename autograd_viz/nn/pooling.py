"""Pooling: the maximum or the mean of a window that moves over the input. One class per kind, then 1d, 2d and 3d of it."""

from __future__ import annotations

from typing import Any

from .configured import Configured


def tuple_of(n: int, value: Any) -> Any:
    """`value` n times, unless it is a tuple already."""
    return tuple(value) if isinstance(value, tuple | list) else (value,) * n


class _MaxPool(Configured):
    shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        return_indices: bool = False, ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        stride = kernel_size if stride is None else stride
        super().__init__(
            kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation,
            return_indices=return_indices, ceil_mode=ceil_mode,
        )  # fmt: skip


class MaxPool1d(_MaxPool):
    """The largest value of each window of a sequence."""

    function = "max_pool1d"


class MaxPool2d(_MaxPool):
    """The largest value of each window of an image."""

    function = "max_pool2d"


class MaxPool3d(_MaxPool):
    """The largest value of each window of a volume."""

    function = "max_pool3d"


class AvgPool1d(Configured):
    """The mean of each window of a sequence."""

    function = "avg_pool1d"
    shown = ("kernel_size", "stride", "padding")

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True
    ) -> None:
        stride = kernel_size if stride is None else stride
        super().__init__(
            kernel_size=tuple_of(1, kernel_size), stride=tuple_of(1, stride), padding=tuple_of(1, padding),
            ceil_mode=ceil_mode, count_include_pad=count_include_pad,
        )  # fmt: skip


class AvgPool2d(Configured):
    """The mean of each window of an image."""

    function = "avg_pool2d"
    shown = ("kernel_size", "stride", "padding")

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        stride = kernel_size if stride is None else stride
        super().__init__(
            kernel_size=kernel_size, stride=stride, padding=padding, ceil_mode=ceil_mode,
            count_include_pad=count_include_pad, divisor_override=divisor_override,
        )  # fmt: skip


class AvgPool3d(AvgPool2d):
    """The mean of each window of a volume."""

    function = "avg_pool3d"


class _LPPool(Configured):
    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__(norm_type=norm_type, kernel_size=kernel_size, stride=stride, ceil_mode=ceil_mode)


class LPPool1d(_LPPool):
    """The p-norm of each window of a sequence."""

    function = "lp_pool1d"


class LPPool2d(_LPPool):
    """The p-norm of each window of an image."""

    function = "lp_pool2d"


class LPPool3d(_LPPool):
    """The p-norm of each window of a volume."""

    function = "lp_pool3d"


class _AdaptiveAvgPool(Configured):
    def __init__(self, output_size: Any) -> None:
        super().__init__(output_size=output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The means of windows so chosen that a sequence gets the length `output_size`."""

    function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The means of windows so chosen that an image gets the size `output_size`."""

    function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The means of windows so chosen that a volume gets the size `output_size`."""

    function = "adaptive_avg_pool3d"


class _AdaptiveMaxPool(Configured):
    shown = ("output_size",)

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size=output_size, return_indices=return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The maxima of windows so chosen that a sequence gets the length `output_size`."""

    function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The maxima of windows so chosen that an image gets the size `output_size`."""

    function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The maxima of windows so chosen that a volume gets the size `output_size`."""

    function = "adaptive_max_pool3d"


class _MaxUnpool(Configured):
    n = 1

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        stride = kernel_size if stride is None else stride
        n = self.n
        super().__init__(kernel_size=tuple_of(n, kernel_size), stride=tuple_of(n, stride), padding=tuple_of(n, padding))

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        """Every value back at the place that MaxPool says it came from."""
        from . import functional

        return getattr(functional, self.function)(input, indices, output_size=output_size, **self.options())


class MaxUnpool1d(_MaxUnpool):
    """Puts the maxima of a sequence back where they were, zeros elsewhere."""

    function, n = "max_unpool1d", 1


class MaxUnpool2d(_MaxUnpool):
    """Puts the maxima of an image back where they were, zeros elsewhere."""

    function, n = "max_unpool2d", 2


class MaxUnpool3d(_MaxUnpool):
    """Puts the maxima of a volume back where they were, zeros elsewhere."""

    function, n = "max_unpool3d", 3
