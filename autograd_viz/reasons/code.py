"""The user's code, read: statements, scopes, and where a name got its value."""

from __future__ import annotations

import ast
import functools
import linecache
from typing import NamedTuple

from ..graph.model import Source
from .exits import is_left_before
from .parsed import line_in, parents, place_of, tree_of

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Statement(NamedTuple):
    """A statement of the user's."""

    node: ast.stmt

    def assigns(self, name: str) -> bool:
        """It gives `name` a new value."""
        return name in targets(self.node)

    def hides_leaf(self) -> bool:
        """It gives a name (or an attribute) a value computed from what it was before, or from a tensor that is made in it to
        require grad.
        """
        if not isinstance(self.node, ast.Assign | ast.AugAssign | ast.AnnAssign) or self.node.value is None:
            return False
        written = self.node.targets if isinstance(self.node, ast.Assign) else [self.node.target]
        names = {ast.unparse(t) for t in written}
        reads = any(isinstance(n, ast.Name | ast.Attribute) and ast.unparse(n) in names for n in ast.walk(self.node.value))
        makes = any(_makes_leaf(n) for n in ast.walk(self.node.value))
        return reads or makes or isinstance(self.node, ast.AugAssign)

    @property
    def source(self) -> Source:
        """Its place."""
        return self.source_of(self.node)

    def source_of(self, part: ast.AST) -> Source:
        """The line of a part of it: of `.detach()` that on which the name of the method stands."""
        part = part.func if isinstance(part, ast.Call) else part
        below = part.end_lineno if isinstance(part, ast.Attribute) else getattr(part, "lineno", None)
        file, first = place_of(self.node)
        line = first + (below or self.node.lineno) - self.node.lineno
        text = linecache.getline(file, line).rstrip("\n")
        start = self.node.col_offset if line == first else len(text) - len(text.lstrip())
        return Source(file, line, line, start, len(text), text)


def _makes_leaf(node: ast.AST) -> bool:
    """`requires_grad=True` in a call, or `nn.Parameter(...)`."""
    called = node.func if isinstance(node, ast.Call) else None
    is_parameter = "Parameter" in (getattr(called, "attr", ""), getattr(called, "id", ""))
    return is_parameter or (isinstance(node, ast.keyword) and node.arg == "requires_grad")


def statement_of(source: Source | None) -> Statement | None:
    """The innermost statement around a place; of several on its line, that in which it stands."""
    tree = None if source is None else tree_of(source.file)
    if source is None or tree is None:
        return None
    line = line_in(tree, source) or source.line
    around = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno <= line <= (n.end_lineno or n.lineno)]
    nearer = [n for n in around if position(n) <= (line, source.column)]
    return Statement(max(nearer or around, key=position)) if around else None


def position(node: ast.stmt) -> tuple[int, int]:
    """Where it begins: line and column."""
    return node.lineno, node.col_offset


def targets(node: ast.stmt) -> set[str]:
    """The names that a statement gives a value, a walrus in it too; not those of statements in its body."""
    found: list[ast.expr] = [n.target for e in own_expressions(node) for n in ast.walk(e) if isinstance(n, ast.NamedExpr)]
    if isinstance(node, ast.Assign):
        found += node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For | ast.AsyncFor):
        found.append(node.target)
    elif isinstance(node, ast.With | ast.AsyncWith):
        found += [i.optional_vars for i in node.items if i.optional_vars is not None]
    return {n.id for t in found for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def own_expressions(node: ast.stmt) -> list[ast.AST]:
    """What a statement says itself, without the statements in its body: the test of an `if`, what a loop goes through."""
    return [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr | ast.withitem)]


