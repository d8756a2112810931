"""Names for tensors that no variable holds: by the line that made them, as `a` in ``a = av.tensor(2.0)``.

# Note [A name by its line]
The user wrote the line, so its name is drawn as a variable's is. It must be as certain:
- The expression is the whole value of an assignment to one name.
- The tensor is the only one made there that is used elsewhere. (A layer runs several ops. `h = cell(h)` in a loop makes many
  an h, and the last is left.)
A name means one tensor: the last to which it was assigned. If a variable of the caller has the name, it means that one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping

from ...graph.model import Op
from ...graph.surroundings import Source
from .written_code import Assigned, assigned_at


def names_by_line(
    places: Mapping[str, Source | None], ops: Iterable[Op], named: Container[str], taken: Container[str]
) -> dict[str, str]:
    """Names of tensors that have none.

    Args:
        places: by tensor, in the order of the program: where it was made.
        ops: of the document.
        named: the tensors that have names.
        taken: names that mean something else.
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
