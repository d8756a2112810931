"""What programs ask about tensors and types. One device and dense memory decide most answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.device import CPU, check_device, device
from ..base.dtypes import dtype, from_numpy_dtype, get_default_dtype, promote
from ..base.public import public
from .tensor import Tensor


class layout:  # noqa: N801 -- PyTorch's name
    """How the elements lie in memory, by name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


class memory_format(layout):  # noqa: N801 -- PyTorch's name
    """The memory order of a copy, by name."""


strided = layout("strided")
contiguous_format, preserve_format = memory_format("contiguous_format"), memory_format("preserve_format")
channels_last, channels_last_3d = memory_format("channels_last"), memory_format("channels_last_3d")

_FACTS: dict[str, tuple[Any, str]] = {
    "device": (CPU, "Where it lives: the CPU."), "layout": (strided, "Dense, with strides."), "is_cpu": (True, "True."),
}  # fmt: skip
for _kind in ("cuda", "mps", "xpu", "meta", "sparse", "sparse_csr", "quantized", "mkldnn", "nested"):
    _FACTS[f"is_{_kind}"] = (False, "False.")
for _name, (_answer, _doc) in _FACTS.items():
    public(f"Tensor.{_name}")(property(lambda self, answer=_answer: answer, doc=_doc))  # type: ignore[misc]


@public("torch.get_device", "Tensor.get_device")
def get_device(input: Tensor) -> int:
    """The index of its GPU: -1, because it is on the CPU."""
    return -1


@public("Tensor.pin_memory", "Tensor.share_memory_")
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """The tensor itself. Pinned memory has no meaning on the CPU."""
    return self


public("Tensor.itemsize")(property(Tensor.element_size, doc="Bytes per element."))
public("Tensor.nbytes")(property(lambda self: self._data.nbytes, doc="Bytes of all elements."))
public("Tensor.ndimension")(Tensor.dim)


@public("torch.is_tensor")
def is_tensor(obj: Any) -> bool:
    """Is it a tensor?"""
    return isinstance(obj, Tensor)


def _as_function(name: str) -> None:
    """Define torch.numel(x), which is x.numel()."""

    def ask(input: Tensor) -> Any:
        return getattr(input, name)()

    ask.__name__, ask.__doc__ = name, getattr(Tensor, name).__doc__
    public(f"torch.{name}")(ask)


for _name in ("numel", "is_floating_point", "is_complex"):
    _as_function(_name)


@public("torch.is_nonzero", "Tensor.is_nonzero")
def is_nonzero(input: Tensor) -> bool:
    """Is its only element different from zero?"""
    return bool(input)


@public("torch.is_signed", "Tensor.is_signed")
def is_signed(input: Tensor) -> bool:
    """Can its type hold negative numbers?"""
    return input._data.dtype.kind not in "ub"


@public("torch.is_same_size", "Tensor.is_same_size")
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Do both have the same shape?"""
    return input.shape == other.shape


class TypeInfo:
    """The limits of a type."""

    def __init__(self, type: dtype, limits: dict[str, Any]) -> None:
        self.dtype, self.bits, self._limits = type.name, type.numpy.itemsize * 8, limits
        self.__dict__.update(limits)

    def __repr__(self) -> str:
        listed = "".join(f"{name}={value:g}, " for name, value in self._limits.items())
        return f"{type(self).__name__}({listed}dtype={self.dtype})"


@public("torch.finfo")
class finfo(TypeInfo):  # noqa: N801 -- PyTorch's name
    """The limits of a floating point type. The default type is used if none is given."""

    def __init__(self, type: dtype | None = None) -> None:
        type = type or get_default_dtype()
        if type.numpy.kind not in "fc":
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
        known = np.finfo(type.numpy)
        limits = {name: float(getattr(known, name)) for name in ("min", "max", "eps", "smallest_normal", "tiny")}
        super().__init__(type, {"resolution": 10.0**-known.precision, **limits})


@public("torch.iinfo")
class iinfo(TypeInfo):  # noqa: N801 -- PyTorch's name
    """The limits of a whole-number type."""

    def __init__(self, type: dtype) -> None:
        if type.numpy.kind not in "iu":
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        known = np.iinfo(type.numpy)
        super().__init__(type, {"min": int(known.min), "max": int(known.max)})


@public("torch.promote_types")
def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The common type of two tensors of these types."""
    return from_numpy_dtype(promote([(type1.numpy, 1, False), (type2.numpy, 1, False)]))


@public("torch.result_type")
def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """The type of the result of an op on two tensors or numbers."""
    are_numbers = [not isinstance(value, Tensor) for value in (tensor1, tensor2)]
    arrays = [value._data if isinstance(value, Tensor) else np.asarray(value) for value in (tensor1, tensor2)]
    return from_numpy_dtype(promote([(a.dtype, a.ndim, is_number) for a, is_number in zip(arrays, are_numbers, strict=True)]))


@public("torch.can_cast")
def can_cast(from_: dtype, to: dtype) -> bool:
    """May a result of the first type be written into a tensor of the second?"""
    return from_.category <= to.category


@public("torch.get_default_device")
def get_default_device() -> device:
    """Where new tensors live: on the CPU."""
    return CPU


@public("torch.set_default_device")
def set_default_device(device: Any) -> None:
    """Choose where new tensors live. Only the CPU is accepted."""
    check_device(device)


@public("torch.get_num_threads", "torch.get_num_interop_threads")
def get_num_threads() -> int:
    """1. NumPy may use more for matrix products."""
    return 1


def _harmless(name: str, doc: str) -> None:

    def setting(*values: Any, **options: Any) -> None:
        pass

    setting.__name__, setting.__doc__ = name, doc
    public(f"torch.{name}")(setting)


for _name, _reason in {
    "set_num_threads": ": NumPy chooses the number of threads", "set_num_interop_threads": ": ops run one after the other",
    "use_deterministic_algorithms": ": all algorithms are deterministic", "set_flush_denormal": "",
    "set_float32_matmul_precision": ": float32 always has its full precision",
}.items():  # fmt: skip
    _harmless(_name, f"Has no effect{_reason}.")
