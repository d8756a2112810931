"""A tensor: an array and five attributes. How it is made, printed, stored and inspected."""

from .interchange import _rebuilt as _rebuilt  # pickles contain this path
from .tensor import Tensor as Tensor
