"""Programs about which explain once said something false: what it has to say, and what it must not."""

from __future__ import annotations

import pytest

from .explained import run

pytestmark = pytest.mark.torch
LOOP = "m = torch.nn.Linear(2, 1)\no = torch.optim.SGD(m.parameters(), lr=0.1)\n"
ONE_LINE = "for _ in range(3):\n    o.zero_grad(); m(torch.randn(8, 2)).pow(2).mean().backward(); o.step()\n"
QUANTIZE = """
class Quantize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, n):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return None, None


m = torch.nn.Linear(2, 2)
loss = Quantize.apply(m(torch.ones(1, 2)), 3).sum()
loss.backward()
"""
BLOCK = """
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.branch = torch.nn.Sequential(torch.nn.ReLU(inplace=True), torch.nn.Linear(2, 2))

    def forward(self, x):
        return x + self.branch(x)


m = torch.nn.Linear(2, 2)
with torch.no_grad():
    m.bias.fill_(-100.0)
loss = Block()(m(torch.ones(1, 2))).sum()
loss.backward()
"""
FROZEN = """
m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
o = torch.optim.Adam(m.parameters())
for i in range(3):
    o.zero_grad(set_to_none=False)
    m(torch.randn(4, 2)).pow(2).mean().backward()
    o.step()
    m[0].requires_grad_(False)
"""
SCALED = """
m = torch.nn.Linear(2, 1)
o, scaler = torch.optim.SGD(m.parameters(), lr=0.1), torch.amp.GradScaler("cpu")
scaler.scale(m(torch.ones(4, 2)).pow(2).mean()).backward()
torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0)
"""
# the program, what is asked, a part of what is said, a part of what was said
TOLD = {
    "reads of a run of its own": (LOOP + "run = av.watch(m)\n" + ONE_LINE + "run.close()", "m.weight", "", "tolist"),
    "a root after the model": (
        LOOP + "a, b = torch.ones(1, 2), torch.ones(1, 2)\nloss = (m(a) - m(b)).pow(2).sum().sqrt()\nloss.backward()",
        "m.weight",
        "sqrt is 0",
        "check the data",
    ),
    "a recorded loss": (
        LOOP + "with av.record():\n    loss = m(torch.ones(1, 2)).sum()\nloss.backward()", "m.weight", "", "record",
    ),
    "a Function that returns None": (QUANTIZE, "m.weight", "the backward of Quantize returned None", "TBackward"),
    "log of a target of zero": (
        "q = torch.full((2,), 0.5, requires_grad=True)\nt = torch.tensor([0.0, 1.0])\n"
        "loss = (t * torch.log(t / q)).sum()\nloss.backward()",
        "q",
        "log returned -inf",
        "record",
    ),
    "ctc of a short input": (
        "x = torch.randn(4, 1, 5, requires_grad=True)\n"
        "loss = F.ctc_loss(x.log_softmax(2), torch.tensor([[1, 2, 3, 4, 1, 2]]), torch.tensor([4]), torch.tensor([6]))\n"
        "loss.backward()",
        "x",
        "zero_infinity=True",
        "clamp",
    ),
    "a clipped scaled gradient": (SCALED, "m.weight", "unscale_", "Raise the limit"),
    "a frozen layer that moves": (FROZEN, "m[0].weight", "still moves it", "if it should learn"),
    "an in-place relu before a skip": (BLOCK, "m.weight", "Leave inplace=True out", "leaky_relu"),
    "an update that is no leaf": (
        "w = torch.ones(2, requires_grad=True)\nw.sum().backward()\nw = w - 0.1 * w.grad\nloss = w.sum()\nloss.backward()",
        "w, loss",
        "no_grad()",
        "requires_grad_() last",
    ),
    "an unused layer": (
        LOOP + "unused = torch.nn.Linear(2, 2)\n" + ONE_LINE, "unused.weight", "no op", "detach",
    ),
    "grad mode left off": (
        "w = torch.ones(2, requires_grad=True)\ntorch.set_grad_enabled(False)\nloss = (w * 2).sum()\n"
        "torch.set_grad_enabled(True)\ntry:\n    loss.backward()\nexcept RuntimeError as e:\n    error = e",
        "error",
        "no_grad()",
        "None of the loss's inputs",
    ),
    "a copy was trained": (
        "import copy\nmeta = torch.nn.Linear(2, 1)\nfast = copy.deepcopy(meta)\nfast(torch.ones(1, 2)).sum().backward()",
        "meta.weight",
        "copy",
        "Use that result",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TOLD)
def test_what_was_said_falsely_is_said_no_more(name: str) -> None:
    program, ask, wanted, unwanted = TOLD[name]
    said = str(run(program.strip(), "torch", ask, watched=True))
    assert wanted in said and unwanted not in said, said
