"""Tensors on a device that is not the CPU: what is done there is what `loss.backward()` does, and only small things are copied.

There is no GPU here. `tests/device` is a device of our own: real storages, the thread of a device in PyTorch's engine, a side
stream. It says nothing of CUDA's kernels, and has one device only.
"""

from __future__ import annotations

import functools
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils import backend_registration  # noqa: E402

from autograd_viz.sources.shared.values import FEW, SIDE  # noqa: E402

from .. import fresh  # noqa: E402

HAS_IT = hasattr(backend_registration, "_setup_privateuseone_for_python_backend")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(not HAS_IT, reason=f"PyTorch {torch.__version__} knows no devices written in Python"),
]
FORMS = [f"{net} {how}" for net in ("mlp", "cnn") for how in ("plain", "recorded")]
MOST_COPIED = 8 * max(FEW, SIDE * SIDE)  # bytes: all elements of a small tensor, or a thumbnail, in double precision


@functools.cache
def _found() -> dict[str, Any]:
    """What the programs found, in a process of their own: a device is registered once, before anything runs backward."""
    root = Path(__file__).parents[2]
    command = [*fresh.python(*fresh.COMPILER), "-W", "error", "-m", "tests.device.programs"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("form", FORMS)
def test_a_stepped_pass_ends_like_backward(form: str) -> None:
    found = _found()[form]
    assert found["order"] and found["bits"] and found["grads on the device"]


@pytest.mark.parametrize("form", FORMS)
def test_back_and_forwards_again(form: str) -> None:
    found = _found()[form]
    assert found["back"] and found["again"] and found["unharmed"]


@pytest.mark.parametrize("form", FORMS)
def test_only_small_things_are_copied(form: str) -> None:
    found = _found()[form]
    assert found["summaries"]
    assert 0 < found["copied at once"] <= MOST_COPIED


@pytest.mark.parametrize("net", ["mlp", "cnn"])
def test_it_is_drawn_saved_and_explained(net: str) -> None:
    found = _found()[f"{net} drawn"]
    assert found["svg"] and found["json"] and "backward nodes" in found["show"]
    assert "Nothing stands out" in found["explain"]
    assert found["at once"] <= MOST_COPIED
    assert found["bytes"] < 50_000  # the mlp alone has 260,000 bytes of weights


@pytest.mark.parametrize("net", ["mlp", "cnn"])
def test_the_graph_is_still_good(net: str) -> None:
    assert _found()[f"{net} after"]


def test_hooks_and_functions_run() -> None:
    assert _found()["hooked"]


def test_a_forward_pass_on_a_side_stream_is_waited_for() -> None:
    assert _found()["side stream"] == {"is late": True, "value": True, "bits": True}


def test_a_call_by_hand_is_between_two_waits_with_its_device_the_current_one() -> None:
    assert _found()["waited for"] == ["synchronize", "mul", "synchronize", "box:0"]


def test_an_op_that_the_device_lacks_is_said_and_the_pass_goes_on() -> None:
    said = _found()["without a norm"]
    assert said.startswith("65536 elements, not summed up: Could not run 'aten::linalg_vector_norm'") and said.endswith("None")
