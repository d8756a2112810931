"""The autograd engine: NumPy only. README.md gives the reading order."""

from . import methods as _methods  # noqa: F401 -- puts the ops on Tensor
