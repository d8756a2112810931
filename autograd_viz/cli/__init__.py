"""The command `autograd-viz`."""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command: see command.py, which a page that only runs a program does not load."""
    from .command import main as run

    return run(argv)


__all__ = ["main"]
