"""A tensor to which no path leads and that nothing cut off: of a layer that forward() leaves out, or only copied."""

from __future__ import annotations

import ast

from .cause import Cause
from .code import Function, Statement, before_in_scope, scope_of, statement_of
from .defined import bases
from .facts import Facts
from .holders import PART, is_same
from .kinds import class_of
from .loss_code import statements_of_loss
from .meant import Place
from .parsed import module_of
from .slices import statements_behind

BY_OTHER_WAYS = {  # of coming to the parts of a module
    "getattr", "children", "named_children", "modules", "named_modules", "_modules", "parameters", "apply", "vars", "super",
}  # fmt: skip
MOST = 500  # methods and statements that are read


def bystander_cause(f: Facts, root: str, is_read: bool) -> Cause | None:
    """Why the subject had no part in the loss, if the code says so.

    Args:
        f: the graph.
        root: the names of the roots.
        is_read: the code that made the loss reads its name.
    """
    asked, name = statement_of(f.here), f.subject.name
    if asked is None or name is None:
        return None
    return (None if is_read else _left_out(f, name, asked)) or _copied(f, name, asked, root)


def _left_out(f: Facts, name: str, asked: Statement) -> Cause | None:
    """The layer, or a part of the model that holds it, is used by no method of its owner's class."""
    parts = PART.sub(r".\1", name).split(".")[:-1]
    levels = ((".".join(parts[:i]), parts[i]) for i in range(len(parts) - 1, 0, -1))
    return next((found for owner, part in levels if (found := _unused_by(f, owner, part, asked)) is not None), None)


def _unused_by(f: Facts, owner: str, part: str, asked: Statement) -> Cause | None:
    """No method of the owner's class uses the part, or what all of its calls give is not used."""
    cls = class_of(ast.parse(owner, mode="eval").body, Place(asked, None)) if _is_path(owner) and part.isidentifier() else None
    if cls is None:
        return None
    methods = [m for c in bases(cls) for m in c.body if isinstance(m, ast.FunctionDef | ast.AsyncFunctionDef)][:MOST]
    has_forward = any(m.name == "forward" for m in methods)
    if not has_forward or any(_goes_other_ways(m) for m in methods) or _is_used_outside(part, cls):
        return None
    uses = [n for m in methods for n in ast.walk(m) if _is_use(n, part)]
    said = {"part": f"{owner}.{part}", "cls": cls.name}
    if not uses:
        return Cause("part_unused", (f.subject.id, *f.loss), said=said)
    thrown = [s for n in uses if (s := _thrown_away(n)) is not None]
    is_all = len(thrown) == len(uses)
    return Cause("result_unused", (f.subject.id, *f.loss), source=thrown[-1].source, said=said) if is_all else None


def _is_path(owner: str) -> bool:
    return bool(owner) and all(p.isidentifier() for p in owner.split("."))


def _is_use(node: ast.AST, part: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == part and isinstance(node.ctx, ast.Load)


def _goes_other_ways(method: Function) -> bool:
    """It may come to all its parts without their names."""
    names = {n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(method) if isinstance(n, ast.Name | ast.Attribute)}
    return method.name != "__init__" and not names.isdisjoint(BY_OTHER_WAYS)


def _is_used_outside(part: str, cls: ast.ClassDef) -> bool:
    """Code beside the class takes the part: `net.extra(x)`, `f = net.extra`; not `net.extra.weight`, `net.extra[0].bias`."""
    inside = {n for c in bases(cls) for n in ast.walk(c)}
    uses = (n for n in ast.walk(module_of(cls)) if n not in inside and _is_use(n, part))
    return any(not isinstance(_beyond_indices(n), ast.Attribute) for n in uses)


def _beyond_indices(node: ast.AST) -> ast.AST | None:
    """What stands around `net.extra[0]`, for net.extra."""
    around = getattr(node, "parent", None)
    while isinstance(around, ast.Subscript) and around.value is node:
        node, around = around, getattr(around, "parent", None)
    return around


def _thrown_away(use: ast.AST) -> Statement | None:
    """The statement that calls the part and throws the result away, or gives it a name that nothing reads."""
    node: ast.AST = use
    while not isinstance(node, ast.stmt):
        node = node.parent  # type: ignore[attr-defined]
    value = getattr(node, "value", None)
    if not (isinstance(value, ast.Call) and value.func is use):
        return None
    if isinstance(node, ast.Expr):
        return Statement(node)
    targets = node.targets if isinstance(node, ast.Assign) else []
    names = {t.id for t in targets if isinstance(t, ast.Name)}
    read = {n.id for n in ast.walk(scope_of(node)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return Statement(node) if names and len(names) == len(targets) and names.isdisjoint(read) else None


def _copied(f: Facts, name: str, asked: Statement, root: str) -> Cause | None:
    """A line above the question has copied its values into another tensor or module."""
    above = before_in_scope(asked)
    behind = {n.id for s in statements_behind(statements_of_loss(f)) for n in ast.walk(s.node) if isinstance(n, ast.Name)}
    found = [n for n in above[:MOST] if (copy := _copy(n, name)) is not None and _first_name(copy) in behind]
    source = Statement(found[-1]).source if found else None
    return None if source is None else Cause("copied", (f.subject.id, *f.loss), source=source, said={"root": root})


def _copy(node: ast.stmt, name: str) -> ast.expr | None:
    """What gets the values: b in `b.load_state_dict(a.state_dict())`, `b.weight.copy_(a.weight)`, `b = copy.deepcopy(a)`."""
    match getattr(node, "value", None):
        case (
            ast.Call(func=ast.Attribute(value=to, attr="load_state_dict"), args=[ast.Call(func=ast.Attribute(value=of)), *_])
            | ast.Call(func=ast.Attribute(value=to, attr="copy_"), args=[of, *_])
        ):
            return to if is_same(of, name) else None
        case ast.Call(func=ast.Attribute(attr="deepcopy") | ast.Name(id="deepcopy"), args=[of, *_]):
            return node.targets[0] if isinstance(node, ast.Assign) and is_same(of, name) else None
    return None


def _first_name(expression: ast.expr) -> str:
    """b of `b.weight[0]`."""
    return next((n.id for n in ast.walk(expression) if isinstance(n, ast.Name)), "")
