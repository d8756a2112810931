"""The widget: a Stepper, and a front end that replays recorded steps and asks for the others.

# Note [Three outputs]
A cell that ends in a stepper has three outputs:
- the live view;
- a picture, with a line that says how to get the live view back;
- a page in a frame, which steps without a kernel (html.py).
The live view hides the other two while it exists (still.js finds them by a mark). In a notebook opened later, and in what
nbconvert writes, the page hides the picture. Where frames are not allowed (an untrusted notebook, GitHub), the picture stays.
"""

from __future__ import annotations

import functools
import json
import secrets
from collections import ChainMap
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Concatenate, ParamSpec, TypeVar

import traitlets

from .. import words
from ..graph import Step, Value
from ..graph.codec import to_plain
from ..graph.text import Labels, gradient_text
from ..pictures.files.cell import cell_bundle
from ..pictures.maps.drawing import MapDrawing
from ..pictures.render import Writer, theme_named
from ..pictures.render.drawing import Drawing
from ..runtime.interrupts import alone, breakable, whole
from ..stepper.sentences import advise
from ..stepper.stepper import Stepper
from ..stepper.stops import Stops
from .frames import StepFrames, plain_lines
from .front_end import FramesTrait, OneSource, Quiet, QuietLayout, show_live, watch
from .html import DryRun, PageOutput
from .modules import ENTRY, STYLES
from .page import page_of, pending_edit
from .questions import Questions, change_of, effect_of
from .view import Look, View

MOST_NODES = 1000  # of a pass whose effect is shown while a person types

P = ParamSpec("P")
R = TypeVar("R")


def _move(verb: Callable[Concatenate[Stepper, P], R]) -> Callable[Concatenate[StepperWidget, P], R]:
    """A move of the stepper; the page is told how it ended."""

    @functools.wraps(verb)
    def moving(self: StepperWidget, /, *args: P.args, **options: P.kwargs) -> R:
        moved: R = self._try(lambda: verb(self.stepper, *args, **options))
        return moved

    return moving


def _set(verb: Callable[Concatenate[Stepper, P], R]) -> Callable[Concatenate[StepperWidget, P], R]:
    """The stepper sets stops or pins; the page shows them."""

    @functools.wraps(verb)
    def setting(self: StepperWidget, /, *args: P.args, **options: P.kwargs) -> R:
        given = verb(self.stepper, *args, **options)
        self._show_set()
        return given

    return setting


