"""What the page gets once: the picture, its document, the words, and how to replay the forward pass."""

from __future__ import annotations

import re
from typing import Any

from .. import words
from ..answers.causes.why import Why
from ..graph.codec import to_plain
from ..graph.collapse import titled
from ..graph.collapsed import Collapsed
from ..graph.groups import Group, kinds_of
from ..graph.order import made_by_op
from ..pictures.maps.drawing import MapDrawing
from ..pictures.render import THEMES, Theme
from ..pictures.render.drawing import Drawing
from ..stepper.stepper import Stepper
from .code_view import code_of
from .parts import parts_of

MOST_KINDS = 12  # kinds of ops that a closed group lists
MOST_REPLAYED = 2000  # ops whose forward pass is replayed
MOST_HIDDEN = 4000  # ops and nodes in closed groups that can be searched for


def page_of(
    stepper: Stepper, drawing: Drawing | MapDrawing, theme: Theme, palettes: tuple[str, ...], total: int
) -> dict[str, Any]:
    """The picture trait.

    Returns:
        svg, palettes: the drawing, and its colours by theme.
        details, detail: the drawing in less detail, by name, and the detail that was asked for (figures only).
        plain: x, y, width and height of the drawing without the code beside it.
        document: as JSON.
        start: the first sentence.
        total: how many steps the backward pass has.
        forward: for each position from -F to 0, what ran, its sentence, and what it made; empty for a picture.
        engine: before the first step.
        words, language: the texts of the page, and the name of their language.
        code: the user's code (code_view.py); then the figure has none beside it.

        A figure also has `why` by tensor and its open groups; a map has its cards.
    """
    shown, start, is_stepped = drawing.shown, stepper.trace.start, total > 0 or stepper.only_forward
    code = code_of(shown, next(iter(start.queue), "")) if is_stepped else {}
    return {
        "palettes": {name: THEMES[name].colours() for name in palettes},
        "document": to_plain(shown.document),
        "start": stepper.sentence_at(0),
        "total": total,
        "forward": _forward(stepper, shown) if is_stepped else [],
        "engine": to_plain(shown.engine(start)),
        "words": words.ui(),
        "language": words.language(),
        "code": code,
        **(_of_map(drawing, theme, total) if isinstance(drawing, MapDrawing) else of_figure(drawing, theme, bool(code))),
    }


def of_figure(drawing: Drawing, theme: Theme, has_code: bool) -> dict[str, Any]:
    """The parts of `page_of` that only a figure has, with its drawings."""
    drawn = {t.id for t in drawing.shown.document.tensors}
    drawings = drawing.on_screen(has_code)
    svgs = {detail: page_svg(d.svg(drawing.past, theme)) for detail, d in drawings.items()}
    plain = drawings["full"].without_code.geometry
    return {
        "plain": [plain.x, plain.y, plain.width, plain.height],
        "svg": svgs.pop("full"),
        "details": svgs,
        "detail": drawing.detail,
        "why": {t: why for t, why in Why(drawing.shown.whole).at_start().items() if t in drawn},
        "groups": open_groups(drawing),
    }


def _of_map(drawing: MapDrawing, theme: Theme, total: int) -> dict[str, Any]:
    svg, data = drawing.page(theme, not total)
    insides = {id: page_svg(inside) for id, inside in data["insides"].items()}
    hidden = [(id, name, "tensor") for id, name in drawing.plan.parameters()]
    return {"svg": page_svg(svg), "groups": {"hidden": hidden}, "map": {**data, "insides": insides, "still": not total}}


def pending_edit(stepper: Stepper, shown: Collapsed) -> dict[str, Any]:
    """The edit that waits for its node, as JSON: node, and values by output. {} without one, or if its node is not drawn."""
    if stepper.pending is None or stepper.pending[0] in shown.shown or stepper.pending[0] in shown.thinned:
        return {}
    node, values = stepper.pending
    return {"node": node, "values": {str(index): to_plain(value) for index, value in values.items()}}


