"""The figure in less detail: what its boxes say. The page writes the same lines (tests/widget/details.test.js)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

import autograd_viz as av
from autograd_viz.graph.trace import State
from autograd_viz.pictures.layout import DETAILS
from autograd_viz.pictures.render import theme_named
from autograd_viz.pictures.render.drawing import Drawing
from autograd_viz.pictures.render.writer import Run, brief_lines

CASES = json.loads((Path(__file__).parent / "brief_lines.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[str(i) for i in range(len(CASES))])
def test_a_value_takes_one_line(case: dict[str, object]) -> None:
    lines = tuple(tuple(Run(*run) for run in line) for line in case["lines"])
    brief = brief_lines(lines, case["most"], case["short"])
    assert [[list(run) for run in line] for line in brief] == case["brief"]


def texts(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def figure(detail: str) -> av.Figure:
    a = av.tensor(2.0, requires_grad=True)
    w = av.ones(3, 4, requires_grad=True)
    b = a * 3.0
    loss = (w * b).sum()
    loss.backward()
    return av.show(loss, detail=detail)


def test_brief_says_value_and_grad_names_only_names() -> None:
    brief, names = set(texts(figure("brief").svg)), set(texts(figure("names").svg))
    assert {"a = 2.0", "grad = 36.0", "w (3, 4)", "grad = (3, 4)", "loss = 72.0", "AccumulateGrad w"} <= brief
    assert {"a", "w", "loss", "MulBackward0"} <= names
    assert not any("grad =" in said or "next_functions" in said for said in names)
    assert not any("next_functions" in said or "is_leaf" in said for said in brief)


def test_a_short_gradient_is_written_in_numbers() -> None:
    x = av.tensor([1.0, 2.0], requires_grad=True)
    (x * 2.0).sum().backward()
    assert "grad = [2.0, 2.0]" in texts(av.show(x, detail="brief").svg)


def test_a_still_is_full_unless_another_detail_is_asked_for() -> None:
    full = figure("full").svg
    assert full == figure("auto").svg and "next_functions" in full


def test_less_detail_takes_less_room() -> None:
    drawing = Drawing(figure("auto").document)
    sizes = [replace(drawing, detail=detail, dense=True, code=False).geometry for detail in DETAILS]
    areas = [g.width * g.height for g in sizes]
    assert areas == sorted(areas, reverse=True) and areas[1] < 0.6 * areas[0]


def test_an_arrow_carries_its_gradient_in_every_detail() -> None:
    a = av.tensor(2.0, requires_grad=True)
    stepper = av.step(a * 3.0)
    stepper.finish()
    for detail in DETAILS:
        svg = replace(stepper.drawing, detail=detail).svg(stepper.stepper.state, theme_named("light"))
        assert "3.0" in texts(svg) and svg != replace(stepper.drawing, detail=detail).svg(State(), theme_named("light"))


@pytest.mark.parametrize(("detail", "gap"), [("full", 4.0), ("brief", 0.0), ("names", 0.0)])
def test_an_arrow_out_of_a_tensor_starts_at_its_box(detail: str, gap: float) -> None:
    elements = [*fromstring(figure(detail).svg).iter()]
    bottoms = {float(e.get("y", "0")) + float(e.get("height", "0")) for e in elements if "s-green" in e.get("class", "")}
    starts = {float(e.get("d", "").split("L")[0].split()[1]) for e in elements if e.get("class") == "line s-green"}
    assert starts <= {bottom + gap for bottom in bottoms if bottom} and starts
