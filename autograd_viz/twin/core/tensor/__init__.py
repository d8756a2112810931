"""A tensor: an array and five attributes. How it is made, printed, stored and inspected."""

from .arguments import SEVERAL, brought_together, check_broadcast, check_dim, distinct_dims, from_front, ints
from .as_array import Array, Size
from .interchange import _rebuilt as _rebuilt  # pickles contain this path
from .number import fitted
from .refusals import check_expands, check_scalar_type, check_tensor, of_tensors, refuse, refuse_if, refusing, scalar_type
from .tensor import Tensor

__all__ = [
    "SEVERAL", "Array", "Size", "Tensor", "brought_together", "check_broadcast", "check_dim", "check_expands",
    "check_scalar_type", "check_tensor", "distinct_dims", "fitted", "from_front", "ints", "of_tensors", "refuse", "refuse_if",
    "refusing", "scalar_type",
]  # fmt: skip
