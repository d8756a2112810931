"""Discrete Fourier transforms, by the names of torch.fft."""

from .core.base.missing import module_getattr
from .core.base.public import NAMESPACES

globals().update(NAMESPACES["fft"])
__getattr__ = module_getattr("torch.fft", globals())

__all__ = list(NAMESPACES["fft"])
