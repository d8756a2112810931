"""What stands behind a name in the user's code: the names that are read in what it was given, in its scope, or in the call that
gave it, and in the functions that are called on the way.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..graph.model import Source
from .calls import called_by, users_call
from .code import Function, Statement, makers, own_expressions, parameters_of, position, scope_of, simple_statements, targets
from .cutting import Maker, copied_in, cuts_in, indices_cut, is_one_of_two
from .elements import element, gone_through, item_of, read_item
from .looks import is_for_look
from .meant import ANY, Call, Place, chain_from, is_parameter, parts_of
from .parsed import parents

NUMBERS = ("item", "numpy")
GROW = ("append", "extend", "insert")  # methods of lists
MOST = 2000  # reads of names that are followed
# a name, the calls in whose bodies it is read, which of several results and which part is meant, and whether it is called
Key = tuple[ast.Name, tuple[ast.Call, ...], int | str | None, tuple[str, ...], bool]


class Read(NamedTuple):
    """A name that is read on the way to the loss.

    Attributes:
        name: the name.
        statement: where it is read.
        call: the call in whose body it is read.
        cut: what cuts the way from the name to what reads it, if something does.
        rest: the parts of it that are meant, where the name stands for another: "enc" of net, for `self.enc` in its forward.
        item: which of the results that a function returns is meant, where it returns several: a place or a key.
        is_called: a call of it is a call on the way; not where it stands for the `self` of a method.
    """

    name: ast.Name
    statement: Statement
    call: Call | None = None
    cut: Maker | None = None
    rest: tuple[str, ...] = ()
    item: int | str | None = None
    is_called: bool = True

    @property
    def place(self) -> Place:
        """Where it is read."""
        return Place(self.statement, self.call)

    @property
    def key(self) -> Key:
        """What tells it from other reads."""
        calls, call = list[ast.Call](), self.call
        while call is not None:
            calls.append(call.node)
            call = call.outer
        return self.name, tuple(calls), self.item, self.rest, self.is_called

    @property
    def outermost(self) -> Statement:
        """The statement in the code of the loss: that of the call, if it is read in a function."""
        return self.place.outermost


def read_in(statement: Statement, part: ast.AST | None = None) -> list[Read]:
    """The names that a statement, or a part of it, reads, each with what cuts it off there."""
    return _reads(part or statement.node, statement, None)


def read_for(name: str, made: Statement) -> list[Read]:
    """The names that an assignment reads for one of its targets: `loss` of `loss, shown = f(x)`."""
    targets_ = made.node.targets if isinstance(made.node, ast.Assign) else []
    of_several = (t for t in targets_ if isinstance(t, ast.Tuple | ast.List))
    target = next((n for t in of_several for n in t.elts if isinstance(n, ast.Name) and n.id == name), None)
    return read_in(made) if target is None else [*assigned_from(Read(target, made), made)]


def behind(read: Read) -> Iterator[Read]:
    """The names that were read in what a name was given; for one that is called, those in what the function returns."""
    yield from before(read)
    yield from returned(read)


def returned(read: Read) -> Iterator[Read]:
    """The names in what a function of the user's gives back, if the name is that of one that is called."""
    called = called_by(read.name, read.place) if read.is_called else None
    yield from () if called is None else returned_by(called, read)


def returned_by(called: Call, read: Read) -> Iterator[Read]:
    """The names in what a call gives back."""
    for s in returns(called.function):
        is_name = isinstance(getattr(s.node, "value", None), ast.Name)  # of what, the same part is meant
        for new in _reads(_returned(s.node, read), s, called):
            yield new._replace(item=read.item) if is_name else new


def statements_behind(starts: list[Statement]) -> Iterator[Statement]:
    """The statements that made the loss, and those that made what they read, the nearest first."""
    queue = [r for s in starts for r in read_in(s)]
    seen: set[tuple[ast.Name, ast.Call | None]] = set()
    yield from starts
    while queue and len(seen) < MOST:
        read = queue.pop(0)
        key = (read.name, None if read.call is None else read.call.node)
        if key in seen:
            continue
        seen.add(key)
        called = called_by(read.name, read.place) if read.is_called else None
        yield from makers(read.name.id, read.statement, within=is_parameter(read.name.id, read.call))
        yield from () if called is None else returns(called.function)
        queue += behind(read)


