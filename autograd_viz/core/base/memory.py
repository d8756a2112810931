"""How the elements of an array lie in memory: dense, in which order, or several in one place."""

from __future__ import annotations

from typing import Any

import numpy as np

OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() "
    "the tensor before performing the operation."
)


def elements_overlap(array: Any) -> bool:
    """Do several elements share one place in memory?"""
    return bool(array.size) and any(step == 0 and n > 1 for step, n in zip(array.strides, array.shape, strict=True))


def check_overlap(array: Any) -> None:
    """Refuse to write if several elements share one place in memory."""
    if elements_overlap(array):
        raise RuntimeError(OVERLAP)


def is_dense(array: Any) -> bool:
    """Do the elements fill their memory without gaps, in some order of the dimensions?"""
    expected = array.itemsize
    for step, length in sorted((s, n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if step != expected:
            return False
        expected *= length
    return True


def copied_like(values: Any, like: Any) -> Any:
    """A copy of `values` with the memory order of `like`, an array of the same shape and type.

    The copy is row-major if `like` has gaps.
    """
    if like.flags.c_contiguous or not is_dense(like):
        return np.array(values, like.dtype, order="C")
    found = np.empty_like(like)
    found[...] = values
    return found
