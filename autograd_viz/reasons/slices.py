"""From the statements that made the loss back through assignments and calls, to the name that was asked about."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .calls import called_by
from .code import Function, Statement, assignment, own_expressions, parameters_of, position, scope_of, simple_statements
from .cutting import Maker, copied_in, cuts_in, indices_cut, is_called, is_one_of_two
from .looks import is_for_look
from .meant import Call, Place, chain_from, covers, is_parameter, parts_of, path_of
from .parsed import parents

GROW = ("append", "extend", "insert")  # methods of lists
MOST = 2000  # reads of names that are followed


class Read(NamedTuple):
    """A name that is read on the way to the loss.

    Attributes:
        name: the name.
        statement: where it is read.
        cut: what cuts the way from there to the loss, if that was met.
        call: the call in whose body it is read.
        rest: the parts of it that are meant, where the name stands for another: "enc" of net, for `self.enc` in its forward.
        item: which of the results that a function returns is meant, where it returns several: a place or a key.
        is_called: a call of it is a call on the way; not where it stands for the `self` of a method.
    """

    name: ast.Name
    statement: Statement
    cut: Maker | None
    call: Call | None = None
    rest: tuple[str, ...] = ()
    item: int | str | None = None
    is_called: bool = True

    @property
    def place(self) -> Place:
        """Where it is read."""
        return Place(self.statement, self.call)

    @property
    def outermost(self) -> Statement:
        """The statement in the code of the loss: that of the call, if it is read in a function."""
        statement, call = self.place
        while call is not None:
            statement, call = call.statement, call.outer
        return statement


def reads_between(starts: list[Statement], wanted: str) -> Iterator[Read]:
    """Where a name is read on the ways from it to the loss, nearest to the loss first.

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
        called = called_by(read.name, read.place) if read.is_called else None
        paths = path_of(chain_from(read.name), read.place, read.rest), _as_written(read)
        if any(covers(p, wanted) or covers(wanted, p) for p in paths):
            is_part_open = called is not None and wanted not in paths  # which parts are used, the function that is called tells
            if not is_part_open:
                yield read._replace(cut=cut)
        else:
            queue += _before(read._replace(cut=cut))
        if called is not None:
            returns = _returns(called.function)
            queue += [r for s in returns for r in _reads(_returned(s.node, read), s, cut, called)]


def statements_behind(starts: list[Statement]) -> Iterator[Statement]:
    """The statements that made the loss, and those that made what they read, the nearest first."""
    queue = [r for s in starts for r in _reads(s.node, s, None, None)]
    seen: set[tuple[ast.Name, ast.Call | None]] = set()
    yield from starts
    while queue and len(seen) < MOST:
        read = queue.pop(0)
        key = (read.name, None if read.call is None else read.call.node)
        if key in seen:
            continue
        seen.add(key)
        before = assignment(read.name.id, read.statement, within=is_parameter(read.name.id, read.call))
        called = called_by(read.name, read.place) if read.is_called else None
        returns = [] if called is None else _returns(called.function)
        yield from (*([] if before is None else [before]), *returns)
        queue += [*_before(read), *(r for s in returns for r in _reads(s.node, s, None, called))]


def _as_written(read: Read) -> str:
    """The path that a chain has in the code of the loss, where a name that goes through a loop may be what was asked about."""
    return ".".join(parts_of(chain_from(read.name))) if read.call is None and not read.rest else ""


def _cut_at(read: Read) -> Maker | None:
    around = [read.name, *parents(read.name)]
    found = ((n, maker) for n, maker in cuts_in(read.statement) if n is read.statement.node or n in around)
    node, cut = next(found, (read.name, None))
    cut = cut or copied_in(read.name, read.statement)
    return cut and cut._replace(is_sure=cut.is_sure and not is_one_of_two(node))


