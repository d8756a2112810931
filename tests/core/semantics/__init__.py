"""Small programs about PyTorch's behaviour, run in both."""

from . import (
    functions,
    functions_in_place,
    gradients,
    hooks,
    in_place,
    memory,
    modes,
    module_hooks,
    more,
    node_hooks,
    out,
    passes,
    saved,
    views,
)
from .programs import PROGRAMS, outcome

__all__ = [
    "PROGRAMS",
    "functions",
    "functions_in_place",
    "gradients",
    "hooks",
    "in_place",
    "memory",
    "modes",
    "module_hooks",
    "more",
    "node_hooks",
    "out",
    "outcome",
    "passes",
    "saved",
    "views",
]
