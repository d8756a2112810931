"""PyTorch's error sentences that several ops share: not a tensor, a wrong element type, a wrong shape."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..base.dtypes import from_numpy_dtype
from .tensor import Tensor


def refuse_if(wrong: Any, text: str | Callable[[], str], error: type[Exception] = RuntimeError) -> None:
    """Raise PyTorch's error if something is wrong. A text with values is written only then."""
    if wrong:
        raise error(text if isinstance(text, str) else text())


def check_tensor(function: str, value: Any, argument: str = "input", position: int = 1) -> None:
    """Refuse a value that is not a tensor."""
    if not isinstance(value, Tensor):
        kind = type(value).__name__
        raise TypeError(f"{function}(): argument '{argument}' (position {position}) must be Tensor, not {kind}")


def of_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes nothing but tensors for the parameters that are annotated as such."""
    places = [(i, n) for i, (n, kind) in enumerate(function.__annotations__.items()) if kind == "Tensor"]

    @wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        for i, name in places:
            if i < len(args):
                check_tensor(function.__name__.rstrip("_"), args[i], name, i + 1)
        return function(*args, **options)

    return checked


def scalar_type(value: Any) -> str:
    """The element type of a tensor or array, as error messages write it: "Float"."""
    return from_numpy_dtype(getattr(value, "_data", value).dtype).legacy


def refuse(value: Any, kinds: str, kernel: str) -> None:
    """Refuse element types for which PyTorch has no such kernel. `kinds` are letters of NumPy's dtype.kind."""
    if getattr(value, "_data", value).dtype.kind in kinds:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type(value)}'")


def refusing(kinds: str, kernel: str, forward: Callable[..., Any]) -> Callable[..., Any]:
    """A forward that refuses some element types of its first input, as `refuse` does."""

    @wraps(forward)
    def checked(first: Any, *others: Any, **options: Any) -> Any:
        if first.dtype.kind in kinds:
            refuse(first, kinds, kernel)
        return forward(first, *others, **options)

    return checked


def check_scalar_type(value: Any, wanted: Any) -> None:
    """Refuse a tensor or array whose element type is not that of `wanted`, a tensor or array."""
    if scalar_type(value) != scalar_type(wanted):
        raise RuntimeError(f"expected scalar type {scalar_type(wanted)} but found {scalar_type(value)}")


def check_expands(value: Any, size: tuple[int, ...], asked: tuple[int, ...] | None = None) -> None:
    """Refuse a tensor or array that does not broadcast to `size`. `asked` is the user's form of it, which may contain -1."""
    have, asked = value.shape, size if asked is None else asked
    lead = len(size) - len(have)
    if lead < 0:
        raise RuntimeError(
            f"expand(torch.{scalar_type(value)}Tensor{{{list(have)}}}, size={list(asked)}): the number of sizes provided "
            f"({len(size)}) must be greater or equal to the number of dimensions in the tensor ({len(have)})"
        )
    for i in reversed(range(len(have))):
        if have[i] not in (1, size[i + lead]):
            raise RuntimeError(
                f"The expanded size of the tensor ({size[i + lead]}) must match the existing size ({have[i]}) at non-singleton "
                f"dimension {i + lead}.  Target sizes: {list(asked)}.  Tensor sizes: {list(have)}"
            )
