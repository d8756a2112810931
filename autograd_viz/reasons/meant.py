"""What names in the user's code stand for: the path of a part of a model, through calls and loops."""

from __future__ import annotations

import ast
from typing import NamedTuple

from .code import Function, Statement, assignment, looped, may_not_have_run
from .parsed import parents

ANY = "*"  # in a path: whichever part of a container a loop has come to
DEPTH = 10  # calls within calls, bases of classes, names for names
OF_ALL = ("parameters", "named_parameters", "state_dict", "buffers")  # methods that give all that a module has
SAME = ("eval", "train", "to", "cuda", "cpu", "float", "double", "half")  # methods that return the module itself


class Call(NamedTuple):
    """A call of a function of the user's, in whose body something is read.

    Attributes:
        node: the call.
        function: what it calls.
        bound: the object whose method it is; None for a plain function.
        statement: where it stands.
        outer: the call in whose body that is.
    """

    node: ast.Call
    function: Function
    bound: ast.expr | None
    statement: Statement
    outer: Call | None

    @property
    def depth(self) -> int:
        """How many calls it stands in, itself too."""
        return 1 if self.outer is None else 1 + self.outer.depth


class Place(NamedTuple):
    """Where an expression is read: its statement, and the call in whose body that is."""

    statement: Statement
    call: Call | None

    @property
    def outermost(self) -> Statement:
        """The statement itself, or that in the code of the question in whose call it ran."""
        statement, call = self
        while call is not None:
            statement, call = call.statement, call.outer
        return statement

    def may_not_have_run(self, asked: Statement) -> bool:
        """Its statement, or the call in which that stands, is under a condition under which the question is not."""
        return any(may_not_have_run(s.node, asked) for s in (self.statement, self.outermost))

    def parameter(self, name: str) -> tuple[ast.expr, Place] | None:
        """What a name was given by the call, if it is a parameter that has no other value by now."""
        call = self.call
        if call is None or name not in _parameters(call.function):
            return None
        if assignment(name, self.statement, within=True) is not None:
            return None
        given = _argument(call, name)
        return None if given is None else (given, Place(call.statement, call.outer))


def is_parameter(name: str, call: Call | None) -> bool:
    """Is it a parameter of the function in whose body it is read?"""
    return call is not None and name in _parameters(call.function)


def _parameters(function: Function) -> list[str]:
    return [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


def _argument(call: Call, name: str) -> ast.expr | None:
    keyword = next((k.value for k in call.node.keywords if k.arg == name), None)
    place = _parameters(call.function).index(name) - (call.bound is not None)
    if keyword is not None or place < 0:
        return keyword or call.bound
    return call.node.args[place] if place < len(call.node.args) else None


# -- paths ------------------------------------------------------------------------------------------------------------


def chain_from(name: ast.Name) -> ast.expr:
    """The longest `name.b[0].c` that a name begins."""
    part: ast.expr = name
    for above in parents(name):
        match above:
            case ast.Attribute(value=value) | ast.Subscript(value=value, slice=ast.Constant()) if value is part:
                part = above
            case _:
                break
    return part


def parts_of(chain: ast.AST | None) -> list[str]:
    """`net.blocks[0]` is net, blocks, 0; empty for what is no such chain."""
    found: list[str] = []
    while True:
        match chain:
            case ast.Name(id=name):
                return [name, *reversed(found)]
            case ast.Attribute(value=value, attr=attr):
                found.append(attr)
            case ast.Subscript(value=value, slice=ast.Constant(value=key)):
                found.append(str(key))
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in SAME:
                pass
            case _:
                return []
        chain = value


def path_of(chain: ast.expr, place: Place, rest: tuple[str, ...] = ()) -> str:
    """The path as the caller would write it: "net.enc" for `self.enc` in a method of net; "" for what is no path.

    Args:
        chain: the expression.
        place: where it stands.
        rest: more parts, behind those of the expression.
    """
    parts = [*parts_of(chain), *rest]
    for _ in range(DEPTH):
        given = place.parameter(parts[0]) if parts else None
        through = looped(parts[0], place.statement) if parts and given is None else None
        if given is not None:
            before, place = given
            parts = [*parts_of(before), *parts[1:]] if parts_of(before) else []
        elif through is not None and parts_of(through) and parts_of(through)[0] != parts[0]:
            parts = [*parts_of(through), ANY, *parts[1:]]
        else:
            break
    if parts and parts[-1] in OF_ALL:
        parts.pop()
    return "" if not parts or _is_local(parts[0], place) else ".".join(parts)


def covers(path: str, other: str) -> bool:
    """The other is that path, or a part of it: `net.blocks.*` has the part net.blocks.0.weight."""
    names, others = path.split("."), other.split(".")
    is_long = len(others) >= len(names)
    return bool(path) and is_long and all(n == o or ANY in (n, o) for n, o in zip(names, others, strict=False))


def _is_local(name: str, place: Place) -> bool:
    """It is a variable of the called function's own, whatever the caller has of that name."""
    return place.call is not None and assignment(name, place.statement, within=True) is not None
