"""The user's statements in the order in which they ran, each beside the first tensor that it made or changed.

# Note [A name by its line]
The user wrote the line, so its name is drawn as a variable's is. It must be as certain:
- The expression is the whole value of an assignment to one name.
- The tensor is the only one made there that is used elsewhere. (A layer runs several ops. `h = cell(h)` in a loop makes many
  an h, and the last is left.)
A name means one tensor: the last to which it was assigned. If a variable of the caller has the name, it means that one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from ...graph import model, surroundings
from ...graph.model import Op
from ...graph.surroundings import Source
from ...twin.core.base.provenance import Place
from .source_code import Assigned, assigned_at, source_at, statement_at


class TensorEvent(NamedTuple):
    """Something that happened to a tensor at a place in the code; `order` rises with time."""

    order: tuple[int, int]
    at: Place | None
    tensor: str
    kind: str


def place_of(at: Place | None) -> surroundings.Source | None:
    """The exact sub-expression that was running there."""
    return None if at is None else source_at(at.code, at.lasti)


def statements(events: Iterable[TensorEvent], name_of: Callable[[str], str | None]) -> tuple[model.Statement, ...]:
    """The statements of some events."""
    found: dict[Any, model.Statement] = {}
    keys: dict[Place, Any] = {}  # by place: file, start and text of its statement
    for _, at, id, kind in sorted(events, key=itemgetter(0)):
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


def names_by_line(
    places: Mapping[str, Source | None], ops: Iterable[Op], named: Container[str], taken: Container[str]
) -> dict[str, str]:
    """Names of tensors that have none, but not those `taken`, which mean something else.

    `places`: by tensor, in the order of the program: where it was made.
    """
    statements = {t: assigned_at(source) for t, source in places.items() if source is not None}
    users: dict[str, set[object]] = defaultdict(set)
    for op in ops:
        user = None if op.source is None else assigned_at(op.source)[:2]
        for operand in op.inputs:
            if operand.tensor is not None:
                users[operand.tensor].add(user)
    left: dict[Assigned, list[str]] = defaultdict(list)
    for tensor, statement in statements.items():
        if statement.name and users[tensor] != {statement[:2]}:
            left[statement].append(tensor)
    last: dict[str, tuple[int, list[str]]] = {}
    order = {tensor: i for i, tensor in enumerate(places)}
    for statement, tensors in left.items():
        last[statement.name] = max(last.get(statement.name, (-1, [])), (order[tensors[-1]], tensors))
    only = {name: tensors[0] for name, (_, tensors) in last.items() if len(tensors) == 1}
    return {tensor: name for name, tensor in only.items() if name not in taken and tensor not in named}
