"""An exported program is drawn from its graph: ops, modules, lines and sizes; no pass runs."""

from __future__ import annotations

import io
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import autograd_viz as av  # noqa: E402
from autograd_viz.graph.model import Op  # noqa: E402
from autograd_viz.pictures.layout.measure import text_width  # noqa: E402
from autograd_viz.pictures.render.svg import size_of  # noqa: E402
from autograd_viz.pictures.render.writer import why_unseen  # noqa: E402

pytestmark = pytest.mark.torch


class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A layer that is called twice, a change in place, a batch norm, and an op with two results."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)
        self.scale = torch.nn.Parameter(torch.full((4,), 2.5))

    def forward(self, x: Any) -> Any:
        h = self.first(self.first(x)).clone()
        h[0].zero_()
        a, b = (self.norm(h) * self.scale / 2.5).chunk(2, -1)
        return b @ a.T


@pytest.fixture(scope="module")
def program() -> Any:
    """Two seconds: PyTorch loads what exports. It is one that was saved and read."""
    torch.manual_seed(0)
    rows = torch.export.Dim("rows", min=2, max=64)
    made = torch.export.export(Net(), (torch.ones(3, 4),), dynamic_shapes={"x": {0: rows}})
    file = io.BytesIO()
    torch.export.save(made, file)
    file.seek(0)
    return torch.export.load(file)


def ops_of(program: Any) -> tuple[Op, ...]:
    return av.map(program).document.ops


def test_ops_have_their_modules_and_lines(program: Any) -> None:
    drawn = av.map(program)
    assert [(o.module, o.name) for o in drawn.document.ops] == [
        *[("first", "Linear")] * 2, ("", "Clone"), ("", "Select"), ("", "Zero"),
        ("norm", "BatchNorm"), ("", "Mul"), ("", "Div"), ("", "Chunk"), ("", "NumpyT"), ("", "Matmul"),
    ]  # fmt: skip
    lines = {o.source.text.strip() for o in drawn.document.ops if o.source and o.module == "norm"}
    assert lines == {"a, b = (self.norm(h) * self.scale / 2.5).chunk(2, -1)"}
    assert [(m.path, m.name) for m in drawn.document.modules if m.path] == [("first", "Linear"), ("norm", "BatchNorm1d")]
    assert repr(drawn) == (
        "<Map: result = (3, 3), 32 parameters · 0 backward nodes · depth 1 of 1 · exported: no pass has run>"
    )
    assert "1 of 2" in drawn.svg


def test_it_has_the_sizes_of_the_export_and_the_elements_of_parameters(program: Any) -> None:
    document = av.show(program).document
    made = {op.name: [t.value for t in document.tensors if t.id in op.outputs] for op in document.ops}
    assert [(v.shape, v.text) for v in made["Chunk"]] == [((3, 2), "not computed")] * 2
    tensors = {t.name: t for t in document.tensors if t.name}
    bias = program.state_dict["first.bias"]
    assert tensors["first.bias"].requires_grad
    assert tensors["first.bias"].value.numbers == tuple(bias.tolist())
    assert not tensors["x"].requires_grad
    div = next(op for op in document.ops if op.name == "Div")
    assert [i.text for i in div.inputs if i.tensor is None] == ["2.5"]


def test_it_says_that_no_pass_has_run(program: Any) -> None:
    assert {why_unseen(op) for op in ops_of(program)} == {"It is read from the exported program. No pass has run."}
    assert "norm of grad" not in av.map(program).svg
    with pytest.raises(av.errors.NotDrawableError, match=r"for its backward pass, pass a loss of program.module\(\)\(x\)"):
        av.step(program)


def test_its_result_has_a_backward_pass(program: Any) -> None:
    module, x = program.module(), torch.ones(3, 4)
    drawn = av.map(module(x).sum())
    assert all(name in drawn.svg for name in ("first", "norm", "weight (4, 4)"))
    assert "exported" not in repr(drawn)


def test_a_size_that_depends_on_elements_is_not_told() -> None:
    class Found(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return x.nonzero()

    drawn = av.map(torch.export.export(Found(), (torch.ones(3),)))
    assert "result = size depends on data" in drawn.svg
    assert ">()<" not in drawn.svg


@pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")  # PyTorch's own
def test_of_a_program_with_its_backward_pass_the_forward_pass_is_drawn() -> None:
    """PyTorch tells no module of its ops."""
    joint = getattr(pytest.importorskip("torch.export.experimental"), "_export_forward_backward", None)
    if joint is None:
        pytest.skip("this PyTorch has no such export")

    class Loss(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 2)

        def forward(self, x: Any) -> Any:
            return self.layer(x).relu().sum()

    drawn = av.map(joint(torch.export.export(Loss(), (torch.ones(3, 4),))))
    names = [op.name for op in drawn.document.ops]
    assert names[-2:] == ["Relu", "Sum"]
    assert not {"Mm", "Where"} & set(names)
    heading = drawn.drawing.plan.summary(drawn.drawing.opened)
    assert heading.endswith("not recorded: modules are guessed from parameters (dotted)")
    assert size_of(drawn.svg)[0] > text_width(heading, 11)
