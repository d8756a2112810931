"""The figure as SVG. Presentation attributes only, so every program draws the same; `class` and `data-at` let a page
restyle and step the same picture (Note [Addresses] in graph/trace.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .. import words
from ..graph.model import Document, Entry, Node, Op, Tensor
from ..graph.text import few_names, shape_text
from ..graph.trace import State
from ..layout.geometry import Arrow, Box, CodeLine, Geometry, Label, Row
from ..layout.measure import (
    ADVANCE,
    CAPTION_SIZE,
    CODE_SIZE,
    LABEL_SIZE,
    MOST_COLUMNS,
    OP_SIZE,
    ROW_SIZE,
    TITLE_SIZE,
    columns,
    count_text,
    op_title,
)  # fmt: skip
from .caption import caption_elements, caption_height, caption_lines
from .cells import Lines, Run, Writer, clipped, entry_of, node_title, path_clipped
from .escape import element, text
from .paths import head, own_pieces, rounded
from .theme import Theme

FONT = "DejaVu Sans Mono"
FALLBACK = f"{FONT}, Menlo, Consolas, Liberation Mono, monospace"
FAINT = 0.12  # opacity of what the forward pass has not made yet
STACK = 5.0  # px: the second outline of a group, as of cards on a pile


def render_svg(document: Document, geometry: Geometry, state: State, theme: Theme, caption: str = "") -> str:
    """The picture of a document in a state.

    Args:
        document: what to draw.
        geometry: `layout(document)`.
        state: which values to show, and which step has just run (its node is lit).
        theme: colours and words.
        caption: words under the picture.
    """
    g = geometry
    painter = _Painter(document, geometry, state, theme)
    lines = caption_lines(caption, g.width)
    height = g.height + caption_height(lines)
    box = f"{g.x:g} {g.y:g} {g.width:g} {height:g}"
    ground = element("rect", x=g.x, y=g.y, width=g.width, height=height, fill=theme.canvas, class_="f-canvas")
    below = caption_elements(lines, g.x, g.y + g.height, theme)
    content = "\n".join([element("title", text(painter.summary())), ground, *painter.everything(), *below])
    return element(
        "svg", content, xmlns="http://www.w3.org/2000/svg", viewBox=box, width=g.width, height=height,
        font_family=FALLBACK, role="img",
    )  # fmt: skip


class _Painter:
    """Draws the parts of one picture."""

    def __init__(self, document: Document, geometry: Geometry, state: State, theme: Theme) -> None:
        self.document, self.geometry, self.state, self.theme = document, geometry, state, theme
        self.tensors: dict[str, Tensor] = {t.id: t for t in document.tensors}
        self.ops: dict[str, Op] = {o.id: o for o in document.ops}
        self.nodes: dict[str, Node] = {n.id: n for n in document.nodes}
        self.writer = Writer(document, theme)
        self.colour = theme.colours()
        self.lit = state.current.node if state.current else None
        self.fresh = {cell_address(c.at) for c in state.current.changes} if state.current else set()

    def summary(self) -> str:
        """What the picture shows, in one line, for those who cannot see it."""
        names = [t.name for t in self.document.tensors if t.name]
        counts = {"ops": len(self.document.ops), "nodes": len(self.document.nodes)}
        return words.PICTURE_OF.format(names=few_names(names, words.COMMA) or words.PICTURE_UNNAMED, **counts)

    def everything(self) -> Iterable[str]:
        """Boxes, then thin arrows, thick arrows, those of the step that has just run, labels and code on top."""
        for box in self.geometry.boxes:
            yield self.box(box)
        pieces = own_pieces(tuple(self.arrow_from_below(a) for a in self.geometry.arrows))
        for arrow in sorted(self.geometry.arrows, key=lambda a: (a.at in self.fresh, a.kind in ("input", "result", "retain"))):
            yield self.arrow(arrow, pieces[arrow.at])
        for label in self.geometry.labels:
            yield self.label(label)
        for line in self.geometry.code:
            yield self.code(line)

    # -- boxes --------------------------------------------------------------------------------------------------------

    def kind(self, box: Box) -> str:
        """The colour of a box: green, yellow, brown or blue."""
        if box.kind == "tensor":
            return tensor_kind(self.tensors[box.id])
        if box.kind == "op":
            return "brown" if self.ops[box.id].node is not None else "yellow"
        return "blue"

    def box(self, box: Box) -> str:
        """A box with its title and rows."""
        behind = [self.outline(replace(box, x=box.x + STACK, y=box.y + STACK))] if self.is_group(box) else []
        content = [element("title", text(self.badge(box))), *behind, self.outline(box)]
        content += getattr(self, f"{box.kind}_content")(box)
        lit = " lit" if box.id == self.lit else ""
        faint = self.faint(box.id)
        return element("g", "".join(content), class_=f"{box.kind} {self.kind(box)}{lit}", opacity=faint, data_at=box.id)

    def faint(self, *boxes: str) -> float | None:
        """The opacity of a box, or of an arrow between two, that is not there yet; None for what is."""
        return FAINT if any(id.removeprefix("ctx:") in self.state.hidden for id in boxes) else None

    def is_reconstructed(self, box: Box) -> bool:
        """Is it known from the backward graph only?"""
        known: Tensor | Op | None = self.tensors.get(box.id) or self.ops.get(box.id)
        return known is not None and known.reconstructed

    def is_group(self, box: Box) -> bool:
        """Does it stand for several ops or nodes?"""
        known: Op | Node | None = self.ops.get(box.id) or self.nodes.get(box.id)
        return known is not None and known.members > 0

    def badge(self, box: Box) -> str:
        """What a box is, in words: shown when the mouse rests on it, and read to those who cannot see colours."""
        return self.what(box) + (words.BOX_RECONSTRUCTED if self.is_reconstructed(box) else "")

    def what(self, box: Box) -> str:
        """A box in words."""
        if box.kind == "tensor":
            t = self.tensors[box.id]
            kind = words.BOX_NON_LEAF if not t.is_leaf else words.BOX_LEAF if t.requires_grad else words.BOX_CONSTANT
            name = t.name or words.BOX_UNNAMED
            return words.BOX_TENSOR.format(name=name, kind=kind, shape=shape_text(t.value.shape), dtype=t.value.dtype)
        if box.kind == "op":
            op = self.ops[box.id]
            said = words.BOX_OP_GROUP if op.members else words.BOX_OP
            return said.format(name=op_title(op), count=op.members) + ("" if op.node else words.BOX_NOT_RECORDED)
        if box.kind == "ctx":
            return words.BOX_CTX
        node = self.nodes[box.id]
        return (words.BOX_NODE_GROUP if node.members else words.BOX_NODE).format(name=node.name, count=node.members)

    def outline(self, box: Box) -> str:
        """Sharp corners: a tensor; rounded: a function; round: ctx. Dashed: takes no part in autograd; dotted: nobody has
        seen it, the backward graph tells that it was there.
        """
        kind = self.kind(box)
        radius = {"tensor": 0, "ctx": 40, "node": 24}.get(box.kind, 12)
        width = {"tensor": 3.0, "op": 3.0 if kind == "brown" else 2.0}.get(box.kind, 2.5)
        dashes = "2 4" if self.is_reconstructed(box) else "7 4" if kind == "yellow" else None
        stroke, role = self.colour[f"{kind}-stroke"], f"s-{kind}"
        if box.id == self.lit:
            stroke, role, width = self.colour["grad"], "s-grad", 5.0
        return element(
            "rect", x=box.x, y=box.y, width=box.w, height=box.h, rx=radius or None, fill=self.colour[f"{kind}-fill"],
            stroke=stroke, stroke_width=width, stroke_dasharray=dashes, class_=f"outline f-{kind} {role}",
        )  # fmt: skip

    def tensor_content(self, box: Box) -> list[str]:
        """The name and five rows."""
        name = self.tensors[box.id].name or ""
        size = min(float(TITLE_SIZE), max(11.0, 160 / (max(1, columns(name)) * ADVANCE)))
        title = self.text(box.x + box.w / 2, box.y + 29, [Run(path_clipped(name, int(164 / size / ADVANCE)))], size, "middle")
        return [title, *(self.row(box, row, f"{box.id}.{row.key}") for row in box.rows)]

    def op_content(self, box: Box) -> list[str]:
        """The op's name, and the save row if its node keeps a tensor."""
        title = clipped(op_title(self.ops[box.id]), int((box.w - 10) / OP_SIZE / ADVANCE))
        y = box.y + (26 if box.rows else box.h / 2 + 5)
        members = self.ops[box.id].members
        counted = words.PICTURE_OP if members == 1 else words.PICTURE_OPS.format(count=members)
        inside = ((Run(counted if members else "ctx.save_for_backward(...)"),),)
        rows = [self.row(box, row, "", inside, radius=10, middle=True) for row in box.rows]
        return [self.text(box.x + box.w / 2, y, [Run(title)], OP_SIZE, "middle"), *rows]

    def ctx_content(self, box: Box) -> list[str]:
        """One word."""
        return [self.text(box.x + box.w / 2, box.y + box.h / 2 + 5, [Run("ctx")], OP_SIZE, "middle")]

    def node_content(self, box: Box) -> list[str]:
        """Name, saved tensors, next_functions."""
        node = self.nodes[box.id]
        name = clipped(node_title(node.name, self.theme), int((box.w - 12) / OP_SIZE / ADVANCE))
        parts = [self.text(box.x + box.w / 2, box.y + 26, [Run(name)], OP_SIZE, "middle")]
        for row in box.rows:
            if row.key in ("saved", "called"):
                parts.append(self.row(box, row, f"{box.id}.{row.key}", radius=6))
            else:
                parts.append(self.row(box, row, "", self.next_functions(node), radius=10, pitch=15, top=15))
        return parts

    def accumulate_content(self, box: Box) -> list[str]:
        """The word, and which leaf."""
        node = self.nodes[box.id]
        variable = self.tensors[node.variable].name if node.variable else None
        room = MOST_COLUMNS - len("variable = ")
        word = f"variable = {path_clipped(variable, room)}" if variable and self.theme.pytorch_words else "variable"
        parts = [self.text(box.x + box.w / 2, box.y + 26, [Run(node.name)], OP_SIZE, "middle")]
        return parts + [self.row(box, row, "", ((Run(word),),), radius=6, middle=True) for row in box.rows]

    def next_functions(self, node: Node) -> Lines:
        """The tuple of tuples, one per line."""
        opening, closing = "()" if self.theme.pytorch_words else "[]"
        last = len(node.next_functions) - 1
        comma = [i < last or (last == 0 and self.theme.pytorch_words) for i in range(last + 1)]
        ends = [entry_of(self.nodes[f.node], f.index) if f.node else Entry("None", f.index) for f in node.next_functions]
        tuples = [
            (Run(f"{_tuple(e, f.count, self.theme)}{',' * c}"),)
            for e, f, c in zip(ends, node.next_functions, comma, strict=True)
        ]
        return (Run(f"next_functions = {opening}"),), *tuples, (Run(closing),)

    # -- text ---------------------------------------------------------------------------------------------------------

    def row(
        self, box: Box, row: Row, at: str, lines: Lines | None = None, *, radius: int = 0, middle: bool = False,
        pitch: float = 14, top: float | None = None,
    ) -> str:  # fmt: skip
        """A white row with its lines."""
        lines = self.writer.lines(at, self.state) if lines is None else lines
        frame = element(
            "rect", x=box.x + 10, y=row.y, width=box.w - 20, height=row.h, rx=radius or None, fill=self.colour["row"],
            stroke=self.colour["row-stroke"], stroke_width=1, class_="f-row s-row-stroke",
        )  # fmt: skip
        longest = max((sum(columns(run.text) for run in line) for line in lines), default=0)
        room = box.w - 28
        size = min(ROW_SIZE, room / (max(1, longest) * ADVANCE))
        middle_y = row.y + row.h / 2 if top is None else row.y + top - ROW_SIZE * 0.35 + pitch * (len(lines) - 1) / 2
        x, anchor = (box.x + box.w / 2, "middle") if middle else (box.x + 14, "start")
        fresh = at in self.fresh
        lines_of_text = [
            self.text(x, middle_y + (i - (len(lines) - 1) / 2) * pitch + size * 0.35, line, size, anchor, fresh)
            for i, line in enumerate(lines)
        ]
        place = (
            {"data_at": at, "data_x": x, "data_y": middle_y, "data_pitch": pitch, "data_size": ROW_SIZE, "data_room": room}
            if at
            else {}
        )
        return element("g", frame + "".join(lines_of_text), class_="row fresh" if fresh else "row", **place)

    def text(self, x: float, y: float, runs: Iterable[Run], size: float, anchor: str = "start", fresh: bool = False) -> str:
        """A line of text; one tspan per coloured run."""
        spans = []
        for written, role in runs:
            shown = "grad" if fresh and role == "number" else role
            if shown == "text":
                spans.append(text(written))
            else:
                spans.append(element("tspan", text(written), fill=self.colour[shown], class_=f"f-{shown}"))
        return element(
            "text", "".join(spans), x=x, y=y, font_size=size, text_anchor=None if anchor == "start" else anchor,
            fill=self.colour["text"], class_="f-text", xml__space="preserve",
        )  # fmt: skip

    # -- arrows -------------------------------------------------------------------------------------------------------

    def arrow(self, arrow: Arrow, pieces: list[list[tuple[float, float]]]) -> str:
        """Its own pieces, the head, and (hidden) the whole way for the number to run along."""
        role, width, size = self.arrow_style(arrow)
        fresh = arrow.at in self.fresh
        if fresh and role == "blue-stroke":
            role, width, size = "grad", 2.4, 11.0
            pieces = [list(arrow.points)]
        colour, name = self.colour[role], role.removesuffix("-stroke")
        last = arrow.points[-1]
        paths = [rounded(p, size - 1 if p[-1] == last else 0) for p in pieces]
        lines = [self.line(d, colour, width, f"line s-{name}") for d in paths]
        if arrow.kind in ("next", "grad", "grad_fn", "retain"):
            is_whole = pieces == [list(arrow.points)]
            way = paths[0] if is_whole else rounded(list(arrow.points), size - 1)
            lines.append(self.line(way, "none", width, "way"))
        tip = element("path", d=head(arrow.points, size), fill=colour, class_=f"tip fs-{name}")
        names = f"arrow {arrow.kind}{' fresh' if fresh else ''}"
        faint = self.faint(arrow.source, arrow.target)
        return element("g", "".join(lines) + tip, class_=names, opacity=faint, data_at=arrow.at)

    def line(self, d: str, colour: str, width: float, names: str) -> str:
        """A path that is not filled."""
        return element("path", d=d, fill="none", stroke=colour, stroke_width=width, class_=names)

    def arrow_from_below(self, arrow: Arrow) -> Arrow:
        """An arrow out of a tensor starts 4 px below its box."""
        if arrow.kind != "input" or arrow.source not in self.tensors:
            return arrow
        (x, y), *others = arrow.points
        return replace(arrow, points=((x, y + 4), *others))

    def arrow_style(self, arrow: Arrow) -> tuple[str, float, float]:
        """Colour, line width and head size: thick takes part in autograd, thin does not; the backward graph is thin."""
        if arrow.kind == "retain":
            return "hook", 6.0, 18.0
        if arrow.kind == "result":
            tracked = self.ops[arrow.source].node is not None
            return ("brown-stroke", 3.0, 13.0) if tracked else ("yellow-stroke", 1.2, 9.0)
        if arrow.kind == "input":
            kind = tensor_kind(self.tensors[arrow.net[1]])
            return f"{kind}-stroke", *((1.2, 9.0) if kind == "yellow" else (3.0, 13.0))
        return "blue-stroke", 1.2, 9.0

    def label(self, label: Label) -> str:
        """A number on an arrow, interrupting the line; empty until a gradient has passed."""
        lines = ((Run(label.text, "text"),),) if label.text else self.writer.lines(label.at, self.state)
        middle = label.at.startswith(("sum:", "grad:", "caption:", "count:in:"))
        anchor_x = label.x + label.w / 2 if middle else label.x + 3
        place = {"data_x": anchor_x, "data_y": label.y, "data_size": LABEL_SIZE, "data_middle": "1" if middle else None}
        if not lines:
            return element("g", "", class_="label", data_at=label.at, **place)
        words, role = lines[0][0]
        fresh = label.at in self.fresh
        size = CAPTION_SIZE if label.at.startswith("caption:") else LABEL_SIZE
        width = columns(words) * ADVANCE * size + 6
        x = anchor_x - width / 2 if middle else anchor_x - 3
        ground = element("rect", x=x, y=label.y, width=width, height=label.h, fill=self.colour["canvas"], class_="f-canvas")
        run = Run(words, "grad" if fresh and role == "link" else role)
        line = self.text(anchor_x, label.y + label.h / 2 + size * 0.35, [run], size, "middle" if middle else "start")
        return element("g", ground + line, class_="label fresh" if fresh else "label", data_at=label.at, **place)

    def code(self, line: CodeLine) -> str:
        """A line of the user's code; what retain_grad() does is purple, as its arrow is."""
        role = "hook" if line.kind == "retain_grad" else "text"
        return element("g", self.text(line.x, line.y, [Run(line.text, role)], CODE_SIZE, "end"), class_="code")


def _tuple(end: Entry, count: int, theme: Theme) -> str:
    """`  (MulBackward0, 0)`, of several `  (MulBackward0, 0) × 5,000`."""
    inside = f"{clipped(node_title(end.name, theme), 16)}, {'…' if end.index is None else end.index}"
    return f"  ({inside}) {count_text(count)}".rstrip()


def cell_address(at: str) -> str:
    """Where a change is drawn: saved tensors share one row."""
    return at.partition(".saved.")[0] + ".saved" if ".saved." in at else at


def tensor_kind(t: Tensor) -> str:
    """green: leaf that requires grad; yellow: does not require grad; brown: non-leaf."""
    if not t.requires_grad:
        return "yellow"
    return "green" if t.is_leaf else "brown"
