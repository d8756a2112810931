"""One file that steps without kernel and network: the widget's own front end, with a recorded pass.

# Note [What the page may do]
Its policy allows only the page's own scripts and style, by their hashes. It allows no network, no eval, and no other script or
style. The front end, its style and the recording are compressed, so the page is a third as large. A loader unpacks them. The
user's names are data in the recording, and escaped text in the title.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

from .. import words
from ..graph.codec import to_plain
from ..pictures.maps.drawing import MapDrawing
from ..pictures.render import theme_named
from ..pictures.render.drawing import Drawing
from ..pictures.render.escape import element, one_line, text
from ..stepper.stepper import Stepper
from .frames import Framed
from .modules import STYLES, joined_modules, static_text, style_sheets
from .page import page_of

COMMENT = re.compile(r"^[ \t]*/\*\*.*?\*/\n", re.MULTILINE | re.DOTALL)  # in our files: types and descriptions
PLACE = re.compile(r"\{\{(\w+)\}\}")


def html_page(stepper: Stepper, theme: str, step: int, drawing: Drawing | MapDrawing) -> str:
    """The page.

    Args:
        stepper: its pass is recorded as far as it can run.
        theme: of the picture, or "auto" to follow the reader's system.
        step: the step at which it opens.
        drawing: of its document; groups stay as they are in it.
    """
    title = ", ".join(t.name for t in stepper.document.tensors if t.name)
    return offline_page(
        "stepper/page.js",
        (*STYLES, "page/page.css"),
        _recording(stepper, theme, step, drawing),
        title=title or "autograd_viz",
        heading=": ".join(filter(None, (words.ui()["aria_widget"], title))),
    )


def offline_page(entry: str, styles: Sequence[str], data: dict[str, Any], title: str, heading: str) -> str:
    """A page with a front end, its style sheets and its data. See Note [What the page may do]."""
    loader, script = (COMMENT.sub("", joined_modules(name)) for name in ("page/loader.js", entry))
    style = style_sheets(styles)
    policy = {
        "default-src": "'none'",
        "script-src": f"{_hash(loader)} {_hash(script)}",
        "style-src": _hash(style),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    places = {
        "language": words.language(),
        "policy": text("; ".join(map(" ".join, policy.items()))),
        "title": text(title),
        "heading": text(heading),
        "no_script": text(words.ui()["html_no_script"]),
        "style": _packed(style),
        "recording": _packed(json.dumps(data, allow_nan=False, separators=(",", ":"))),
        "front_end": _packed(script),
        "loader": loader,
    }
    return filled("page/page.html", places)


def run_html(data: dict[str, Any]) -> str:
    """The page of a run, with its data (`runs.page`). A file follows no loop."""
    styles = ("stepper/stepper.css", "shared/unseen.css", "run/run.css", "page/page.css")
    return offline_page("run/page.js", styles, {**data, "is_live": False}, title=data["title"], heading=data["title"])


def diff_html(data: dict[str, Any]) -> str:
    """The page of two passes side by side, with its data (`differences.page`)."""
    return offline_page(
        "diff/page.js", ("shared/unseen.css", "page/page.css", "diff/diff.css"), data, data["title"], data["title"]
    )


def frame(page: str, height: int) -> str:
    """A page in its own frame, isolated from the page around it; `height` in px."""
    return one_line(
        element("iframe", "", srcdoc=page, sandbox="allow-scripts", width="100%", height=height, frameborder=0, loading="lazy")
    )


def filled(name: str, places: dict[str, str]) -> str:
    """One of the front end's files with its {{places}} filled."""
    return PLACE.sub(lambda place: places[place[1]], static_text(name))


def _recording(stepper: Stepper, theme: str, step: int, drawing: Drawing | MapDrawing) -> dict[str, Any]:
    """Everything that a widget would be sent during the pass."""
    palette = theme_named("light" if theme == "auto" else theme)
    framed, steps = Framed(stepper, drawing, palette), stepper.trace.steps
    palettes = ("light", "dark") if theme == "auto" else (theme,)
    page = page_of(stepper, drawing, palette, palettes, len(steps))
    fixed = {key: {**page[key], "fixed": True} for key in ("groups", "map") if key in page}  # no kernel draws another
    return {
        "picture": {**page, **fixed, "ready": framed.ready(stepper.trace.start)},
        "frames": [framed.frame(index) for index in range(len(steps))],
        "step": step,
        "pins": to_plain(stepper.pins),
    }


def _packed(block: str) -> str:
    """Compressed, as letters and digits; the same text gives the same block."""
    return base64.b64encode(gzip.compress(block.encode(), mtime=0)).decode()


def _hash(block: str) -> str:
    """The hash of a block, as a policy writes it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()}'"
