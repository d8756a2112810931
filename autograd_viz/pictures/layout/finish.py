"""Makes the frozen geometry of the working parts: labels and code get their places, everything gets its address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from math import inf

from ...graph.model import Document
from .geometry import Arrow, Box, CodeLine, Frame, Geometry, Label, Row
from .ladder import Ladder
from .measure import CAPTION_SIZE, LABEL_HEIGHT, columns, cut, text_width
from .parts import Part, Wire
from .sizes import Sizes
from .wiring import EXIT_STEP, HEAD, Wiring

RETAIN_CAPTION = "retain_grad_hook"
COLUMNS = 24  # a statement is wrapped beyond this
MOST = 8 * COLUMNS  # letters of a line: some take no column
LINE, PARAGRAPH = 1.45, 0.45  # between lines, and more between statements: in the size of the letters
MARGIN = 30  # px between the code and the boxes
MAX_LINES = 6  # of one statement
LONGEST = 48  # columns of text that cannot be broken

Rectangle = tuple[float, float, float, float]  # x, y, w, h


def geometry_of(
    parts: dict[str, Part], wiring: Wiring, code: tuple[CodeLine, ...], frames: tuple[Frame, ...], sizes: Sizes
) -> Geometry:
    """The geometry of a layout whose wires are traced."""
    boxes = tuple(
        Box(p.id, p.kind, p.x, p.y, p.w, p.h, tuple(Row(key, p.y + y, h) for key, y, h in p.rows)) for p in parts.values()
    )
    labels = [_label(w) for w in wiring.wires if w.label_width]
    for (node, index), width in wiring.sums.items():  # under the node, on the last piece that all joining arrows share
        p, x = parts[node], parts[node].centre + EXIT_STEP * (index - (wiring.nodes[node].outputs - 1) / 2)
        labels.append(Label(f"sum:{node}.{index}", x - width / 2, p.y + p.h + 11, width, LABEL_HEIGHT))
    retained = [w for w in wiring.wires if w.kind == "retain"]
    solid = _solid(wiring.wires, boxes, labels) if retained else []
    for wire in retained:
        if caption := _caption(wire, solid):
            labels.append(caption)
            solid.append((caption.x, caption.y, caption.w, caption.h))
    arrows = tuple(
        Arrow(w.at, w.kind, w.net, w.start.part.id, w.end.part.id, tuple(w.points)) for w in wiring.wires if len(w.points) > 1
    )
    return _measured(Geometry(boxes, arrows, tuple(labels), code, 0, 0, 0, 0, frames, sizes))


def without_code(geometry: Geometry) -> Geometry:
    """The same geometry without the code: only its edges are others."""
    return _measured(replace(geometry, code=()))


def _label(wire: Wire) -> Label:
    """The label beside the start of the arrow (or over its head). It interrupts the line."""
    (x, y), w, text = wire.points[-1 if wire.label_side == "end" else 0], wire.label_width, wire.label_text
    at = f"count:{wire.at}" if text else wire.at
    if wire.label_side == "right":
        aside = 20 if text else 14  # beside the pile of a group
        return Label(at, x + aside, y - LABEL_HEIGHT / 2, w - aside + 14, LABEL_HEIGHT, text)
    above = HEAD if wire.label_side == "end" else 6
    return Label(at, x - w / 2, y - above - LABEL_HEIGHT, w, LABEL_HEIGHT, text)


def _solid(wires: list[Wire], boxes: tuple[Box, ...], labels: list[Label]) -> list[Rectangle]:
    """What a caption must not cover."""
    solid = [(b.x, b.y, b.w, b.h) for b in boxes] + [(m.x, m.y, m.w, m.h) for m in labels]
    for wire in wires:
        for (x0, y0), (x1, y1) in zip(wire.points, wire.points[1:], strict=False):
            solid.append((min(x0, x1) - 3, min(y0, y1) - 3, abs(x1 - x0) + 6, abs(y1 - y0) + 6))
    return solid


def _caption(wire: Wire, solid: list[Rectangle]) -> Label | None:
    """`retain_grad_hook` over the arrow, if there is room; the longest horizontal piece is tried first."""
    width, height = text_width(RETAIN_CAPTION, CAPTION_SIZE) + 6, CAPTION_SIZE + 3.0
    level = ((a, b) for a, b in zip(wire.points, wire.points[1:], strict=False) if a[1] == b[1])
    for length, x, y in sorted(((abs(b[0] - a[0]), min(a[0], b[0]), a[1]) for a, b in level), reverse=True):
        near = _met((x, y - 6 - height, length, 2 * (6 + height)), solid)  # the spots are many, and lie in here
        for start in range(int(x) + 10, int(x + length - width) - 9, 10):
            for top in (y - 6 - height, y + 6):
                spot = (float(start), top, width, height)
                if not _met(spot, near):
                    return Label(f"caption:{wire.at}", *spot, text=RETAIN_CAPTION)
    return None


def _met(spot: Rectangle, solid: list[Rectangle]) -> list[Rectangle]:
    """Those that have a point in common with the spot that is inside both."""
    x, y, w, h = spot
    return [r for r in solid if x < r[0] + r[2] and r[0] < x + w and y < r[1] + r[3] and r[1] < y + h]


def _measured(g: Geometry) -> Geometry:
    """With the position and size of everything, and the margin around it."""
    solid: list[Box | Label] = [*g.boxes, *g.labels]
    lines = [*(a.points for a in g.arrows), *(f.outline for f in g.frames)]
    xs = [v for b in solid for v in (b.x, b.x + b.w)] + [x for points in lines for x, _ in points]
    ys = [v for b in solid for v in (b.y, b.y + b.h)] + [y for points in lines for _, y in points]
    xs += [line.x - text_width(line.text, line.size) for line in g.code]
    ys += [line.y + line.size / 2 for line in g.code]
    x, y, around = min(xs, default=0), min(ys, default=0), g.sizes.margin
    width, height = (max(vs, default=0) - start + 2 * around for vs, start in ((xs, x), (ys, y)))
    return replace(g, x=x - around, y=y - around, width=width, height=height)


@lru_cache(maxsize=1024)  # a figure is laid out for each detail
def wrapped(statement: str) -> tuple[str, ...]:
    """A statement with its own line breaks. A line over COLUMNS is broken after a comma, a bracket or a space. The rest is left
    out after MAX_LINES, or where a line cannot be broken for too long. The last line says so.
    """
    lines: list[str] = []
    for own in statement.split("\n"):
        line = ""
        for word in re.findall(r"[^\s,(\[]*[\s,(\[]?", own):
            if line and (columns((line + word).strip()) > COLUMNS or len(line) > MOST):
                lines.append(line.strip())
                line = ""
            line += word
        lines.append(line.strip())
    for i, line in enumerate(lines[:MAX_LINES]):
        if (shown := cut(line, LONGEST)) != line:
            return (*lines[:i], shown, "…")
    return tuple(lines) if len(lines) <= MAX_LINES else (*lines[: MAX_LINES - 1], "…")


def code_lines(document: Document, row_of: Mapping[str, int], left: Ladder, size: float) -> tuple[CodeLine, ...]:
    """Statements beside the tensors that they made, in order, in letters of `size` px; they never overlap."""
    line, paragraph = round(LINE * size), round(PARAGRAPH * size)
    edge = min((p.x for line in left.rows for p in line), default=0.0) - MARGIN
    lines: list[CodeLine] = []
    y = -inf
    for statement in sorted(document.statements, key=lambda s: row_of[s.tensor]):
        y = max(y + paragraph, left.top[row_of[statement.tensor]] + line)
        for text in wrapped(statement.text):
            lines.append(CodeLine(text, statement.kind, edge, y, size))
            y += line
    return tuple(lines)
