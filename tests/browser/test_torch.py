"""Real PyTorch graphs in a real JupyterLab: pictured, recorded, stepped."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .lab import LabPage
from .test_stepper import Stepping

pytest.importorskip("torch")
pytestmark = [pytest.mark.browser, pytest.mark.torch]

MODEL = """import torch
import autograd_viz as av

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
x = torch.tensor([[1.0, 2.0]])
with av.record(model):
    loss = model(x).pow(2).sum()"""
STEP = "s = av.step(loss)\ns"


def test_a_recorded_module_is_stepped_to_the_gradients_of_backward(open_notebook: Callable[..., LabPage]) -> None:
    lab = open_notebook(MODEL, STEP)
    lab.run_all()
    stepping = Stepping(lab)
    assert "model.0.weight" in str(stepping.widget.text_content())
    stepping.press("next")
    stepping.wait_for_step(1)
    assert "SumBackward0" in str(stepping.widget.locator(".av-said").text_content())
    stepping.press("finish")
    stepping.wait_for_step(11)
    assert lab.run_code("print(s.stepper.step)") == "11"
    same = "g = [p.grad.clone() for p in model.parameters()]; model.zero_grad(); loss.backward()\n"
    same += "print(all(torch.equal(a, p.grad) for a, p in zip(g, model.parameters())))"
    assert lab.run_code(same) == "True"
