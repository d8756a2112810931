"""The line of the user's code whose backward pass gave up the saved tensors of a graph."""

from __future__ import annotations

import ast
from collections.abc import Collection

from ..graph.model import Source
from .backward_lines import keeps, passes_in, started_at
from .calls import ran_before
from .code import Statement, assignment, position, scope_of, simple_statements, statement_of
from .meant import Place, path_of
from .parsed import parents


def freeing_line(here: Source | None, results: Collection[str], leaves: Collection[str]) -> Source | None:
    """The last pass above the question that kept no graph, of those on this graph; the only one that can be, where the code
    does not say which ran.

    Args:
        here: where the question was asked.
        results: the names of the graph's tensors that ops made: a pass from one of them is on this graph.
        leaves: those of its leaves: a pass from what has no name of its own may be, if it was computed from one of them.
    """
    asked = statement_of(here)
    if asked is None:
        return None
    passes = [p for p in [*ran_before(asked), *_in_loops(asked)] if _frees(p)]
    found = [p for p in passes if _is_on(p, results)] or [p for p in passes if _may_be_on(p, leaves)]
    sure = [p for p in found if not p.may_not_have_run(asked)]
    chosen = sure[-1:] or (found if len(found) == 1 else [])
    return chosen[0].statement.source if chosen else None


def _in_loops(asked: Statement) -> list[Place]:
    """What stands below in the loops around: it ran in the turn before, and not the statement itself alone."""
    scope = scope_of(asked.node)
    loops = [p for p in parents(asked.node) if isinstance(p, ast.For | ast.AsyncFor | ast.While) and scope_of(p) is scope]
    simple = simple_statements(scope) if loops else []
    below = [n for n in simple if position(n) >= position(asked.node) and any(p in loops for p in parents(n))]
    return [Place(Statement(n), None) for n in below]


def _frees(place: Place) -> bool:
    """It runs a pass that keeps no graph."""
    return bool(passes_in(place.statement.node)) and not keeps(place.statement.node)


def _is_on(place: Place, results: Collection[str]) -> bool:
    """The pass starts from one of these, or from what was computed of one."""
    for name in _names_of_root(place):
        path = path_of(name, place)
        made = assignment(name.id, place.statement) if path in ("", name.id) else assignment(path, place.outermost)
        read = {n.id for n in ast.walk(made.node) if isinstance(n, ast.Name)} if made is not None else set()
        if not {path, name.id, *read}.isdisjoint(results):
            return True
    return False


def _may_be_on(place: Place, leaves: Collection[str]) -> bool:
    """The pass starts from an expression that reads one of these, or their module: `criterion(net(x), y).backward()`."""
    owners = {name.partition(".")[0].partition("[")[0] for name in leaves}
    is_plain = isinstance(started_at(place.statement.node), ast.Name)
    return not is_plain and any((path_of(n, place) or n.id).partition(".")[0] in owners for n in _names_of_root(place))


def _names_of_root(place: Place) -> list[ast.Name]:
    root = started_at(place.statement.node)
    return [] if root is None else [n for n in ast.walk(root) if isinstance(n, ast.Name)]
