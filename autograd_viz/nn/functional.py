"""Stateless functions, by the names of torch.nn.functional."""

from ..core.ops.activation import relu, sigmoid, tanh

__all__ = ["relu", "sigmoid", "tanh"]
