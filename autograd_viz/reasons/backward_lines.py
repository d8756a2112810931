"""Lines of the user's code, above a question, that ran a backward pass."""

from __future__ import annotations

import ast
from collections.abc import Collection

from ..graph.model import Source
from .code import (
    Statement,
    assignment,
    before_in_scope,
    is_given_between,
    may_not_have_run,
    position,
    scope_of,
    simple_statements,
    statement_of,
)
from .defined import origin
from .functional import is_functional
from .parsed import module_of, parents


def backward_line(here: Source | None, among: Collection[str] = ()) -> Source | None:
    """The last call of backward() or grad() above the question, else the question's own line if it is in a loop.

    Args:
        here: where the question was asked.
        among: names of a graph's tensors; left out: a call on anything counts.
    """
    asked = statement_of(here)
    found = None if asked is None else last_backward(asked, among)
    return None if found is None else Statement(found).source


def keeping_line(here: Source | None, among: Collection[str]) -> Source | None:
    """The last call of backward() or grad() above the question, if it left the graph's saved tensors there.

    Args:
        here: where the question was asked.
        among: names of the graph's tensors; a pass from another root does not count.
    """
    asked = statement_of(here)
    found = None if asked is None else last_backward(asked)
    root = None if found is None else _root_of(found)
    if (root is not None and root not in among) or (found is not None and may_have_failed(found)):
        return None
    if found is not None and may_not_have_run(found, asked):
        return None
    return Statement(found).source if found is not None and keeps(found) else None


def may_have_kept(here: Source | None, among: Collection[str]) -> bool:
    """A pass in the code is asked to keep the graph, and it may be this one.

    Args:
        here: where the question was asked.
        among: names of the graph's tensors; a pass beside the question from another root does not count.
    """
    asked = statement_of(here)
    tree = None if asked is None else module_of(asked.node)
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Expr | ast.Assign | ast.Return) and keeps(n)] if tree else []
    beside = [n for n in found if asked is not None and scope_of(n) is scope_of(asked.node)]
    return any(n not in beside or (root := _root_of(n)) is None or root in among for n in found)


def keeps(node: ast.stmt) -> bool:
    """A pass of the statement is asked to keep the graph."""
    wishes = [k for c in passes_in(node) for k in c.keywords if k.arg in ("retain_graph", "create_graph")]
    return any(ast.unparse(k.value) != "False" for k in wishes)


def is_started_from(name: str | None, here: Source | None) -> bool:
    """Does a pass above the question start from this name: `loss.backward()`?"""
    asked = statement_of(here)
    above = [] if asked is None else [n for n in simple_statements(scope_of(asked.node)) if position(n) <= position(asked.node)]
    return name is not None and any(_root_of(n) == name for n in above)


def may_be_several(here: Source | None) -> bool:
    """More than one pass may have run before the question: there are several above it, or one in a loop."""
    asked = statement_of(here)
    above = [] if asked is None else before_in_scope(asked)
    passes = [n for n in above if _runs_backward(n)]
    around = [] if asked is None else list(parents(asked.node))
    loops = [p for n in passes for p in parents(n) if isinstance(p, ast.For | ast.AsyncFor | ast.While) and p not in around]
    return len(passes) > 1 or bool(loops)


def is_given_gradient(here: Source | None) -> bool:
    """The last pass above the question was given its first gradient: `y.backward(v)`."""
    asked = statement_of(here)
    ran = None if asked is None else last_backward(asked)
    calls = [] if ran is None else [c for c in passes_in(ran) if not _is_grad(c)]
    return any(c.args or any(k.arg == "gradient" for k in c.keywords) for c in calls)


def last_root(here: Source | None) -> ast.expr | None:
    """What the last pass above the question that surely was called and keeps gradients starts from, if it is still that."""
    asked = statement_of(here)
    above = [] if asked is None else before_in_scope(asked)
    passes = [n for n in above if _runs_backward(n) and not _only_returns(n) and not may_not_have_run(n, asked)]
    root = started_at(passes[-1]) if passes else None
    is_same = asked is not None and root is not None and not is_given_between(ast.unparse(root), passes[-1], asked)
    return root if is_same else None


def started_line(name: str, here: Source | None) -> Source | None:
    """The last call above the question of a pass that keeps gradients on this name, if it surely was made."""
    asked = statement_of(here)
    above = [] if asked is None else before_in_scope(asked)
    found = [n for n in above if _root_of(n) == name and not _only_returns(n) and not may_not_have_run(n, asked)]
    return Statement(found[-1]).source if found else None


def other_pass_line(name: str, here: Source | None) -> Source | None:
    """The last call of a pass behind the line that made a loss, if it surely was made, and all there start from others."""
    asked = statement_of(here)
    made = None if asked is None else assignment(name, asked)
    behind = [n for n in before_in_scope(asked) if position(n) > position(made.node)] if asked is not None and made else []
    above = [n for n in behind if _runs_backward(n) and not _only_returns(n)]
    roots = [started_at(n) for n in above]
    is_other = all(
        isinstance(r, ast.Name) and r.id != name and _is_made_without(r.id, n, name) for r, n in zip(roots, above, strict=True)
    )
    is_sure = bool(above) and not may_not_have_run(above[-1], asked) and not may_have_failed(above[-1])
    return Statement(above[-1]).source if is_other and is_sure else None


def _is_made_without(root: str, ran: ast.stmt, name: str) -> bool:
    """The line that made the root of a pass is there, and does not read this name."""
    made = assignment(root, Statement(ran))
    return made is not None and not any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(made.node))


