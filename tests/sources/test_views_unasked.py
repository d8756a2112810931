"""Nothing of ours is the first to ask a changed view for its grad_fn: the answer would change the order of later sums."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import autograd_viz as av  # noqa: E402
from autograd_viz.sources.anything import graph_of  # noqa: E402
from autograd_viz.sources.pytorch.reading import nodes  # noqa: E402

pytestmark = pytest.mark.torch

nn = torch.nn


def _written(base: Any, view: Any) -> tuple[Any, Any]:
    base.mul_(1.7)
    return view, base


def _written_through_another(base: Any, view: Any) -> tuple[Any, Any]:
    base.view(-1)[:2].add_(1)
    return view, base


def _filled(base: Any, view: Any) -> tuple[Any, Any]:
    torch.nn.init.constant_(base, 2.0)
    base[0].exp_()
    return view, base


VIEWS: dict[str, Callable[[Any], Any]] = {
    "slice": lambda y: y[:, :3],
    "transposed": lambda y: y.T,
    "reshaped": lambda y: y.view(2, -1),
    "of_a_view": lambda y: y[1:].view(-1)[2:],
    "expanded": lambda y: y.unsqueeze(0).expand(2, *y.shape),
}
WRITES = [_written, _written_through_another, _filled]


class Model(nn.Module):
    """Returns a view whose base has changed, and the base."""

    def __init__(self, view: Callable[[Any], Any], write: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self.linear, self.view, self.write = nn.Linear(5, 5), view, write

    def forward(self, x: Any) -> Any:
        base = self.linear(x).clone()
        return self.write(base, self.view(base))


def _recorded(model: Any, x: Any) -> Any:
    with av.record(model):
        view, base = model(x)
        loss = base.sin().sum()
    av.map(loss)
    return view, loss


def _watched(*both: bool) -> Callable[[Any, Any], Any]:
    def run(model: Any, x: Any) -> Any:
        watches = [av.watch()] if both else []
        watches.append(av.watch(model))
        try:
            view, base = model(x)
            loss = base.sin().sum()
            return view, loss
        finally:
            for watch in watches:
                watch.close()

    return run


def _looked(look: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def run(model: Any, x: Any) -> Any:
        view, base = model(x)
        loss = base.sin().sum()
        look(view, loss)
        return view, loss

    return run


def _stepped_back(view: Any, loss: Any) -> None:
    stepper = av.step(loss).stepper
    stepper.finish()
    stepper.reset()


LOOKS: dict[str, Callable[[Any, Any], Any]] = {
    "recorded": _recorded,
    "a_watched_model": _watched(),
    "all_watched": _watched(True),
    "show": _looked(lambda view, loss: av.show(loss)),
    "show_the_view": _looked(lambda view, loss: av.show(view)),
    "map": _looked(lambda view, loss: av.map(loss)),
    "step": _looked(_stepped_back),
    "step_the_view": _looked(lambda view, loss: av.step(view, torch.ones_like(view)).stepper.next()),
    "explain": _looked(lambda view, loss: av.explain(view)),
    "memory": _looked(lambda view, loss: av.memory(loss)),
    "diff": _looked(lambda view, loss: av.diff(loss, loss * 2)),
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("write", WRITES)
def test_a_view_gets_its_node_when_the_program_asks(look: str, write: Callable[[Any, Any], Any]) -> None:
    for view in VIEWS.values():
        changed, loss = LOOKS[look](Model(view, write), torch.randn(4, 5))
        later = (loss * 1).grad_fn._sequence_nr()
        assert changed.grad_fn._sequence_nr() > later


@pytest.mark.parametrize("write", WRITES)
def test_a_changed_view_stands_before_the_op_that_reads_it(write: Callable[[Any, Any], Any]) -> None:
    for view in VIEWS.values():
        model = Model(view, write)
        changed, base = model(torch.randn(4, 5))
        loss = (changed * changed.exp()).sum() + base.sin().sum()
        document = graph_of(loss, {}).document
        made = {t: i for i, op in enumerate(document.ops) for t in op.outputs}
        assert all(made.get(x.tensor, -1) < i for i, op in enumerate(document.ops) for x in op.inputs)
        av.show(loss, params=model)


@pytest.mark.parametrize("returned", [slice(2), slice(1)], ids=["with its base", "alone"])
def test_a_view_that_the_program_asks_later_is_followed(returned: slice) -> None:
    """A result of the model whose node is made after the call still counts in the pass that runs again."""

    class Returning(Model):
        def forward(self, x: Any) -> Any:
            return super().forward(x)[returned]

    model = Returning(VIEWS["slice"], _written)
    run = av.watch(model)
    try:
        optimizer = torch.optim.SGD(model.parameters(), 0.0)
        sum(result.pow(3).sum() for result in model(torch.randn(4, 5))).backward()
        real = [p.grad.clone() for p in model.parameters()]
        optimizer.step()
        with run._loop.opened(None) as (root, gradient, leaves):
            root.backward(gradient)
        assert all(torch.equal(leaf.grad, grad) for leaf, grad in zip(leaves.values(), real, strict=True))
    finally:
        run.close()


def test_only_one_file_asks_tensors_for_their_nodes() -> None:
    folder = Path(nodes.__file__).parents[1]
    asking = {
        file.name
        for file in folder.glob("**/*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in ("grad_fn", "grad_dtype") and isinstance(node.ctx, ast.Load)
    }
    assert asking == {"nodes.py", "record.py", "mode.py"}  # where it is no view, or the pass asks, too


@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_view_of_a_weight_that_is_trained_again_is_a_leaf(is_recorded: bool) -> None:
    """A GAN's discriminator is frozen for the generator's pass; its node keeps a view that was made meanwhile."""
    recorder = av.watch() if is_recorded else None
    try:
        g, d = nn.Linear(2, 2), nn.Linear(2, 1).requires_grad_(False)
        loss = d(g(torch.randn(4, 2))).pow(2).mean()
        d.requires_grad_(True)
        view = next(
            n for n in nodes.reach([loss.grad_fn]) if n.name() == "AddmmBackward0" and n._saved_mat2 is not None
        )._saved_mat2
        assert view.requires_grad and nodes.is_leaf(view) and view.is_leaf
        av.show(loss)
        loss.backward()
        assert "Nothing stands out" in str(av.explain(g.weight, loss))
    finally:
        if recorder is not None:
            recorder.close()
    with torch.no_grad():
        d.weight.mul_(2.0)
    assert not nodes.is_leaf(view) and nodes.grad_fn_of(view) is None and not view.is_leaf
