"""What happens in plain words with its numbers: steps of the backward pass, ops of the forward pass, errors."""

from .errors import explain_error
from .past import Past
from .steps import Sentences
from .text import after_hooks, before_hooks, hook_kind, listed, same, size_text, together

__all__ = [
    "Past",
    "Sentences",
    "after_hooks",
    "before_hooks",
    "explain_error",
    "hook_kind",
    "listed",
    "same",
    "size_text",
    "together",
]
