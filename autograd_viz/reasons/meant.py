"""What names in the user's code stand for: the path of a part of a model, the class of an object, the function of a call."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import NamedTuple

from .code import Function, Statement, assignment, parents, scope_of, tree_of

MOST_RAN = 2000  # statements of called functions
DEPTH = 10  # calls within calls, bases of classes, names for names
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
        if given is None:
            break
        before, place = given
        parts = [*parts_of(before), *parts[1:]] if parts_of(before) else []
    return "" if not parts or _is_local(parts[0], place) else ".".join(parts)


def _is_local(name: str, place: Place) -> bool:
    """It is a variable of the called function's own, whatever the caller has of that name."""
    return place.call is not None and assignment(name, place.statement, within=True) is not None


# -- functions --------------------------------------------------------------------------------------------------------


def called_by(name: ast.Name, place: Place) -> Call | None:
    """The call that the chain of a name is the function of, if that is code of the same file: a function, a method, forward."""
    chain = chain_from(name)
    node, tree = getattr(chain, "parent", None), tree_of(place.statement.file)
    if not isinstance(node, ast.Call) or node.func is not chain or tree is None:
        return None
    if place.call is not None and place.call.depth >= DEPTH:
        return None
    function, bound = _function_of(chain, place, tree)
    return None if function is None else Call(node, function, bound, place.statement, place.call)


def ran_before(asked: Statement) -> list[Place]:
    """The simple statements that stand above another in its scope, each followed by those of the functions that it calls."""
    scope = scope_of(asked.node)
    own = [Statement(asked.file, n) for n in _simple(scope) if n.lineno < asked.node.lineno]
    found, stack = list[Place](), [Place(s, None) for s in reversed(own)]
    while stack:
        place = stack.pop()
        found.append(place)
        if len(found) > len(own) + MOST_RAN:  # what is called is not followed any more
            continue
        names = (n for n in ast.walk(place.statement.node) if isinstance(n, ast.Name))
        calls = [c for n in names if (c := called_by(n, place)) is not None]
        stack += [Place(Statement(asked.file, n), c) for c in reversed(calls) for n in reversed(_simple(c.function))]
    return found


def _simple(scope: ast.AST) -> list[ast.stmt]:
    """The statements of a scope that hold no others, in the order of their lines."""
    found = [n for n in ast.walk(scope) if isinstance(n, ast.stmt) and not hasattr(n, "body") and scope_of(n) is scope]
    return sorted(found, key=lambda n: (n.lineno, n.col_offset))


def _function_of(chain: ast.expr, place: Place, tree: ast.Module) -> tuple[Function | None, ast.expr | None]:
    """The function, and the object whose method it is; for a class, `__init__` and what is made."""
    if isinstance(chain, ast.Name):
        cls = _class(chain.id, tree)
        if cls is not None:
            return _method(cls, "__init__", tree), _target(place.statement)
        plain = _known(tree).functions.get(chain.id)
        if plain is not None:
            return plain, None
    if isinstance(chain, ast.Attribute):
        of_value = _class_of(chain.value, place, tree)
        method = None if of_value is None else _method(of_value, chain.attr, tree)
        if method is not None:
            return method, chain.value
    own = _class_of(chain, place, tree)
    forward = _only_forward(chain, tree) if own is None else _method(own, "forward", tree) or _method(own, "__call__", tree)
    return forward, chain


def _target(statement: Statement) -> ast.expr | None:
    """What a statement assigns to, if that is one thing."""
    node = statement.node
    return node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None


def _only_forward(chain: ast.expr, tree: ast.Module) -> Function | None:
    """An object of unknown class is called by its name: if the file has one forward only, it will be that."""
    found = _known(tree).forwards if isinstance(chain, ast.Name) else []
    return found[0] if len(found) == 1 else None


class _Known(NamedTuple):
    """What a file defines: classes and plain functions by name (the last of each), and methods called forward."""

    classes: dict[str, ast.ClassDef]
    functions: dict[str, Function]
    forwards: list[Function]


@functools.lru_cache(maxsize=64)
def _known(tree: ast.Module) -> _Known:
    known = _Known({}, {}, [])
    for n in ast.walk(tree):
        if isinstance(n, ast.ClassDef):
            known.classes[n.name] = n
        elif isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef):
            is_method = isinstance(getattr(n, "parent", None), ast.ClassDef)
            if not is_method:
                known.functions[n.name] = n
            elif n.name == "forward":
                known.forwards.append(n)
    return known


def _bases(cls: ast.ClassDef, tree: ast.Module) -> Iterator[ast.ClassDef]:
    """A class and those that it is made from, as far as they stand in the file."""
    queue = [cls]
    for _ in range(DEPTH):
        if not queue:
            return
        now = queue.pop(0)
        yield now
        queue += [c for b in now.bases if isinstance(b, ast.Name) and (c := _class(b.id, tree)) is not None]


def _class(name: str, tree: ast.Module) -> ast.ClassDef | None:
    return _known(tree).classes.get(name)


def _method(cls: ast.ClassDef, name: str, tree: ast.Module) -> Function | None:
    methods = (f for c in _bases(cls, tree) for f in c.body if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef))
    return next((f for f in methods if f.name == name), None)


def _class_of(value: ast.expr, place: Place, tree: ast.Module, depth: int = 0) -> ast.ClassDef | None:
    """The class of an object, if it stands in the file and the object is made by calling it."""
    if depth > DEPTH:
        return None
    match value:
        case ast.Call(func=ast.Name(id=name)):
            return _class(name, tree)
        case ast.Call(func=ast.Attribute(value=same, attr=attr)) if attr in SAME:
            return _class_of(same, place, tree, depth + 1)
        case ast.Name(id=name):
            value_of = place.parameter(name) or _assigned(name, place)
            return None if value_of is None else _class_of(*value_of, tree, depth + 1)
        case ast.Attribute(value=owner, attr=attr):
            cls = _class_of(owner, place, tree, depth + 1)
            made_of = None if cls is None else _attribute(cls, attr, tree)
            return None if made_of is None else _class_of(made_of, place, tree, depth + 1)
    return None


def _assigned(name: str, place: Place) -> tuple[ast.expr, Place] | None:
    """What a name was given by an assignment."""
    made = assignment(name, place.statement)
    value = getattr(made.node, "value", None) if made is not None else None
    return None if made is None or value is None else (value, Place(made, place.call))


def _attribute(cls: ast.ClassDef, name: str, tree: ast.Module) -> ast.Call | None:
    """What `self.name = ...` in a class calls."""
    for c in _bases(cls, tree):
        for n in ast.walk(c):
            if isinstance(n, ast.Assign) and any(ast.unparse(t) == f"self.{name}" for t in n.targets):
                return n.value if isinstance(n.value, ast.Call) else None
    return None
