"""PyTorch's behaviour, program by program: what they say in both must be the same."""

from __future__ import annotations

import pytest

import autograd_viz as av

from .semantics import PROGRAMS, outcome

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_says_what_pytorch_says(name: str) -> None:
    torch.set_warn_always(True)  # what it would say once in the life of a process
    try:
        assert outcome(PROGRAMS[name], av) == outcome(PROGRAMS[name], torch)
    finally:
        torch.set_warn_always(False)
