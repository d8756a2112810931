"""Layers, by the names of torch.nn: what the notes' programs use."""

from . import functional
from .module import Module, Parameter

__all__ = ["Module", "Parameter", "functional"]
