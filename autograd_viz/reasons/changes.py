"""Lines of the user's code, above a question, that changed a tensor in place: its values, or that it has a history."""

from __future__ import annotations

import ast
import functools

from ..graph.model import Source
from .code import (
    Statement,
    before_in_scope,
    is_given_between,
    may_not_have_run,
    position,
    scope_of,
    simple_statements,
    statement_of,
)
from .cutting import mode_around
from .grad_lines import is_call
from .holders import is_optimizer, may_hold
from .parsed import line_in, module_of, parents


def detached_line(name: str | None, here: Source | None) -> Source | None:
    """The last line above the question that detaches this name in place, if it ran and the name still means the same."""
    asked = statement_of(here)
    if asked is None or name is None:
        return None
    above = [n for n in simple_statements(scope_of(asked.node)) if position(n) <= position(asked.node) and n is not asked.node]
    found = [n for n in above if is_call(n, name, "detach_") and not may_not_have_run(n, asked)]
    return Statement(found[-1]).source if found and not is_given_between(name, found[-1], asked) else None


def written_at(name: str | None, here: Source | None) -> Source | None:
    """The last line above the question that writes into this name in place: `buf[i] = y`, `buf += y`, `buf.mul_(y)`."""
    asked = statement_of(here)
    if asked is None or name is None:
        return None
    above = before_in_scope(asked)
    found = [n for n in above if writes_into(n, name)]
    return Statement(found[-1]).source if found else None


def writes_into(node: ast.stmt, name: str) -> bool:
    """It changes in place what the name stands for."""
    match node:
        case ast.Assign(targets=targets):
            return any(isinstance(t, ast.Subscript) and ast.unparse(t.value) == name for t in targets)
        case ast.AugAssign(target=target):
            return ast.unparse(target).split("[")[0] == name
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=of, attr=attr))):
            return attr.endswith("_") and ast.unparse(of).split("[")[0] == name
    return False


def data_written(name: str, here: Source | None, after: Source, before: list[Source]) -> Source | None:
    """A line below `after`, and above the last of `before`, in the code of the question, that changes `name.data` in place."""
    asked = statement_of(here)
    if asked is None:
        return None
    tree = module_of(asked.node)
    start, ends = line_in(tree, after), [line for s in before if (line := line_in(tree, s)) is not None]
    if start is None or not ends:
        return None
    simple = simple_statements(scope_of(asked.node))
    found = [n for n in simple if start < n.lineno < max(ends) and _writes_data(n, f"{name}.data")]
    return Statement(found[0]).source if found else None


def _writes_data(node: ast.stmt, data: str) -> bool:
    written: list[ast.expr] = []
    if isinstance(node, ast.AugAssign):
        written = [node.target]
    elif isinstance(node, ast.Assign):
        written = node.targets
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        written = [node.value.func.value] if node.value.func.attr.endswith("_") else []
    return any(ast.unparse(w).split("[")[0] == data for w in written)


def changed_line(
    name: str, here: Source | None, after: Source | None, version: int = 0, changes: int | None = None
) -> Source | None:
    """A line of the question's code that changes a variable in place, or, for a parameter, an optimizer's step.

    Args:
        name: the variable.
        here: where the question was asked.
        after: where the variable was saved, if known: the first change below; else the last above the question.
        version: the variable's when it was saved: so many changes stand above that.
        changes: how many came after, if known.
    """
    asked = statement_of(here)
    if asked is None:
        return None
    saved = None if after is None else line_in(module_of(asked.node), after)
    below = [n for n in before_in_scope(asked) if n.lineno >= (saved or 0)]
    found = [n for n in below if _changes(n, name) or _steps(n, name)]
    if saved is None:
        found = _but_earlier(found, name, version, changes, asked)
    sure = [n for n in found if not may_not_have_run(n, asked)]
    chosen = sure[0 if saved is not None else -1 :][:1] or (found if len(found) == 1 else [])
    if not found:  # a line below, in the turn of a loop before
        later = [n for n in _later_in_loop(asked) if _changes(n, name) or _steps(n, name)]
        chosen = later if len(later) == 1 else []
    return Statement(chosen[0]).source if chosen else None


def _later_in_loop(asked: Statement) -> list[ast.stmt]:
    """The statements below another in the loops around it."""
    scope = scope_of(asked.node)
    loops = [p for p in parents(asked.node) if isinstance(p, ast.For | ast.AsyncFor | ast.While) and scope_of(p) is scope]
    return [n for n in simple_statements(scope) if position(n) > position(asked.node) and any(p in loops for p in parents(n))]


def _but_earlier(found: list[ast.stmt], name: str, version: int, changes: int | None, asked: Statement) -> list[ast.stmt]:
    """Without those that brought the variable to the version that was saved, where each is one change and no step."""
    sure = [n for n in found if not may_not_have_run(n, asked)]
    is_looped = any(isinstance(p, ast.For | ast.AsyncFor | ast.While) for n in found for p in parents(n))
    counts = (
        version
        and not is_looped
        and changes is not None
        and len(sure) < version + changes
        and not any(_steps(n, name) for n in found)
    )
    earlier = sure[:version] if counts else []
    return [n for n in found if not earlier or position(n) > position(earlier[-1])]


def has_steps(here: Source | None) -> bool:
    """Somewhere in the code of the question there is an optimizer's step, or a write of the user's own under no_grad()."""
    asked = statement_of(here)
    return asked is not None and _steps_in(module_of(asked.node))


@functools.lru_cache(maxsize=64)
def _steps_in(tree: ast.Module) -> bool:
    simple = (n for n in ast.walk(tree) if isinstance(n, ast.Expr | ast.Assign | ast.AugAssign))
    return any(_is_step(n) for n in simple)


def _is_step(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="step"))):
            return True
        case (
            ast.Expr(value=ast.Call(func=ast.Attribute(attr="add_" | "sub_" | "mul_" | "addcdiv_" | "copy_"))) | ast.AugAssign()
        ):
            return mode_around(node) is not None
        case ast.Assign(targets=[ast.Attribute(attr="data")]):
            return True
    return False


def _changes(node: ast.stmt, name: str) -> bool:
    if _writes_data(node, name):
        return not isinstance(node, ast.Assign) or any(isinstance(t, ast.Subscript) for t in node.targets)
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=through, attr=attr))):
            return attr.endswith("_") and ast.unparse(through) in (f"{name}.detach()", f"{name}.data")
    return False


def _steps(node: ast.stmt, name: str) -> bool:
    """An optimizer's step changes what it was given: `optim.SGD(net.parameters())` holds the parameters of net alone."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="step"), args=args)):
            given = args[0] if args and is_optimizer(args[0], Statement(node)) else owner  # `scaler.step(opt)`
            return is_optimizer(given, Statement(node)) and may_hold(given, name, Statement(node))
    return False
