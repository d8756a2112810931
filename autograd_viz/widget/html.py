"""One file that steps without kernel and network: the widget's own front end, with a recorded pass.

# Note [What the page may do]
Its policy allows only the page's own scripts and style, by their hashes, and pictures that stand in it. It allows no network,
no eval, and no other script or style. The front end, its style and the recording are compressed: so the page is a third as
large. A loader unpacks them. The user's names are data in the recording, and escaped text in the title.

# Note [A still in each page]
A page around ours may forbid all scripts, and `<noscript>` is silent there. So each page begins with a still picture, which the
loader removes when the front end has drawn. It appears only after a moment (SMIL, which needs no script): no page flickers.

# Note [DryRun]
A page has every step of the pass, but none has run when a cell shows a stepper. If no user code would be called (a hook, a
Function's backward), a dry run makes the steps and is taken back. Nobody can notice it. Otherwise the page appears when the
user reaches the end. Until then its place is empty.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from .. import words
from ..graph.codec import to_plain
from ..pictures.files.cell import MOST_LETTERS as MOST_STILL
from ..pictures.files.cell import still_svg
from ..pictures.maps.drawing import MapDrawing
from ..pictures.memory.page import page_style
from ..pictures.render import theme_named
from ..pictures.render.drawing import Drawing
from ..pictures.render.escape import element, one_line, text
from ..stepper.stepper import Stepper
from .frames import StepFrames
from .modules import STYLES, joined_modules, static_text, style_sheets
from .page import page_of

COMMENT = re.compile(r"^[ \t]*/\*\*.*?\*/\n", re.MULTILINE | re.DOTALL)  # in our files: types and descriptions
PLACE = re.compile(r"\{\{(\w+)\}\}")
APPEARS = '<set attributeName="display" to="inline" begin="0.3s"/>'
MOST_NODES = 200
MOST_NUMBERS = 1_000_000  # in all tensors of a dry run
MOST_LETTERS = 500_000  # of a page: a notebook stores one for each stepper
HEIGHT = (460, 680)  # px, minimum and maximum
AROUND = 150  # px: controls, sentence and margins above and below the picture

# the entry and the style sheets of a page: of a stepper, a run, sliders, a difference
KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("stepper/page.js", (*STYLES, "page/page.css")),
    ("run/page.js", ("stepper/stepper.css", "shared/unseen.css", "run/run.css", "page/page.css")),
    ("explore/page.js", (*STYLES, "page/page.css", "explore/explore.css")),
    ("diff/page.js", ("shared/unseen.css", "page/page.css", "diff/diff.css")),
)

DryRun = Callable[[], Stepper | None]


def html_page(stepper: Stepper, theme: str, step: int, drawing: Drawing | MapDrawing) -> str:
    """The page of a stepper whose pass is recorded as far as it can run. It opens at `step`, with the drawing's groups.

    The theme is that of the picture, or "auto" to follow the reader's system.
    """
    title = ", ".join(t.name for t in stepper.document.tensors if t.name)
    still = drawing if isinstance(drawing, MapDrawing) else drawing.on_screen(True).get("brief", drawing)
    return offline_page(
        *KINDS[0],
        _recording(stepper, theme, step, drawing),
        title=title or "autograd_viz",
        heading=": ".join(filter(None, (words.ui()["aria_widget"], title))),
        still=still.svg(stepper.state_at(step), theme_named("light" if theme == "auto" else theme)),
    )


def offline_page(entry: str, styles: Sequence[str], data: dict[str, Any], title: str, heading: str, still: str) -> str:
    """A page with a front end, its style sheets and its data. See Note [What the page may do].

    `still` is an SVG, or the text of what is shown; see Note [A still in each page].
    """
    loader, script, style = _blocks(entry, styles)
    policy = (
        f"default-src 'none'; script-src {hash_of(loader)} {hash_of(script)}; style-src {hash_of(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    places = {
        "language": words.language(),
        "policy": text(policy),
        "title": text(title),
        "heading": text(heading),
        "no_script": text(words.ui()["html_no_script"]),
        "still": _late(still),
        "style": _packed(style),
        "recording": _packed(json.dumps(data, allow_nan=False, separators=(",", ":"))),
        "front_end": _packed(script),
        "loader": loader,
    }
    return filled("page/page.html", places)


def _late(still: str) -> str:
    """The still, which appears when the front end has not drawn by then; a sentence for a very large one."""
    svg = still_svg(still) if still.startswith("<svg ") else ""
    if not svg or len(svg) > MOST_STILL:
        return element("p", text(words.ui()["html_no_script"] if svg else still))
    return svg.replace("<svg ", '<svg display="none" ', 1).replace(">", f">{APPEARS}", 1).replace('"', "'")


def _blocks(entry: str, styles: Sequence[str]) -> tuple[str, str, str]:
    """The scripts of a page, and its style."""
    loader, script = (COMMENT.sub("", joined_modules(name)) for name in ("page/loader.js", entry))
    return loader, script, style_sheets(styles)


def allowed_around() -> tuple[list[str], list[str]]:
    """The hashes of scripts and of styles that a page must allow if it shows our pages in frames, which obey both policies."""
    blocks = [_blocks(*kind) for kind in KINDS]
    styles = {page_style(), *(style for _, _, style in blocks)}
    return sorted({hash_of(b) for loader, script, _ in blocks for b in (loader, script)}), sorted(map(hash_of, styles))


def run_html(data: dict[str, Any], still: str) -> str:
    """The page of a run, with its data (`runs.page`) and its picture. A file follows no loop."""
    return offline_page(*KINDS[1], {**data, "is_live": False}, data["title"], data["title"], still)


def explore_html(data: dict[str, Any], names: str, still: str) -> str:
    """The page of a function with sliders, with its data (`Explorer.page`) and its picture."""
    return offline_page(*KINDS[2], data, names, words.explore()["explore_label"].format(names=names), still)


def diff_html(data: dict[str, Any], still: str) -> str:
    """The page of two passes side by side, with its data (`differences.page`) and its picture."""
    return offline_page(*KINDS[3], data, data["title"], data["title"], still)


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
    framed, steps = StepFrames(stepper, drawing, palette), stepper.trace.steps
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


def hash_of(block: str) -> str:
    """By which a policy allows a script or a style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()}'"


