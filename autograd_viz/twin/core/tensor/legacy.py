"""The types from before dtypes: torch.FloatTensor makes tensors, and is a type for isinstance."""

from __future__ import annotations

from typing import Any

from ..base import dtypes
from ..base.device import check_device
from ..base.public import public
from .creation import array_or_shape, leaf
from .tensor import Tensor

NO_CUDA = "type {} not available. Torch not compiled with CUDA enabled."


class LegacyType(type):
    """The type of torch.FloatTensor and its like. Their instances are the tensors of one dtype."""

    dtype: dtypes.dtype
    is_cuda: bool  # of the missing device

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, Tensor) and x.dtype is cls.dtype and not cls.is_cuda

    def __call__(cls, *data: Any, device: Any = None) -> Tensor:
        """A tensor of values, or of a shape."""
        if cls.is_cuda:
            raise TypeError(NO_CUDA.format(f"{cls.__module__}.{cls.__name__}"))
        check_device(device)
        if data and isinstance(data[0], Tensor) and data[0].ndim and data[0].dtype is not cls.dtype:
            raise TypeError(f"expected a {cls.__module__}.{cls.__name__} (got a torch.{data[0].dtype.legacy}Tensor)")
        return leaf(cls.__name__, array_or_shape(data, cls.dtype))


def legacy_types(module: str) -> dict[str, LegacyType]:
    """The old types of "torch" or "torch.cuda" by name."""
    named = {f"{kind.legacy}Tensor": kind for kind in dtypes.BY_NAME.values() if not kind.is_complex}
    body = {"__module__": module, "is_cuda": module != "torch"}
    return {name: LegacyType(name, (), {**body, "dtype": kind}) for name, kind in named.items()}


TYPES = legacy_types("torch")
for _name, _type in TYPES.items():
    public(f"torch.{_name}")(_type)


def of_legacy_type(given: Any) -> dtypes.dtype:
    """The dtype of an old type, or of its name: "torch.FloatTensor"."""
    if not isinstance(given, str | type):
        raise TypeError("dtype must be a type, str, or dtype object")
    name = given if isinstance(given, str) else f"{given.__module__}.{given.__name__}"
    if name.startswith("torch.cuda."):
        raise TypeError(NO_CUDA.format(name))
    if (found := TYPES.get(name.removeprefix("torch."))) is None:
        raise ValueError(f"invalid type: {name!r}")
    return found.dtype


@public("torch.set_default_tensor_type")
def set_default_tensor_type(t: Any) -> None:
    """Choose the type of ``tensor(1.0)``, by its old type or its name. Raises TypeError: not a floating point type."""
    if not isinstance(t, str | type):
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    if not (kind := of_legacy_type(t)).is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    dtypes.set_default_dtype(kind)
