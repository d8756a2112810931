"""`scope`: a name for a stretch of the program, free for the ops in it."""

from __future__ import annotations

import pytest

import autograd_viz as av
from autograd_viz.sources.twin.graph import CoreGraph
from autograd_viz.twin.core.base import provenance
from autograd_viz.twin.core.base.scopes import open_scopes, stretches


def paths(root: av.Tensor, **names: object) -> list[str]:
    return [op.module for op in CoreGraph([root], names).document.ops]


def test_ops_know_the_scopes_around_them() -> None:
    x = av.ones(2, requires_grad=True)
    with av.scope("outer"):
        y = x * 2
        with av.scope("inner.most"):
            y = y.sin()
        y = y + 1
    assert paths(y.sum()) == ["outer", "outer.inner.most", "outer", ""]


def test_a_function_is_decorated_and_may_call_itself() -> None:
    @av.scope("step")
    def step(x: av.Tensor, depth: int) -> av.Tensor:
        return x.sin() if depth == 0 else step(x * 2, depth - 1)

    assert paths(step(av.ones(1, requires_grad=True), 1)) == ["step", "step.step"]


def test_an_exception_closes_the_scope() -> None:
    with pytest.raises(ZeroDivisionError), av.scope("broken"):
        1 / 0
    assert not open_scopes
    assert paths(av.ones(1, requires_grad=True).sin()) == [""]


def test_ops_that_are_not_recorded_are_in_it_too() -> None:
    with av.scope("constants"):
        y = av.ones(2).exp()
    assert paths((y * av.ones(2, requires_grad=True)).sum()) == ["constants", "", ""]


def test_modules_are_named_as_their_callers_name_them_and_a_picture_can_be_taken_inside() -> None:
    seen: list[str] = []

    class Net(av.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = av.nn.ModuleList([av.nn.Linear(2, 2), av.nn.Linear(2, 1)])

        def forward(self, x: av.Tensor) -> av.Tensor:
            for part in self.parts:
                x = part(x).relu()
            seen.extend(paths(x))
            return x

    Net()(av.ones(1, 2))
    assert seen == ["parts.0", "parts.0", "", "parts.1", "parts.1", ""]


def test_the_name_is_a_string() -> None:
    with pytest.raises(TypeError, match=r"scope\(\): the name must be str, not int"):
        av.scope(3)  # type: ignore[arg-type]


def test_a_training_loop_remembers_only_the_latest() -> None:
    layer = av.nn.Linear(1, 1)
    for _ in range(5000):
        layer(av.ones(1, 1))
    assert len(stretches) == stretches.maxlen
    assert paths(layer(av.ones(1, 1))) == ["", ""]


def test_an_op_in_a_module_is_on_the_innermost_line_outside_the_package() -> None:
    class Square(av.nn.Module):
        def forward(self, x: av.Tensor) -> av.Tensor:
            return x * x

    def model(x: av.Tensor) -> av.Tensor:
        return layers(x)

    layers = av.nn.Sequential(av.nn.Linear(2, 2), Square(), av.nn.Sequential(av.nn.ReLU()))
    node, functions = model(av.ones(2, 2)).grad_fn, {}
    while node is not None and node.at is not None:
        functions[node.op] = node.at.code.co_name
        node = node.next_functions[0][0]
    assert functions == {"Relu": "model", "Mul": "forward", "Addmm": "model"}
    with pytest.raises(RuntimeError, match="multiplied"):
        layers(av.ones(2, 3))
    assert provenance._known.get() == (None, None, False)  # a module that raises leaves no frame behind
