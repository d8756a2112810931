"""explain, where hooks changed a gradient on its way."""

from __future__ import annotations

import pytest

from .explained import LIBRARIES, X, kinds, stepped, told

START = "a = torch.tensor(2.0, requires_grad=True)\nc = a * 3\nc.retain_grad()\nc.register_hook(lambda g: g + 2)\ne = c * 4\n"


@LIBRARIES
def test_a_hook_on_the_way_is_told_with_what_it_changed(library: str) -> None:
    answer = stepped(START + "loss = e", library, "a")
    assert kinds(answer) == ["hook_on_way"]
    op = "a * 3" if library == "core" else "mul"  # PyTorch's ops were not recorded
    assert f"the hook <lambda> at {op} changed the gradient from 4.0 to 6.0" in str(answer)


SHARED = """
a = torch.tensor(2.0, requires_grad=True)
d = torch.tensor(4.0, requires_grad=True)
def in_place(g):
    g *= 100
d.register_hook(in_place)
loss = a * 3 + d
"""


def test_a_hook_that_writes_into_shared_memory() -> None:
    answer = told(SHARED + "loss.backward()", "a")
    assert kinds(answer) == ["start_not_one"] and "started with 100.0, not with 1" in str(answer)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("hook", "kind"), [("p.grad = None", "cleared_by_hook"), ("p.grad.mul_(1)", "fine")], ids=["it clears", "it does not"]
)
def test_a_hook_that_runs_last_may_have_cleared_grad(hook: str, kind: str) -> None:
    program = X + f"def step(p):\n    {hook}\nx.register_post_accumulate_grad_hook(step)\n(x * 2).sum().backward()"
    said = told(program, torch=pytest.importorskip("torch"))
    assert kinds(said) == [kind] and ("step" in str(said)) == (kind != "fine")
