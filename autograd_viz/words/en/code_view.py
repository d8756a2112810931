"""English: what the code view says."""

from __future__ import annotations

UI = {
    "code": "Your code",
    "code_tip": "Your code: what just ran and what is next (l)",
    "code_lines": "Lines of your code",
    "code_stack": "Modules that are being called",
    "code_texts": "Functions and cells",
    "code_cell": "cell",
    "code_caller": "caller",
    "code_ran": "just ran",
    "code_next": "next",
    "code_turn": "turn {turn} of {turns}",
    "code_grad": "the gradient that arrived here",
    "code_stop": "Stop at line {line}",
    "key_code": "show or hide your code",
}
