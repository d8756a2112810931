"""What the kernel sets, and what `%pip install` calls."""

from __future__ import annotations

from typing import Any


async def install(requirements: Any, **options: Any) -> None:
    """Say that a page of this site installs nothing."""
    raise RuntimeError(f"{requirements}: a notebook of this site cannot install packages")
