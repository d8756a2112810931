"""A picture as the output of a notebook cell, for whatever front end shows it."""

from __future__ import annotations

import io
import re
from typing import Any

from PIL import Image

from .image import png_bytes, size_of

# the way along which a number runs, and the names by which style sheets and scripts find things
_FOR_MOVING = re.compile(r'<path [^>]*class="way"/>| class="(?!av-still)[^"]*"| data-[a-z]+="[^"]*"')
MOST_PIXELS = 6_000_000  # beyond this a cell carries no PNG: it would be larger than the rest of the notebook


def cell_bundle(svg: str, text: str) -> dict[str, Any]:
    """MIME type -> data. A PNG goes with the SVG because JupyterLab shows no SVG in a notebook it does not trust yet."""
    bundle: dict[str, Any] = {"image/svg+xml": still_svg(svg), "text/plain": text}
    width, height = size_of(svg)
    if width * height <= MOST_PIXELS:
        bundle["image/png"] = with_palette(png_bytes(svg, 1.0))
    return bundle


def still_svg(svg: str) -> str:
    """The same picture without what only a page that moves it needs: a third shorter, and a notebook holds one per output."""
    return _FOR_MOVING.sub("", svg.replace(' xml:space="preserve"', "")).replace("<svg ", '<svg xml:space="preserve" ', 1)


def with_palette(png: bytes) -> bytes:
    """The same picture in 128 colours: half the bytes, and a notebook holds one for each output."""
    out = io.BytesIO()
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image.quantize(128, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(out, "PNG")
    return out.getvalue()
