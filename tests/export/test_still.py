"""The picture in a cell is the picture in a file, pixel by pixel, in fewer bytes."""

from __future__ import annotations

import base64
import io
import re
import xml.etree.ElementTree as ET

import pytest
from PIL import Image, ImageChops

import autograd_viz as av
from autograd_viz.pictures.files.cell import cell_bundle, still_svg
from autograd_viz.pictures.files.image import png_bytes
from autograd_viz.pictures.render.svg import size_of
from autograd_viz.verbs.explain import explain
from autograd_viz.verbs.show import show, step

from ..figures import figure


def test_a_cells_picture_is_a_third_shorter_and_looks_the_same() -> None:
    root, _ = figure(6)
    svg = show(root).svg
    short = still_svg(svg)
    assert len(short) < 0.7 * len(svg) and "data-at" not in short
    indented = re.findall(r'xml:space="preserve">  \(\w+, \d\)', short)
    assert len(indented) == svg.count(">  ("), "a browser would drop the indentation of next_functions"
    pictures = [Image.open(io.BytesIO(png_bytes(s, 1.0))).convert("RGB") for s in (svg, short)]
    assert ImageChops.difference(*pictures).getbbox() is None


def test_names_that_look_like_attributes_stay() -> None:
    svg = '<svg viewBox="0 0 9 9"><text class="a" xml:space="preserve">x &quot; class=&quot;b&quot;</text></svg>'
    assert "x &quot; class=&quot;b&quot;" in still_svg(svg) and 'class="a"' not in still_svg(svg)


def test_no_line_of_a_cells_html_is_empty() -> None:
    """In Markdown, which nbconvert writes too, an empty line ends HTML, and what comes after it would be lost."""
    stepper = step(figure(2, before=True)[0])
    stepper.finish()
    for html in (cell_bundle('<svg viewBox="0 0 1 1"/>', "a\n\n# b")["text/html"], stepper.page.html()):
        assert html and all(line.strip() for line in html.splitlines())
    assert "a&#10;&#10;# b" in cell_bundle('<svg viewBox="0 0 1 1"/>', "a\n\n# b")["text/html"]


def wide() -> av.Tensor:
    """A picture far wider than a notebook's column."""
    a, b = av.tensor(2.0, requires_grad=True), av.tensor(0.0, requires_grad=True)
    parts = [a * (b + i) for i in range(12)]
    return sum(parts[1:], parts[0])


def test_a_wide_picture_is_as_large_as_can_be_read_in_a_window_on_the_root() -> None:
    shown = show(wide())
    width, height = size_of(shown.svg)
    window = ET.fromstring(shown._repr_mimebundle_()["text/html"])
    assert "overflow:auto" in window.get("style", "") and window.get("tabindex") == "0"
    assert f"width:{0.8 * width:.0f}px" in window[0].get("style", "")
    at = {name: float(px) for name, px in re.findall(r"(\w+):(\d+)px", window[1].get("style", ""))}
    assert at["top"] + at["height"] == pytest.approx(0.8 * height, abs=2), "the root is at the foot"
    assert at["left"] + at["width"] <= 0.8 * width + 2


def test_an_answer_stands_above_its_picture_in_letters_of_the_notebook() -> None:
    loss = wide()
    loss.backward()
    for answer in (explain(loss, show=True), explain(av.tensor(1.0), show=True)):
        html = answer._repr_mimebundle_()["text/html"]
        words, picture = ET.fromstring(f"<div>{html}</div>")
        assert (words.text or "").split("\n") == str(answer).split("\n")
        image = picture if picture.tag == "img" else picture[0]
        inside = base64.b64decode(image.get("src", "").partition(";base64,")[2]).decode()
        assert size_of(inside)[1] < size_of(answer.svg)[1], "it is not said under it too"


def test_the_picture_of_an_answer_is_whole_in_a_cell_with_less_detail_if_need_be() -> None:
    x = av.tensor([1.0, 2.0], requires_grad=True)
    h = x * 1.0
    loss = (h * h).sum() + (h / h.sum()).sum()
    loss.backward()
    full, answer = show(loss), explain(x, show=True)
    assert size_of(full.svg)[0] > 1100 >= size_of(answer.svg)[0] and "ctx.save_for_backward" not in answer.svg
    y = x * 2
    y.sum().backward()
    assert "ctx.save_for_backward" in explain(x, y.sum(), show=True).svg
