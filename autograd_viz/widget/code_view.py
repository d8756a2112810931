"""What the page's code view gets: the user's code, and for each op its place there, its turn and its value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .. import words
from ..graph import Document, Source, Step, Value
from ..graph.collapsed import Collapsed
from ..graph.listing import Listing, Ran, Text, turns_of
from ..graph.text import few_names, nested, norm_of, number_text

MOST = 4000  # ops with a place
SHORT = 12  # characters of a value
MOST_VALUES = 3  # of an op with several results


class _Place(NamedTuple):
    """An op, or a leaf, at its place, and what it `made`. Of a leaf, `op`, `name` and `module` are empty."""

    source: Source
    node: str
    tensor: str
    made: tuple[str, ...]
    op: str = ""
    name: str = ""
    module: str = ""

    def ran(self, text: Text) -> Ran:
        """What its turn is found by. Nobody knows which leaves were made in one turn."""
        if not self.op:
            return Ran(self, self, "", "", "", False)
        place = (text.file, text.lines[0][0])
        return Ran(self.source, place, text.owner, self.name, self.module, text.repeats(self.source.line))


def code_of(shown: Collapsed, next_node: str) -> dict[str, Any]:
    """The code of a document; {} if none of it is known, or if the document is very large.

    `texts`: functions and cells; see `Text`. `places`: text, line, column, end line and end column of each expression. `runs`:
    leaves, then ops in their order: ids of op, node and tensor, the drawn `box`, the place, the turn, the value. `modules`: by
    path the class of each module, and the place of its call. `next`: the node that would run first.
    """
    document = shown.whole
    if len(document.ops) > MOST:
        return {}
    called = [m.source for m in document.modules if m.source is not None]
    listing = Listing((*(p.source for p in _places(document)), *called))
    placed = [p for p in _places(document) if p.source in listing.text_of]
    if not placed:
        return {}
    places = {source: i for i, source in enumerate(listing.text_of)}
    return {
        "texts": [{"file": t.file, "function": t.function, "owner": t.owner, "lines": t.lines} for t in listing.texts],
        "places": [[listing.text_of[s], s.line, s.column, s.end_line, s.end_column] for s in places],
        "runs": list(_runs(placed, listing, places, shown)),
        "modules": {m.path: {"name": m.name, "at": places.get(m.source) if m.source else None} for m in document.modules},
        "next": next_node,
    }


def _runs(placed: list[_Place], listing: Listing, places: Mapping[Source, int], shown: Collapsed) -> Iterator[dict[str, Any]]:
    document = shown.whole
    ran = [p.ran(listing.texts[listing.text_of[p.source]]) for p in placed]
    values = {t.id: _named(t.name, t.value) for t in document.tensors}
    for p, turn in zip(placed, turns_of(ran, {m.path: m.name for m in document.modules}), strict=True):
        yield {
            "op": p.op,
            "node": p.node,
            "tensor": p.tensor,
            "box": shown.shown.get(p.node or p.op, ""),
            "at": places[p.source],
            "turn": turn,
            "value": few_names([text for t in p.made if (text := values.get(t, ""))], most=MOST_VALUES),
            "module": p.module,
        }


def _places(document: Document) -> Iterator[_Place]:
    """Leaves, then ops, that have a place."""
    accumulates = {n.variable: n.id for n in document.nodes if n.variable is not None}
    made = {t for op in document.ops for t in op.outputs}
    for t in document.tensors:
        if t.source is not None and t.id not in made:
            yield _Place(t.source, accumulates.get(t.id, ""), t.id, (t.id,))
    for op in document.ops:
        if op.source is not None:
            outputs = tuple(t for t in op.outputs if t is not None)
            yield _Place(op.source, op.node or "", next(iter(outputs), ""), outputs, op.id, op.name, op.module)


def code_step(step: Step) -> dict[str, str]:
    """What the code view is told of a step: the node, not its group; the one that is next; the gradients that arrived."""
    arrived = ["None" if g is None else _gradient(g) for g in step.grad_outputs]
    text = few_names(arrived, most=MOST_VALUES) if any(a not in ("", "None") for a in arrived) else ""
    return {"ran": step.node, "next": next(iter(step.engine.queue), ""), "arrived": text}


def _named(name: str | None, value: Value) -> str:
    """`c = 6.0`, `W (3, 8)`, `6.0`."""
    if numbers := _numbers(value):
        return f"{name} = {numbers}" if name else numbers
    return " ".join(filter(None, (name, str(value.shape) if value.shape else "")))


def _gradient(value: Value) -> str:
    if (norm := norm_of(value)) is None:
        return ""
    return _numbers(value) or words.PICTURE_NORM.format(norm=f"{norm:.3g}")


def _numbers(value: Value) -> str:
    """All elements in four digits, if that is short; else ""."""
    rounded = [number_text(float(f"{n:.4g}") if isinstance(n, float) else n) for n in value.numbers]
    text = nested(rounded, value.shape) if rounded else ""
    return text if len(text) <= SHORT else ""
