"""What the page's code view gets: places, turns, values; what each step passes on; and the figure without its own code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.pictures.render.drawing import Drawing
from autograd_viz.twin import nn


def scaled(x: Any, w: Any) -> Any:
    y = x * w
    return y.tanh()


def program() -> Any:
    w = av.tensor(0.5, requires_grad=True)
    x = av.tensor(2.0)
    for _ in range(2):
        x = scaled(x, w)
    loss = x + w * 3
    return av.step(loss)


def code(of: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(of.picture["code"]))
    return found


def lines(code: dict[str, Any], run: dict[str, Any]) -> str:
    """The text of a run's first line, from its column to its end column."""
    text, line, column, _, end = code["places"][run["at"]]
    found: str = dict(code["texts"][text]["lines"])[line]
    return found[column:end]


def test_every_op_and_leaf_has_its_expression_its_turn_and_its_value() -> None:
    found = code(program())
    assert [(lines(found, r), r["turn"], r["value"]) for r in found["runs"]] == [
        ("av.tensor(0.5, requires_grad=True)", [1, 1], "w = 0.5"),
        ("av.tensor(2.0)", [1, 1], "2.0"),
        ("x * w", [1, 2], "1.0"),
        ("y.tanh()", [1, 2], "0.7616"),
        ("x * w", [2, 2], "0.3808"),
        ("y.tanh()", [2, 2], "x = 0.3634"),
        ("w * 3", [1, 1], "1.5"),
        ("x + w * 3", [1, 1], "loss = 1.863"),
    ]
    assert [t["function"] for t in found["texts"]] == ["program", "scaled"]


def test_each_step_passes_on_the_node_the_next_one_and_the_gradient() -> None:
    s = program()
    s.finish()
    ran = [frame["code"]["ran"] for frame in s.frames]
    assert ran == [step.node for step in s.stepper.trace.steps]
    assert code(s)["next"] == ran[0] and [f["code"]["next"] for f in s.frames[:2]] == ran[1:3]
    assert s.frames[0]["code"]["arrived"] == "1.0"
    assert [p["ran"] for p in s.picture["forward"]] == ["", *(o.id for o in s.stepper.document.ops)]


def test_an_array_is_said_by_its_shape_and_its_gradient_by_its_norm() -> None:
    x = av.ones(3, 4, requires_grad=True)
    s = av.step((x * 2).sum())
    s.finish()
    assert [r["value"] for r in code(s)["runs"]] == ["x (3, 4)", "(3, 4)", "24.0"]
    assert [f["code"]["arrived"] for f in s.frames] == ["1.0", "norm 3.46", "norm 6.93"]


def test_in_a_closed_group_the_node_itself_is_told_and_its_box() -> None:
    w = x = av.tensor(0.9, requires_grad=True)
    for _ in range(30):
        x = x * w
    s = av.step(x, collapse=True)
    s.next()
    (box,) = {r["box"] for r in code(s)["runs"] if r["op"]}
    assert s.frames[0]["node"] == box and s.frames[0]["code"]["ran"] == s.stepper.trace.steps[0].node != box


class Net(nn.Module):
    """A model with one part."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(2, 1)

    def forward(self, x: Any) -> Any:
        return self.lin(x).tanh()


def test_a_module_has_the_expression_that_called_it() -> None:
    net = Net()
    out = net(av.ones(1, 2))
    found = code(av.step(out.sum()))
    called = {path: lines(found, m) for path, m in found["modules"].items()}
    assert called == {"": "net(av.ones(1, 2))", "lin": "self.lin(x)"}
    assert found["modules"]["lin"]["name"] == "Linear"


def test_a_module_that_is_called_at_two_places_has_none() -> None:
    net = Net()
    first = net.forward(av.ones(1, 2))
    second = net.lin(av.ones(1, 2))
    assert code(av.step((first + second).sum()))["modules"][""]["at"] is None


def test_the_figure_beside_the_code_has_no_code_of_its_own_and_saved_pictures_do(tmp_path: Path) -> None:
    s = program()
    av.save(s, tmp_path / "x.svg")
    saved = (tmp_path / "x.svg").read_text()
    assert [bool(re.search("class=.code.", svg)) for svg in (saved, s.picture["svg"])] == [True, False]
    drawing = s.drawing
    bare = Drawing(drawing.document, drawing.opened, code=False)
    assert bare.geometry == drawing.without_code.geometry
    assert bare.geometry.boxes == drawing.geometry.boxes and bare.geometry.width < drawing.geometry.width


def test_a_document_from_a_file_has_the_lines_that_it_brings(tmp_path: Path) -> None:
    av.save(program(), tmp_path / "x.json")
    text = (tmp_path / "x.json").read_text().replace(str(Path(__file__)), "elsewhere.py")
    (tmp_path / "x.json").write_text(text)
    found = code(av.step(av.load(tmp_path / "x.json")))
    assert [line.strip() for t in found["texts"] for _, line in t["lines"]][-2:] == ["y = x * w", "return y.tanh()"]
    assert "def scaled" not in json.dumps(found)


def test_a_program_whose_code_is_not_known_has_no_code_view() -> None:
    names: dict[str, Any] = {"av": av}
    exec("a = av.tensor(2.0, requires_grad=True)\ns = av.step(a * a)", names)
    assert names["s"].picture["code"] == {}


@pytest.mark.torch
def test_the_modules_of_a_recorded_pytorch_model_have_their_calls() -> None:
    torch = pytest.importorskip("torch")

    class Block(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())

        def forward(self, x: Any) -> Any:
            return self.net(x)

    class Model(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.blocks = torch.nn.ModuleList([Block(), Block()])

        def forward(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x)
            return x

    model = Model()
    with av.watch(model), av.record(model):  # a run that is watched has its functions between a call and its line
        out = model(torch.ones(1, 2)).sum()
    found = code(av.step(out))
    called = {path: lines(found, m) for path, m in found["modules"].items() if m["at"] is not None}
    blocks = {f"blocks.{i}": "block(x)" for i in (0, 1)} | {f"blocks.{i}.net": "self.net(x)" for i in (0, 1)}
    assert called == {"": "model(torch.ones(1, 2))", **blocks}
    assert {r["turn"][1] for r in found["runs"] if r["module"].startswith("blocks")} == {2}


def test_a_line_with_several_results_says_them_all() -> None:
    b, c, d = av.tensor([1.0, 2.0, 3.0], requires_grad=True).unbind()
    s = av.step(b * c * d)
    assert code(s)["runs"][1]["value"] == "b = 1.0, c = 2.0, d = 3.0"
    s.finish()
    assert s.frames[2]["code"]["arrived"] == "6.0, 3.0, 2.0"
    only = av.step(d.unsqueeze(0).sum())
    only.finish()
    assert [f["code"]["arrived"] for f in only.frames][-2:] == ["None, None, 1.0", "norm 1"]
    many = av.ones(9, requires_grad=True).unbind()
    assert code(av.step(sum(many, many[0])))["runs"][1]["value"] == "many[0] = 1.0, many[1] = 1.0, …, many[8] = 1.0"
