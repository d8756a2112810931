"""Has the user imported PyTorch?"""

from __future__ import annotations

import sys
from types import ModuleType


def pytorch() -> ModuleType | None:
    """PyTorch, if it is imported. The twin under PyTorch's name (`twin.as_torch`) is not PyTorch."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and torch.__name__ == "torch" else None
