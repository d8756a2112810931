"""Leaves that a recorded op has changed in place since: what was made of them before is drawn as it was."""

from __future__ import annotations

from typing import Any

import pytest

from autograd_viz.sources.anything import graph_of, pass_of
from autograd_viz.stepper import Stepper

MODULES = ["autograd_viz", pytest.param("torch", marks=pytest.mark.torch)]


def moved(module: Any) -> Any:
    """The root of a graph whose leaf is a view of what an op has changed."""
    base = module.ones(3)
    view = base[1:].requires_grad_()
    y = view * 2
    base[1:] = view
    return y.sum()


def forbidden(module: Any) -> Any:
    """The root of a graph whose leaf does not tell its grad_fn any more."""
    base = module.ones(3)
    with module.no_grad():
        view = base[1:]
    y = view.requires_grad_() * 2
    base.mul_(module.ones(3, requires_grad=True))
    return y.sum()


@pytest.mark.parametrize("name", MODULES)
def test_a_leaf_that_has_a_grad_fn_now_is_drawn_with_what_led_to_it(name: str) -> None:
    module = pytest.importorskip(name)
    document = graph_of(moved(module), {}).document
    (leaf,) = (n.variable for n in document.nodes if n.name == "AccumulateGrad")
    (tensor,) = (t for t in document.tensors if t.id == leaf)
    made_by = next(n for n in document.nodes if n.id == tensor.grad_fn)
    assert (made_by.name, tensor.is_leaf) == ("AsStridedBackward0", False)
    assert [n.name for n in document.nodes if n.id == made_by.next_functions[0].node] == ["CopySlices"]


@pytest.mark.torch
def test_an_operand_that_has_a_grad_fn_now_but_had_none_is_not_taken_for_what_it_is_now() -> None:
    torch = pytest.importorskip("torch")
    w, x = torch.ones(3, requires_grad=True), torch.ones(3)
    y = x * w
    x.mul_(w)
    (op,) = (o for o in graph_of(y, {}).document.ops if o.node is not None)
    assert [operand.text for operand in op.inputs] == ["?", ""]


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize(("program", "error"), [(moved, "into the graph interior"), (forbidden, "created in no_grad mode")])
def test_its_step_is_refused_and_all_others_run(name: str, program: Any, error: str) -> None:
    root = program(pytest.importorskip(name))
    graph = graph_of(root, {})
    stepper = Stepper(graph.document, pass_of(graph, root, None, None, False))
    with pytest.raises(RuntimeError, match=error):
        stepper.finish()
    names = {n.id: n.name for n in graph.document.nodes}
    assert [names[step.node] for step in stepper.trace.steps] == ["SumBackward0", "MulBackward0"]
