"""What the page is given once: the picture, the document behind it, the words, and how to replay the forward pass."""

from __future__ import annotations

from typing import Any

from .. import words
from ..graph.codec import to_plain
from ..graph.forward import made_by_op
from ..graph.trace import State
from ..layout import Geometry
from ..render import THEMES, Theme, render_svg
from ..stepper import Stepper
from ..why import Why
from .page_svg import page_svg


def page_of(stepper: Stepper, geometry: Geometry, theme: Theme, palettes: tuple[str, ...], total: int) -> dict[str, Any]:
    """The picture trait.

    Returns:
        svg, palettes: the drawing, and its colours by theme; document: as JSON; start: the first sentence; total: how many
        steps; forward: what ran, is said and made at each position from -F to 0; engine: before the first step; why: by tensor;
        words: the texts of the page; language: its name.
    """
    document = stepper.document
    return {
        "svg": page_svg(render_svg(document, geometry, State(), theme)),
        "palettes": {name: THEMES[name].colours() for name in palettes},
        "document": to_plain(document),
        "start": stepper.sentence_at(0),
        "total": total,
        "forward": _forward(stepper),
        "engine": to_plain(stepper.trace.start),
        "why": Why(document).at_start(),
        "words": words.ui(),
        "language": words.language(),
    }


def pending_edit(stepper: Stepper) -> dict[str, Any]:
    """The edit that waits for its node, as JSON: node, and values by output; {} if there is none."""
    if stepper.pending is None:
        return {}
    node, values = stepper.pending
    return {"node": node, "values": {str(index): to_plain(value) for index, value in values.items()}}


def _forward(stepper: Stepper) -> list[dict[str, Any]]:
    """For each position from -F to 0: the op that has just run, what is said, and the ids of what came into being with it."""
    ops, made = stepper.document.ops, made_by_op(stepper.document)
    start: dict[str, Any] = {"op": "", "sentence": stepper.sentence_at(stepper.first) if ops else "", "made": []}
    rest = [
        {"op": op.id, "sentence": stepper.sentence_at(k + 1 - len(ops)) if k + 1 < len(ops) else "", "made": list(made[k])}
        for k, op in enumerate(ops)
    ]
    return [start, *rest]
