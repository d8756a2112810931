"""The widget: a Stepper, and a front end that replays recorded steps and asks for the others.

# Note [Three outputs]
A cell that ends in a stepper has three outputs:
- the live view;
- a picture, with a line that says how to get the live view back;
- a page in a frame, which steps without a kernel (page_output.py).
The live view hides the other two while it exists (still.js finds them by a mark). In a notebook opened later, and in what
nbconvert writes, the page hides the picture. Where frames are not allowed (an untrusted notebook, GitHub), the picture stays.
"""

from __future__ import annotations

import json
import secrets
from collections import ChainMap
from typing import Any

import traitlets

from .. import words
from ..graph.codec import to_plain
from ..pictures.files.cell import cell_bundle
from ..pictures.maps.drawing import MapDrawing
from ..pictures.render import theme_named
from ..pictures.render.drawing import Drawing
from ..pictures.render.writer import Writer
from ..runtime.interrupts import alone, breakable, whole
from ..stepper.advice import advise
from ..stepper.stepper import Stepper
from ..stepper.stops import Stops
from .answering import Answering
from .framed import Framed
from .frames import FramesTrait, plain_lines
from .front_end import OneSource
from .made_frames import MadeFrames
from .modules import ENTRY, STYLES
from .page import page_of, pending_edit
from .page_output import DryRun, PageOutput
from .quiet import Quiet, QuietLayout
from .two_scales import TwoScales
from .watch import watch


def _as_text(picture: dict[str, Any], widget: Any) -> str:
    """The picture as text: Jupyter would walk through all its parts, more than once."""
    return json.dumps(picture, allow_nan=False)


