"""Calls of the user's own functions, methods and modules: what they run, and what ran above a question."""

from __future__ import annotations

import ast

from .code import Function, Statement, assignment, before_in_scope, parameters_of, scope_of, simple_statements
from .defined import bases, definition, forwards_beside, method
from .kinds import class_of, made_of
from .meant import DEPTH, Call, Place, chain_from

MOST_RAN = 2000  # statements of called functions


def called_by(name: ast.Name, place: Place) -> Call | None:
    """The call that the chain of a name is the function of, if that is code of the user's: a function, a method, forward."""
    if place.call is not None and place.call.depth >= DEPTH:
        return None
    if name.id == "super":
        return _inherited(name, place)
    chain = chain_from(name)
    node = getattr(chain, "parent", None)
    if not isinstance(node, ast.Call) or node.func is not chain:
        return None
    function, bound = _function_of(chain, place)
    return None if function is None else Call(node, function, bound, place.statement, place.call)


def users_call(node: ast.Call, place: Place) -> Call | None:
    """The call of a function of the user's that a node is."""
    first: ast.expr = node.func
    while isinstance(first, ast.Attribute | ast.Subscript):
        first = first.value
    if isinstance(first, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.value is first:
        if isinstance(first.func, ast.Name) and first.func.id == "super":
            return called_by(first.func, place)
        made = definition(first.func)  # `Store(x).sample()`
        own = method(made, node.func.attr) if isinstance(made, ast.ClassDef) else None
        return None if own is None else Call(node, own, first, place.statement, place.call)
    return called_by(first, place) if isinstance(first, ast.Name) else None


def element_call(name: ast.Name, place: Place, path: str, wanted: str) -> Call | None:
    """The call of that part of a Sequential to which the wanted path leads, if its class is code of the user's.

    Args:
        name: what is called: net in `net(x)`, self in `self.body(x)`.
        place: where it stands.
        path: of what is called: "net".
        wanted: "net.0.weight".
    """
    chain, index = chain_from(name), wanted.removeprefix(f"{path}.").partition(".")[0]
    node = getattr(chain, "parent", None)
    made = made_of(chain, place) if isinstance(node, ast.Call) and node.func is chain and index.isdigit() else None
    value = None if made is None else made[0]
    parts = value.args if isinstance(value, ast.Call) and _is_sequential(value) else []
    if made is None or not isinstance(node, ast.Call) or int(index) >= len(parts):
        return None
    cls = class_of(parts[int(index)], made[1])
    forward = None if cls is None else method(cls, "forward")
    part = ast.copy_location(ast.Subscript(chain, ast.Constant(int(index)), ast.Load()), chain)
    part.parent = place.statement.node  # type: ignore[attr-defined]
    return None if forward is None else Call(node, forward, part, place.statement, place.call)


def _is_sequential(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func).endswith("Sequential")


def _inherited(name: ast.Name, place: Place) -> Call | None:
    """The call of `super().forward(x)`, if the class that has the method is code of the user's."""
    around = [getattr(name, "parent", None)]
    for _ in range(2):
        around.append(getattr(around[-1], "parent", None))
    inside = scope_of(name)
    cls = getattr(inside, "parent", None)
    match around:
        case [ast.Call(args=[]), ast.Attribute(attr=attr), ast.Call() as node] if node.func is around[1]:
            if not isinstance(cls, ast.ClassDef) or not isinstance(inside, Function) or not inside.args.args:
                return None
            above = list(bases(cls))[1:]
            function = next((m for c in above if (m := method(c, attr)) is not None), None)
            bound = ast.copy_location(ast.Name(inside.args.args[0].arg, ast.Load()), name)
            bound.parent = place.statement.node  # type: ignore[attr-defined]
            return None if function is None else Call(node, function, bound, place.statement, place.call)
    return None


def ran_before(asked: Statement) -> list[Place]:
    """The simple statements that stand above another in its scope, each followed by those of the functions that it calls."""
    own = [Statement(n) for n in before_in_scope(asked)]
    found, stack = list[Place](), [Place(s, None) for s in reversed(own)]
    while stack:
        place = stack.pop()
        found.append(place)
        if len(found) > len(own) + MOST_RAN:  # what is called is not followed any more
            continue
        names = (n for n in ast.walk(place.statement.node) if isinstance(n, ast.Name))
        calls = [c for n in names if (c := called_by(n, place)) is not None]
        stack += [Place(Statement(n), c) for c in reversed(calls) for n in reversed(simple_statements(c.function))]
    return found


def _function_of(chain: ast.expr, place: Place) -> tuple[Function | None, ast.expr | None]:
    """The function, and the object whose method it is; for a class, `__init__` and what is made."""
    defined = definition(chain)
    if isinstance(defined, ast.ClassDef):
        return method(defined, "__init__"), _target(place.statement)
    if defined is not None:
        return defined, None
    given = place.parameter(chain.id) if isinstance(chain, ast.Name) else None
    if given is not None and isinstance(given[0], ast.Name):
        handed_on = definition(given[0])
        return (handed_on, None) if isinstance(handed_on, Function) else (None, None)
    inner = _inner_function(chain, place)
    if inner is not None:
        return inner, None
    if isinstance(chain, ast.Attribute):
        of_value = class_of(chain.value, place)
        of_class = None if of_value is None else method(of_value, chain.attr)
        if of_class is not None:
            return of_class, chain.value
    own = class_of(chain, place)
    forward = _only_forward(chain, place) if own is None else method(own, "forward") or method(own, "__call__")
    return forward, chain


def _inner_function(chain: ast.expr, place: Place) -> Function | None:
    """The function that a function of the user's defines and returns: `run` after `run = make()`, or `w, run = make()`."""
    made = assignment(chain.id, place.statement) if isinstance(chain, ast.Name) else None
    match None if made is None else made.node:
        case ast.Assign(targets=[target], value=ast.Call(func=called)):
            maker = definition(called)
            gives = [n for n in ast.walk(maker) if isinstance(n, ast.Return)] if isinstance(maker, Function) else []
            returned = [n.value for n in gives if scope_of(n) is maker]
            if len(returned) == 1 and isinstance(target, ast.Tuple) and isinstance(returned[0], ast.Tuple):
                pairs = zip(target.elts, returned[0].elts, strict=False)
                returned = [r for t, r in pairs if isinstance(t, ast.Name) and t.id == getattr(chain, "id", None)]
            found = definition(returned[0]) if len(returned) == 1 and isinstance(returned[0], ast.Name) else None
            return found if isinstance(found, Function) else None
    return None


def _target(statement: Statement) -> ast.expr | None:
    """What a statement assigns to, if that is one thing."""
    node = statement.node
    return node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None


def _only_forward(chain: ast.expr, place: Place) -> Function | None:
    """An object of unknown class is called by its name: if the file has one forward only, it will be that.

    It is a parameter that nobody is seen to give, or was made by a function of the user's, or of a module of the
    user's: not by a library alone.
    """
    if not isinstance(chain, ast.Name):
        return None
    found, made = forwards_beside(chain), assignment(chain.id, place.statement)
    value = None if made is None else getattr(made.node, "value", None)
    if made is None:
        is_module = chain.id in parameters_of(scope_of(chain)) and place.parameter(chain.id) is None
    else:
        given = value.args if isinstance(value, ast.Call) else []
        is_wrapped = any(class_of(a, Place(made, place.call)) is not None for a in given)  # torch.compile(net)
        is_wrapped = is_wrapped and not _is_sequential(value)
        is_module = is_wrapped or not isinstance(value, ast.Call) or definition(value.func) is not None
    return found[0] if len(found) == 1 and is_module else None
