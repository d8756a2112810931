"""Sequences of different lengths in one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.ops.shape.joining import cat, stack
from ...core.tensor.factories import full
from ...core.tensor.tensor import Tensor


def pad_sequence(
    sequences: Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Any:
    """The sequences in one tensor, with padding for the shorter ones.

    Args:
        sequences: tensors that differ only in their first length.
        batch_first: (batch, time, ...) instead of (time, batch, ...).
        padding_value: the value of the padding.
        padding_side: "right" pads at the end, "left" at the beginning.

    Raises:
        RuntimeError: an unknown `padding_side`.
    """
    if padding_side not in ("left", "right"):
        raise RuntimeError("Expected padding_side to be one of left or right")
    longest = max(s.shape[0] for s in sequences)
    filled: list[Any] = []
    for s in sequences:
        missing = full((longest - s.shape[0], *s.shape[1:]), padding_value, dtype=s.dtype)
        parts = [s, missing] if padding_side == "right" else [missing, s]
        filled.append(cat(parts) if longest > s.shape[0] else s)
    return stack(filled, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Any, batch_first: bool = False) -> list[Any]:
    """The sequences without their padding."""
    batches: Any = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row.narrow(0, 0, int(n)) for row, n in zip(batches.unbind(0), lengths, strict=True)]
