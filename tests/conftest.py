"""Marks for what a machine may lack: `torch` needs PyTorch, `browser` needs Chromium."""

from __future__ import annotations

import gc
import importlib.util
import os
import sys
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # two processes on two cores; before NumPy and PyTorch are there
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # jsonschema goes without; its grammars take 1.5 s

from . import effort  # noqa: E402
from .browser.lab import CHROMIUM  # noqa: E402

NOTEBOOK_TESTS = ("test_notebooks", "test_saved_notebook", "test_elsewhere", "test_html", "test_torch", "test_site")

settings.register_profile("suite", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="try every random example, five times as many as usual")


def pytest_configure(config: pytest.Config) -> None:
    effort.THOROUGH = config.getoption("--thorough")


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


@pytest.fixture(autouse=True)
def _only_new_objects() -> Iterator[None]:
    """The collector, and every look for a tensor's hooks, walks through what one test makes, not through PyTorch each time."""
    gc.freeze()
    yield
    gc.collect()


@pytest.fixture(autouse=True)
def _nobody_watches_on() -> Iterator[None]:
    """A recorder that a test leaves on, as the README's code does, sees nothing of the next."""
    yield
    watch: Any = sys.modules.get("autograd_viz.sources.pytorch.recording.watch")
    if watch is not None and watch.current is not None:
        watch.current.close()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """File by file, but the browser tests in two halves: each process starts one JupyterLab and one Chromium, then computes."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            if "browser/" not in nodeid:
                return str(super()._split_scope(nodeid))
            return "browser, notebooks" if any(name in nodeid for name in NOTEBOOK_TESTS) else "browser"

    return Scheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that skips itself where PyTorch is missing, without the mark, fails: a run by marks would never see it."""
    report = yield
    if report.skipped and "could not import 'torch'" in str(report.longrepr) and not item.get_closest_marker("torch"):
        report.outcome, report.longrepr = "failed", "this test needs PyTorch: mark it with pytest.mark.torch"
    return report
