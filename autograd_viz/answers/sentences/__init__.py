"""Events in plain words with their numbers: steps of the backward pass, ops of the forward pass, errors."""

from .errors import explain_error, whose_error
from .past import PROPERTIES, Arrival, Births, Past, born_in, sent
from .steps import Sentences
from .text import after_hooks, before_hooks, hook_kind, is_differentiable, listed, same, together, written

__all__ = [
    "PROPERTIES", "Arrival", "Births", "Past", "Sentences", "after_hooks", "before_hooks", "born_in", "explain_error",
    "hook_kind", "is_differentiable", "listed", "same", "sent", "together", "whose_error", "written",
]  # fmt: skip
