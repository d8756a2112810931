"""The picture in a cell is the picture in a file, pixel by pixel, in fewer bytes."""

from __future__ import annotations

import io

from PIL import Image, ImageChops

from autograd_viz.export.cell import cell_bundle, still_svg
from autograd_viz.export.image import png_bytes
from autograd_viz.views import show, step

from ..figures import figure


def test_a_cells_picture_is_a_third_shorter_and_looks_the_same() -> None:
    root, _ = figure(6)
    svg = show(root).svg
    short = still_svg(svg)
    assert len(short) < 0.7 * len(svg) and "data-at" not in short
    pictures = [Image.open(io.BytesIO(png_bytes(s, 1.0))).convert("RGB") for s in (svg, short)]
    assert ImageChops.difference(*pictures).getbbox() is None


def test_names_that_look_like_attributes_stay() -> None:
    svg = '<svg viewBox="0 0 9 9"><text class="a" xml:space="preserve">x &quot; class=&quot;b&quot;</text></svg>'
    assert "x &quot; class=&quot;b&quot;" in still_svg(svg) and 'class="a"' not in still_svg(svg)


def test_no_line_of_a_cells_html_is_empty() -> None:
    """In Markdown, which nbconvert writes too, an empty line ends HTML, and what comes after it would be lost."""
    stepper = step(figure(2, before=True)[0])
    stepper.finish()
    for html in (cell_bundle("<svg viewBox='0 0 1 1'/>", "a\n\n# b")["text/html"], stepper.page.html()):
        assert html and all(line.strip() for line in html.splitlines())
    assert "a&#10;&#10;# b" in cell_bundle("<svg/>", "a\n\n# b")["text/html"]
