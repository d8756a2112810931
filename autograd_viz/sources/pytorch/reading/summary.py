"""Describes a large tensor on an accelerator. It is summarized there; only the sums are copied."""

from __future__ import annotations

import math
from typing import Any

import torch

from ....graph.model import Summary
from ...shared.summary import SIDE


def summary_on_device(t: Any) -> Summary:
    """The same as `sources.summary.summary_of`, for a tensor with at least one element.

    Args:
        t: any shape and type; complex elements count by their absolute value.
    """
    real = t.detach().abs() if t.is_complex() else t.detach()
    real = real if real.is_floating_point() and real.element_size() >= 4 else real.to(torch.float32)
    matrix = real.reshape(-1, real.shape[-1] if real.ndim else 1)
    finite = matrix.isfinite()
    there = matrix[finite]
    sums, counts = _block_sums(matrix), _block_sums(torch.ones_like(finite))
    thumbnail = tuple((sums / counts).reshape(-1).tolist())
    nans, zeros = int(matrix.isnan().sum()), int((matrix == 0).sum())
    infs = matrix.numel() - there.numel() - nans
    numbers = _numbers(there) if there.numel() else (math.nan, math.nan, math.nan, 0.0)
    rows, columns = sums.shape
    return Summary(*numbers, zeros, nans, infs, rows, columns, thumbnail)


def _numbers(values: Any) -> tuple[float, float, float, float]:
    """Least, most, mean, Euclidean norm."""
    mean = values.sum(dtype=_wide(values)) / values.numel()
    return float(values.min()), float(values.max()), float(mean), float(torch.linalg.vector_norm(values, dtype=_wide(values)))


def _block_sums(matrix: Any) -> Any:
    """The matrix divided into at most SIDE x SIDE blocks, and the sum of each."""
    for dim in (0, 1):
        count = matrix.shape[dim]
        starts = [i * count // SIDE for i in range(1, SIDE)] if count > SIDE else list(range(1, count))
        matrix = torch.stack([b.sum(dim, dtype=_wide(matrix)) for b in matrix.tensor_split(starts, dim)], dim)
    return matrix


def _wide(values: Any) -> Any:
    """The values in the type for sums: double, if the accelerator has it."""
    return torch.float32 if values.device.type == "mps" else torch.float64
