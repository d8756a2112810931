"""Arithmetic without NumPy's warnings about inf and nan, as in PyTorch, at a tenth of the cost of `np.errstate`."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


class _Quiet(threading.local):
    """``quiet.run(function, *args)``: in a context, where NumPy keeps its error handling; the user's settings stay as they are.

    Each thread has its own context, because only one can enter a context at a time.
    """

    def __init__(self) -> None:
        context = contextvars.Context()
        context.run(np.seterr, all="ignore")
        self.run: Callable[..., Any] = context.run

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Allow ops inside a quiet function: a context cannot be entered twice."""
        before, self.run = self.run, lambda function, *args, **kwargs: function(*args, **kwargs)
        try:
            yield
        finally:
            self.run = before


quiet = _Quiet()