def _reads(part: ast.AST, statement: Statement, cut: Maker | None, call: Call | None) -> list[Read]:
    """The names that a part of a statement reads; of a loop, those of what it goes through; none of a test."""
    if isinstance(part, ast.If | ast.While | ast.Match):
        return []
    parts = own_expressions(part) if isinstance(part, ast.stmt) and hasattr(part, "body") else [part]
    names = (n for p in parts for n in ast.walk(p) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return [r for n in names if not is_for_look(n) for r in _read(n, statement, cut, call)]


def _read(name: ast.Name, statement: Statement, cut: Maker | None, call: Call | None) -> Iterator[Read]:
    """The name; for the variable of a comprehension, what that goes through, if the variable is cut off."""
    own = Read(name, statement, cut, call)
    for p in parents(name):
        if isinstance(p, ast.Lambda) and name.id in parameters_of(p):
            return
        for g in getattr(p, "generators", ()):
            if name.id in {n.id for n in ast.walk(g.target) if isinstance(n, ast.Name)}:
                found = cut or _cut_at(own)
                through = [n for n in ast.walk(g.iter) if isinstance(n, ast.Name)] if found is not None else []
                yield from (Read(n, statement, found, call) for n in through)
                return
    yield own


def _before(read: Read) -> Iterator[Read]:
    """What the value of a name was made from."""
    before = assignment(read.name.id, read.statement, within=is_parameter(read.name.id, read.call))
    given = read.place.parameter(read.name.id)
    rest = (*parts_of(chain_from(read.name))[1:], *read.rest)
    found: ast.AST
    if before is not None:
        cut = read.cut or indices_cut(before, read.name.id) or _detached_between(read, before)
        is_name = parts_of(getattr(before.node, "value", None))
        found, place = before.node, Place(before, read.call)
    elif given is not None:
        cut, is_name, (found, place) = read.cut, parts_of(given[0]), given
    else:
        return
    item = None if before is None else _item(read, before.node)
    if before is not None and item is not None:
        found = _element(getattr(before.node, "value", None), item) or found
    if before is not None and isinstance(getattr(before.node, "value", None), ast.List):
        yield from _added_to(read)
    for new in _reads(found, place.statement, cut, place.call):
        is_whole = before is not None and _is_whole(new.name, before)
        is_called = given is None or before is not None or given[0] is not (read.call.bound if read.call else None)
        yield new._replace(rest=rest if is_name else (), item=item if is_whole else None, is_called=is_called)


def _detached_between(read: Read, made: Statement) -> Maker | None:
    """`h.detach_()` between the statement that made it and the one that reads it."""
    for node in simple_statements(scope_of(read.statement.node)):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=read.name.id), attr="detach_"))):
                if position(made.node) < position(node) < position(read.statement.node):
                    return Maker("detach", Statement(node).source, ".detach_()")
    return None


def _added_to(read: Read) -> Iterator[Read]:
    """What a list was given later: `losses.append(loss)`."""
    for node in simple_statements(scope_of(read.statement.node)):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr), args=args)):
                if name == read.name.id and attr in GROW:
                    yield from (r for a in args for r in _reads(a, Statement(node), read.cut, read.call))


def _item(read: Read, node: ast.stmt) -> int | str | None:
    """Which of several values a name was given: its place in `a, b = f(x)`, or the key with which it is read: `out["loss"]`."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    for t in targets:
        if isinstance(t, ast.Tuple | ast.List) and not any(isinstance(e, ast.Starred) for e in t.elts):
            return next((i for i, e in enumerate(t.elts) if isinstance(e, ast.Name) and e.id == read.name.id), None)
    match getattr(read.name, "parent", None):
        case ast.Subscript(slice=ast.Constant(value=int() | str() as key)):
            return key
        case ast.Attribute(attr=attr) as part if not is_called(part):
            return attr
    return None


def _element(value: ast.AST | None, item: int | str) -> ast.AST | None:
    """That of several values, where the code writes them out."""
    match value:
        case ast.Tuple(elts=elts) | ast.List(elts=elts) if isinstance(item, int) and item < len(elts):
            return elts[item]
        case ast.Dict(keys=keys, values=values):
            return next((v for k, v in zip(keys, values, strict=True) if isinstance(k, ast.Constant) and k.value == item), None)
        case ast.Call(keywords=keywords) if isinstance(item, str):
            return next((k.value for k in keywords if k.arg == item), None)
    return None


def _returned(node: ast.stmt, read: Read) -> ast.AST:
    """What a return gives back, of which a part may be meant."""
    value = getattr(node, "value", None)
    return node if value is None or read.item is None else _element(value, read.item) or node


def _is_whole(name: ast.Name, statement: Statement) -> bool:
    """The name is what the whole value of an assignment calls: `a, b = net(x)`."""
    value = getattr(statement.node, "value", None)
    return isinstance(value, ast.Call) and chain_from(name) is value.func


def _returns(function: Function) -> list[Statement]:
    found = [n for n in ast.walk(function) if isinstance(n, ast.Return) and scope_of(n) is function]
    return [Statement(n) for n in found]
