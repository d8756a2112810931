"""A tensor: an array and five attributes; how one is made, written, kept and asked."""

from .copying import _rebuilt as _rebuilt  # pickles name it here
from .tensor import Tensor as Tensor
