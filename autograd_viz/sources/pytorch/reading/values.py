"""A torch tensor as far as a picture needs it. Only small tensors are copied; large ones are summarized on their device."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch

from ....graph import model
from ....graph.model import Summary
from ...shared.values import FEW, SIDE, few_of
from ...shared.values import value_of as value_of_array
from .older import array_of


def summary_on_device(t: Any) -> Summary:
    """The same as `summary_of`, for a tensor with at least one element; complex elements count by their absolute value."""
    real = t.detach().abs() if t.is_complex() else t.detach()
    real = real if real.is_floating_point() and real.element_size() >= 4 else real.to(torch.float32)
    matrix = real.reshape(-1, real.shape[-1] if real.ndim else 1)
    finite = matrix.isfinite()
    there = matrix[finite]
    sums, counts = _block_sums(matrix), _block_sums(torch.ones_like(finite))
    thumbnail = tuple((sums / counts).reshape(-1).tolist())
    nans, zeros = int(matrix.isnan().sum()), int((matrix == 0).sum())
    infs = matrix.numel() - there.numel() - nans
    numbers = _numbers(there) if there.numel() else (math.nan, math.nan, math.nan, 0.0)
    return Summary(*numbers, zeros, nans, infs, sums.shape[0], sums.shape[1], thumbnail)


def _numbers(values: Any) -> tuple[float, float, float, float]:
    """Least, most, mean, Euclidean norm."""
    mean = values.sum(dtype=_wide(values)) / values.numel()
    return float(values.min()), float(values.max()), float(mean), float(torch.linalg.vector_norm(values, dtype=_wide(values)))


def _block_sums(matrix: Any) -> Any:
    """The matrix divided into at most SIDE x SIDE blocks, and the sum of each."""
    for dim in (0, 1):
        count = matrix.shape[dim]
        starts = [i * count // SIDE for i in range(1, SIDE)] if count > SIDE else list(range(1, count))
        matrix = torch.stack([b.sum(dim, dtype=_wide(matrix)) for b in matrix.tensor_split(starts, dim)], dim)
    return matrix


def _wide(values: Any) -> Any:
    """The values in the type for sums: double, if the accelerator has it."""
    return torch.float32 if values.device.type == "mps" else torch.float64


P = ParamSpec("P")
R = TypeVar("R")
NOTHING = nullcontext()
MOST = 4_000_000  # elements of a tensor that is summarized; a larger one shows only shape and type
FLOATS = {torch.float64, torch.float32, torch.bfloat16, torch.float16}
WHOLE = {torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool}
WIDER = {torch.bfloat16: torch.float32, torch.complex32: torch.complex64}  # the type that NumPy has for it


# whether neither modes nor classes of tensors see a call; PyTorch before 2.4 does not tell
_is_all_disabled = getattr(torch._C, "_is_torch_function_all_disabled", lambda: False)


def outside_modes() -> AbstractContextManager[None]:
    """Inside, none of the user's modes sees what we do."""
    return torch.utils._python_dispatch._disable_current_modes() if torch._C._len_torch_dispatch_stack() else NOTHING


def unseen(read: Callable[P, R]) -> Callable[P, R]:
    """Hide a function of ours from the user's modes and from ``__torch_function__`` of tensor classes."""

    @functools.wraps(read)
    def inside(*args: P.args, **options: P.kwargs) -> R:
        if _is_all_disabled() and not torch._C._len_torch_dispatch_stack():
            return read(*args, **options)  # another function of ours has hidden it
        with torch._C.DisableTorchFunction(), outside_modes():
            return read(*args, **options)

    return inside


def all_unseen(kind: type[R]) -> type[R]:
    """Hide all methods of a class of ours so."""
    for name, method in [*vars(kind).items()]:
        if isinstance(method, FunctionType):
            setattr(kind, name, unseen(method))
    return kind


@functools.cache
def dtype_name(dtype: torch.dtype) -> str:
    """The type's name without the prefix: "float32"."""
    return str(dtype).removeprefix("torch.")


def is_plain(t: Any) -> bool:
    """Can its elements be read? Not those of sparse, nested, quantized, meta, fake and transformed (`torch.func`) tensors, of a
    class that runs ops in its own way, and of a tensor without memory, as FSDP leaves it.
    """
    return (
        t.layout is torch.strided
        and type(t).__torch_dispatch__ is torch.Tensor.__torch_dispatch__
        and not (t.is_meta or t.is_quantized or t.is_nested or t._is_zerotensor())
        and not torch._C._functorch.is_functorch_wrapped_tensor(t)
        # asking a storage makes a Python object; for most tensors the address already shows that there is memory
        and (t.data_ptr() != t.storage_offset() * t.element_size() or t.numel() == 0 or t.untyped_storage().nbytes() > 0)
    )


