"""How the elements of an array lie in memory: dense, in which order, or several in one place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import array as new_array

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


def turns(array: Any) -> list[Any]:
    """Masks of the elements to write in turn, so that those in one place in memory are written one after the other.

    The order is PyTorch's: row by row, the dimension with the largest step first. A step of 0 is no reason for turns.
    """
    reach = array.itemsize
    for step, length in sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if 0 < step < reach:
            break
        reach += step * (length - 1)
    else:
        return [True]
    order = sorted(range(array.ndim), key=lambda d: -abs(array.strides[d]))
    places = sum(np.arange(n).reshape(-1, *(1,) * (array.ndim - d - 1)) * array.strides[d] for d, n in enumerate(array.shape))
    row = places.transpose(order).ravel()
    by_place = np.argsort(row, kind="stable")
    _, counts = np.unique(row, return_counts=True)
    turn = np.empty(row.size, int)
    turn[by_place] = np.concatenate([np.arange(n) for n in counts])
    turn = turn.reshape(places.transpose(order).shape).transpose(np.argsort(order))
    return [turn == k for k in range(counts.max())]


def is_dense(array: Any) -> bool:
    """Do the elements fill their memory without gaps, in some order of the dimensions?"""
    expected = array.itemsize
    for step, length in sorted((s, n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if step != expected:
            return False
        expected *= length
    return True


def copied_like(values: Any, like: Any) -> Any:
    """A copy of `values` with the memory order of `like`, an array of the same shape and type; row-major if that has gaps."""
    if like.flags.c_contiguous or not is_dense(like):
        return new_array(values, like.dtype, order="C")
    found = np.empty_like(like)
    found[...] = values
    return found


def steps_in(array: Any, shape: tuple[int, ...]) -> list[int]:
    """The strides of an array that is broadcast to `shape`: 0 where it is repeated."""
    lead = len(shape) - array.ndim
    own = zip(array.strides, array.shape, shape[lead:], strict=True)
    return [0] * lead + [0 if n == 1 != whole else step for step, n, whole in own]


def laid_out_for(result: Any, operands: list[list[int]]) -> Any:
    """`result` in TensorIterator's order: by the strides of the first operand that tells two dimensions apart."""
    order = list(range(result.ndim))[::-1]  # the innermost dimension first
    for i in range(1, len(order)):
        place = i
        for k in reversed(range(i)):
            which = _outer(order[k], order[place], operands, result.shape)
            if which < 0:
                break
            if which > 0:
                order[k], order[place] = order[place], order[k]
                place = k
    order.reverse()
    if order == sorted(order):
        return np.asarray(result, order="C")
    return np.asarray(result.transpose(order), order="C").transpose(np.argsort(order))


def _outer(first: int, second: int, operands: list[list[int]], shape: tuple[int, ...]) -> int:
    """1 if dimension `first` belongs outside `second`, -1 if inside, 0 if no operand tells."""
    for steps in operands:
        a, b = steps[first], steps[second]
        if a and b and (a != b or shape[first] > shape[second]):
            return 1 if a >= b else -1
    return 0
