"""What tests of recorders share."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def only_new_objects() -> Iterator[None]:
    """The collector need not look at PyTorch itself, and PyTorch warns every time."""
    torch = pytest.importorskip("torch")
    gc.collect()
    gc.freeze()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)
    gc.unfreeze()


@pytest.fixture
def watch_ends() -> Iterator[None]:
    """The recorder is closed after the test, and has left no mode."""
    torch = pytest.importorskip("torch")
    import autograd_viz as av

    yield
    av.watch().close()
    assert torch._C._len_torch_function_stack() == 0
