"""The user's statements in the order in which they ran, each beside the first tensor that it made or changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any, NamedTuple

from ...graph import model, surroundings
from ...twin.core.base.provenance import Place
from .written_code import source_at, statement_at


class Happened(NamedTuple):
    """Something that happened to a tensor at a place in the code; `order` rises with time."""

    order: tuple[int, int]
    at: Place | None
    tensor: str
    kind: str


def place_of(at: Place | None) -> surroundings.Source | None:
    """The exact sub-expression that was running there."""
    return None if at is None else source_at(at.code, at.lasti)


def statements(happened: Iterable[Happened], name_of: Callable[[str], str | None]) -> tuple[model.Statement, ...]:
    """The statements of some events.

    Args:
        happened: in any order.
        name_of: the user's name of a tensor by its id.
    """
    found: dict[Any, model.Statement] = {}
    keys: dict[Place, Any] = {}  # by place: file, start and text of its statement
    for _, at, id, kind in sorted(happened, key=itemgetter(0)):
        if at is None:
            continue
        if at not in keys:
            source = place_of(at)
            statement = statement_at(source) if source else None
            keys[at] = None if source is None or statement is None else (source.file, *statement)
        if (key := keys[at]) is None:
            continue
        known = found.get(key)
        # `e = b * c * d` makes an unnamed tensor before e: it stands beside e
        shows_later = known is not None and name_of(known.tensor) is None and name_of(id) is not None
        if known is None or (kind == "make" == known.kind and shows_later):
            found.pop(key, None)
            found[key] = model.Statement(key[2], id, kind)
    return tuple(found.values())
