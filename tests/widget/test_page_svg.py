"""The picture for a page is the exported one without what the page says itself."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import autograd_viz as av
from autograd_viz.widget.page import page_svg

SPACE = "{http://www.w3.org/XML/1998/namespace}space"


def drawn(n: int) -> str:
    variables = {'class="f-text" <b>': av.tensor(0.5, requires_grad=True)}
    y = variables['class="f-text" <b>']
    for _ in range(n):
        y = (y * 2).sin()
    return str(av.show(y).svg)


def test_it_is_a_third_shorter_and_has_the_same_boxes_words_and_places() -> None:
    svg = drawn(20)
    short = page_svg(svg)
    assert len(short) < 0.7 * len(svg) and '"' not in short
    before, after = ET.fromstring(svg), ET.fromstring(short)
    assert list(before.itertext()) == list(after.itertext())
    for key in ("data-at", "x", "y", "width", "viewBox", "text-anchor", "rx", "stroke-dasharray"):
        assert [e.get(key) for e in before.iter() if e.get(key)] == [e.get(key) for e in after.iter() if e.get(key)], key


def test_a_name_that_looks_like_an_attribute_stays_a_name() -> None:
    assert "class=&quot;f-text&quot; &lt;b&gt;" in page_svg(drawn(1))


def test_what_is_left_out_is_inherited_or_in_the_style_sheet() -> None:
    """Every line is as wide and every text as large as in the exported picture, and an arrow has one way."""
    svg = drawn(3)
    root = ET.fromstring(page_svg(svg))
    assert (root.get("font-size"), root.get("stroke-width")) == ("11.4", "1.2")
    sizes = [e.get("font-size") or "11.4" for e in root.iter() if e.tag.endswith("text")]
    assert sizes == re.findall(r'<text [^>]*font-size="([^"]*)"', svg)
    arrows = [e for e in root.iter() if (e.get("class") or "").startswith("arrow")]
    for arrow in arrows:
        ways = [p for p in arrow if "way" in (p.get("class") or "").split()]
        assert len(ways) == int(any(kind in arrow.get("class", "") for kind in ("next", "grad", "retain")))
