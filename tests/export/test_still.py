"""The picture in a cell is the picture in a file, pixel by pixel, in fewer bytes."""

from __future__ import annotations

import io

from PIL import Image, ImageChops

from autograd_viz.export.cell import still_svg
from autograd_viz.export.image import png_bytes
from autograd_viz.views import show

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