def _cut_at(name: ast.Name, place: Place) -> Maker | None:
    """What cuts the name off in its statement; a method of the user's own that is called `detach` is none."""
    around, statement = [name, *parents(name)], place.statement
    found = [
        (n, maker)
        for n, maker in cuts_in(statement)
        if n in around and not (isinstance(n, ast.Call) and users_call(n, place) is not None)
    ]
    # the innermost, but what gives numbers before the detach() that it asks for
    node, cut = min(found, key=lambda f: (f[1].how not in NUMBERS, around.index(f[0])), default=(name, None))
    cut = cut or copied_in(name, statement)
    return cut and cut._replace(is_sure=cut.is_sure and not is_one_of_two(node))


def _reads(part: ast.AST, statement: Statement, call: Call | None) -> list[Read]:
    """The names that a part of a statement reads; of a loop, those of what it goes through; none of a test."""
    if isinstance(part, ast.If | ast.While | ast.Match):
        return []
    parts = own_expressions(part) if isinstance(part, ast.stmt) and hasattr(part, "body") else [part]
    names = (n for p in parts for n in ast.walk(p) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    place = Place(statement, call)
    return [r for n in names if not is_for_look(n) and not _is_handed_over(n, place, parts) for r in _read(n, place)]


def _is_handed_over(name: ast.Name, place: Place, parts: Sequence[ast.AST]) -> bool:
    """It is given to a function whose code is there: what becomes of it, that code tells."""
    inside: ast.AST = name
    for p in parents(name):
        if inside in parts or p is place.statement.node:
            return False
        if isinstance(p, ast.Call) and inside is not p.func and _tells_of_parameters(users_call(p, place)):
            return True
        inside = p
    return False


def _tells_of_parameters(call: Call | None) -> bool:
    """Each argument has its name in the function, and the function gives something back."""
    if call is None or call.function.name == "__init__":
        return False
    args = call.function.args
    is_plain = not any(isinstance(a, ast.Starred) for a in call.node.args) and all(k.arg for k in call.node.keywords)
    return is_plain and args.vararg is None and args.kwarg is None and bool(returns(call.function))


def _read(name: ast.Name, place: Place, within: ast.comprehension | None = None) -> Iterator[Read]:
    """The name; nothing, where only a test reads it.

    For the variable of a comprehension what that goes through is read, and nothing for what it goes through itself.

    Args:
        name: the name.
        place: where it stands.
        within: it is asked for as what that goes through.
    """
    cut = _cut_at(name, place)
    inside: ast.AST = name
    for p in parents(name):
        if _is_parameter_of(p, name) or _gives_no_value(p, inside) or (p is not within and _is_gone_through(p, inside)):
            return
        for g in getattr(p, "generators", ()):
            if name.id in {n.id for n in ast.walk(g.target) if isinstance(n, ast.Name)} and g is not within:
                through = [n for part in gone_through(g.target, g.iter, name.id) for n in ast.walk(part)]
                behind = (r for n in through if isinstance(n, ast.Name) for r in _read(n, place, g))
                yield from (r._replace(cut=cut or r.cut) for r in behind)
                return
        inside = p
    called = _call_of(name)
    yield Read(name, *place, cut, item=None if called is None else read_item(called))  # `enc(x).h`, `f(x)[0]`


def _call_of(name: ast.Name) -> ast.Call | None:
    """`net(x)` or `net.enc(x)`, for net."""
    chain = chain_from(name)
    called = getattr(chain, "parent", None)
    return called if isinstance(called, ast.Call) and called.func is chain else None


def _is_parameter_of(node: ast.AST, name: ast.Name) -> bool:
    return isinstance(node, ast.Lambda) and name.id in parameters_of(node)


def _gives_no_value(node: ast.AST, part: ast.AST) -> bool:
    """It is the test of an `if`, or the key of a dict."""
    is_key = (isinstance(node, ast.DictComp) and part is node.key) or (isinstance(node, ast.Dict) and part in node.keys)
    return is_key or part in getattr(node, "ifs", ()) or (isinstance(node, ast.IfExp) and part is node.test)


def _is_gone_through(node: ast.AST, part: ast.AST) -> bool:
    return isinstance(node, ast.comprehension) and part is node.iter


def before(read: Read) -> Iterator[Read]:
    """What the value of a name was made from: by the assignments that may have made it, or by the call that gave it."""
    made = makers(read.name.id, read.statement, within=is_parameter(read.name.id, read.call))
    if made:
        for statement in made:
            yield from assigned_from(read, statement)
        return
    given = read.place.parameter(read.name.id)
    if given is not None:
        value, place = given
        is_called = value is not (read.call.bound if read.call else None)
        for new in _reads(value, place.statement, place.call):
            yield new._replace(rest=_rest(read) if parts_of(value) else (), is_called=is_called)


def _rest(read: Read) -> tuple[str, ...]:
    return (*parts_of(chain_from(read.name))[1:], *read.rest)


def assigned_from(read: Read, made: Statement) -> Iterator[Read]:
    """What is read in the assignment that gave the name its value."""
    value, item = getattr(made.node, "value", None), item_of(read.name, made.node)
    item = read.item if item is None and _call_of(read.name) is None else item
    if item is None and read.rest:  # `out["loss"]` of a parameter that was given `o`
        item = int(read.rest[0]) if read.rest[0].isdigit() else read.rest[0]
    cut = indices_cut(made, read.name.id) or _detached_between(read, made)
    if isinstance(value, ast.List):
        yield from _added_to(read)
    parts: list[ast.AST] = [made.node if item is None else element(value, item) or made.node]
    if isinstance(made.node, ast.For):
        parts = [*gone_through(made.node.target, made.node.iter, read.name.id)]
    for new in (r for part in parts for r in _reads(part, made, read.call)):
        rest = (ANY, *_rest(read)) if isinstance(made.node, ast.For) else _rest(read) if parts_of(value) else ()
        yield new._replace(cut=cut or new.cut, rest=rest, item=item if _is_whole(new.name, made) else new.item)


def _detached_between(read: Read, made: Statement) -> Maker | None:
    """`h.detach_()` between the statement that made it and the one that reads it."""
    line = detached_after(made, read.statement, read.name.id)
    return None if line is None else Maker("detach", line, ".detach_()")


def detached_after(made: Statement, before: Statement | None, name: str | None = None) -> Source | None:
    """The line below the statement, in its scope, that detaches in place a name to which it gave a value.

    Args:
        made: the statement.
        before: one behind that line, if it stands in the same scope.
        name: the name; left out: any.
    """
    names, scope = targets(made.node) if name is None else {name}, scope_of(made.node)
    last = before.node if before is not None and scope_of(before.node) is scope else None
    for node in simple_statements(scope):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=id), attr="detach_"))) if id in names:
                if position(made.node) < position(node) and (last is None or position(node) < position(last)):
                    return Statement(node).source
    return None


def _added_to(read: Read) -> Iterator[Read]:
    """What a list was given later: `losses.append(loss)`."""
    for node in simple_statements(scope_of(read.statement.node)):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr), args=args)):
                if name == read.name.id and attr in GROW:
                    yield from (r for a in args for r in _reads(a, Statement(node), read.call))


def _returned(node: ast.stmt, read: Read) -> ast.AST:
    """What a return gives back, of which a part may be meant."""
    value = getattr(node, "value", None)
    return node if value is None or read.item is None else element(value, read.item) or node


def _is_whole(name: ast.Name, statement: Statement) -> bool:
    """The name is what the whole value of an assignment calls: `a, b = net(x)`."""
    value = getattr(statement.node, "value", None)
    return isinstance(value, ast.Call) and chain_from(name) is value.func


def returns(function: Function) -> list[Statement]:
    """The statements that give something back, or yield it."""
    found = [n for n in ast.walk(function) if isinstance(n, ast.stmt) and scope_of(n) is function]
    return [Statement(n) for n in found if isinstance(n, ast.Return) or _yields(n)]


def _yields(node: ast.stmt) -> bool:
    return isinstance(getattr(node, "value", None), ast.Yield | ast.YieldFrom)