def scope_of(node: ast.AST) -> ast.AST:
    """The function (or module) that a node stands in."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module
    return next((p for p in parents(node) if isinstance(p, kinds)), node)


def simple_statements(scope: ast.AST) -> list[ast.stmt]:
    """The statements of a scope that hold no others, in the order of their lines; not those of functions in it."""
    found = [n for n in ast.walk(scope) if isinstance(n, ast.stmt) and not _holds_others(n) and scope_of(n) is scope]
    return sorted(found, key=lambda n: (n.lineno, n.col_offset))


def _holds_others(node: ast.stmt) -> bool:
    return hasattr(node, "body") or isinstance(node, ast.Match)


def before_in_scope(asked: Statement) -> list[ast.stmt]:
    """The simple statements of its scope that stand above another, on its own line too, in their order."""
    return [n for n in simple_statements(scope_of(asked.node)) if position(n) < position(asked.node)]


def may_not_have_run(node: ast.AST, asked: Statement | None) -> bool:
    """It stands under a condition under which the question does not stand: the code does not say whether it ran."""
    around = [] if asked is None else [asked.node, *parents(asked.node)]
    for p in parents(node):
        is_condition = isinstance(p, ast.If | ast.While | ast.ExceptHandler | ast.Match) and not _is_main(p)
        if (is_condition and p not in around) or _is_empty_loop(p):
            return True
        if is_condition and p in around and _branch(p, [node, *parents(node)]) != _branch(p, around):
            return True
    return is_left_before(node, around) or _may_have_been_left(node, asked)


def _branch(condition: ast.AST, inside: list[ast.AST]) -> object:
    """The part of an `if`, a `while` or a `match` in which something stands, given with all that stands around it."""
    if isinstance(condition, ast.Match):
        return next((c for c in condition.cases if c in inside), None)
    return any(n in inside for n in getattr(condition, "orelse", ()))


def _is_empty_loop(node: ast.AST) -> bool:
    """`for x in []:`, `for i in range(0):`."""
    match node:
        case ast.For(iter=ast.List(elts=[]) | ast.Tuple(elts=[])):
            return True
        case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=0)])):
            return True
    return False


def _may_have_been_left(node: ast.AST, asked: Statement | None) -> bool:
    """Its function may have returned above it, under a condition."""
    scope = scope_of(node)
    if isinstance(scope, ast.Module) or (asked is not None and scope_of(asked.node) is scope):
        return False
    above = [n for n in simple_statements(scope) if n.lineno < getattr(node, "lineno", 0) and isinstance(n, ast.Return)]
    return bool(above)


def _is_main(node: ast.AST) -> bool:
    """`if __name__ == "__main__":`."""
    test = node.test if isinstance(node, ast.If) else None
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def assignment(name: str, before: Statement, within: bool = False) -> Statement | None:
    """The last statement above `before` (else the last of all) in its scope, or around it, that gives `name` a value.

    Args:
        name: the name.
        before: where it is read.
        within: look in its own scope only.
    """
    scope: ast.AST = scope_of(before.node)
    while True:
        found = [n for n in _assigned_in(scope).get(name, ()) if n is not before.node]
        above = [n for n in found if position(n) < position(before.node)]
        if found and (above or name not in parameters_of(scope)):
            last = max(above or found, key=position)
            return None if _is_one_of_two(last, found) else Statement(last)
        if isinstance(scope, ast.Module) or within or name in parameters_of(scope):
            return None
        scope = scope_of(scope)


def assignments(name: str, before: Statement) -> list[Statement]:
    """The statements of which one gave `name` its value: the last above, that before it if it may have been left out, and the
    last below it in a loop around it, which ran in the turn before.
    """
    above = assignment(name, before)
    is_doubtful = above is not None and may_not_have_run(above.node, before)
    earlier = assignment(name, above) if above is not None and is_doubtful else None
    scope = scope_of(before.node)
    loops = [p for p in parents(before.node) if isinstance(p, ast.For | ast.AsyncFor | ast.While) and scope_of(p) is scope]
    in_loops = {n for p in loops for n in ast.walk(p)}
    given = _assigned_in(scope).get(name, ())
    below = [n for n in given if n in in_loops and n not in loops and position(n) >= position(before.node)]
    last = max(below, key=position, default=None)
    found = [earlier, above, None if last is None else Statement(last)]
    return list(dict.fromkeys(s for s in found if s is not None))


def makers(name: str, before: Statement, within: bool) -> list[Statement]:
    """The assignment that gave `name` its value; where it is one in each branch of an `if` or a `match`, those."""
    made = assignment(name, before, within)
    if made is not None:
        return [made]
    above = [n for n in _assigned_in(scope_of(before.node)).get(name, ()) if position(n) < position(before.node)]
    last = max(above, key=position, default=None)
    branches = [] if last is None else [n for n in above if n is last or _is_one_of_two(n, [n, last])]
    return [Statement(n) for n in branches] if len(branches) > 1 else []


def _is_one_of_two(node: ast.stmt, others: list[ast.stmt]) -> bool:
    """The other branch of an `if` gives the name a value too: the code does not say which of them ran."""
    for p in parents(node):
        parts: list[list[ast.stmt]] = [p.body, p.orelse] if isinstance(p, ast.If) else []
        parts = [c.body for c in p.cases] if isinstance(p, ast.Match) else parts
        parts = [p.body, *(h.body for h in p.handlers)] if isinstance(p, ast.Try) else parts
        branches = ({n for b in part for n in ast.walk(b)} for part in parts)
        if sum(not branch.isdisjoint(others) for branch in branches) > 1:
            return True
    return False


@functools.lru_cache(maxsize=1024)
def _assigned_in(scope: ast.AST) -> dict[str, list[ast.stmt]]:
    """The statements of a scope that give each name a value."""
    found: dict[str, list[ast.stmt]] = {}
    for n in ast.walk(scope):
        if isinstance(n, ast.stmt) and scope_of(n) is scope:
            for name in targets(n):
                found.setdefault(name, []).append(n)
    return found


def is_given_in(name: str, scope: ast.AST) -> bool:
    """A statement of the scope gives the name a value."""
    return name in _assigned_in(scope)


def is_given_between(name: str, node: ast.stmt, asked: Statement) -> bool:
    """Between the two statements, in the scope of the second, the name gets another value; of a path, its first part."""
    given = _assigned_in(scope_of(asked.node)).get(name.partition(".")[0].partition("[")[0], ())
    return scope_of(node) is scope_of(asked.node) and any(position(node) < position(n) < position(asked.node) for n in given)


def renamed_at(name: str, before: Statement, asked: Statement) -> Statement | None:
    """The statement between the two, in their scope, that surely gave the name (of a path, its first part) to something else.

    What is made of its old value may be the same object: `w = w.to(device)`.
    """
    first, scope = name.partition(".")[0].partition("[")[0], scope_of(asked.node)
    given = _assigned_in(scope).get(first, ()) if scope_of(before.node) is scope else ()
    between = [
        n for n in given if position(before.node) <= position(n) < position(asked.node) and not may_not_have_run(n, asked)
    ]
    last = between[-1] if between else None
    value = last.value if isinstance(last, ast.Assign) else None
    parts = list(ast.walk(value)) if value is not None else []
    reads = any(isinstance(n, ast.Name) and n.id == first for n in parts)
    makes = any(isinstance(n, ast.BinOp) or (isinstance(n, ast.Attribute) and n.attr in ("detach", "clone")) for n in parts)
    is_new = value is not None and (makes or not reads)
    return Statement(last) if last is not None and is_new and isinstance(value, ast.Call | ast.BinOp) else None


def is_given_within(name: str, loop: ast.AST) -> bool:
    """A statement in the loop gives the name (of a path, its first part) a value."""
    given = _assigned_in(scope_of(loop)).get(name.partition(".")[0].partition("[")[0], ())
    return any(loop in (n, *parents(n)) for n in given)


def parameters_of(function: ast.AST) -> set[str]:
    """The names of what a function is given."""
    a = getattr(function, "args", None)
    given = () if a is None else (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg)
    return {p.arg for p in given if p is not None}


def alias_of(name: str | None, here: Source | None) -> str | None:
    """What a name was given as another name for, above the question: "model.weight" after `q = model.weight`."""
    asked = statement_of(here)
    made = assignment(name, asked) if asked is not None and name is not None and name.isidentifier() else None
    value = getattr(made.node, "value", None) if made is not None else None
    is_call = value is not None and any(isinstance(n, ast.Call) for n in ast.walk(value))
    return ast.unparse(value) if isinstance(value, ast.Name | ast.Attribute | ast.Subscript) and not is_call else None


def looped(name: str, statement: Statement) -> ast.expr | None:
    """Through what a name goes in a loop: `for b in blocks`, `for i, b in enumerate(blocks)`, `for a, b in zip(blocks, c)`."""
    made = assignment(name, statement)
    loop = None if made is None else made.node
    if not isinstance(loop, ast.For | ast.AsyncFor):
        return None
    match loop.target, loop.iter:
        case ast.Name(), through:
            return through
        case ast.Tuple(elts=[_, ast.Name(id=second)]), ast.Call(func=ast.Name(id="enumerate"), args=[through]):
            return through if second == name else None
        case ast.Tuple(elts=elts), ast.Call(func=ast.Name(id="zip"), args=args) if len(elts) == len(args):
            return next((a for e, a in zip(elts, args, strict=True) if isinstance(e, ast.Name) and e.id == name), None)
    return None