def roots_of_passes(asked: Statement, since: ast.stmt | None = None, sure: bool = False) -> set[str]:
    """The names that passes above the question which keep gradients start from: loss, and both of `(a + b).backward()`.

    Args:
        asked: the question.
        since: a statement that set the grad to None: of passes above it nothing is left, unless a loop runs them again.
        sure: only of passes that were made, and did not fail.
    """
    above = [n for n in simple_statements(scope_of(asked.node)) if position(n) <= position(asked.node)]
    if since is not None and not any(isinstance(p, ast.For | ast.AsyncFor | ast.While) for p in parents(since)):
        above = [n for n in above if position(n) > position(since)]
    above = [n for n in above if not sure or not (may_not_have_run(n, asked) or may_have_failed(n))]
    roots = [root for n in above if not _only_returns(n) and (root := started_at(n)) is not None]
    return {ast.unparse(n) for root in roots for n in ast.walk(root) if isinstance(n, ast.Name | ast.Attribute)}


def started_at(node: ast.stmt) -> ast.expr | None:
    """What the pass of a statement starts from, as it is written: `criterion(out)` in `criterion(out).backward()`."""
    call = next(iter(passes_in(node)), None)
    if call is None:
        return None
    if isinstance(call.func, ast.Attribute) and call.func.attr == "backward" and not origin(call.func).startswith("torch."):
        return call.func.value
    return call.args[0] if call.args else None


def last_backward(asked: Statement, among: Collection[str] = ()) -> ast.stmt | None:
    """The statement of `backward_line`."""
    simple = simple_statements(scope_of(asked.node))
    passes = [n for n in simple if position(n) <= position(asked.node) and _runs_backward(n)]
    above = [n for n in passes if position(n) < position(asked.node)]
    loops = _is_in_loop(asked)
    if among:  # a pass of this graph is meant: none that may not have run, none from a name of another
        sure = [n for n in above if not may_not_have_run(n, asked)] or above
        above = [n for n in sure if _is_called_on(n, among)] or [n for n in sure if not isinstance(started_at(n), ast.Name)]
    return max(above or (passes if loops else []), key=lambda n: (n.lineno, n.col_offset), default=None)


def leaving_out_line(here: Source | None, name: str | None, among: Collection[str]) -> Source | None:
    """The last pass above the question, if it left the tensor out as all before it: grad(), or backward(inputs=...).

    Args:
        here: where the question was asked.
        name: the tensor's.
        among: names of what was computed from it; a pass from another root does not count.
    """
    asked = statement_of(here)
    simple = [] if asked is None else simple_statements(scope_of(asked.node))
    passes = [n for n in simple if _runs_backward(n)]
    above = [n for n in passes if asked is not None and position(n) < position(asked.node)]
    in_loop = asked is not None and _is_in_loop(asked)
    if not above or not all(_leaves_out(n, name) for n in (passes if in_loop else above)) or may_not_have_run(above[-1], asked):
        return None
    if may_have_failed(above[-1]):
        return None
    started = passes_in(above[-1])[0]
    root = started.args[0] if _is_grad(started) and started.args else started.func
    read = {n.id for n in ast.walk(root) if isinstance(n, ast.Name)}
    return Statement(above[-1]).source if read & {*among} else None


def may_have_failed(node: ast.stmt) -> bool:
    """It stands in a `try` that goes on after an error."""
    around = [node, *parents(node)]
    return any(isinstance(p, ast.Try) and p.handlers and any(n in p.body for n in around) for p in around)


def _leaves_out(node: ast.stmt, name: str | None) -> bool:
    """Every pass of the statement keeps no gradient of the tensor."""
    return all(_is_grad(c) or _names_others(c, name) for c in passes_in(node))


def _names_others(call: ast.Call, name: str | None) -> bool:
    """`backward(inputs=[w])`, for another than w."""
    inputs = next((k.value for k in call.keywords if k.arg == "inputs"), None)
    return isinstance(inputs, ast.List | ast.Tuple) and name not in [ast.unparse(e) for e in inputs.elts]


def _root_of(node: ast.stmt) -> str | None:
    """The name of what a pass starts from: loss in `loss.backward()` and in `grad(loss, w)`."""
    for part in ast.walk(node):
        match part:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="backward")):
                return name
            case ast.Call(args=[ast.Name(id=name), *_]) if _is_pass(part):
                return name
    return None


def _is_called_on(node: ast.stmt, among: Collection[str]) -> bool:
    """`loss.backward()`, where loss is one of these or was made of one."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            made = assignment(name, Statement(node))
            read = [n.id for n in ast.walk(made.node) if isinstance(n, ast.Name)] if made is not None else []
            return any(n in among for n in (name, *read))
    return False


def _is_in_loop(asked: Statement) -> bool:
    return any(isinstance(p, ast.For | ast.AsyncFor | ast.While) for p in parents(asked.node))


def _runs_backward(node: ast.stmt) -> bool:
    return bool(passes_in(node))


def passes_in(node: ast.stmt) -> list[ast.Call]:
    """The calls in a statement that run a backward pass."""
    return [n for n in ast.walk(node) if isinstance(n, ast.Call) and _is_pass(n)]


def _is_pass(call: ast.Call) -> bool:
    """`loss.backward()`, `torch.autograd.grad(loss, w)`, or such a function imported by its name."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in ("backward", "grad") and not is_functional(call.func)
    return origin(call.func).endswith(("autograd.grad", "autograd.backward"))


def _only_returns(node: ast.stmt) -> bool:
    """Its passes return gradients, and keep none in grad."""
    return all(_is_grad(c) for c in passes_in(node))


def _is_grad(call: ast.Call) -> bool:
    """It returns gradients."""
    return _is_pass(call) and origin(call.func).rpartition(".")[2] == "grad"
