"""The core and PyTorch, for tests of both; torch is None where it is missing."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av

torch: Any = None
try:
    import torch as imported

    torch = imported
except ImportError:
    pass

BOTH = [pytest.param(av, id="core"), pytest.param(torch, id="torch", marks=pytest.mark.torch)]
