"""The words at every address, as lines of runs. A run is a text with a role, which gives its colour.

The SVG draws them, and the widget sends those that a step changes. So both show the same words.
"""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from ... import words
from ...graph.model import Document, Entry, Node, Op, Saved, Tensor, Value
from ...graph.text import brief_value, python_text, shape_text, short
from ...graph.trace import Change, State, Step
from ..layout.measure import MOST_COLUMNS, MOST_SAVED, ROW_COLUMNS, columns, cut, label_columns, saved_tensors
from .theme import Theme


class Run(NamedTuple):
    """A piece of text in one colour; `role` is a colour of the theme."""

    text: str
    role: str = "text"


ALARM = "false"  # the role of nan and inf: the theme's red
JOINED_COLUMNS = 12  # columns of a sum under one of several outputs of a node, which are close together
Lines = tuple[tuple[Run, ...], ...]


class Writer:
    """Writes the lines at any address of one document in one theme."""

    def __init__(self, document: Document, theme: Theme) -> None:
        self.theme = theme
        self.tensors = {t.id: t for t in document.tensors}
        self.nodes = {n.id: n for n in document.nodes}

    def lines(self, at: str, state: State) -> Lines:
        """The lines at an address: a row of a tensor, `n1.saved`, or a label on an arrow (empty without a gradient)."""
        id, _, what = at.partition(".")
        if id in self.tensors:
            return self._row(self.tensors[id], what, state)
        if id in self.nodes and what in ("saved", "called"):
            node = self.nodes[id]
            return _saved_lines(node, state, self.theme) if what == "saved" else _called_lines(node, state)
        value = state.values.get(at)
        if value is None:
            return ()
        most = JOINED_COLUMNS if at.startswith("sum:") and self.nodes[id.removeprefix("sum:")].outputs > 1 else None
        return ((Run(label_text(value, most), "link" if is_finite(value) else ALARM),),)

    def _row(self, t: Tensor, row: str, state: State) -> Lines:
        if row == "data":
            return value_lines(row, t.value, self.theme)
        if row == "grad":
            grad = state.values.get(f"{t.id}.grad", t.grad)
            return _accumulating(t, state) or value_lines(row, grad, self.theme)
        if row == "grad_fn":
            node = self.nodes.get(t.grad_fn or "")
            name = None if node is None else node_title(entry_of(node, t.output_nr).name, self.theme)
            cut = name if name is None or self.theme.pytorch_words else clipped(name, ROW_COLUMNS - len("grad_fn = "), "...")
            return (_named(row, cut or "None", "link" if name else "none"),)
        holds = t.is_leaf if row == "is_leaf" else t.requires_grad
        return (_named(row, str(holds), "true" if holds else "false"),)


def why_unseen(op: Op | None) -> str:
    """Why a recording could not follow an op; empty for an op that was recorded, or that ran without a recording."""
    if op is not None and op.graph_break:
        return words.GRAPH_BREAK.format(reason=op.graph_break)
    said = {
        "nested": words.REASON_NESTED, "compiled": words.REASON_COMPILED, "cached": words.REASON_CACHED,
        "opened": words.REASON_OPENED, "exported": words.REASON_EXPORTED,
    }  # fmt: skip
    return "" if op is None else said.get(op.reason, "")


def entry_of(node: Node, output: int) -> Entry:
    """The node itself and the output; for a group, its inner node at which that gradient arrives."""
    return node.entries[output] if node.entries else Entry(node.name, output)


def node_title(name: str, theme: Theme) -> str:
    """PyTorch's class name; the video leaves out the overload index."""
    return name if theme.pytorch_words else re.sub(r"Backward\d+$", "Backward", name)


def clipped(text: str, width: int, mark: str = "…") -> str:
    """At most `width` columns; the end becomes an ellipsis."""
    return text if cut(text, width) == text else cut(text, width - len(mark)) + mark


def path_clipped(path: str, width: int) -> str:
    """At most `width` columns of a tensor's name. A path in a module keeps its end, as the beginnings are alike."""
    return clipped(path[::-1], width)[::-1] if "." in path and path.isascii() else clipped(path, width)


def _named(name: str, value: str, role: str) -> tuple[Run, ...]:
    head = f"{name} = "
    return Run(head), Run(clipped(value, MOST_COLUMNS - len(head)), role)


def value_lines(name: str, value: Value | None, theme: Theme) -> Lines:
    """`data = tensor(2.)`, or on two lines for arrays."""
    if value is None:
        return (_named(name, "None", "none"),)
    role = "number" if is_finite(value) else ALARM
    if value.shape == ():
        if theme.pytorch_words:
            return (_named(name, f"tensor({value.text})", role),)
        shown = python_text(value)
        return (_named(name, shown if name == "grad" else f"tensor({shown})", role),)
    inside, room = value.text if theme.pytorch_words else python_text(value), MOST_COLUMNS - 3
    if value.summary is not None or columns(inside) > room:
        inside = shape_text(value.shape)
        inside = inside if is_finite(value) else _fitting([f"{inside} · {size}" for size in _sizes(value)], room)
    return (Run(f"{name} = "), Run("tensor(", "number")), (Run(f"  {clipped(inside, room)})", role),)


