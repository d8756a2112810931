"""Pairs of programs: a fault and what check says of it; its innocent twin, and what must not be said of that."""

from __future__ import annotations

import pytest

from .checked import found
from .explained import told as explained

pytestmark = pytest.mark.torch
ATTENDED = """
e, a = torch.nn.Embedding(9, 4, padding_idx=0), torch.nn.MultiheadAttention(4, 1, batch_first=True)
t = torch.tensor([[1, 2, 3, 0], [4, 5, 6, 0]])
h = e(t)
loss = a(h, h, h, key_padding_mask=t {0} 0)[0][:, 0].sub(1).pow(2).sum()
loss.backward()
"""
COPIES = """
import copy
{0}
m = torch.nn.Linear(2, 1)
o = torch.optim.Adam(m.parameters())
for i in range(3):
    total = 0
    for task in range(2):
        fast = copy.deepcopy(m)
        inner = {1}
        fast(torch.randn(4, 2)).pow(2).mean().backward()
        inner.step()
        total = total + fast(torch.randn(4, 2)).pow(2).mean()
    total.backward()
    o.step()
"""
HOOKED = """
m = torch.nn.Linear(3, 1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
{0}
for i in range(60):
    {1}
    loss = (m(x) - y).pow(2).mean()
    m.zero_grad()
    loss.backward()
"""
SCORED = """
d = torch.distributions
p = torch.nn.Linear(2, 1)
o = torch.optim.SGD(p.parameters(), lr=0.01)
for i in range(3):
    s = torch.randn(8, 2)
    n = d.Normal(p(s), 1.0)
    a = n.sample()
    {0} = (a - 1) ** 2
    loss = (n.log_prob(a) * ({0} - {0}.mean())).mean()
    o.zero_grad(); loss.backward(); o.step()
"""
LOOP = """
m = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.Dropout({0}), torch.nn.Linear(3, 1))
o = torch.optim.SGD(m.parameters(), lr=0.1)
x, y = torch.randn(20, 4), torch.randn(20, 1)
{1}
for i in range(20):
    loss = (m(x) - y).pow(2).mean()
    o.zero_grad(); loss.backward()
    {2}
    o.step()
    {3}
"""
STEPS = "s = torch.optim.lr_scheduler.StepLR(o, {0}, gamma=0.1)"
WARM = "s = torch.optim.lr_scheduler.LambdaLR(o, lambda k: {0})"
RATIO = """
m = torch.nn.Linear(3, 4)
o = torch.optim.SGD(m.parameters(), lr=0.1)
for i in range(2):
    now = m(torch.ones(8, 3)).log_softmax(1)
    ratio = (now[:, 0] - {0}).exp()
    loss = -(ratio * torch.arange(8.0)).mean()
    o.zero_grad(); loss.backward(); o.step()
"""
RANKS = """
m = torch.nn.Linear(3, 1)
o = torch.optim.SGD(m.parameters(), lr=0.1)
for i in range(2):
    loss = -torch.nn.functional.logsigmoid(m(torch.randn(8, 3)) - m(torch.randn(8, 3))).mean()
    o.zero_grad(); loss.backward(); o.step()
"""
NUMBER = """
m = torch.nn.Linear(3, 1)
value = m(torch.ones(8, 3)).pow(2).mean()
loss = {0}
loss.backward()
"""
FROZEN = """
m = torch.nn.Linear(3, 3)
for p in m.parameters():
    p.{0} = False
loss = (m(torch.ones(2, 3)) * torch.ones(3, requires_grad=True)).sum()
loss.backward()
"""
INPUT = """
n = torch.nn.Sequential(torch.nn.Linear(1, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
x = torch.linspace(0, 2, 8).unsqueeze(1).requires_grad_(True)
for i in range(8):
    u = n(x)
    (d,) = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)
    loss = ((d + u) ** 2).mean() + (n(torch.zeros(1, 1)) - 1).pow(2).mean()
    n.zero_grad()
    loss.backward()
"""
LISTED = """
f = [torch.nn.Linear(2, 1), torch.nn.Linear(1, 1)]
o = torch.optim.SGD(f[1].parameters(), lr=0.1)
for i in range(2):
    loss = f[1](f[0](torch.ones(3, 2))).sum()
    loss.backward(); o.step()
"""
SUMMED = """
m = {0}
o = torch.optim.SGD(m.parameters(), lr=0.1)
for i in range(100):
    x = torch.randn(32, 3)
    loss = (m(x) - x.sum(1, keepdim=True)).pow(2).mean()
    o.zero_grad(); loss.backward(); o.step()
"""
EQUAL = """torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
for p in m.parameters():
    p.data.fill_(0.1)"""
