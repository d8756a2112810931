"""Small programs about PyTorch's behaviour, run in both."""

from . import functions, hooks, in_place, modes, more, out, passes, saved, views
from .programs import PROGRAMS, outcome

__all__ = ["PROGRAMS", "functions", "hooks", "in_place", "modes", "more", "out", "outcome", "passes", "saved", "views"]
