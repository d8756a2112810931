"""Which of several values a name gets: of a tuple, a dict, an object with fields, or of what a loop goes through."""

from __future__ import annotations

import ast

from .cutting import is_called
from .defined import definition
from .parsed import module_of

Item = int | str  # a place or a key


def item_of(name: ast.Name, node: ast.stmt) -> Item | None:
    """Which of several values a name was given: its place in `a, b = f(x)`, or the key with which it is read: `out["loss"]`."""
    for t in node.targets if isinstance(node, ast.Assign) else []:
        if isinstance(t, ast.Tuple | ast.List) and not any(isinstance(e, ast.Starred) for e in t.elts):
            return next((i for i, e in enumerate(t.elts) if isinstance(e, ast.Name) and e.id == name.id), None)
    return read_item(name)


def read_item(node: ast.AST) -> Item | None:
    """With which place or key it is read: `out["loss"]`, `out.loss`."""
    match getattr(node, "parent", None):
        case ast.Subscript(slice=ast.Constant(value=int() | str() as key)):
            return key
        case ast.Attribute(attr=attr) as part if not is_called(part):
            return attr
    return None


def element(value: ast.AST | None, item: Item) -> ast.AST | None:
    """That of several values, where the code writes them out."""
    match value:
        case ast.Tuple(elts=elts) | ast.List(elts=elts) if isinstance(item, int) and item < len(elts):
            return elts[item]
        case ast.Dict(keys=keys, values=values):
            return next((v for k, v in zip(keys, values, strict=True) if isinstance(k, ast.Constant) and k.value == item), None)
        case ast.Call(keywords=keywords, args=args) if isinstance(item, str):
            by_name = next((k.value for k in keywords if k.arg == item), None)
            fields = _fields(value) if by_name is None and args else []
            return args[fields.index(item)] if item in fields[: len(args)] else by_name
    return None


def _fields(call: ast.Call) -> list[str]:
    """The fields of what a call makes: of a dataclass or a NamedTuple, or of `Out = namedtuple("Out", "h c")`."""
    cls = definition(call.func)
    if isinstance(cls, ast.ClassDef):
        return [s.target.id for s in cls.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    for node in module_of(call).body if isinstance(call.func, ast.Name) else []:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[_, ast.Constant(value=str() as fields)])):
                if name == call.func.id:  # type: ignore[attr-defined]
                    return fields.replace(",", " ").split()
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[_, ast.List(elts=elts) | ast.Tuple(elts=elts)])):
                if name == call.func.id:  # type: ignore[attr-defined]
                    return [e.value for e in elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
    return []


def gone_through(target: ast.expr, iterable: ast.expr, name: str) -> list[ast.expr]:
    """Of what a loop goes through, that of which a variable of its target is a part: `b` in `for a, b in zip(x, y)` is of y."""
    if not isinstance(target, ast.Tuple | ast.List) or any(isinstance(e, ast.Starred) for e in target.elts):
        return [iterable]
    i = next((i for i, e in enumerate(target.elts) if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(e))), None)
    match iterable:
        case ast.Call(func=ast.Name(id="zip"), args=args) if i is not None and i < len(args):
            return gone_through(target.elts[i], args[i], name)
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]) if i is not None:
            return [] if i == 0 else gone_through(target.elts[i], inner, name)
        case ast.Call(func=ast.Attribute(attr="items" | "named_parameters" | "named_modules" | "named_children")) if i == 0:
            return []
    return [iterable]
