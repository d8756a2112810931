"""Small pieces of sentences."""

from __future__ import annotations

from collections.abc import Iterable

from ... import words
from ...graph.model import Value
from ...graph.text import shape_text, value_text
from ...graph.trace import HookRun, Step

MOST_PARTS = 12  # parts that a sentence lists


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


def size_text(count: int, unit: str = "B", prefixes: str = "kMGT") -> str:
    """12 B, 1.2 kB, 3.4 MB."""
    size, prefix = float(count), ""
    while size >= 1000 and prefixes:
        size, prefix, prefixes = size / 1000, prefixes[0], prefixes[1:]
    return f"{size:.1f} {prefix}{unit}" if prefix else f"{count} {unit}"


def work_text(count: int) -> str:
    """12 FLOP, 1.2 GFLOP."""
    return size_text(count, "FLOP", "kMGTP")


def is_shape(value: Value) -> bool:
    """Is it too large to be written out?"""
    return value_text(value) == shape_text(value.shape)


def written(value: Value | None) -> str:
    """Its text; "None" if there is none."""
    return "None" if value is None else value_text(value)


def hook_kind(hook: HookRun) -> str:
    """The name of the kind of hook: "tensor hook"."""
    labels = words.ui()
    return labels.get(f"hook_{hook.kind}", labels["hook_tensor"])


def same(a: Value | None, b: Value | None) -> bool:
    """Are they equal? nan equals nan."""
    return a == b or repr(a) == repr(b)


def before_hooks(step: Step, index: int, kinds: tuple[str, ...] = ("tensor", "pre")) -> Value | None:
    """What arrived at an output before the user's hooks of these kinds saw it."""
    seen = (h.before for h in step.hooks if h.kind in kinds and h.index == index and h.before is not None)
    return next(seen, step.grad_outputs[index])


def after_hooks(step: Step, index: int) -> Value | None:
    """A gradient after its tensor hooks. retain_grad() keeps it, and the node's prehooks get it."""
    return before_hooks(step, index, ("pre",))


def is_differentiable(dtype: str) -> bool:
    """Can tensors of this element type require grad?"""
    return dtype.startswith(("float", "complex", "bfloat"))