PAIRS = {  # the fault, its twin, what is said of the fault alone
    "attention to padding": (ATTENDED.format("!="), ATTENDED.format("=="), "padding_idx, which passes none"),
    "a copied list of layers": (
        LISTED,
        COPIES.format("", "torch.optim.SGD(fast.parameters(), lr=0.01)"),
        "AV402",
    ),
    "many hooks": (
        HOOKED.format("", "m.weight.register_hook(lambda g: g * 0.5)"),
        HOOKED.format("for i in range(3):\n    m.weight.register_hook(lambda g: None)", ""),
        "60 hooks on it",
    ),
    "a plus before a reward": (SCORED.format("reward"), SCORED.format("cost"), "AV205"),
    "a rate that fell per batch": (
        LOOP.format(0, STEPS.format(2), "", "s.step()"), LOOP.format(0, STEPS.format(10), "", "s.step()"), "has fallen from",
    ),
    "a warm-up that stays 0": (
        LOOP.format(0, WARM.format("min(1, k // 50)"), "", "s.step()"),
        LOOP.format(0, WARM.format("min(1, k / 50) if k < 20 else 0"), "", "s.step()"),
        "was 0 in all 20 steps",
    ),
    "a generator used twice": (
        LOOP.format(0, "g = m.parameters(); list(g)", "torch.nn.utils.clip_grad_norm_(g, 1.0)", ""),
        LOOP.format(0, "", "torch.nn.utils.clip_grad_norm_(m.parameters(), 1e9)", ""),
        "changed no gradient",
    ),
    "evaluation without dropout": (LOOP.format(0, "m.eval()", "", ""), LOOP.format(0.5, "m.eval()", "", ""), "AV501"),
    "an old log_prob with a graph": (RATIO.format("now[:, 0].clone()"), RATIO.format("now[:, 0].detach()"), "both sides of"),
    "pairs that are ranked": (RATIO.format("now[:, 0].clone()"), RANKS, "both sides of"),
    "a loss of numbers": (
        NUMBER.format("torch.tensor(value.item(), requires_grad=True)"), NUMBER.format("value"), "item() made a number",
    ),
    "equal units": (SUMMED.format(EQUAL), SUMMED.format("torch.nn.Linear(3, 2)"), "AV305"),
    "equal weights of an input": (SUMMED.format(EQUAL), SUMMED.format("torch.nn.Linear(3, 1)"), "AV305"),
    "a misspelt switch": (FROZEN.format("require_grad"), FROZEN.format("requires_grad"), "line 4: AV105"),
    "a product with a mask": (
        "w = torch.zeros(2, requires_grad=True)\nloss = (w.sqrt() * torch.tensor([0.0, 0.0])).sum()\nloss.backward()",
        "w = torch.zeros(2, requires_grad=True)\nloss = torch.where(w > 0, w.sqrt(), w).sum()\nloss.backward()",
        "Add a small number to the input of sqrt",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_a_fault_is_told_and_its_twin_is_not(name: str) -> None:
    fault, twin, said = PAIRS[name]
    assert said in str(found(fault, "torch"))
    assert said not in str(found(twin, "torch"))


def test_a_cut_loss_is_told_as_the_last_pass_is() -> None:
    import torch

    import autograd_viz as av

    names = {"torch": torch, "av": av}
    with av.watch():
        exec(NUMBER.format("torch.tensor(value.item(), requires_grad=True)"), names)
        assert "item() made a number" in eval("str(av.check(loss))", names)


def test_passes_of_earlier_copies_are_not_counted() -> None:
    import torch

    program = COPIES.format("", "torch.optim.SGD(fast.parameters(), lr=0.01)")
    assert "the sum of 2 passes" in str(explained(program, "fast.weight", torch=torch))


def test_passes_whose_ops_are_forgotten_are_not_guessed() -> None:
    import torch

    said = str(explained(INPUT, "x", torch=torch))
    assert "sum of" not in said or "sum of 8 passes" in said


def test_a_layer_in_a_list_has_a_name() -> None:
    assert "f[0].weight" in str(found(LISTED, "torch"))