def open_groups(drawing: Drawing) -> dict[str, Any]:
    """For the page: the title and parent of each open group, and the innermost group of each drawn op and node.

    `closed` lists the ops in closed groups; `leaves` the part of each drawn AccumulateGrad.
    """
    opened, of = dict[str, Any](), dict[str, str]()
    ops = drawing.document.ops
    stack = [(g, "") for g in drawing.tree.groups] if drawing.opened is not None else []
    nodes = {op.id: op.node for op in drawing.shown.document.ops}
    while stack:
        group, above = stack.pop()
        if drawing.is_open(group):
            opened[group.id] = {"title": titled(group), "above": above}
            inside = [item.id if isinstance(item, Group) else ops[item].id for item in group.items]
            of |= {box: group.id for op in inside for box in (op, nodes.get(op)) if op in nodes and box is not None}
            stack += [(g, group.id) for g in group.groups]
    closed = {
        id: {"title": titled(g), "kinds": list(kinds_of(ops[g.first : g.last]).items())[:MOST_KINDS]}
        for id, g in drawing.shown.groups.items()
    }
    parts = parts_of(drawing).of
    leaves = {n.id: parts[n.id][-1] for n in drawing.shown.document.nodes if n.variable is not None and n.id in parts}
    return {"opened": opened, "of": of, "closed": closed, "leaves": leaves, "hidden": _hidden(drawing.shown)}


def _hidden(shown: Collapsed) -> list[tuple[str, str, str]]:
    """What can be searched for in closed groups: id, name and kind; empty if the graph is very large."""
    if len(shown.shown) > MOST_HIDDEN:
        return []
    drawn = {t.id for t in shown.document.tensors}
    tensors = [(t.id, t.name, "tensor") for t in shown.whole.tensors if t.name and t.id not in drawn]
    return tensors + [(n.id, n.name, "node") for n in shown.whole.nodes if n.id in shown.shown]


def _forward(stepper: Stepper, shown: Collapsed) -> list[dict[str, Any]]:
    """By position from -F to 0: the op that has just run, the sentence, and the ids of what it made.

    Empty if the graph is so large that the page would wait for it.
    """
    if len(stepper.document.ops) > MOST_REPLAYED:
        return []
    ops, made = stepper.document.ops, made_by_op(stepper.document)
    known: set[str] = set()
    first = stepper.forward_sentence(stepper.first) if ops else ""
    start: dict[str, Any] = {"op": "", "ran": "", "sentence": first, "made": []}
    rest = []
    for k, op in enumerate(ops):
        new = [id for id in dict.fromkeys(shown.shown.get(m, m) for m in made[k]) if id not in known]
        known.update(new)
        sentence = stepper.forward_sentence(k + 1 - len(ops))
        rest.append({"op": shown.shown.get(op.id, op.id), "ran": op.id, "sentence": sentence, "made": new})
    return [start, *rest]


# attributes that the style sheet, an inherited value or draw.js sets
_SAID_ELSEWHERE = re.compile(
    r' (?:(?:fill|stroke)="(?:#[0-9a-f]{6}|none)"|xml:space="preserve"|class="f-text"|stroke-width="(?:1|1\.2)"'
    r'|font-size="11\.4"|data-size="11\.4"|data-pitch="14")'
)
_INHERITED = '<svg font-size="11.4" stroke-width="1.2" '
# the path of the number is that of the arrow, if the arrow shares no piece
_SAME_WAY = re.compile(r'(<path d="[^"]*")([^/]*) class="line ([\w-]+)"/>\1[^/]* class="way"/>')


def page_svg(svg: str) -> str:
    """Shorten the SVG of `render_svg`; `static/figure/picture.css` restores it."""
    short = _SAID_ELSEWHERE.sub("", svg.replace('class="f-row s-row-stroke"', 'class="f-row"'))
    short = _SAME_WAY.sub(r'\1\2 class="line way \3"/>', short)
    return short.replace("<svg ", _INHERITED, 1).replace('"', "'")  # JSON would escape each double quote
