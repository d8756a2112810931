"""Keeps random numbers as they were, in a pass that is taken back."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ...twin.core.tensor.random import default_generator


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
