"""Protects what the user's code (a hook, a Function's backward) may change in a pass that is taken back."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from ..twin.core.tensor.random import default_generator
from ..twin.core.tensor.tensor import Tensor
from .snapshots_core import ArraySnapshot, GradSnapshot


@contextmanager
def random_numbers_kept() -> Iterator[None]:
    """Afterwards the generators of Python, NumPy and the core have their former state."""
    states = random.getstate(), np.random.get_state(), default_generator.get_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        default_generator.set_state(states[2])


@contextmanager
def leaves_kept(leaves: Iterable[Tensor]) -> Iterator[None]:
    """Afterwards data, version and grad of these tensors are as before: a hook may be an optimizer's step."""
    kept = [(t, ArraySnapshot(t._data), t._version, GradSnapshot(t)) for t in leaves]
    try:
        yield
    finally:
        for leaf, data, version, grad in kept:
            if not data.holds():
                data.restore()
            if leaf._version != version:
                leaf._shared_counter()[0] = version
            grad.restore()
