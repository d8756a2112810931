"""A picture as the output of a notebook cell, for whatever front end shows it."""

from __future__ import annotations

import base64
import re
from typing import Any

from ..render.escape import element, one_line

# the way along which a number runs, and the names by which style sheets and scripts find things
_FOR_MOVING = re.compile(r'<path [^>]*class="way"/>| class="[^"]*"| data-[a-z]+="[^"]*"')
MOST_LETTERS = 100_000  # of an SVG: a larger one stands in the notebook once, in the HTML


def cell_bundle(svg: str, text: str, mark: str | None = None) -> dict[str, Any]:
    """MIME type -> data. JupyterLab shows no SVG in a notebook that it does not trust yet, but it shows an image in HTML, in
    which no script could run. What writes paper (LaTeX) takes the SVG.

    Args:
        svg: the picture.
        text: what is shown where there are no pictures, and read to those who do not see them.
        mark: a class of the image, by which a page can find it.
    """
    short = still_svg(svg)
    source = f"data:image/svg+xml;base64,{base64.b64encode(short.encode()).decode()}"
    bundle = {"text/html": one_line(element("img", class_=mark, alt=text, src=source)), "text/plain": text}
    return bundle if len(short) > MOST_LETTERS else {**bundle, "image/svg+xml": short}


def still_svg(svg: str) -> str:
    """The same picture without what only a page that moves it needs: a third shorter, and a notebook holds one per output."""
    return _FOR_MOVING.sub("", svg.replace(' xml:space="preserve"', "")).replace("<svg ", '<svg xml:space="preserve" ', 1)
