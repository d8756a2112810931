"""Sequences of different lengths in one tensor: padded, or packed time by time without padding."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.ops.shape.joining import cat, stack
from ...core.tensor import Tensor, as_tensor, full, refuse_if


def pad_sequence(
    sequences: Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Any:
    """Tensors that differ only in their first length in one, (time, batch, ...), or with `batch_first` (batch, time, ...).

    The padding is at the end, or for "left" at the beginning. Raises RuntimeError: another side.
    """
    refuse_if(padding_side not in ("left", "right"), "Expected padding_side to be one of left or right")
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


class PackedSequence(namedtuple("_Parts", ("data", "batch_sizes", "sorted_indices", "unsorted_indices"))):
    """The elements of all sequences, time by time, the longest sequence first. Recurrent layers take it and return one.

    `batch_sizes` says how many sequences go on at each time, `sorted_indices` their order, or None if they came in it.
    """

    __slots__ = ()

    def __new__(cls, data: Any, batch_sizes: Any, sorted_indices: Any = None, unsorted_indices: Any = None) -> PackedSequence:
        """`unsorted_indices` follows from `sorted_indices`."""
        if unsorted_indices is None and sorted_indices is not None:
            unsorted_indices = Tensor(np.argsort(sorted_indices._data))
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *wanted: Any, **named: Any) -> PackedSequence:
        """The same with the data in another type."""
        return self._replace(data=self.data.to(*wanted, **named))

    @property
    def is_cuda(self) -> bool:
        """False: there is one device."""
        return False


def pack_padded_sequence(input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True) -> PackedSequence:
    """Pack a batch of padded sequences, (time, batch, ...), or with `batch_first` (batch, time, ...).

    The longest sequence comes first, unless `enforce_sorted` is False.
    Raises RuntimeError: the lengths do not fit, or are not sorted; in PyTorch's words.
    """
    counts, order = np.asarray(as_tensor(lengths)._data, np.int64), None
    if not enforce_sorted:
        order = np.argsort(-counts, kind="stable")
        input, counts = input.index_select(0 if batch_first else 1, Tensor(order)), counts[order]
    x = input.transpose(0, 1) if batch_first else input
    _check_lengths(counts, x.shape)
    going = np.arange(counts[0])[:, None] < counts  # (time, batch): the sequence has an element
    data = x.flatten(0, 1).index_select(0, Tensor(np.flatnonzero(going)))
    return PackedSequence(data, Tensor(going.sum(1)), None if order is None else Tensor(order))


def _check_lengths(counts: Any, shape: Any) -> None:
    if len(counts) != shape[1]:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={shape[1]})")
    if (counts <= 0).any():
        said = "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        raise RuntimeError(said)
    if (np.diff(counts) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not "
            "need ONNX exportability."
        )
    if counts[0] > shape[0]:
        raise RuntimeError(f"Expected sequence length to be at most {shape[0]}, the length of the input, but got {counts[0]}")


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Any, Any]:
    """The batch of padded sequences, (time, batch, ...), or with `batch_first` (batch, time, ...), and their lengths.

    They are padded to the longest, or to `total_length`. Raises ValueError: that is shorter.
    """
    data, sizes = sequence.data, sequence.batch_sizes._data
    times = len(sizes) if total_length is None else total_length
    if times < len(sizes):
        said = "Expected total_length to be at least the length of the longest sequence in input"
        raise ValueError(f"{said}, but got total_length={total_length} and max sequence length being {len(sizes)}")
    going = np.arange(sizes[0]) < np.pad(sizes, (0, times - len(sizes)))[:, None]
    places = np.where(going, np.cumsum(going).reshape(going.shape) - 1, len(data))  # the row behind the data is padding
    rows = cat([data, full((1, *data.shape[1:]), padding_value, dtype=data.dtype)])
    padded, lengths = rows.index_select(0, Tensor(places.ravel())).unflatten(0, going.shape), Tensor(going.sum(0))
    if (undo := sequence.unsorted_indices) is not None:
        padded, lengths = padded.index_select(1, undo), Tensor(lengths._data[undo._data])
    return padded.transpose(0, 1) if batch_first else padded, lengths


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack tensors that differ only in their first length."""
    return pack_padded_sequence(pad_sequence(sequences), [len(s) for s in sequences], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """The tensors that `pack_sequence` packed."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences))