class StepperWidget(Quiet, OneSource):
    """Steps a backward pass in a notebook and from code: `next`, `back`, `finish`, `reset`, `goto`, `run`, `edit`.

    Attributes:
        step: the number of steps done, negative during the forward pass. It can be set, and linked to other widgets.
        stepper: the `Stepper` behind it, with `trace`, `document` and all debugger methods.
        view: what is shown of it.
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
    # as text: Jupyter would walk through all its parts, more than once
    picture = traitlets.Dict().tag(sync=True, to_json=lambda picture, widget: json.dumps(picture, allow_nan=False))
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
        self, stepper: Stepper, total: int, drawing: Drawing | MapDrawing, theme: str = "auto", dry_run: DryRun | None = None
    ) -> None:
        self.stepper, self._theme = stepper, theme_named("light" if theme == "auto" else theme)
        self.view = View(stepper, drawing, self._theme)
        super().__init__(complete=stepper.is_over, layout=QuietLayout())
        self._did = ""  # what the group or card of the last move did
        self._is_moving = False
        self._questions = Questions(
            {
                **{"goto": self.goto_quietly, "run": self.run, "undo_edit": self.undo_edit},
                **{"expand": self.expand, "collapse": self.collapse, "figure": self.figure, "map": self.map},
                **{"leave": self.leave, "into": self.into, "edit": self._edit_text, "effect": self._show_effect},
                "run_to": lambda node: self.run_to(self.view.meant(node)),
                "until": lambda tensor: self.until(self.view.meant(tensor)),
                "frames": lambda: self.send_state("frames"),
            }
        )
        self.mark = f"av-still-{secrets.token_hex(8)}"
        self.page = PageOutput(stepper, self.mark, theme, lambda: self.view.drawing, dry_run)
        self._palettes, self._total = ("light", "dark") if theme == "auto" else (theme,), total
        self.picture, self.shown_stops = self._page(drawing), self._shown_stops()
        stepper.on_move(self._moved)
        stepper.on_cut(self._cut)
        self.observe(self._cursor_set, names="step")
        self.observe(self._stops_set, names="shown_stops")
        self.observe(lambda change: self.stepper.set_pins(change.new), names="pins")
        self.on_msg(self._asked)
        watch(self, StepperWidget.refresh)

    # -- moves, stops, edits ------------------------------------------------------------------------------------------

    next = _move(Stepper.next)
    back = _move(Stepper.back)
    finish = _move(Stepper.finish)
    reset = _move(Stepper.reset)
    goto = _move(Stepper.goto)
    until = _move(Stepper.until)
    edit = _move(Stepper.edit)
    undo_edit = _move(Stepper.undo_edit)
    stop_on = _set(Stepper.stop_on)
    clear_stops = _set(Stepper.clear_stops)
    pin = _set(Stepper.pin)
    unpin = _set(Stepper.unpin)

    def run(self) -> None:
        """Run to the next stop, or to the end."""
        self._try(self.stepper.run)

    def run_to(self, node: Any) -> None:
        """Run until a node is next. It is given by id, as the grad_fn of a tensor or a tensor's name, or by a card's path."""
        self._try(lambda: self.stepper.run_to(self.view.first_of(node)))

    def stop_at(self, what: Any) -> None:
        """Stop before a node runs: an id, a tensor whose grad_fn it is, its name, or a card's path."""
        self.stepper.stop_at(self.view.first_of(what))
        self._show_set()

    def stop_when(self, condition: Callable[[Step], Any]) -> None:
        """Stop after a step for which ``condition(step)`` is true."""
        self.stepper.stop_when(condition)
        with self.hold_sync():  # the flags of recorded steps have changed
            self._cut(0)
            self._tell()
        self._show_set()

    def preview(self, value: Any, index: int = 0) -> dict[str, tuple[str, str]]:
        """What an edit would do to the `grad` of each leaf at the end of the pass: by name, without the edit and with it.

        The rest of the pass runs, also hooks, and is taken back.
        """
        labels = Labels(self.stepper.document)
        found = self.stepper.preview(value, index).items()
        return {labels.of(id): (_grad_text(without), _grad_text(edited)) for id, (without, edited) in found}

    @property
    def stops(self) -> Stops:
        """The stops of `run`."""
        return self.stepper.stops

    @property
    def sentence(self) -> str:
        """The last event, in words."""
        return self.stepper.sentence

    def goto_quietly(self, step: int) -> None:
        """Go as far as possible; an error is shown under the picture."""
        with suppress(Exception):
            self.goto(max(self.stepper.first, step))

    # -- the picture --------------------------------------------------------------------------------------------------

    @property
    def drawing(self) -> Drawing | MapDrawing:
        """The open groups or cards, and the layout."""
        return self.view.drawing

    def expand(self, what: Any) -> None:
        """Open a group. It is given by title or id, or by a tensor or node inside it (itself, its name or id).
        ValueError: it does not exist, or no group hides it.
        """
        drawing = self.drawing
        is_map = isinstance(drawing, MapDrawing)
        self._look(lambda: (drawing.expanded(what if is_map else self.stepper.id_of(what)), ""))

    def collapse(self, what: str) -> None:
        """Draw a group as one box again, given by title or id. ValueError: the group does not exist."""
        self._look(lambda: (self.drawing.collapsed(what), ""))

    def figure(self, what: str = "") -> None:
        """Go from the map to the figure of a card, given by path or id. The rest of the graph is drawn in groups.
        ValueError: there is no such card, or no map.
        """
        self._look(lambda: self.view.figure(what))

    def map(self) -> None:
        """Go back to the map. ValueError: there is no map."""
        self._look(lambda: (self.view.known_map(), ""))

    def into(self) -> None:
        """Open the closed group that is next, and look at its first node. On a map: the figure of the card."""
        self._look(self.view.inside)

    def look_at(self, detail: str) -> None:
        """Draw the figure in a detail: "full", "brief", "names", or "auto" for the one that fits."""
        if isinstance(self.drawing, Drawing):
            drawing = replace(self.drawing, detail=detail)
            self._look(lambda: (drawing, ""))

    def leave(self, what: str) -> None:
        """Run to a group or card, given by title, path or id, and through it: a step over it, or out of it.
        `did` says what it did. ValueError: there is none, or it has run.
        """

        def leaving() -> None:
            self._did = self.view.leave(what)

        self._try(leaving)

    def _look(self, find: Callable[[], Look | None]) -> None:
        """Draw the same pass anew, and look at a box; if it cannot be laid out, the old drawing stays."""

        def looking() -> None:
            if (found := find()) is None:
                return
            drawing, look = found
            page = self._page(drawing, look)
            self.view.draw(drawing)
            with self.hold_sync():
                self._send_frames()
                self.picture = page
                self._show_set()

        self._try(looking)

    def _page(self, drawing: Drawing | MapDrawing, look: str = "") -> dict[str, Any]:
        page = page_of(self.stepper, drawing, self._theme, self._palettes, self._total)
        ready = StepFrames(self.stepper, drawing, self._theme).ready(self.stepper.trace.start)
        has_map = self.view.map is not None or isinstance(drawing, MapDrawing)
        return {**page, "ready": ready, "mark": self.mark, "has_map": has_map, "look": look}

    def _send_frames(self) -> None:
        self.recorded = {**self.view.news(), "answers": self._questions.answered}

    def _cut(self, length: int) -> None:
        """Recorded steps from `length` on are no longer valid."""
        self.view.cut(length)
        self._send_frames()

    def catch_up(self) -> None:
        """Send the steps that ran before there was a page."""
        if self.frames:  # reading them marks them as read
            self.send_state("frames")

    def refresh(self) -> None:
        """Show what changed outside the stepper (called after every cell)."""
        with alone(), self.hold_sync():
            self._show_drift()
            self.spoiled = self.stepper.spoiled()
            drawn = [t.id for t in self.view.drawing.shown.document.tensors]
            self.rewritten = {id: to_plain(now) for id, now in self.stepper.rewritten(drawn).items()}

    def _show_drift(self) -> None:
        shown = self.view.drawing.shown.document
        writer = Writer(shown, self._theme)
        state = self.stepper.state
        drift = self.stepper.drift([t.id for t in shown.tensors])
        changed = type(state)(ChainMap(drift, state.values), None)  # type: ignore[arg-type]
        self.overlay = {at: plain_lines(writer.lines(at, changed)) for at in drift}

    def _try(self, move: Callable[[], R]) -> R:
        raised = node = ""
        with whole():
            self._is_moving = True
            try:
                with breakable():
                    return move()
            except Exception as error:
                if isinstance(error, RuntimeError):
                    advise(error)
                raised = "\n".join(filter(None, (f"{type(error).__name__}: {error}", self.stepper.explain(error))))
                failed = self.stepper.failed or ""
                node = self.view.drawing.shown.shown.get(failed, failed)
                raise
            finally:
                self._is_moving = False
                self._tell(raised, node)

    # -- from the page ------------------------------------------------------------------------------------------------

    def _asked(self, widget: Any, content: Any, buffers: Any) -> None:
        self.view.is_read = True
        printed = self._questions.ask(content)
        if printed is not None:  # no cell is running that this output could belong to
            self.printed = printed

    def _edit_text(self, index: int, how: str, text: str) -> None:
        try:
            change = change_of(how, text)
        except ValueError as error:
            self._tell(words.ui()["edit_error"].format(error=error))
            return
        self.effect = {}
        self.edit(change, index)

    def _show_effect(self, index: int, how: str, text: str, soft: bool) -> None:
        """What such an edit would do; if `soft`, only where no code of the user's would run and the pass is short."""
        waits = soft and (len(self.stepper.document.nodes) > MOST_NODES or self.stepper.calls_user_code)
        found = {"waits": True} if waits else effect_of(self.preview, how, text, index)
        self.effect = {"index": index, "how": how, "text": text, **found}
        self._tell()

    def _cursor_set(self, change: Any) -> None:
        if change.new != self.stepper.step:
            self.goto_quietly(change.new)
            self.step = self.stepper.step

    def _stops_set(self, change: Any) -> None:
        """The page has set or removed stops. Some boxes stand for several nodes."""
        shown, kept = self.view.drawing.shown, self.stepper.stops.nodes
        plain = []
        for p in change.new:
            box = p.get("node", "") if isinstance(p, dict) else None
            if not isinstance(box, str):
                continue
            inside = [n for n in sorted(kept) if shown.shown.get(n, n) == box]
            nodes = (inside or [shown.first_node(box)]) if p.get("kind") == "node" else [box]
            plain += [{**p, "node": node} for node in nodes]
        self.stepper.set_stops(plain)

    def _show_set(self) -> None:
        self.shown_stops, self.pins = self._shown_stops(), to_plain(self.stepper.pins)

    def _shown_stops(self) -> list[dict[str, Any]]:
        """The stops as the picture shows them: a breakpoint in a closed group is shown at the group."""
        shown = self.view.drawing.shown.shown
        plain = [{**to_plain(s), "node": shown.get(s.node, s.node) if s.kind == "node" else s.node} for s in self.stepper.stops]
        return list({(p["kind"], p["node"], p.get("number")): p for p in plain}.values())

    def _moved(self) -> None:
        """The stepper itself has moved. `_try` reports its own moves when it knows how they ended."""
        if not self._is_moving:
            self._tell()

    def _tell(self, error: str = "", node: str = "") -> None:
        """Send what is new, in one message: each message costs time, also on the page."""
        with self.hold_sync():
            if (self.view.known, self._questions.answered) != (len(self.stepper.recorded), self.recorded.get("answers", 0)):
                self._send_frames()
            self.complete = self.stepper.is_over
            self.step = self.stepper.step
            self.stopped, self.did, self._did = self.stepper.explanation, self._did, ""
            self.pending = pending_edit(self.stepper, self.drawing.shown)
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
            self.view.close()
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
        show_live(self, repr(self.stepper), self.still())
        self.page.show()

    def still(self, title: str = "") -> dict[str, Any]:
        """The picture at the cursor as a cell output, with a title before the sentence: MIME type -> data."""
        is_stepped = self._total > 0 or self.stepper.only_forward
        said = words.ui()["static_saved" if is_stepped else "static_map"]
        caption = " ".join(filter(None, (f"{title}:" if title else "", self.sentence if is_stepped else "", said)))
        svg = self.view.drawing.svg(self.stepper.state, self._theme, caption)
        return cell_bundle(svg, said, self.mark)


def _grad_text(grad: Value | None) -> str:
    return "None" if grad is None else gradient_text(grad)
