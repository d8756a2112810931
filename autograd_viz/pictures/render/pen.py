"""Draws the parts of a picture: text, rows of text, labels, lines, in the colours of a theme."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ...graph.model import Document, Node, Op, Tensor
from ...graph.order import unreached
from ...graph.trace import State
from ..layout import WAITE, Sizes
from ..layout.geometry import Box, CodeLine, Frame, Label, Row
from ..layout.measure import ADVANCE, CAPTION_SIZE, FRAME_SIZE, LABEL_SIZE, ROW_SIZE, brief_room, columns, text_width
from .escape import element, text
from .paths import ring
from .theme import Theme
from .writer import Lines, Run, Writer, brief_lines

FAINT = 0.12  # opacity of what the forward pass has not made yet
PALE = 0.35  # opacity of a node's box, and of its arrows, if a pass from the roots does not call it


class Pen:
    """Writes and draws a document in a state."""

    def __init__(self, document: Document, state: State, theme: Theme, sizes: Sizes = WAITE) -> None:
        self.document, self.state, self.theme, self.sizes = document, state, theme, sizes
        self.tensors: dict[str, Tensor] = {t.id: t for t in document.tensors}
        self.ops: dict[str, Op] = {o.id: o for o in document.ops}
        self.nodes: dict[str, Node] = {n.id: n for n in document.nodes}
        self.writer = Writer(document, theme)
        self.colour = theme.colours()
        self.lit = state.current.node if state.current else None
        self.fresh = {cell_address(c.at) for c in state.current.changes} if state.current else set()

    def faint(self, *boxes: str) -> float | None:
        """The opacity of a box (or of an arrow between two) that does not exist yet; None if it exists."""
        return FAINT if any(id.removeprefix("ctx:") in self.state.hidden for id in boxes) else None

    @cached_property
    def unreached(self) -> frozenset[str]:
        """Nodes that a pass from the roots does not call."""
        return unreached(self.document)

    def line(self, d: str, colour: str, width: float, names: str) -> str:
        """A path that is not filled."""
        return element("path", d=d, fill="none", stroke=colour, stroke_width=width, class_=names)

    def row(
        self, box: Box, row: Row, at: str, lines: Lines | None = None, *, radius: int = 0, middle: bool = False,
        pitch: float = 14, top: float | None = None,
    ) -> str:  # fmt: skip
        """A white row with its lines."""
        lines = self.writer.lines(at, self.state) if lines is None else lines
        place: dict[str, object] = {}
        if at and self.sizes.detail != "full":
            tensor = self.tensors.get(at.partition(".")[0])
            most, short = brief_room(tensor.value.shape if tensor else None)
            lines = brief_lines(lines, most, short)
            place = {"data_brief": most, "data_short": short}
        frame = element(
            "rect", x=box.x + 10, y=row.y, width=box.w - 20, height=row.h, rx=radius or None, fill=self.colour["row"],
            stroke=self.colour["row-stroke"], stroke_width=1, class_="f-row s-row-stroke",
        )  # fmt: skip
        longest, room = max((sum(columns(run.text) for run in line) for line in lines), default=0), box.w - 28
        size = min(ROW_SIZE, room / (max(1, longest) * ADVANCE))
        y = row.y + row.h / 2 if top is None else row.y + top - ROW_SIZE * 0.35 + pitch * (len(lines) - 1) / 2
        x, anchor = (box.x + box.w / 2, "middle") if middle else (box.x + 14, "start")
        fresh = at in self.fresh
        ys = [y + (i - (len(lines) - 1) / 2) * pitch + size * 0.35 for i in range(len(lines))]
        written = [self.text(x, at_y, line, size, anchor, fresh) for at_y, line in zip(ys, lines, strict=True)]
        if at:
            spot = {"data_at": at, "data_x": x, "data_y": y, "data_pitch": pitch, "data_size": ROW_SIZE, "data_room": room}
            place = spot | place
        return element("g", frame + "".join(written), class_="row fresh" if fresh else "row", **place)

    def text(self, x: float, y: float, runs: Iterable[Run], size: float, anchor: str = "start", fresh: bool = False) -> str:
        """A line of text; one tspan per coloured run."""
        spans = []
        for written, role in runs:
            shown, said = "grad" if fresh and role == "number" else role, text(written)
            spans.append(said if shown == "text" else element("tspan", said, fill=self.colour[shown], class_=f"f-{shown}"))
        return element(
            "text", "".join(spans), x=x, y=y, font_size=size, text_anchor=None if anchor == "start" else anchor,
            fill=self.colour["text"], class_="f-text", xml__space="preserve",
        )  # fmt: skip

    def label(self, label: Label) -> str:
        """A number on an arrow. It interrupts the line, and is empty until a gradient has passed."""
        lines = ((Run(label.text, "text"),),) if label.text else self.writer.lines(label.at, self.state)
        middle = label.at.startswith(("sum:", "grad:", "caption:", "count:in:"))
        anchor_x = label.x + label.w / 2 if middle else label.x + 3
        place = {"data_x": anchor_x, "data_y": label.y, "data_size": LABEL_SIZE, "data_middle": "1" if middle else None}
        if not lines:
            return element("g", "", class_="label", data_at=label.at, **place)
        words, role = lines[0][0]
        fresh = label.at in self.fresh
        size = CAPTION_SIZE if label.at.startswith("caption:") else LABEL_SIZE
        width = text_width(words, size) + 6
        x = anchor_x - width / 2 if middle else anchor_x - 3
        ground = element("rect", x=x, y=label.y, width=width, height=label.h, fill=self.colour["canvas"], class_="f-canvas")
        run = Run(words, "grad" if fresh and role == "link" else role)
        line = self.text(anchor_x, label.y + label.h / 2 + size * 0.35, [run], size, "middle" if middle else "start")
        return element("g", ground + line, class_="label fresh" if fresh else "label", data_at=label.at, **place)

    def frame(self, frame: Frame) -> str:
        """A thin line around an open group, with its name. The inside is a little darker, so that nested frames can be seen."""
        line = element(
            "path", d=ring(frame.outline), fill=self.colour["none"], fill_opacity=0.06, stroke=self.colour["row-stroke"],
            stroke_width=1, class_="f-none s-row-stroke",
        )  # fmt: skip
        name = self.text(frame.x, frame.y, [Run(frame.title)], FRAME_SIZE)
        return element("g", line + name, class_="frame", data_group=frame.id)

    def code(self, line: CodeLine) -> str:
        """A line of the user's code. A call of retain_grad() is purple, as its arrow is."""
        role = "hook" if line.kind == "retain_grad" else "text"
        return element("g", self.text(line.x, line.y, [Run(line.text, role)], line.size, "end"), class_="code")


def cell_address(at: str) -> str:
    """Where a change is drawn: all saved tensors share one row."""
    return at.partition(".saved.")[0] + ".saved" if ".saved." in at else at


def tensor_kind(t: Tensor) -> str:
    """green: leaf that requires grad; yellow: does not require grad; brown: non-leaf."""
    if not t.requires_grad:
        return "yellow"
    return "green" if t.is_leaf else "brown"
