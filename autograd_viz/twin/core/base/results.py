"""The results of ops with several outputs: a named tuple with the repr of PyTorch's torch.return_types."""

from __future__ import annotations

from collections import namedtuple
from typing import Any


def return_type(name: str, *fields: str) -> Any:
    """A class of named tuples with the repr of PyTorch's torch.return_types.<name>."""
    results = namedtuple(name, fields)  # type: ignore[misc]

    def text(self: Any) -> str:
        inside = ",\n".join(f"{field}={getattr(self, field)!r}" for field in fields)
        return f"torch.return_types.{name}(\n{inside})"

    results.__repr__ = text  # type: ignore[method-assign]
    return results
