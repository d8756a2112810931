"""From the statements that made the loss back through assignments and calls, to the name that was asked about."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .code import Function, Maker, Statement, assignment, cuts_in, parents, scope_of, tree_of

MOST = 2000  # reads of names that are followed


class Call(NamedTuple):
    """A call of a function of the user's, in whose body a name is read.

    Attributes:
        node: the call.
        function: what it calls.
        statement: where it stands.
        outer: the call in whose body that is.
    """

    node: ast.Call
    function: Function
    statement: Statement
    outer: Call | None


class Read(NamedTuple):
    """A name that is read on the way to the loss, and the cut between it and the loss, if one was met."""

    name: ast.Name
    statement: Statement
    cut: Maker | None
    call: Call | None = None


def cut_between(starts: list[Statement], wanted: set[str]) -> Maker | None:
    """What cuts the way from a name to the loss; None if no way is found, or none with a cut.

    Args:
        starts: the statements that made the loss.
        wanted: the name.
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
        if read.name.id in wanted and not _is_parameter(read):
            if cut is not None:
                return cut
            continue
        queue += _behind(read._replace(cut=cut))
    return None


def _cut_at(read: Read) -> Maker | None:
    around = [read.name, *parents(read.name)]
    return next((maker for node, maker in cuts_in(read.statement) if node is read.statement.node or node in around), None)


def _reads(part: ast.AST, statement: Statement, cut: Maker | None, call: Call | None) -> list[Read]:
    """The names that a part of a simple statement reads."""
    if hasattr(part, "body") and isinstance(part, ast.stmt):
        return []
    names = (n for n in ast.walk(part) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return [Read(n, statement, cut, call) for n in names]


def _is_parameter(read: Read) -> bool:
    return read.call is not None and read.name.id in _parameters(read.call.function)


def _parameters(function: Function) -> list[str]:
    return [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


def _behind(read: Read) -> Iterator[Read]:
    """What the value of a name was made from."""
    before = assignment(read.name.id, read.statement, within=read.call is not None and _is_parameter(read))
    if before is not None:
        yield from _reads(before.node, before, read.cut, read.call)
    elif _is_parameter(read) and read.call is not None:
        given = _argument(read.call, read.name.id)
        if given is not None:
            yield from _reads(given, read.call.statement, read.cut, read.call.outer)
    node, function = _called(read)
    if node is not None and function is not None and _depth(read.call) < 10:
        inner = Call(node, function, read.statement, read.call)
        for statement in _returns(function, read.statement.file):
            yield from _reads(statement.node, statement, read.cut, inner)


def _depth(call: Call | None) -> int:
    return 0 if call is None else 1 + _depth(call.outer)


def _called(read: Read) -> tuple[ast.Call | None, Function | None]:
    """The call that the name is the function (or the object) of, and the function of the same file that it means."""
    part: ast.AST = read.name
    name = read.name.id
    while isinstance(above := getattr(part, "parent", None), ast.Attribute):
        part, name = above, above.attr
    call = getattr(part, "parent", None)
    tree = tree_of(read.statement.file)
    if not isinstance(call, ast.Call) or call.func is not part or tree is None:
        return None, None
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    named = [f for f in functions if f.name == name] or [f for f in functions if f.name == "forward"]
    return call, named[-1] if named else None


def _returns(function: Function, file: str) -> list[Statement]:
    found = [n for n in ast.walk(function) if isinstance(n, ast.Return) and scope_of(n) is function]
    return [Statement(file, n) for n in found]


def _argument(call: Call, name: str) -> ast.AST | None:
    """What a parameter was given."""
    keyword = next((k.value for k in call.node.keywords if k.arg == name), None)
    if keyword is not None:
        return keyword
    place = _parameters(call.function).index(name)
    if isinstance(getattr(call.function, "parent", None), ast.ClassDef):
        function = call.node.func
        if place == 0:
            return function.value if isinstance(function, ast.Attribute) else function
        place -= 1
    return call.node.args[place] if place < len(call.node.args) else None
