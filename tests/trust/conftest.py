"""What all of these tests share."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _only_new_objects() -> Iterator[None]:
    """A stepper of PyTorch's asks the collector for tensors with hooks: it need not look at PyTorch itself each time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # what tests before have left open is none of these
        gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