def brief_lines(lines: Lines, most: int, short: str) -> Lines:
    """The same on few lines, two entries in a line: `self = 36.0 other = (3, 4)`. A line that begins with a space goes on with
    the entry before. A sum (`2.0 + 3.0 = 5.0`) of more than `most` columns is its result; `short` stands for what is still
    longer, if it is not "".
    """
    entries: list[list[Run]] = []
    for line in lines:
        if not (entries and line[0].text.startswith(" ")):
            entries.append([])
        entries[-1].extend(line)
    written = [_brief_entry(entry, most, short) for entry in entries]
    return tuple((*a, Run("  "), *b) if b else a for a, b in zip_longest(written[::2], written[1::2], fillvalue=()))


def _brief_entry(entry: list[Run], most: int, short: str) -> tuple[Run, ...]:
    head, *rest = entry
    if not rest:
        return (head,)
    value = brief_value("".join(run.text.strip() for run in rest))
    if columns(value) > most and short:
        value = value.rpartition(" = ")[2]
        value = value if columns(value) <= most else short
    return head, Run(value, rest[-1].role)


def moving(step: Step) -> list[Change]:
    """The changes of a step whose numbers move along arrows."""
    along = ("next:", "grad:", "grad_fn:", "retain:")
    return [c for c in step.changes if c.after and c.at.startswith(along)]


def moves_of(step: Step) -> list[tuple[str, str]]:
    """The same changes as (address of the arrow, number)."""
    return [(c.at, label_text(c.after)) for c in moving(step) if c.after]


def label_text(value: Value, most: int | None = None) -> str:
    """A gradient on an arrow: its elements (3.0, [6.0, 3.0, 2.0]). If these are too long, its shape and norm, or its norm.
    `most`: the available columns; None for those that the layout reserves for its shape.
    """
    most = label_columns(value.shape) if most is None else most
    return _fitting(_label_texts(value), most)


def _fitting(texts: Iterable[str], most: int) -> str:
    """The first text that fits; if none does, the last one, clipped."""
    text = ""
    for text in texts:
        if columns(text) <= most:
            return text
    return clipped(text, most)


def _label_texts(value: Value) -> Iterator[str]:
    """Texts of a gradient, the longest first: with its elements, then without: (3, 4) · norm 2.1, (3,) · 1 nan. A text is made
    only if the one before is too long.
    """
    if value.numbers:
        yield python_text(value)
    sizes = _sizes(value)
    yield from (f"{value.shape} · {size}" for size in sizes)
    yield from sizes
    yield shape_text(value.shape)


def _sizes(value: Value) -> list[str]:
    """How large an array is, the longest text first: its norm, or its counts of nan and inf."""
    nans, infs = not_finite(value)
    if nans or infs:
        found = {"nan": nans, "inf": infs}
        return [", ".join(f"{n} {what}" for what, n in found.items() if n), ", ".join(what for what, n in found.items() if n)]
    if value.summary is None and not value.numbers:
        return []
    norm = math.hypot(*(part for n in value.numbers for part in (n.real, n.imag)))
    norm = norm if value.summary is None else value.summary.norm
    return [words.PICTURE_NORM.format(norm=short(norm, width)) for width in (7, 5)]


def not_finite(value: Value) -> tuple[int, int]:
    """How many elements are nan, and how many infinite."""
    if value.summary is not None:
        return value.summary.nans, value.summary.infs
    return sum(map(cmath.isnan, value.numbers)), sum(map(cmath.isinf, value.numbers))


def is_finite(value: Value) -> bool:
    """Is no element nan or infinite?"""
    return not any(not_finite(value))


def _accumulating(t: Tensor, state: State) -> Lines | None:
    """The row while AccumulateGrad adds to an existing grad: old + incoming = new, if it fits."""
    a = state.current.accumulation if state.current else None
    if a is None or a.tensor != t.id or a.old is None or a.new.shape != () or state.values.get(f"{t.id}.grad") != a.new:
        return None  # nothing was added, it is too long, or a hook has changed the sum
    text = f"{python_text(a.old)} + {python_text(a.incoming)} = {python_text(a.new)}"
    return (_named("grad", text, "grad"),) if columns(text) + 7 <= MOST_COLUMNS else None


def _called_lines(n: Node, state: State) -> Lines:
    """How many nodes of a group have been called."""
    called = state.called.get(n.id, 0)
    whole = words.PICTURE_NODE if n.members == 1 else words.PICTURE_NODES.format(count=n.members)
    return ((Run(words.PICTURE_CALLED.format(called=called, whole=whole), "number") if called else Run(whole),),)


def _saved_lines(n: Node, state: State, theme: Theme) -> Lines:
    """The node's saved tensors by name and value; the video only shows that there are some."""
    if not (tensors := saved_tensors(n)):
        return ()
    values = [state.values.get(f"{n.id}.saved.{s.name}", s.value) for s in tensors]
    if not theme.pytorch_words:
        return ((Run("ctx.saved_tensors", "none" if values[0] is None else "text"),),)
    lines = [_saved_line(s, v) for s, v in zip(tensors[:MOST_SAVED], values, strict=False)]
    more = len(tensors) - len(lines)
    return (*lines, *[(Run(words.PICTURE_MORE.format(count=more), "none"),)] * (more > 0))


def _saved_line(s: Saved, value: Value | None) -> tuple[Run, ...]:
    if value is None:
        is_packed = s.state == "kept" and s.value is None  # by a hook, as in a checkpoint
        return _named(s.name, words.PICTURE_PACKED if is_packed else words.PICTURE_FREED, "none")
    room = MOST_COLUMNS - len(f"{s.name} = tensor()")
    texts = [*([value.text] if value.summary is None else []), shape_text(value.shape), str(value.shape)]
    return _named(s.name, f"tensor({_fitting(texts, room)})", "number")