def kind_of(t: Any) -> str:
    """The name of the kind of a tensor whose elements cannot be read."""
    if t.is_nested:
        return "nested"
    if t.layout is not torch.strided:
        return str(t.layout).removeprefix("torch.")
    if torch._C._functorch.is_functorch_wrapped_tensor(t):
        return "inside torch.func"
    if t._is_zerotensor():  # forward mode makes them, without memory
        return "zeros"
    if type(t).__torch_dispatch__ is torch.Tensor.__torch_dispatch__ and not (t.is_quantized or t.is_meta):
        return "without memory"
    return "quantized" if t.is_quantized else "meta" if t.is_meta else type(t).__name__


def shape_of(t: Any) -> tuple[int, ...]:
    """Its shape; for a nested tensor, which has none, its number of tensors."""
    return (t.size(0),) if t.is_nested else tuple(map(int, t.shape))


@unseen
def value_of(t: Any) -> model.Value:
    """What a picture needs of a tensor."""
    if not is_plain(t):
        return model.Value(shape_of(t), dtype_name(t.dtype), kind_of(t))
    if t.device.type != "cpu" and t.numel() > FEW:
        return _summed_up_there(t)
    if t.numel() > MOST:
        return model.Value(shape_of(t), dtype_name(t.dtype), f"{t.numel()} elements")
    if t.numel() <= FEW and (t.dtype in FLOATS or t.dtype in WHOLE) and t.numel():
        return few_of(t.detach().reshape(-1).tolist(), tuple(t.shape), dtype_name(t.dtype), t.dtype in FLOATS)
    return value_of_array(as_array(t), dtype_name(t.dtype))


def outline_of(t: Any) -> model.Value:
    """Its shape and dtype, without its elements."""
    return model.Value(shape_of(t), dtype_name(t.dtype), "" if is_plain(t) else kind_of(t))


def _summed_up_there(t: Any) -> model.Value:
    """A large tensor on an accelerator. The device may lack an op of a summary, or the memory."""
    text = f"{t.numel()} elements"
    try:
        with torch.no_grad(), outside_modes():
            return model.Value(shape_of(t), dtype_name(t.dtype), text, summary=summary_on_device(t))
    except RuntimeError as error:  # also NotImplementedError, OutOfMemoryError
        said = str(error).partition("\n")[0]
        return model.Value(shape_of(t), dtype_name(t.dtype), f"{text}, not summed up: {said:.80}")


@unseen
def as_array(t: Any) -> Any:
    """The elements as a NumPy array. It shares the tensor's memory if that is on the CPU and NumPy has the type."""
    t = t.detach()
    if t.is_floating_point() and t.element_size() == 1:  # any kind of float8
        t = t.to(torch.float32)
    return array_of(t.to(WIDER[t.dtype]) if t.dtype in WIDER else t)


def unknown(shape: tuple[int, ...], dtype: torch.dtype) -> model.Value:
    """A tensor that is gone: the graph remembers its shape and type; of a nested one with unknown sizes, how many it has."""
    is_nested = any(isinstance(n, torch.SymInt) for n in shape)
    return model.Value(tuple(int(n) for n in (shape[:1] if is_nested else shape)), dtype_name(dtype), "not kept")


def not_told() -> model.Value:
    """A tensor that is gone, in a release of PyTorch whose graph does not remember its shape."""
    return model.Value((), model.NOT_TOLD, "not kept (its shape: from PyTorch 2.5 on)")


def overwritten(shape: tuple[int, ...], dtype: torch.dtype) -> model.Value:
    """A tensor whose elements have been changed in place since."""
    return model.Value(tuple(int(n) for n in shape), dtype_name(dtype), "overwritten")


@unseen
def equal(a: Any, b: Any) -> bool:
    """The same elements, bit for bit: nan equals nan, and 0.0 is not -0.0."""
    if a.shape != b.shape or a.dtype != b.dtype or a.device != b.device or a.layout != b.layout:
        return False
    if not is_plain(a):
        return a is b
    with torch.no_grad(), outside_modes():
        return bool(torch.equal(_bytes(a), _bytes(b)))


def _bytes(t: Any) -> Any:
    return t.detach().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)


@unseen
def array_in(t: object) -> Any:
    """The elements as an array that may share their memory; of a distributed tensor those here. None: they cannot be read."""
    t = t.to_local() if hasattr(t, "to_local") else t
    return as_array(t) if isinstance(t, torch.Tensor) and is_plain(t) else None


def copy_of(t: torch.Tensor) -> Any:
    """The same in memory of its own."""
    found = array_in(t)
    return None if found is None else np.array(found)


def elements_in(graph: Any, id: str) -> Any:
    """The elements of a tensor of a graph as they were when it was made; None if they are not known."""
    return array_in(graph.ordered[int(id[1:])].elements)
