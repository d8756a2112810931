"""One reason, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...graph.surroundings import Source
from ...graph.text import number_text

Said = str | Source | None


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason why a gradient is what it is. Its sentence is `CAUSE_<KIND>` of the words, its advice `DO_<KIND>`."""

    kind: str  # "not_leaf", "cut_detach", "zero_relu", ...
    tensors: tuple[str, ...] = ()  # ids of the responsible parts of the document
    nodes: tuple[str, ...] = ()
    source: Source | None = None  # the place in the user's code
    said: Mapping[str, Said] = field(default_factory=dict)  # other values for the sentence, by placeholder


def source_of(event: Any) -> Source | None:
    """Where an op ran, or an event happened."""
    return None if event is None else event.source


def in_words(said: Mapping[str, Said | float]) -> dict[str, Said]:
    """Values for a sentence, with the numbers among them as text."""
    return {k: number_text(v) if isinstance(v, int | float) else v for k, v in said.items()}


def cause_of(kind: str, event: Any = None, **said: Said | float) -> Cause:
    """A cause at an op or event."""
    return Cause(kind, source=source_of(event), said=in_words(said))
