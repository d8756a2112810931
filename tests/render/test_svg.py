"""The drawing: figure by figure what stands in it, colours, and text that attacks."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_viz as av
from autograd_viz.graph import State
from autograd_viz.graph.order import hidden_at
from autograd_viz.pictures.layout import layout
from autograd_viz.pictures.layout.measure import columns, label_columns
from autograd_viz.pictures.render import THEMES, Theme, escape, render_svg
from autograd_viz.pictures.render.writer import label_text, short
from autograd_viz.sources.shared.values import value_of
from autograd_viz.sources.twin.graph import CoreGraph

from ..figures import figure

SVG = "{http://www.w3.org/2000/svg}"


class Picture:
    """A figure as an element tree, found by names instead of ids."""

    def __init__(self, number: int, theme: str = "waite", before: bool = False) -> None:
        root, names = figure(number, before)
        graph = CoreGraph([root], names)
        self.document = graph.document
        self.svg = render_svg(graph.document, layout(graph.document), graph.past(), THEMES[theme])
        self.tree = ET.fromstring(self.svg)
        self.places = {e.get("data-at"): e for e in self.tree.iter(f"{SVG}g") if e.get("data-at")}
        for e in self.tree.iter(f"{SVG}g"):
            if "label" in e.get("class", ""):
                self.places[f"label {e.get('data-at')}"] = e
        self.ids = {t.name: t.id for t in self.document.tensors}

    def rows(self, name: str) -> list[str]:
        """The five rows of a tensor, as text."""
        group = self.places[self.ids[name]]
        return ["".join(row.itertext()) for row in group if row.get("class", "").startswith("row")]

    def kind(self, name: str) -> str:
        return self.places[self.ids[name]].get("class", "").split()[1]

    def labels(self) -> dict[str, str]:
        """Numbers on arrows by a readable address: `MulBackward0>0`, `AccumulateGrad a`, `sum DivBackward0`, `grad_fn e`."""
        nodes = {n.id: n for n in self.document.nodes}
        names = {t.id: t.name for t in self.document.tensors}
        found = {}
        for at, e in self.places.items():
            text = "".join(e.itertext())
            if at and at.startswith("label ") and text and "caption" not in at:
                kind, _, rest = at.removeprefix("label ").partition(":")
                id, _, index = rest.partition(".")
                if kind == "grad_fn":
                    found[f"grad_fn {names[id]}"] = text
                else:
                    node = nodes[id]
                    where = names[node.variable] if node.variable else names[next(iter(self.made_by(node.op)))]
                    found[f"{kind} {where}{'.' + index if index else ''}"] = text
        return found

    def made_by(self, op: str | None) -> tuple[str, ...]:
        return tuple(t for o in self.document.ops if o.id == op for t in o.outputs if t)


def test_figure_1_is_all_yellow_and_has_nothing_blue() -> None:
    p = Picture(1)
    assert [p.kind(n) for n in "abc"] == ["yellow"] * 3
    assert p.rows("c") == ["data = tensor(6.0)", "grad = None", "grad_fn = None", "is_leaf = True", "requires_grad = False"]
    assert not any(" blue" in e.get("class", "") for e in p.tree.iter(f"{SVG}g"))


def test_figure_2_has_the_rows_and_numbers_of_the_frame() -> None:
    p = Picture(2)
    assert p.rows("a") == ["data = tensor(2.0)", "grad = 3.0", "grad_fn = None", "is_leaf = True", "requires_grad = True"]
    assert p.rows("b") == ["data = tensor(3.0)", "grad = None", "grad_fn = None", "is_leaf = True", "requires_grad = False"]
    assert p.rows("c") == [
        "data = tensor(6.0)",
        "grad = None",
        "grad_fn = MulBackward",
        "is_leaf = False",
        "requires_grad = True",
    ]
    assert [p.kind(n) for n in "abc"] == ["green", "yellow", "brown"]
    assert p.labels() == {"grad_fn c": "1.0", "next c.0": "3.0", "grad a": "3.0"}
    assert "next_functions = [  (AccumulateGrad, 0),  (None, 0)]" in "".join(p.tree.itertext())


def test_figure_2_before_backward_has_the_same_arrows_and_no_numbers() -> None:
    before, after = Picture(2, before=True), Picture(2)
    arrows = [
        sorted(e.get("data-at", "") for e in p.tree.iter(f"{SVG}g") if "arrow" in e.get("class", "")) for p in (before, after)
    ]
    assert arrows[0] == arrows[1]
    assert before.labels() == {} and before.rows("a")[1] == "grad = None"


def test_figure_3_sends_the_gradient_past_c() -> None:
    p = Picture(3)
    assert p.labels() == {
        "grad_fn e": "1.0", "next e.0": "4.0", "next e.1": "6.0", "next c.0": "12.0", "next c.1": "8.0",
        "grad a": "12.0", "grad b": "8.0", "grad d": "6.0",
    }  # fmt: skip
    assert p.rows("c")[1] == "grad = None"


def test_figure_4_retains_the_gradient_of_c_with_a_purple_arrow() -> None:
    p = Picture(4)
    assert p.rows("c")[1] == "grad = 4.0"
    arrow = p.places[f"retain:{p.ids['c']}"]
    assert arrow[0].get("stroke") == THEMES["waite"].colours()["hook"]
    assert "retain_grad_hook" in p.svg
    (way,) = [a.points for a in layout(p.document).arrows if a.kind == "retain"]
    assert len(way) == 4, "out of the node's side, over d, down, into the row"


def test_figure_5_has_three_entries_and_no_ctx_at_unbind() -> None:
    p = Picture(5)
    assert p.rows("a")[:2] == ["data = tensor(  [1.0, 2.0, 3.0])", "grad = tensor(  [6.0, 3.0, 2.0])"]
    assert p.rows("b")[2] == "grad_fn = UnbindBac..."
    assert p.labels()["grad a"] == "[6.0, 3.0, 2.0]"
    unbind = next(n for n in p.document.nodes if n.name == "UnbindBackward0")
    assert f"ctx:{unbind.op}" not in p.places
    box = next(b for b in layout(p.document).boxes if b.id == unbind.id)
    ends = {a.net[2]: a.points[-1][0] - box.x for a in layout(p.document).arrows if a.kind == "next" and a.target == unbind.id}
    assert ends == {"0": 50, "1": 90, "2": 130}


def test_figure_6_shows_sums_where_arrows_join() -> None:
    p = Picture(6)
    labels = p.labels()
    assert (labels["sum i.0"], labels["sum h.0"]) == ("18.0", "-64.0")
    assert (labels["next k.1"], labels["next j.0"], labels["next i.1"]) == ("10.0", "8.0", "-72.0")
    assert p.kind("c") == "green" and p.rows("i")[1] == "grad = 18.0"


def test_the_light_theme_says_what_pytorch_says() -> None:
    p = Picture(3, "light")
    assert p.rows("a")[:3] == ["data = tensor(2.)", "grad = tensor(12.)", "grad_fn = None"]
    assert p.rows("e")[2] == "grad_fn = MulBackward0"
    node = p.places[next(n.id for n in p.document.nodes if n.variable is None)]
    assert "next_functions = (  (AccumulateGrad, 0),  (AccumulateGrad, 0))" in "".join(node.itertext())
    assert "other = freed" in "".join(node.itertext())


def test_saved_tensors_are_shown_by_name_and_value_before_they_are_freed() -> None:
    p = Picture(3, "light", before=True)
    text = "".join("".join(p.places[n.id].itertext()) for n in p.document.nodes)
    assert "other = tensor(3.)" in text and "self = tensor(6.)" in text


def test_geometry_is_the_same_in_every_theme_and_state() -> None:
    boxes = []
    for theme in THEMES:
        for before in (False, True):
            p = Picture(3, theme, before)
            frames = (e.find(f"{SVG}rect") for at, e in p.places.items() if at and ":" not in at)
            boxes.append(sorted((f.get("x", ""), f.get("y", ""), f.get("width", "")) for f in frames if f is not None))
    assert all(b == boxes[0] for b in boxes) and len(boxes[0]) > 20


def test_yellow_boxes_are_dashed_too() -> None:
    p = Picture(2)
    frames = {n: p.places[p.ids[n]].find(f"{SVG}rect") for n in "abc"}
    dashed = {n: f is not None and f.get("stroke-dasharray") is not None for n, f in frames.items()}
    assert dashed == {"a": False, "b": True, "c": False}


ATTACKS = [
    "<script>alert(1)</script>",
    '"]; x',
    "</svg>",
    "&amp;",
    "a' onload='x",
    "]]>",
    "\x00\x1b[31m",
    "\u202eabc",
    "名前",
    "x" * 500,
]


@pytest.mark.parametrize("name", ATTACKS)
def test_a_name_is_drawn_as_text(name: str) -> None:
    x = av.tensor(2.0, requires_grad=True)
    y = x * 3
    graph = CoreGraph([y], {name: x, f"{name}y": y})
    tree = ET.fromstring(render_svg(graph.document, layout(graph.document), State(), THEMES["light"]))
    assert {e.tag.removeprefix(SVG) for e in tree.iter()} <= {"svg", "title", "rect", "g", "text", "tspan", "path"}
    assert all(not k.lower().startswith("on") for e in tree.iter() for k in e.attrib)


@given(st.text(max_size=30))
def test_escaped_text_survives_xml(value: str) -> None:
    shown = ET.fromstring(f'<t a="{escape.text(value)}">{escape.text(value)}</t>').text or ""
    kept = "".join(c for c in value if escape.text(c) != "\ufffd")
    assert shown.replace("\ufffd", "").replace("\n", "") == kept.replace("\ufffd", "").replace("\n", "").replace("\r", "")


@pytest.mark.parametrize(
    ("number", "text"),
    [(4.0, "4.0"), (-64.0, "-64.0"), (0.3333333, "0.3333"), (-1e-5, "-1e-05"), (2348755189760.0, "2.3e+12"), (3, "3"),
     (True, "True"), (float("nan"), "nan"), (float("-inf"), "-inf"), (123456.0, "1.2e+05"), (12345.0, "12345.0")],
)  # fmt: skip
def test_numbers_on_arrows_are_short(number: float, text: str) -> None:
    assert short(number) == text and len(text) <= 7


def test_a_label_never_outgrows_its_room() -> None:
    assert label_text(value_of(av.tensor([6.0, 3.0, 2.0]))) == "[6.0, 3.0, 2.0]"
    assert label_text(value_of(av.ones(28, 28))) == "(28, 28) · norm 28.0"
    assert label_text(value_of(av.ones(28, 28)), 12) == "norm 28.0"
    assert label_text(value_of(av.ones(0, 4))) == "shape (0, 4)"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("net.conv2.weight", "net.conv2.weight"),
        ("model.encoder.layers.11.linear1.weight", "…1.linear1.weight"),
        ("x" * 40, "x" * 16 + "…"),
    ],
)
def test_an_accumulate_grad_says_which_leaf_to_the_end(name: str, shown: str) -> None:
    leaf = av.tensor(2.0, requires_grad=True)
    root = leaf * 3
    document = CoreGraph([root], {name: leaf}).document
    svg = render_svg(document, layout(document), State(), THEMES["light"])
    assert f">variable = {shown}<" in svg


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("shape", [(), (2,), (1, 1, 2), (3,), (28, 28), (128, 64, 3, 3), (1,) * 12 + (9,)])
def test_a_gradient_of_any_size_fits_its_label(shape: tuple[int, ...], language: str) -> None:
    av.set_language(language)
    try:
        for number in (1e-38, 1 / 3, 1.0, 1234.5, 1e38, math.nan, math.inf):
            value = value_of(av.full(shape, number, dtype=av.float64))
            assert columns(label_text(value)) <= label_columns(shape)
            assert any(what in label_text(value) for what in ("nan", "inf")) != math.isfinite(number)
    finally:
        av.set_language("en")


def test_what_is_not_finite_is_named_in_red() -> None:
    """On the arrow and in the row, of a few numbers and of many."""
    few, many = av.tensor([0.0, 4.0, 9.0], requires_grad=True), av.zeros(3, 4, requires_grad=True)
    loss = few.sqrt().sum() + (many.sqrt() * 0.0).sum()
    loss.backward()
    red = THEMES["light"].colours()["false"]
    written = {e.text for e in ET.fromstring(av.show(loss).svg).iter(f"{SVG}tspan") if e.get("fill") == red}
    assert {"(3,) · 1 inf", "  [ inf, 0.2500, 0.1667])", "(3, 4) · 12 nan", "  shape (3, 4) · 12 nan)"} <= written


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [THEMES["light"], THEMES["dark"]], ids=lambda t: t.name)
def test_text_and_lines_have_enough_contrast(theme: Theme) -> None:
    """WCAG 2: 4.5 for text, 3 for lines."""
    colours = theme.colours()
    for kind in ("green", "yellow", "brown", "blue"):
        assert contrast(colours["text"], colours[f"{kind}-fill"]) >= 4.5
        assert contrast(colours[f"{kind}-stroke"], colours["canvas"]) >= 3
    for role in ("true", "false", "none", "link", "number", "grad", "hook"):
        assert contrast(colours[role], colours["row"]) >= 4.5, role
    fills = [colours[f"{kind}-fill"] for kind in ("green", "yellow", "brown", "blue")]
    assert all(a != b for a, b in combinations(fills, 2))


def test_a_caption_stands_under_the_picture() -> None:
    root, names = figure(2, False)
    document = CoreGraph([root], names).document
    plain = render_svg(document, layout(document), State(), THEMES["light"])
    tree = ET.fromstring(render_svg(document, layout(document), State(), THEMES["light"], "a < b " * 60))
    below = [e for e in tree if e.tag == f"{SVG}text" and "a < b" in (e.text or "")]
    bottom = float(ET.fromstring(plain).get("viewBox", "").split()[3]) + float(tree.get("viewBox", "").split()[1])
    assert len(below) > 1 and all(float(e.get("y", "0")) > bottom for e in below)
    assert float(tree.get("height", "0")) > bottom


def test_what_the_forward_pass_has_not_made_yet_is_faint() -> None:
    root, names = figure(3, False)
    document = CoreGraph([root], names).document
    state = State(hidden=hidden_at(document, -1))
    tree = ET.fromstring(render_svg(document, layout(document), state, THEMES["light"]))
    groups = [e for e in tree.iter(f"{SVG}g") if e.get("data-at")]
    arrows = [e.get("opacity") for e in groups if e.get("class", "").startswith("arrow")]
    assert 0 < sum(a is not None for a in arrows) < len(arrows)
    faint = {
        e.get("data-at", "").removeprefix("ctx:") for e in groups if e.get("opacity") and "arrow" not in e.get("class", "")
    }
    assert faint == state.hidden != frozenset()
