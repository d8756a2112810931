"""What took the history of a loss is blamed: `item()` where its number was used, `autograd.grad()`, `no_grad()`."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import autograd_viz as av

from ..libraries import BOTH
from .explained import LIBRARIES, kinds, lines, run, told

LEAVES = "x = torch.tensor([1.4, 2.6], requires_grad=True)\nw = torch.tensor(2.0, requires_grad=True)\n"
FUNCTION = "def f(t):\n    return t.item()\n"
GUILTY = {
    "in its line": (LEAVES + "loss = x[0].item() * x[1]\nloss.backward()", "x", "lacks_number", 3),
    "by its name": (LEAVES + "s = x[0].item()\nloss = s * x[1]\nloss.backward()", "x", "lacks_number", 3),
    "from a function": (
        LEAVES + "def f(t):\n    return t.item()\nloss = f(x[0]) * x[1]\nloss.backward()",
        "x",
        "lacks_number",
        4,
    ),
    "the only path": (LEAVES + "loss = w.item() * x.sum()\nloss.backward()", "w", "path_cut_number", 3),
}
INNOCENT = {
    "a choice in its line": (LEAVES + "loss = (x if (x > 0).all() else -x)[0] * 3.0\nloss.backward()", "x"),
    "read before": (LEAVES + "print(x[0].item())\nloss = x[1] * 3.0\nloss.backward()", "x"),
    "read after": (LEAVES + "loss = x[1] * 3.0\nloss.backward()\nprint(w.item())", "w"),
    "kept for a plot before": (LEAVES + "seen = [(w * 2).item()]\nloss = x[1] * 3.0\nloss.backward()", "w"),
    "kept for a plot": (LEAVES + "seen = []\nloss = x[1] * 3.0\nseen.append((w * 2).item())\nloss.backward()", "w"),
}


@pytest.mark.parametrize("lib", BOTH)
@pytest.mark.parametrize("case", GUILTY)
def test_a_number_in_the_loss_is_named_with_its_line(lib: Any, case: str) -> None:
    code, name, kind, line = GUILTY[case]
    answer = told(code, f"{name}, loss", torch=lib)
    assert (kinds(answer)[0], lines(answer)[0]) == (kind, line) and "item()" in str(answer)


@pytest.mark.parametrize("lib", BOTH)
@pytest.mark.parametrize("case", INNOCENT)
def test_a_number_that_was_only_read_is_not_blamed(lib: Any, case: str) -> None:
    code, name = INNOCENT[case]
    assert "item()" not in str(told(code, f"{name}, loss", torch=lib))


def test_the_op_that_computed_with_the_number_is_lit() -> None:
    answer = told(GUILTY["in its line"][0], "x, loss")
    lit = next(n for n in answer.document.nodes if n.id == answer.culprit)
    assert lit.name == "MulBackward0"


def test_reading_a_loss_keeps_no_graph() -> None:
    x = av.tensor([1.0], requires_grad=True)
    made = x * 2
    gone = weakref.ref(made.grad_fn)
    made.sum().item()
    del made
    gc.collect()
    assert gone() is None


@pytest.mark.torch
def test_the_checks_of_a_distribution_are_no_part_of_the_loss() -> None:
    program = "net = torch.nn.Linear(3, 2)\nd = torch.distributions.Categorical(logits=net(torch.ones(4, 3)))\na = d.sample()\n"
    answer = told(program + "loss = -d.log_prob(a).mean()\nloss.backward()", "net.weight", torch=pytest.importorskip("torch"))
    assert kinds(answer) == ["fine"]


GRADIENT = (
    "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = ({}).sum()\n(g,) = torch.autograd.grad(y, x{})\nloss = g.sum()"
)
GRADIENTS = {
    "without create_graph": (GRADIENT.format("x * x", ""), "cut_gradient"),
    "of a linear function": (GRADIENT.format("x * 2", ", create_graph=True"), "cut_constant"),
    "by position": (GRADIENT.format("x * 2", ", None, True, True"), "cut_constant"),
    "under no_grad": ("x = torch.ones(3, requires_grad=True)\nwith torch.no_grad():\n    loss = (x * 2).sum()", "cut_no_grad"),
}


@LIBRARIES
@pytest.mark.parametrize("name", GRADIENTS)
def test_a_loss_without_a_graph_is_told_what_cut_it(name: str, library: str) -> None:
    program, kind = GRADIENTS[name]
    assert kinds(run(program, library, "loss", watched=True)) == [kind]
    raised = f"{program}\ntry:\n    loss.backward()\nexcept RuntimeError as error:\n    caught = error"
    answer = run(raised, library, "caught", watched=True)
    assert kinds(answer) == [kind] and ("create_graph=True" in str(answer)) == (kind == "cut_gradient"), answer
