"""What kind of object an expression gives: its class, if that is code of the user's."""

from __future__ import annotations

import ast
import re

from .code import Statement, assignment, before_in_scope, looped, scope_of
from .defined import bases, class_of_name
from .meant import DEPTH, SAME, Place, parts_of

PART_OF = re.compile(r"\.(\d+)(?=\.|$)")  # a part of a Sequential, which names write with a dot


def class_of(value: ast.expr, place: Place, depth: int = 0) -> ast.ClassDef | None:
    """The class of an object that is made by calling it, wherever between there and here it was kept.

    Args:
        value: the expression: `net`, `self.enc`, `self.blocks[0]`, or `b` of `for b in self.blocks`.
        place: where it stands.
        depth: of this call of the function.
    """
    if depth > DEPTH:
        return None
    match value:
        case ast.Call(func=ast.Attribute(value=same, attr=attr)) if attr in SAME:
            return class_of(same, place, depth + 1)
        case ast.Call(func=called):
            return class_of_name(called)
        case ast.Subscript(value=container):
            return _class_inside(container, place, depth + 1)
    container_of = looped(value.id, place.statement) if isinstance(value, ast.Name) else None
    if container_of is not None:
        return _class_inside(container_of, place, depth + 1)
    owner = _class_around(value.id, place) if isinstance(value, ast.Name) else None
    made = made_of(value, place, depth + 1) if owner is None else None
    return owner if made is None else class_of(*made, depth + 1)


def attribute_assignments(name: str, asked: Statement) -> list[Statement]:
    """The statements that give `owner.attribute` a value: `self.attribute = ...` in the methods of the owner's class, or the
    last above the question that writes it as it is called there.
    """
    try:
        path = ast.parse(PART_OF.sub(r"[\1]", name), mode="eval").body
    except SyntaxError:
        return []
    here = before_in_scope(asked)
    above = [n for n in here if _given_to(name, n) is not None]
    if above or not isinstance(path, ast.Attribute) or not parts_of(path):  # of `f(x).values` no class is known
        return [Statement(n) for n in above[-1:]]
    cls = class_of(path.value, Place(asked, None))
    inside = [n for c in bases(cls) for n in ast.walk(c)] if cls is not None else []
    return [Statement(n) for n in inside if isinstance(n, ast.stmt) and _given_to(f"self.{path.attr}", n) is not None]


def _class_around(name: str, place: Place) -> ast.ClassDef | None:
    """The class in whose method the question is asked, if the name is its `self`."""
    function = scope_of(place.statement.node)
    cls = getattr(function, "parent", None)
    if place.call is not None or not isinstance(cls, ast.ClassDef) or not isinstance(function, ast.FunctionDef):
        return None
    return cls if function.args.args and function.args.args[0].arg == name else None


def _class_inside(container: ast.expr, place: Place, depth: int) -> ast.ClassDef | None:
    """The class of what is in a list or a ModuleList, if it is one class."""
    while isinstance(container, ast.Name | ast.Attribute):
        made = made_of(container, place, depth) if depth <= DEPTH else None
        if made is None:
            return None
        (container, place), depth = made, depth + 1
    if isinstance(container, ast.List | ast.Tuple) and not any(isinstance(e, ast.Call) for e in container.elts):
        found = [class_of(e, place, depth + 1) for e in container.elts]
    else:
        found = [c for n in ast.walk(container) if isinstance(n, ast.Call) and (c := class_of_name(n.func)) is not None]
    return found[0] if len({*found}) == 1 else None


def made_of(value: ast.expr, place: Place, depth: int = 0) -> tuple[ast.expr, Place] | None:
    """What a name or an attribute was given."""
    if isinstance(value, ast.Name):
        return place.parameter(value.id) or _assigned(value.id, place)
    cls = class_of(value.value, place, depth) if isinstance(value, ast.Attribute) else None
    return None if cls is None or not isinstance(value, ast.Attribute) else _attribute(cls, value.attr)


def _assigned(name: str, place: Place) -> tuple[ast.expr, Place] | None:
    """What a name was given by an assignment."""
    made = assignment(name, place.statement)
    value = None if made is None else _given_to(name, made.node)
    return None if made is None or value is None else (value, Place(made, place.call))


def _attribute(cls: ast.ClassDef, name: str) -> tuple[ast.expr, Place] | None:
    """What `self.name = ...` in a class gives it."""
    for c in bases(cls):
        for n in ast.walk(c):
            value = _given_to(f"self.{name}", n)
            if value is not None and isinstance(n, ast.stmt):
                return value, Place(Statement(n), None)
    return None


def _given_to(target: str, node: ast.AST) -> ast.expr | None:
    """What an assignment gives to one of its targets; `a, b = A(), B()` gives each its own."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return None
    for t in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if ast.unparse(t) == target:
            return node.value
        if isinstance(t, ast.Tuple) and isinstance(node.value, ast.Tuple) and len(t.elts) == len(node.value.elts):
            found = next((v for e, v in zip(t.elts, node.value.elts, strict=True) if ast.unparse(e) == target), None)
            if found is not None:
                return found
    return None