class StepperWidget(Quiet, TwoScales, MadeFrames, Answering, OneSource):
    """Steps a backward pass in a notebook and from code: `next`, `back`, `finish`, `reset`, `goto`, `run`, `edit`.

    Attributes:
        step: the number of steps done, negative during the forward pass. It can be set, and linked to other widgets.
        stepper: the `Stepper` behind it, with `trace`, `document` and all debugger methods.
        shown_stops: `stops` as the page shows them. It can set them.
        pins: gradients that stay in sight, as the page shows them. It can set them.
        effect: what an edit would do, as the page has asked.
        error, error_node: the error of the last move and the id of its node, or "".
        stopped: why the last run stopped, or "".
        did: what the group or card did that the last move went through, or "".
        printed: output of hooks and Functions during the last click.
        frames: every recorded step for the page, made when somebody reads them. `recorded` is the part sent last: its start,
            its frames, and the number of the page's questions answered so far.
        pending: the edit that has not run yet: its node, and the gradients by output; {} if there is none.
        page: the output that steps without a kernel.
        mark: a class by which the live view finds and hides the picture beside it.
    """

    kind = "stepper"

    entry, styles = ENTRY, STYLES
    picture = traitlets.Dict().tag(sync=True, to_json=_as_text)
    frames: Any = FramesTrait().tag(sync=True)
    recorded = traitlets.Dict().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    complete = traitlets.Bool(False).tag(sync=True)
    shown_stops: Any = traitlets.List().tag(sync=True)
    pins: Any = traitlets.List().tag(sync=True)
    effect = traitlets.Dict().tag(sync=True)
    error = traitlets.Unicode("").tag(sync=True)
    error_node = traitlets.Unicode("").tag(sync=True)
    did = traitlets.Unicode("").tag(sync=True)
    printed = traitlets.Unicode("").tag(sync=True)
    stopped = traitlets.Unicode("").tag(sync=True)
    overlay = traitlets.Dict().tag(sync=True)
    pending = traitlets.Dict().tag(sync=True)
    spoiled: Any = traitlets.Dict().tag(sync=True)
    rewritten = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        stepper: Stepper,
        total: int,
        drawing: Drawing | MapDrawing,
        theme: str = "auto",
        dry_run: DryRun | None = None,
    ) -> None:
        super().__init__(complete=stepper.is_over, layout=QuietLayout())
        self.stepper, self._theme = stepper, theme_named("light" if theme == "auto" else theme)
        self._drawing: Drawing | MapDrawing = drawing
        self._map = drawing if isinstance(drawing, MapDrawing) else None  # also while the figure of a card is shown
        self._did = ""  # what the group or card of the last move did
        self._made = self.frames  # the same list
        self._maker = maker = Framed(stepper, drawing, self._theme)
        self._is_moving = False
        self.mark = f"av-still-{secrets.token_hex(8)}"
        self.page = PageOutput(stepper, self.mark, theme, lambda: self._drawing, dry_run)
        self._palettes, self._total = ("light", "dark") if theme == "auto" else (theme,), total
        self.picture, self.shown_stops = self._page(drawing, maker), self._shown_stops()
        stepper.on_move(self._moved)
        stepper.on_cut(self._cut)
        self.observe(self._cursor_set, names="step")
        self.observe(self._stops_set, names="shown_stops")
        self.observe(self._pins_set, names="pins")
        self.on_msg(self._asked)
        watch(self)

    # -- the picture --------------------------------------------------------------------------------------------------

    @property
    def drawing(self) -> Drawing | MapDrawing:
        """The open groups or cards, and the layout."""
        return self._drawing

    def expand(self, what: Any) -> None:
        """Open a group. It is given by title or id, or by a tensor or node inside it (itself, its name or id).

        Raises:
            ValueError: it does not exist, or no group hides it.
        """
        drawing = self._drawing
        self._try(lambda: self._redraw(drawing.expanded(what if self._is_map else self.stepper.id_of(what))))

    def collapse(self, what: str) -> None:
        """Draw a group as one box again, given by title or id.

        Raises:
            ValueError: the group does not exist.
        """
        self._try(lambda: self._redraw(self._drawing.collapsed(what)))

    def _redraw(self, drawing: Drawing | MapDrawing, look: str = "") -> None:
        """Draw the same pass anew, and look at a box; if it cannot be laid out, the old drawing stays."""
        maker = Framed(self.stepper, drawing, self._theme)
        page = self._page(drawing, maker, look)
        self._drawing, self._maker, self._known = drawing, maker, 0
        self._map = drawing if isinstance(drawing, MapDrawing) else self._map
        self._made.clear()
        with self.hold_sync():
            self._send_frames()
            self.picture = page
            self._show_stops()

    def _page(self, drawing: Drawing | MapDrawing, maker: Framed, look: str = "") -> dict[str, Any]:
        page = page_of(self.stepper, drawing, self._theme, self._palettes, self._total)
        ready, has_map = maker.ready(self.stepper.trace.start), self._map is not None or isinstance(drawing, MapDrawing)
        return {**page, "ready": ready, "mark": self.mark, "has_map": has_map, "look": look}

    def refresh(self) -> None:
        """Show what changed outside the stepper (called after every cell)."""
        with alone(), self.hold_sync():
            self._show_drift()
            self.spoiled = self.stepper.spoiled()
            drawn = [t.id for t in self._drawing.shown.document.tensors]
            self.rewritten = {id: to_plain(now) for id, now in self.stepper.rewritten(drawn).items()}

    def _show_drift(self) -> None:
        """Show the grads that were changed outside the stepper."""
        shown = self._drawing.shown.document
        writer = Writer(shown, self._theme)
        state = self.stepper.state
        drift = self.stepper.drift([t.id for t in shown.tensors])
        changed = type(state)(ChainMap(drift, state.values), None)  # type: ignore[arg-type]
        self.overlay = {at: plain_lines(writer.lines(at, changed)) for at in drift}

    def _try(self, move: Any, *args: Any) -> Any:
        raised = node = ""
        with whole():
            self._is_moving = True
            try:
                with breakable():
                    return move(*args)
            except Exception as error:
                if isinstance(error, RuntimeError):
                    advise(error)
                raised = "\n".join(filter(None, (f"{type(error).__name__}: {error}", self.stepper.explain(error))))
                failed = self.stepper.failed or ""
                node = self._drawing.shown.shown.get(failed, failed)
                raise
            finally:
                self._is_moving = False
                self._tell(raised, node)

    # -- from the page ------------------------------------------------------------------------------------------------

    def _cursor_set(self, change: Any) -> None:
        if change.new != self.stepper.step:
            self.goto_quietly(change.new)
            self.step = self.stepper.step

    def _stops_set(self, change: Any) -> None:
        """The page has set or removed stops. Some boxes stand for several nodes."""
        shown, kept = self._drawing.shown, self.stepper.stops.nodes
        plain = []
        for p in change.new:
            box = p.get("node", "") if isinstance(p, dict) else None
            if not isinstance(box, str):
                continue
            inside = [n for n in sorted(kept) if shown.shown.get(n, n) == box]
            nodes = (inside or [shown.first_node(box)]) if p.get("kind") == "node" else [box]
            plain += [{**p, "node": node} for node in nodes]
        self.stepper.set_stops(plain)

    def _pins_set(self, change: Any) -> None:
        self.stepper.set_pins(change.new)

    def _show_stops(self) -> None:
        self.shown_stops = self._shown_stops()

    def _show_pins(self) -> None:
        self.pins = to_plain(self.stepper.pins)

    def _shown_stops(self) -> list[dict[str, Any]]:
        """The stops as the picture shows them: a breakpoint in a closed group is shown at the group."""
        shown = self._drawing.shown.shown
        plain = [{**to_plain(s), "node": shown.get(s.node, s.node) if s.kind == "node" else s.node} for s in self.stepper.stops]
        return list({(p["kind"], p["node"], p.get("number")): p for p in plain}.values())

    @property
    def stops(self) -> Stops:
        """The stops of `run`."""
        return self.stepper.stops

    def _moved(self) -> None:
        """The stepper itself has moved. `_try` reports its own moves when it knows how they ended."""
        if not self._is_moving:
            self._tell()

    def _tell(self, error: str = "", node: str = "") -> None:
        """Send what is new, in one message: each message costs time, also on the page."""
        with self.hold_sync():
            if (self._known, self._questions) != (len(self.stepper.recorded), self.recorded.get("answers", 0)):
                self._send_frames()
            self.complete = self.stepper.is_over
            self.step = self.stepper.step
            self.stopped, self.did, self._did = self.stepper.explanation, self._did, ""
            self.pending = pending_edit(self.stepper, self._drawing.shown)
            self.error, self.error_node = error, node
            if error or self.spoiled or self.rewritten:  # saved tensors may have been changed, too
                self.refresh()
            else:
                self._show_drift()

    def close(self) -> None:
        """Remove it from the page, and free what it and its stepper keep.

        A widget that was shown and is not closed lives as long as the kernel. Gradients stay as the last step left them. Every
        later move raises RuntimeError.
        """
        with whole():
            self.stepper.close()
            self.page.close()
            self._let_go()
            layout = self.layout
            super().close()
            layout.close()  # ipywidgets would keep it
            self.recorded = {}

    # -- without a front end ------------------------------------------------------------------------------------------

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        self.catch_up()
        live = super()._repr_mimebundle_(**kwargs)
        data, metadata = live if live is not None else ({}, {})
        return {**data, "text/plain": repr(self.stepper)}, metadata

    def _ipython_display_(self) -> None:
        """Show the live view, and the outputs that stay: see Note [Three outputs]."""
        from IPython.display import display

        bundle, metadata = self._repr_mimebundle_() or ({}, {})
        display(bundle, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]
        display(self.still(), raw=True)  # type: ignore[no-untyped-call]
        self.page.show()

    def still(self, title: str = "") -> dict[str, Any]:
        """The picture at the cursor as a cell output, with a title before the sentence: MIME type -> data."""
        said = words.ui()["static_saved" if self._total else "static_map"]
        caption = " ".join(filter(None, (f"{title}:" if title else "", self.sentence if self._total else "", said)))
        svg = self._drawing.svg(self.stepper.state, self._theme, caption)
        return cell_bundle(svg, said, self.mark)
