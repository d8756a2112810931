"""From the statements that made the loss back through assignments and calls, to the name that was asked about."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .code import Function, Statement, assignment, parents, scope_of
from .cutting import Maker, copied_in, cuts_in, indices_cut
from .meant import Call, Place, called_by, chain_from, is_parameter, parts_of, path_of

MOST = 2000  # reads of names that are followed


class Read(NamedTuple):
    """A name that is read on the way to the loss.

    Attributes:
        name: the name.
        statement: where it is read.
        cut: what cuts the way from there to the loss, if that was met.
        call: the call in whose body it is read.
        rest: the parts of it that are meant, where the name stands for another: "enc" of net, for `self.enc` in its forward.
    """

    name: ast.Name
    statement: Statement
    cut: Maker | None
    call: Call | None = None
    rest: tuple[str, ...] = ()

    @property
    def place(self) -> Place:
        """Where it is read."""
        return Place(self.statement, self.call)


def cut_between(starts: list[Statement], wanted: str) -> Maker | None:
    """What cuts the way from a name to the loss; None if no way is found, or none with a cut.

    Args:
        starts: the statements that made the loss.
        wanted: the name, or the path: "net.blocks.0.weight".
    """
    queue = [r for s in starts for r in _reads(s.node, s, None, None)]
    seen: set[tuple[ast.Name, bool, ast.Call | None]] = set()
    while queue and len(seen) < MOST:
        read = queue.pop(0)
        cut = read.cut or _cut_at(read)
        key = (read.name, cut is not None, None if read.call is None else read.call.node)
        if key in seen:
            continue
        seen.add(key)
        called = called_by(read.name, read.place)
        path = path_of(chain_from(read.name), read.place, read.rest)
        if _is_met(path, wanted):
            is_part_open = called is not None and path != wanted  # which parts are used, the function that is called tells
            if cut is not None and not is_part_open:
                return cut
        else:
            queue += _before(read._replace(cut=cut))
        if called is not None:
            returns = _returns(called.function, read.statement.file)
            queue += [r for s in returns for r in _reads(s.node, s, cut, called)]
    return None


def _is_met(path: str, wanted: str) -> bool:
    """What is read is the wanted, or what it is a part of."""
    return bool(path) and (f"{wanted}.".startswith(f"{path}.") or path.startswith(f"{wanted}."))


def _cut_at(read: Read) -> Maker | None:
    around = [read.name, *parents(read.name)]
    found = (maker for node, maker in cuts_in(read.statement) if node is read.statement.node or node in around)
    return next(found, None) or copied_in(read.name, read.statement)


def _reads(part: ast.AST, statement: Statement, cut: Maker | None, call: Call | None) -> list[Read]:
    """The names that a part of a simple statement reads; of a loop, what it goes through."""
    part = part.iter if isinstance(part, ast.For) else part
    if hasattr(part, "body") and isinstance(part, ast.stmt):
        return []
    names = (n for n in ast.walk(part) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return [Read(n, statement, cut, call) for n in names]


def _before(read: Read) -> Iterator[Read]:
    """What the value of a name was made from."""
    before = assignment(read.name.id, read.statement, within=is_parameter(read.name.id, read.call))
    given = read.place.parameter(read.name.id)
    rest = (*parts_of(chain_from(read.name))[1:], *read.rest)
    found: ast.AST
    if before is not None:
        cut, is_name = read.cut or indices_cut(before, read.name.id), parts_of(getattr(before.node, "value", None))
        found, place = before.node, Place(before, read.call)
    elif given is not None:
        cut, is_name, (found, place) = read.cut, parts_of(given[0]), given
    else:
        return
    for new in _reads(found, place.statement, cut, place.call):
        yield new._replace(rest=rest if is_name else ())


def _returns(function: Function, file: str) -> list[Statement]:
    found = [n for n in ast.walk(function) if isinstance(n, ast.Return) and scope_of(n) is function]
    return [Statement(file, n) for n in found]
