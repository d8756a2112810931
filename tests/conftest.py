"""Marks for what a machine may lack: `torch` needs PyTorch, `browser` needs Chromium."""

from __future__ import annotations

import importlib.util
import os

import pytest
from hypothesis import settings

from .browser.lab import CHROMIUM

settings.register_profile("suite", deadline=None, derandomize="AUTOGRAD_VIZ_EXAMPLES" not in os.environ, print_blob=True)
settings.load_profile("suite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what cannot run here, and say why; `.ci/run` refuses such skips."""
    lacking = {
        "torch": None if importlib.util.find_spec("torch") else "PyTorch is not installed",
        "browser": None if CHROMIUM and importlib.util.find_spec("playwright") else "Chromium or playwright is not installed",
    }
    for item in items:
        for mark, reason in lacking.items():
            if reason and mark in item.keywords:
                item.add_marker(pytest.mark.skip(reason=reason))
