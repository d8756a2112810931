"""Discrete Fourier transforms, by the names of torch.fft."""

from .core.public import NAMESPACES

globals().update(NAMESPACES["fft"])

__all__ = list(NAMESPACES["fft"])
