"""A picture as the output of a notebook cell, for any front end."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Any

from ..render.escape import element, one_line
from ..render.escape import text as escaped
from ..render.svg import size_of

# the paths of moving numbers, and the names for style sheets and scripts
_FOR_MOVING = re.compile(r'<path [^>]*class="way"/>| class="[^"]*"| data-[a-z]+="[^"]*"')
# browsers read this attribute on the <text>; text without indentation does not need it
_NOT_INDENTED = re.compile(r' xml:space="preserve"(?=>(?!(?:<tspan[^>]*>)? ))')
_CODE = re.compile(r"`([^`]*)`")
WIDEST = 1400.0  # px; a wider picture becomes illegible in a notebook's column
LEGIBLE = 0.8  # the scale of a wider one: letters of 9 px
SEEN = (800, 500)  # the visible part in px, approximately
MOST_LETTERS = 100_000  # of an SVG; a larger one is stored once, in the HTML


def cell_bundle(
    svg: str, text: str, mark: str | None = None, said: str = "", at: tuple[float, float] | None = None
) -> dict[str, Any]:
    """MIME type -> data. JupyterLab shows no SVG in an untrusted notebook. It shows an image in HTML, in which scripts cannot
    run. Exporters to paper (LaTeX) use the SVG. Front ends without pictures, and screen readers, use the text. A page finds the
    image by its class `mark`. The words `said` stand above it. A large picture can be scrolled: `at` is its first visible
    point, in px.
    """
    short = still_svg(svg)
    size = size_of(svg) if at is not None else (0.0, 0.0)
    is_wide = at is not None and size[0] > WIDEST
    style = f"max-width:none;width:{size[0] * LEGIBLE:.0f}px" if is_wide else None
    image = element("img", class_=mark, alt=text, src=_source(short), style=style)
    image = _scrolled(image, size, at) if at is not None and is_wide else image
    above = element("div", escaped(said), style="white-space:pre-wrap;margin:4px 0 10px") if said else ""
    bundle = {"text/html": one_line(above + image), "text/plain": text}
    return bundle if len(short) > MOST_LETTERS else {**bundle, "image/svg+xml": short}


def pictures_bundle(sides: Sequence[tuple[str, str]], whole: str, said: str) -> dict[str, Any]:
    """Pictures with titles: side by side where they fit, else one under the other. `whole`: all of them in one SVG, for paper.
    What stands between backticks in `said` is code.
    """
    figures = []
    for title, svg in sides:
        image = element("img", alt=title, src=_source(still_svg(svg)), style="display:block;max-width:100%")
        figures.append(element("div", element("div", escaped(title), style="font-weight:bold;margin:4px 0") + image))
    told = _CODE.sub(lambda found: element("code", found[1]), escaped(said))
    row = element("div", "".join(figures), style="display:flex;flex-wrap:wrap;gap:10px 24px;align-items:flex-start")
    above = element("div", told, style="white-space:pre-wrap;margin:4px 0 10px")
    return {"text/html": one_line(above + row), "text/plain": said, "image/svg+xml": still_svg(whole)}


def answer_bundle(text: str, details: str, label: str) -> dict[str, Any]:
    """An answer, with details behind a button (`label`), if there are any."""
    if not details:
        return {"text/plain": text}
    style = "white-space:pre-wrap;margin:0"
    more = element("details", element("summary", escaped(label)) + element("div", escaped(details), style=style))
    return {"text/plain": text, "text/html": one_line(element("div", escaped(text), style=style) + more)}


def _source(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _scrolled(image: str, size: tuple[float, float], at: tuple[float, float]) -> str:
    """A window on a picture that is too wide for a column. Browsers without `scroll-initial-target` begin at its corner."""
    whole = [length * LEGIBLE for length in size]
    seen = [min(most, length) for most, length in zip(SEEN, whole, strict=True)]
    starts = [p * LEGIBLE - part / 2 for p, part in zip(at, seen, strict=True)]
    left, top = (min(max(0, start), w - part) for start, w, part in zip(starts, whole, seen, strict=True))
    place = f"position:absolute;left:{left:.0f}px;top:{top:.0f}px;width:{seen[0]:.0f}px;height:{seen[1]:.0f}px"
    first = element("span", "", style=f"{place};pointer-events:none;scroll-initial-target:nearest")
    look = "position:relative;overflow:auto;max-height:75vh;border:1px solid #b3b3b3"
    return element("div", image + first, style=look, tabindex=0)


def still_svg(svg: str) -> str:
    """The same picture without the parts for movement. It is a third shorter, and a notebook stores one per output."""
    return _FOR_MOVING.sub("", _NOT_INDENTED.sub("", svg)).replace("<svg ", '<svg xml:space="preserve" ', 1)
