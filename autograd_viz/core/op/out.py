"""`out=`: the result is written into a tensor of the caller. It is not recorded, because autograd cannot undo the write."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backward.instrumented import about_to_write
from ..base.grad_mode import recording
from ..base.provenance import note_change
from ..tensor.tensor import Tensor

_RESIZED = (
    "An output with one or more elements was resized since it had shape {}, which does not match the required output shape {}. "
    "This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they have zero elements. "
    "You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
)


def write_out(out: Any, name: str, op: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The result of ``op(*args, **options)``, written into `out`.

    Raises:
        TypeError: `out` is not a tensor.
        RuntimeError: an argument requires grad, or the result does not fit the type of `out`.
    """
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if recording() and any(isinstance(a, Tensor) and a.requires_grad for a in (out, *args, *options.values())):
        text = "functions with out=... arguments don't support automatic differentiation, but one of the arguments"
        raise RuntimeError(f"{name}(): {text} requires grad.")
    result = op(*args, **options)
    if not np.can_cast(result._data.dtype, out._data.dtype, "same_kind"):
        raise RuntimeError(f"result type {result.dtype.legacy} can't be cast to the desired output type {out.dtype.legacy}")
    if out.shape != result.shape:
        if out.numel():
            warnings.warn(_RESIZED.format(list(out.shape), list(result.shape)), UserWarning, stacklevel=4)
        out._data = np.empty(result.shape, out._data.dtype)
    about_to_write(out._data)
    np.copyto(out._data, result._data, casting="unsafe")
    out._bump_version()
    note_change(out)
    return out


def takes_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function the argument `out`."""

    @functools.wraps(function)
    def with_out(*args: Any, out: Any = None, **options: Any) -> Any:
        if out is None:
            return function(*args, **options)
        return write_out(out, function.__name__, function, args, options)

    return with_out
