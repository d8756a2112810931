"""What the notebooks say about PyTorch, each with a program that shows it in PyTorch."""

from . import backward, costs, recording, rules
from .said import TRUTHS, Truth

__all__ = ["TRUTHS", "Truth", "backward", "costs", "recording", "rules"]
