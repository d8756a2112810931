"""Leaves from numbers: the common part of all factories, factories that take a shape, and types from before dtypes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import dtypes, provenance
from ..base.device import check_device
from ..base.dtypes import dtype, float64, from_numpy_dtype, get_default_dtype
from ..base.public import public
from .arguments import default_array
from .as_array import Array, Size
from .random import Generator, chosen, laid_out, memory_order
from .refusals import refuse, refuse_if
from .tensor import Tensor

COPY_WARNING = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {name}(sourceTensor)."
)
MOST_DIMS = 64  # NumPy's limit


def leaf(
    name: str, array: Array, requires_grad: bool = False, device: Any = None, layout: Any = None, pin_memory: bool = False
) -> Tensor:
    """A tensor without history that remembers the factory `name`. layout and pin_memory have no effect."""
    check_device(device)
    result = Tensor(array)
    if requires_grad and not (result.dtype.is_floating_point or result.dtype.is_complex):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    provenance.record(name, result)
    result._requires_grad = bool(requires_grad)
    return result


def nested_array(data: Any, wanted: dtype | None) -> Array:
    """Numbers, nested lists, arrays or tensors as a new array. What cannot be one is refused in PyTorch's words."""
    data = list(data) if isinstance(data, range) else data
    values = _plain_values(data, _shape_of(data), 0) if isinstance(data, list | tuple) else data
    if values is data:
        _check_scalar(data)
    try:
        if not np.size(values) and values is not data:
            return np.zeros(np.shape(values), (wanted or get_default_dtype()).numpy)
        if isinstance(data, int | list | tuple) and wanted is not None and wanted.numpy.kind in "iu":
            np.array(values, wanted.numpy)  # raises if a value does not fit
        first = values
        while isinstance(first, list):
            first = first[0]
        array = default_array(np.array(values) if isinstance(first, np.ndarray | np.generic) else values, wanted)
        if wanted is None and array.dtype == np.complex128 and (values is not data or isinstance(data, complex)):
            return array.astype(np.complex128 if get_default_dtype() is float64 else np.complex64)
        return array
    except OverflowError:
        if wanted is not None:
            raise RuntimeError(f"value cannot be converted to type {wanted.name} without overflow") from None
        raise ValueError("Overflow when unpacking long long") from None


def array_or_shape(data: tuple[Any, ...], kind: dtype | None = None) -> Array:
    """The array of ``Tensor([1, 2])``, ``Tensor(other)``, or ``Tensor(2, 3)``, which is a shape. None is the default type."""
    kind = kind or get_default_dtype()
    if len(data) == 1 and isinstance(data[0], Tensor):
        return data[0]._data
    if len(data) == 1 and isinstance(data[0], float | str | np.floating):
        got = f"{type(data[0]).__module__.removeprefix('builtins')}.{type(data[0]).__name__}".lstrip(".")
        said = "invalid data type 'str'" if isinstance(data[0], str) else f"data must be a sequence (got {got})"
        raise TypeError(f"new(): {said}")
    if len(data) == 1 and not isinstance(data[0], int | np.integer | Size):
        return nested_array(data[0], kind)
    return np.zeros(sizes_of("new", data or (0,)), kind.numpy)


def array_of_call(data: tuple[Any, ...], is_ours: bool) -> Array:
    """The array of ``Tensor(...)``: of a call in this package the array as it is, of a user's in the default type."""
    if is_ours and len(data) == 1 and isinstance(data[0], np.generic):
        return np.asarray(data[0])
    if len(data) == 1 and isinstance(data[0], np.ndarray) and data[0].dtype == get_default_dtype().numpy:
        return data[0]
    return array_or_shape(data)


def _shape_of(data: Any) -> list[int]:
    """The shape of nested lists, read from their first elements. A list that holds itself has no end."""
    shape: list[int] = []
    while isinstance(data, list | tuple):
        if len(shape) == MOST_DIMS:
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        shape.append(len(data))
        if not data:
            break
        data = data[0]
    return shape


def _plain_values(data: Any, shape: list[int], depth: int) -> Any:
    """`data` with one-element tensors as numbers. All lists of a level must have the same length."""
    if depth == len(shape):
        if isinstance(data, Tensor) and data.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if isinstance(data, Tensor | np.ndarray):
            return data.item() if isinstance(data, Tensor) or data.ndim == 0 else data
        refuse_if(isinstance(data, str), "too many dimensions 'str'", ValueError)
        _check_scalar(data)
        return data
    if not isinstance(data, list | tuple):
        raise TypeError(f"not a sequence: {type(data).__name__}")
    if len(data) != shape[depth]:
        raise ValueError(f"expected sequence of length {shape[depth]} at dim {depth} (got {len(data)})")
    return [_plain_values(d, shape, depth + 1) for d in data]


def _check_scalar(value: Any) -> None:
    refuse_if(isinstance(value, str), "new(): invalid data type 'str'", TypeError)
    if not isinstance(value, int | float | complex | np.generic | np.ndarray | Tensor):
        raise RuntimeError(f"Could not infer dtype of {type(value).__name__}")
    refuse_if(isinstance(value, int) and not -(2**63) <= value < 2**64, "Overflow when unpacking long long", ValueError)


