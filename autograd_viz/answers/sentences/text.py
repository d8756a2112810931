"""Small pieces of sentences."""

from __future__ import annotations

from collections.abc import Iterable

from ... import words
from ...graph.model import Value
from ...graph.text import shape_text, value_text
from ...graph.trace import HookRun, Step

MOST_PARTS = 12  # parts that a sentence lists
ARRIVING = ("tensor", "pre")  # kinds of hooks that see what arrives


def first_few(parts: list[str]) -> list[str]:
    """The parts; if there are very many, the first ones and the number of the rest."""
    more = len(parts) - MOST_PARTS + 1
    return parts if more <= 1 else [*parts[: MOST_PARTS - 1], words.MORE.format(count=more)]


def listed(parts: list[str]) -> str:
    """a; a and b; a, b and c; of very many, the first ones."""
    parts = first_few(parts)
    return words.AND.join([words.COMMA.join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def together(sentences: Iterable[str]) -> str:
    """Sentences in a row."""
    return words.BETWEEN.join(sentences)


def size_text(count: int) -> str:
    """12 B, 1.2 kB, 3.4 MB."""
    size, units = float(count), ["B", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{count} B" if units[0] == "B" else f"{size:.1f} {units[0]}"


def work_text(count: int) -> str:
    """12 FLOP, 1.2 GFLOP."""
    size, units = float(count), ["", "k", "M", "G", "T", "P"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{count} FLOP" if not units[0] else f"{size:.1f} {units[0]}FLOP"


def is_shape(value: Value) -> bool:
    """Is it too large to be written out?"""
    return value_text(value) == shape_text(value.shape)


def text_or_none(value: Value | None) -> str:
    """Its text; "None" if there is none."""
    return "None" if value is None else value_text(value)


def hook_kind(hook: HookRun) -> str:
    """The name of the kind of hook: "tensor hook"."""
    labels = words.ui()
    return labels.get(f"hook_{hook.kind}", labels["hook_tensor"])


def same(a: Value | None, b: Value | None) -> bool:
    """Are they equal? nan equals nan."""
    return a == b or repr(a) == repr(b)


def before_hooks(step: Step, index: int) -> Value | None:
    """What arrived at an output before the user's hooks saw it."""
    return _before(step, index, ARRIVING)


def after_hooks(step: Step, index: int) -> Value | None:
    """A gradient after its tensor hooks. retain_grad() keeps it, and the node's prehooks get it."""
    return _before(step, index, ("pre",))


def _before(step: Step, index: int, kinds: tuple[str, ...]) -> Value | None:
    """What the first hook of these kinds saw there, else what arrived."""
    seen = (h.before for h in step.hooks if h.kind in kinds and h.index == index and h.before is not None)
    return next(seen, step.grad_outputs[index])


def is_differentiable(dtype: str) -> bool:
    """Can tensors of this element type require grad?"""
    return dtype.startswith(("float", "complex", "bfloat"))
