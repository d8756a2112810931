"""The statements that made the loss."""

from __future__ import annotations

import ast

from ..graph.model import Source
from .backward_lines import started_at
from .code import Statement, assignment, statement_of
from .elements import element
from .facts import Facts
from .kinds import attribute_assignments
from .slices import Read, read_for, read_in


def statements_of_loss(f: Facts) -> list[Statement]:
    """The statements that made the loss: those of the ops that it was made by, or the last assignment to its name."""
    return _of_ops(f) + [made for _, made in _by_name(f)]


def _of_ops(f: Facts) -> list[Statement]:
    leads = f.behind_loss
    seen = [op for op in f.document.ops[::-1] if leads & {*op.outputs} and not op.reconstructed]
    sources: list[Source | None] = [op.source for op in seen]
    return [s for s in map(statement_of, dict.fromkeys(sources)) if s is not None]


def _by_name(f: Facts) -> list[tuple[str, Statement]]:
    asked = statement_of(f.here)
    names = [n for root in f.loss if (n := f.tensors[root].name) is not None]
    found = [(n, assignment(n, asked)) for n in names] if asked is not None else []
    return [(n, made) for n, made in found if made is not None]


def reads_of_loss(f: Facts) -> list[Read]:
    """What was read in making the loss; in making that entry of a dict or list, or that attribute, if it is one."""
    asked, names = statement_of(f.here), [f.tensors[root].name or "" for root in f.loss]
    parts = [r for n in names if asked is not None and not n.isidentifier() for r in _read_in_root(n, asked)]
    named = [r for name, made in _by_name(f) for r in read_for(name, made)]
    return [r for s in _of_ops(f) for r in read_in(s)] + named + parts


def _read_in_root(path: str, asked: Statement) -> list[Read]:
    """What was read in a root that is no plain variable; in that of the failing pass itself, if no variable holds it."""
    return _read_in_part(path, asked) if path else reads_of_pass(asked)


def reads_of_pass(statement: Statement) -> list[Read]:
    """What is read in what the pass of a statement starts from: h in `(h * 2).sum().backward()`."""
    root = started_at(statement.node)
    read = [] if root is None else read_in(statement, root)
    return [r._replace(cut=None) if r.cut is not None and r.cut.how == "gradient" else r for r in read]  # grad(root) itself


def _read_in_part(path: str, asked: Statement) -> list[Read]:
    """What was read in making `out["loss"]`, where the code writes the dict out, or `self.loss`."""
    try:
        expression = ast.parse(path, mode="eval").body
    except SyntaxError:
        return []
    match expression:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int() | str() as key)):
            made = assignment(name, asked)
            part = None if made is None else element(getattr(made.node, "value", None), key)
            return [] if made is None or part is None else read_in(made, part)
        case ast.Attribute():
            return [r for s in attribute_assignments(path, asked)[-1:] for r in read_in(s)]
    return []