class PageOutput:
    """The page of one stepper, as the output of a cell.

    The live view finds and hides it by the class `mark`. `dry_run` gives a stepper of the same pass that may run and be taken
    back.
    """

    def __init__(
        self, stepper: Stepper, mark: str, theme: str, drawing: Callable[[], Drawing | MapDrawing], dry_run: DryRun | None
    ) -> None:
        self.stepper, self.mark, self.theme, self.drawing, self.dry_run = stepper, mark, theme, drawing, dry_run
        self._shows_all = self._is_shown = False
        self._title = ""
        self._begin = 0  # the position of the stepper when a cell showed it: there the page opens
        stepper.on_move(self._moved)
        stepper.on_cut(lambda _: setattr(self, "_shows_all", False))

    def close(self) -> None:
        """Free the graph."""
        self.dry_run = None

    def html(self) -> str:
        """The page in its frame; "" if nothing is recorded, or if it would be too large."""
        page = self._page() if len(self.stepper.document.nodes) <= MOST_NODES else ""
        if not page or len(page) > MOST_LETTERS:
            return ""
        drawing = self.drawing()
        whole = (drawing.on_screen(True)["full"] if isinstance(drawing, Drawing) else drawing).height
        height = round(min(max(whole + AROUND, HEIGHT[0]), HEIGHT[1]))
        return filled("page/output.html", {"mark": self.mark, "title": text(self._title), "frame": frame(page, height)})

    def show(self, title: str = "") -> None:
        """Show it below the other outputs of the cell, with a title. An empty page keeps the place for later."""
        from IPython.display import display

        self._is_shown, self._begin, self._title = True, self.stepper.step, title
        display({"text/html": self.html()}, raw=True, display_id=self.mark)  # type: ignore[no-untyped-call]

    def _moved(self) -> None:
        if self._is_shown and not self._shows_all and self.stepper.is_over:
            from IPython.display import update_display

            self._shows_all = True
            update_display({"text/html": self.html()}, raw=True, display_id=self.mark)  # type: ignore[no-untyped-call]

    def _page(self) -> str:
        trace = self.stepper.trace
        if trace.steps:
            self._shows_all = trace.complete
            return html_page(self.stepper, self.theme, self._begin, self.drawing())
        return self._dry_run()

    def _dry_run(self) -> str:
        """The page of a pass that has been taken back; "" if it may not run or raises. See Note [DryRun]."""
        with warnings.catch_warnings(action="ignore"):
            try:
                is_quick = sum(math.prod(t.value.shape) for t in self.stepper.document.tensors) <= MOST_NUMBERS
                stepper = self.dry_run() if self.dry_run is not None and is_quick else None
                if stepper is None:
                    return ""
                try:
                    stepper.finish()
                    stepper.pins = self.stepper.pins
                    self._shows_all = True
                    return html_page(stepper, self.theme, self._begin, self.drawing())
                finally:
                    stepper.goto(0)
            except RuntimeError:  # backward() would refuse, too: the user sees the error at the first step
                return ""
