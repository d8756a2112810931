"""The recorder that stays on changes no backward pass: not its errors, nor what is freed, nor what may run again."""

from __future__ import annotations

import io
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from ..torch_functions import with_backward  # noqa: E402
from ..torch_hooked import SAID  # noqa: E402
from .watched import Case, assert_harmless, error_of  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("only_new_objects")]
CASES: dict[str, Case] = {}


def case(run: Case) -> Case:
    CASES[run.__name__] = run
    return run


@case
def saved_tensors_hooks_run_as_often():
    x = torch.randn(4, requires_grad=True)
    for _ in range(3):
        with torch.autograd.graph.saved_tensors_hooks(
            lambda t: (SAID.append("pack"), t.clone())[1], lambda t: (SAID.append("unpack"), t)[1]
        ):
            y = (x.sin() * x).exp().sum()
        y.backward()
        SAID.append(error_of(y.backward))
    return x.grad


@case
def anomaly():
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        bad = error_of(lambda: (x.sqrt() * 0).sum().backward())
        (x * 2).sum().backward()
    return bad, x.grad


@case
def forbidden_views():
    x = torch.ones(4, requires_grad=True) * 1
    with torch.no_grad():
        v = x[:2]
    said = [error_of(lambda: v.mul_(2)), error_of(lambda: v.grad_fn)]
    a, b = x.unbind(0)[:2]
    said.append(error_of(lambda: a.mul_(2)))
    y = torch.ones(4, requires_grad=True)
    said.append(error_of(lambda: y.add_(1)))
    with torch.no_grad():
        w = y.view(2, 2)
        w[0] = 3
        y.add_(w.flatten())
    said += [error_of(lambda: (b * v.sum()).backward()), error_of(lambda: print(v, file=io.StringIO()))]
    return said, y.detach()


@case
def behind_a_detached_result():
    w, v, alpha = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True), torch.zeros(1, requires_grad=True)
    said = []
    for _ in range(2):
        score = (v * w).exp().sum()
        (alpha * (score - 1).detach()).sum().backward()  # the graph of the score is for later
        (v * v).sum().backward()
        said.append(error_of((score * 2).backward))
    return said, w.grad, v.grad, alpha.grad


@case
def twice():
    x, w = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    said = []
    y = x.exp()
    (y * w).sum().backward(retain_graph=True)
    said.append(error_of(lambda: (y * 2).sum().backward()))
    said += [error_of(lambda: (y * 2).sum().backward()), x.grad.clone()]
    z = x.sin()
    a, b = (z * w).sum(), (z * 3).sum()
    a.backward()
    said += [error_of(b.backward), error_of(a.backward), x.grad.clone(), w.grad.clone()]
    p, q = x.sum(), (x * w).sum()
    for _ in range(2):
        p.backward()
        said.append(error_of(q.backward))
    said.append(error_of(lambda: torch.autograd.grad(q, x)))
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (g * w).sum().backward()
    said += [error_of(lambda: g.sum().backward()), x.grad.clone(), w.grad.clone()]
    return said


@case
def other_ways_to_start_a_pass():
    x, w = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    said: list[Any] = []
    make = lambda: ((x * w).exp().sum(), (x.sin() * w).sum())  # noqa: E731
    edge = torch.autograd.graph.get_gradient_edge
    for start in (
        lambda a, b: torch.autograd.backward(a, None, False),
        lambda a, b: torch.autograd.backward([a, b], [torch.ones(()), torch.ones(())]),
        lambda a, b: torch.autograd.backward(a, inputs=[x]),
        lambda a, b: torch.autograd.backward(edge(a), torch.ones(())),
        lambda a, b: torch.autograd.grad([a, b], [x, w], retain_graph=True),
        lambda a, b: torch.autograd.functional.vjp(lambda v: (v * w).sin(), x, torch.ones(3)),
        lambda a, b: a.backward(torch.ones(()), False, False, [w]),
        lambda a, b: a.backward(gradient=torch.tensor(2.0), create_graph=True),
    ):
        a, b = make()
        said.append(error_of(a.backward))
        said += [error_of(lambda: start(a, b)) for _ in range(2)]  # noqa: B023
        said += [error_of(lambda: start(*make())), error_of(b.backward), x.grad.clone(), w.grad.clone()]  # noqa: B023
        x.grad = w.grad = None
    return said


@case
def nodes_in_a_list():
    x, held, said = torch.randn(3, requires_grad=True), [], []
    for _ in range(4):
        loss = x.exp().sin().sum()
        held.append(loss.grad_fn)
        loss.backward()
    for node in held[:-1]:  # the last is kept
        sin = node.next_functions[0][0]
        said.append(error_of(lambda sin=sin: sin._saved_self.tolist()))
    return said


@case
def a_graph_in_parts():
    """Two roots over one trunk, of which the first takes a part."""
    x = torch.randn(4, 4, requires_grad=True)
    said = []
    for _ in range(3):
        trunk = (x @ x).relu()
        left, right = trunk.split(2)
        a, b = left.exp().sum(), right.sigmoid().sum()
        a.backward()
        said += [error_of(b.backward), x.grad.clone()]
        x.grad = None
    return said, error_of(lambda: left.sum().backward()), error_of(lambda: trunk.detach().sum().item())


@case
def old_outputs_in_a_list():
    x, old, said = torch.randn(3, requires_grad=True), [], []
    for k in range(6):
        y = (x * k).sin()
        loss = y.exp().sum()
        loss.backward()
        if k % 2:
            old += [y, loss]
    said += [error_of(lambda t=t: t.sum().backward()) for t in old]
    return said, x.grad


@case
def carried_state():
    cell, h, said = nn.RNNCell(2, 3), torch.zeros(1, 3), []
    for k in range(4):
        h = cell(torch.ones(1, 2), h)
        said.append(error_of(lambda: h.sum().backward(retain_graph=k == 0)))  # noqa: B023
    h = h.detach()
    cell(torch.ones(1, 2), h).sum().backward()
    return said, [p.grad for p in cell.parameters()]


@case
def a_root_that_is_refused_and_summed():
    x = torch.randn(3, requires_grad=True)
    y = x.sin() * x
    said = [error_of(y.backward), error_of(lambda: y.backward(torch.ones(2)))]
    y.sum().backward()
    return said, x.grad, error_of(lambda: y.sum().backward())


@case
def passes_that_raise():
    def fails(ctx: Any, g: Any) -> Any:
        raise KeyError("in backward")

    x, w = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    said = []
    h = x.exp()
    first, second = with_backward(fails).apply(h.sin()).cos(), (h * w).cos()
    for root in (first, second, first, second):
        said += [error_of(lambda root=root: root.sum().backward()), x.grad, w.grad]
    a = w.sin()
    b = a.exp()
    c = (b * 2).sum() + a.sum()
    b.data.add_(0)
    with torch.no_grad():
        b.mul_(2)
    said += [error_of(c.backward), error_of(c.backward), error_of(lambda: a.sum().backward()), w.grad]
    torch.ones(2, requires_grad=True).sum().backward()
    return said


@case
def hooks_that_raise():
    x = torch.randn(3, requires_grad=True)

    def bad(g: Any) -> Any:
        raise ValueError("in a hook")

    y = x * 2
    y.register_hook(bad)
    said = [error_of(lambda: (y * x).sum().backward())]
    (x.sin() * x).sum().backward()
    return said, x.grad


@pytest.mark.parametrize("name", CASES)
def test_every_case_runs_as_it_would(name: str) -> None:
    assert_harmless(CASES[name], 256_000_000, 0)
