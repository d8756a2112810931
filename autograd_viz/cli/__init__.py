"""The command `autograd-viz`."""

from .main import main

__all__ = ["main"]
