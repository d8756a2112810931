"""Which expression of the code made an op that nobody has seen run: from the parameters on, along what is done with results."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

from ..graph.model import Op, Source
from .code import Statement
from .facts import Facts
from .flow import Flow
from .holders import PART
from .parsed import parents

Around = Callable[[Op], set[ast.AST]]


def lines_of_ops(f: Facts, flow: Flow, unknown: Iterable[Op]) -> dict[str, Source]:
    """The lines of ops, by id: of those that a parameter with a name leads to, where nothing else in the code can be meant.

    Two ops of a name that one expression would have made, where it ran once, show that the code has another that is not seen:
    then that expression is no help, nor is what it led to.
    """
    wanted, not_seen = {op.id for op in unknown}, set[ast.AST]()
    while True:
        found = _matched(f, flow, not_seen)
        counts = Counter((made, f.ops[id].name) for id, made in found.items())
        twice = {made for (made, _), n in counts.items() if n > 1 and not flow.is_repeated(made)}
        if not twice:
            return {id: _line(made) for id, made in found.items() if id in wanted}
        not_seen |= twice


def _matched(f: Facts, flow: Flow, but: set[ast.AST]) -> dict[str, ast.AST]:
    """The expressions of ops, by id, without some that are no help."""
    found: dict[str, ast.AST] = {}
    for leaf in (t for t in f.tensors.values() if t.is_leaf and t.requires_grad and t.name):
        plain, modules = flow.uses_of(PART.sub(r".\1", leaf.name or ""))
        users = _users(f, [leaf.id])
        is_one = len({op.name for op in users}) == 1  # else the module is not all that it is a parameter of
        _match(flow, users, plain, partial(_any, modules if is_one else set()), found, but)
    queue = list(found)
    while queue:
        op = f.ops[queue.pop()]
        known, made = len(found), found[op.id]
        users = _users(f, [o for o in op.outputs if o is not None])
        _match(flow, users, flow.uses(made), partial(_around, flow, op.name, made), found, but)
        queue += list(found)[known:]
    return found


def _users(f: Facts, tensors: Iterable[str]) -> list[Op]:
    """The ops of the pass that the tensors were given to."""
    return [op for t in tensors for op in f.users.get(t, ()) if op.node in f.passed]


def _match(
    flow: Flow, users: list[Op], uses: set[ast.AST], around: Around, found: dict[str, ast.AST], but: set[ast.AST]
) -> None:
    """Which expression made each op that a tensor was given to: the only one that is it, else the only one around it.

    Args:
        flow: what becomes of values.
        users: the ops.
        uses: the expressions that use the tensor.
        around: those in which an op may have run besides.
        found: the expressions by op, to be filled.
        but: expressions that are no help.
    """
    is_clear = all(any(flow.is_op(e, op.name) for op in users) for e in uses)  # not so what calls a function of many ops
    for op in users:
        made = ({e for e in uses if flow.is_op(e, op.name)} if is_clear else set()) or around(op)
        if len(made) == 1 and op.id not in found and not made & but:
            found[op.id] = next(iter(made))


def _any(modules: set[ast.AST], op: Op) -> set[ast.AST]:
    """The calls of the module of which the tensor is a parameter, whatever the op."""
    return modules


def _around(flow: Flow, before: str, made: ast.AST, op: Op) -> set[ast.AST]:
    """The call that ran one op, if it runs another: the transpose and the product of a Linear, both ops of a cross entropy."""
    is_linear = before == "T" and op.name in ("Addmm", "Mm")
    is_inside = isinstance(made, ast.Call) and (is_linear or (before != op.name and flow.is_op(made, op.name)))
    return {made} if is_inside else set()


def _line(node: ast.AST) -> Source:
    statement = next(n for n in (node, *parents(node)) if isinstance(n, ast.stmt))
    return Statement(statement).source_of(node)
