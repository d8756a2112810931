"""Small programs about PyTorch's behaviour, run in both."""

from . import functions, functions_in_place, hooks, in_place, modes, more, out, passes, saved, views
from .programs import PROGRAMS, outcome

__all__ = ["PROGRAMS", "functions", "functions_in_place", "hooks", "in_place", "modes", "more", "out", "outcome", "passes"]
__all__ += ["saved", "views"]
