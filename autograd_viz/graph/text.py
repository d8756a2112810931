"""Values as text in sentences and formulas: numbers as Python writes them, in six digits."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from .model import Document, Number, Op, Value

MOST_NAMES = 12  # in a row
LONGEST_VALUE = 40  # characters of the values of an array
LONGEST_CALL = 32  # characters between the brackets; graph.js writes calls alike


def number_text(number: Number) -> str:
    """4.0, -0.5, 123457, 1e-08, 1+2j."""
    if isinstance(number, bool | int):
        return str(number)
    is_whole = not isinstance(number, complex) and math.isfinite(number) and abs(number) < 1e6 and number == int(number)
    return f"{number:.1f}" if is_whole else f"{number:.6g}"


def few_names(names: list[str], between: str = ", ", most: int = MOST_NAMES) -> str:
    """Names in a row; of very many, the first ones and the last."""
    return between.join(names if len(names) <= most else [*names[: most - 1], "…", names[-1]])


def call_text(names: Mapping[str, str], op: Op) -> str:
    """An op as a call: "Mul(a, b)"; an operand whose name is "" is "…"."""
    inside = ", ".join(o.text if o.tensor is None else names[o.tensor] or "…" for o in op.inputs)
    return f"{op.name}({inside if len(inside) <= LONGEST_CALL else '…'})"


class Labels:
    """The names of tensors and nodes for the reader: "a", "Mul(a, b)" for an unnamed tensor, "MulBackward0 (c)". `label` in
    graph.js does the same for the page: both must name a stop alike.
    """

    def __init__(self, document: Document) -> None:
        self._names = {t.id: t.name or "" for t in document.tensors}
        self._nodes = {n.id: n for n in document.nodes}
        self._made = {made: o for o in reversed(document.ops) for made in (*o.outputs, o.id) if made is not None}

    def of(self, id: str) -> str:
        """The name of a tensor or node; another id as it is."""
        node = self._nodes.get(id)
        made = self._made.get(id if node is None else node.op or "")
        if node is None:
            return self._names.get(id) or (call_text(self._names, made) if made is not None else id)
        known = (self._names.get(t or "") for t in (node.variable, *(() if made is None else made.outputs)))
        of = next(filter(None, known), "") or ("" if made is None else call_text(self._names, made))
        return f"{node.name} ({of})" if of else node.name


def label_of(document: Document, id: str) -> str:
    """One name. See `Labels`."""
    return Labels(document).of(id)


def shape_text(shape: tuple[int, ...]) -> str:
    """`shape (28, 28)`: a reader cannot mistake it for values."""
    return f"shape {shape}"


def nested(words: list[str], shape: tuple[int, ...]) -> str:
    """Words in row order as nested brackets."""
    if not shape:
        return words[0]
    size = math.prod(shape[1:])
    return "[" + ", ".join(nested(words[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])) + "]"


def norm_of(value: Value | None) -> float | None:
    """The Euclidean norm; nan or inf if an element is; None if there is no value."""
    if value is None:
        return None
    if (s := value.summary) is not None:
        return math.nan if s.nans else math.inf if s.infs else s.norm
    if not value.numbers:
        return None
    try:
        return math.hypot(*value.numbers)  # type: ignore[arg-type]
    except TypeError:  # complex ones
        return math.hypot(*(part for n in value.numbers for part in (n.real, n.imag)))


def gradient_text(value: Value) -> str:
    """The values if there are few, else `shape (28, 28), norm 0.53`: the norm shows whether a gradient vanishes."""
    text = value_text(value)
    norm = norm_of(value) if text == shape_text(value.shape) else None
    return text if norm is None else f"{text}, norm {norm:.3g}"


def value_text(value: Value) -> str:
    """The values if they are short, else the shape."""
    text = nested([number_text(n) for n in value.numbers], value.shape) if value.numbers else ""
    return text if text and len(text) <= LONGEST_VALUE else shape_text(value.shape)


def brief_value(text: str) -> str:
    """A value without what is said elsewhere: `tensor([1., 2.])` is `[1.0, 2.0]`, `shape (3, 4)` is `(3, 4)`."""
    inside = text.removeprefix("tensor(").removesuffix(")") if text.startswith("tensor(") else text
    return re.sub(r"\.(?!\d)", ".0", inside.removeprefix("shape "))


def python_text(value: Value) -> str:
    """Numbers as Python writes them, in few columns: 2.0, [6.0, 3.0, 2.0]."""
    return nested([short(n) for n in value.numbers], value.shape) if value.numbers else shape_text(value.shape)


def short(number: Number, width: int = 7) -> str:
    """A number in few columns: 4.0, 0.3333, -1e-05, 2.35e+12. A complex one takes as many as it needs: 1.5-2j."""
    if isinstance(number, complex):
        return f"{number:.3g}"
    if isinstance(number, bool | int):
        return str(number)
    formats = [".1f"] if math.isfinite(number) and number == int(number) else []
    texts = (f"{number:{spec}}" for spec in (*formats, ".4g", ".3g", ".2g", ".1g"))
    return next((t for t in texts if len(t) <= width), f"{number:.0e}")