@public("torch.tensor")
def tensor(
    data: Any, *, dtype: dtype | None = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A new leaf with a copy of `data`: a number, nested lists, an array or a tensor.

    Python floats get the default type (float32); arrays keep theirs. `pin_memory` has no effect.
    Raises TypeError: `data` does not hold numbers. Raises ValueError: nested lists of different lengths. Raises RuntimeError:
    `requires_grad` for a type without gradients.
    """
    if isinstance(data, Tensor):
        warnings.warn(COPY_WARNING.format(name="torch.tensor"), UserWarning, stacklevel=2)
    return leaf("tensor", nested_array(data, dtype), requires_grad, device)


@public("torch.as_tensor", "torch.asarray")
def as_tensor(data: Any, dtype: dtype | None = None, device: Any = None) -> Tensor:
    """`data` as a tensor, without a copy if possible. A tensor is returned itself; an array shares its memory."""
    check_device(device)
    if isinstance(data, Tensor):
        return data if dtype is None or data.dtype is dtype else data.to(dtype)
    if isinstance(data, np.ndarray) and (dtype is None or dtype.numpy == data.dtype):
        return from_numpy(data)
    return leaf("as_tensor", nested_array(data, dtype))


@public("torch.from_numpy")
def from_numpy(ndarray: Array) -> Tensor:
    """A tensor that shares the memory of an array. Raises TypeError: not an array, or a type that tensors cannot hold."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    from_numpy_dtype(ndarray.dtype)  # raises for a type that tensors cannot hold
    return leaf("from_numpy", ndarray)


@public("torch.scalar_tensor")
def scalar_tensor(s: Any, *, dtype: dtype | None = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A 0-d leaf in the default type."""
    return leaf("scalar_tensor", np.array(s, (dtype or get_default_dtype()).numpy), requires_grad, device)


def sizes_of(name: str, size: Any) -> tuple[int, ...]:
    """The shape from ``f(2, 3)`` or ``f((2, 3))``. Lengths are whole numbers from 0 on."""
    size = size[0] if len(size) == 1 and isinstance(size[0], list | tuple) else size
    for i, s in enumerate(size):
        if isinstance(s, bool) or not (isinstance(s, int | np.integer) or (isinstance(s, Tensor) and s.ndim == 0)):
            got = type(s).__name__
            inside = f'failed to unpack the object at pos {i + 1} with error "type must be tuple of ints,but got {got}"'
            first = f"(position 1) must be tuple of ints, not {got}"
            raise TypeError(f"{name}(): argument 'size' {inside if i else first}")
    shape = tuple(map(int, size))
    if min(shape, default=0) < 0:
        if name in ("zeros", "ones"):
            raise RuntimeError(f"{name}: Dimension size must be non-negative.")
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    return shape


def drawn(name: str, size: Any, draw: Callable[[int, np.dtype[Any]], Array], dtype: dtype | None = None, **made: Any) -> Tensor:
    """A leaf of shape `size` with numbers from ``draw(how many, type)``."""
    shape = sizes_of(name, tuple(size))
    kind = (dtype or get_default_dtype()).numpy
    return leaf(name, draw(int(np.prod(shape)), kind).astype(kind).reshape(shape), **made)


def _random(name: str, numbers: str, kernel: str, draw: Any) -> tuple[Any, Any]:
    """`rand` and `rand_like` from ``draw(generator, how many, type, into memory in order)``."""

    def checked(generator: Generator | None, n: int, kind: np.dtype[Any], in_order: bool = True) -> Array:
        refuse(np.empty(0, kind), "iub", kernel)
        return np.asarray(draw(chosen(generator), n, kind, in_order))

    def of_size(*shape: Any, generator: Generator | None = None, **made: Any) -> Tensor:
        return drawn(name, sizes_of(name, made.pop("size", shape)), lambda n, kind: checked(generator, n, kind), **made)

    def like(input: Tensor, *, generator: Generator | None = None, dtype: dtype | None = None, **made: Any) -> Tensor:
        made.pop("memory_format", None)
        kind, array = (dtype or input.dtype).numpy, input._data
        numbers = checked(generator, array.size, kind, memory_order(array) == list(range(array.ndim)))
        return leaf(f"{name}_like", laid_out(numbers.astype(kind, copy=False), array), **made)

    of_size.__doc__ = f"{numbers}. Arguments: the shape, generator, dtype, device, requires_grad."
    like.__doc__ = f"{numbers} in the shape and type of `input`."
    for function, full in ((of_size, name), (like, f"{name}_like")):
        function.__name__ = full
        public(f"torch.{full}")(function)
    return of_size, like


rand, rand_like = _random(
    "rand", "Uniform numbers from [0, 1)", "check_uniform_bounds", lambda source, n, kind, _: source.uniform(n, kind)
)
randn, randn_like = _random(
    "randn", "Standard normal numbers", "normal_kernel_cpu",
    lambda source, n, kind, in_order: source.normal(n, kind, blocks=in_order),
)  # fmt: skip


NO_CUDA = "type {} not available. Torch not compiled with CUDA enabled."


class LegacyType(type):
    """The type of torch.FloatTensor and its like. Their instances are the tensors of one dtype."""

    dtype: dtypes.dtype
    is_cuda: bool  # of the missing device

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, Tensor) and x.dtype is cls.dtype and not cls.is_cuda

    def __call__(cls, *data: Any, device: Any = None) -> Tensor:
        """A tensor of values, or of a shape."""
        refuse_if(cls.is_cuda, lambda: NO_CUDA.format(f"{cls.__module__}.{cls.__name__}"), TypeError)
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
    refuse_if(name.startswith("torch.cuda."), lambda: NO_CUDA.format(name), TypeError)
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
