"""A tensor: an array and five attributes. How it is made, printed, stored and inspected."""

from .arguments import SEVERAL, brought_together, check_broadcast, check_dim, distinct_dims, from_front, ints
from .as_array import Array, Size
from .creation import as_tensor, leaf, rand_like, randn
from .extra import InferenceCounter
from .factories import empty, full, ones, ones_like, zeros, zeros_like
from .interchange import _rebuilt as _rebuilt  # pickles contain this path
from .number import fitted
from .random import Generator, chosen, default_generator
from .refusals import check_expands, check_scalar_type, check_tensor, of_tensors, refuse, refuse_if, refusing, scalar_type
from .tensor import Tensor

__all__ = [
    "SEVERAL", "Array", "Generator", "InferenceCounter", "Size", "Tensor", "as_tensor", "brought_together", "check_broadcast",
    "check_dim", "check_expands", "check_scalar_type", "check_tensor", "chosen", "default_generator", "distinct_dims", "empty",
    "fitted", "from_front", "full", "ints", "leaf", "of_tensors", "ones", "ones_like", "rand_like", "randn", "refuse",
    "refuse_if", "refusing", "scalar_type", "zeros", "zeros_like",
]  # fmt: skip
