"""conv1d to conv3d and their transposes: the user's arguments, checked and brought into the form of `convolution`."""

from __future__ import annotations

import warnings
from typing import Any

from ...tensor import Tensor, check_scalar_type, ints, refuse_if
from ..shape.shape import squeeze_dim, unsqueeze
from .convolution import convolution
from .padding import constant_pad_nd
from .windows import Ints, functions, n_of


def _conv(n: int) -> Any:
    places = ("sequences", "images", "volumes")[n - 1]
    inside = ("length", "height, width", "depth, height, width")[n - 1]

    def conv(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1,
    ) -> Any:  # fmt: skip
        return _convolved(n, input, weight, bias, groups, stride=stride, dilation=dilation, padding=padding)

    conv.__doc__ = f"Convolve {places} (batch, in, {inside}) with kernels (out, in / groups{', k' * n})."
    return conv


def _conv_transpose(n: int) -> Any:
    def conv_transpose(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, dilation: Any = 1,
    ) -> Any:  # fmt: skip
        """The transpose of conv{n}d: it maps small images to large ones."""
        options = {"stride": stride, "padding": padding, "dilation": dilation, "output_padding": output_padding}
        return _convolved(n, input, weight, bias, groups, transposed=True, **options)

    return conv_transpose


conv1d, conv2d, conv3d = functions(_conv, "nn.functional.conv{n}d", "torch.conv{n}d")
conv_transpose1d, conv_transpose2d, conv_transpose3d = functions(
    _conv_transpose, "nn.functional.conv_transpose{n}d", "torch.conv_transpose{n}d"
)


def _convolved(
    n: int, input: Tensor, weight: Tensor, bias: Tensor | None, groups: int, transposed: bool = False, **given: Any
) -> Any:
    """`convolution` of a batch or of one image, with padding as numbers or as a word."""
    if input.ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to conv{'_transpose' * transposed}{n}d, but got "
            f"input of size: {list(input.shape)}"
        )
    alone = input.ndim == n + 1
    batch = unsqueeze(input, dim=0) if alone else input
    options: dict[str, Any] = {"output_padding": (0,) * n}
    for name, value in given.items():
        if name == "padding" and isinstance(value, str) and not transposed:
            batch, options[name] = _padded_in_words(value, batch, weight, options["stride"], options["dilation"])
        else:
            options[name] = _each(n, name, value)
    _check(batch, weight, bias, groups=groups, transposed=transposed, **options)
    result = convolution(batch, weight, bias, groups=groups, transposed=transposed, **options)
    return squeeze_dim(result, dim=0) if alone else result


def _each(n: int, name: str, value: Any) -> Ints:
    """One value for each dimension."""
    values = ints(value)
    if len(values) not in (1, n):
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {n} values to match the convolution dimensions, but "
            f"got {name}={list(values)}"
        )
    return n_of(values, n)


def _padded_in_words(words: str, batch: Tensor, weight: Tensor, stride: Ints, dilation: Ints) -> tuple[Tensor, Ints]:
    """Padding for "same" or "valid" as numbers. If "same" needs more at the end than at the start, the input is padded here."""
    n = len(stride)
    if words == "valid":
        return batch, (0,) * n
    refuse_if(words != "same", lambda: f"Invalid padding string: '{words}'")
    refuse_if(any(s != 1 for s in stride), "padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for k, d in zip(weight.shape[2:], dilation, strict=True)]
    if any(t % 2 for t in totals):
        warnings.warn(
            "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the input be "
            "created",
            stacklevel=4,
        )
        batch = constant_pad_nd(batch, pad=tuple(v for t in reversed(totals) for v in (0, t % 2)), value=0)
    return batch, tuple(t // 2 for t in totals)


def _check(
    batch: Tensor, weight: Tensor, bias: Tensor | None, *, stride: Ints, padding: Ints, dilation: Ints, output_padding: Ints,
    groups: int, transposed: bool,
) -> None:  # fmt: skip
    """Refuse arguments that do not fit together."""
    if groups <= 0 or min(padding) < 0 or min(stride) <= 0:
        what = "non-positive groups" if groups <= 0 else "negative padding" if min(padding) < 0 else "non-positive stride"
        raise RuntimeError(f"{what} is not supported")
    refuse_if(min(dilation) <= 0, lambda: f"dilation should be greater than zero, but got {list(dilation)}")
    if weight.ndim != batch.ndim:
        _each(weight.ndim - 2, "stride", stride)
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight {list(weight.shape)}, but got "
            f"{batch.ndim}-dimensional input of size {list(batch.shape)} instead"
        )
    if bias is not None and bias.dtype is not batch.dtype:
        kinds = (batch.dtype.legacy.lower(), bias.dtype.legacy.lower())
        raise RuntimeError(f"Input type ({kinds[0]}) and bias type ({kinds[1]}) should be the same")
    check_scalar_type(weight, batch)
    _check_channels(batch, weight, bias, groups, transposed)
    room = [length + 2 * p for length, p in zip(batch.shape[2:], padding, strict=True)]
    reach = [d * (k - 1) + 1 for k, d in zip(weight.shape[2:], dilation, strict=True)]
    if not transposed and any(r > length for r, length in zip(reach, room, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, room))}). Kernel size: "
            f"({' x '.join(map(str, reach))}). Kernel size can't be greater than actual input size"
        )
    if transposed and any(o >= s and o >= d for o, s, d in zip(output_padding, stride, dilation, strict=True)):
        names = ("height", "width") if len(stride) < 3 else ("depth", "height", "width")
        parts = {"output_padding": output_padding, "stride": stride, "dilation": dilation}
        shown = [f"{what}_{name}: {v}" for what, values in parts.items() for name, v in zip(names, values, strict=False)]
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {' '.join(shown)}")


def _check_channels(batch: Tensor, weight: Tensor, bias: Tensor | None, groups: int, transposed: bool) -> None:
    sizes, channels = list(weight.shape), batch.shape[1]
    given = f"Given transposed={int(transposed)}" if transposed else f"Given groups={groups}"
    if sizes[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size "
            f"[{sizes}] instead"
        )
    wanted, made = (sizes[0], sizes[1] * groups) if transposed else (sizes[1] * groups, sizes[0])
    if channels != wanted:
        raise RuntimeError(
            f"{given}, weight of size {sizes}, expected input{list(batch.shape)} to have {wanted} channels, but got "
            f"{channels} channels instead"
        )
    if bias is not None and tuple(bias.shape) != (made,):
        start = f"{given}, weight" if transposed else "Given weight"
        raise RuntimeError(
            f"{start} of size {sizes}, expected bias to be 1-dimensional with {made} elements, but got bias of size "
            f"{list(bias.shape)} instead"
        )
