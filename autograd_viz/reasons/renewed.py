"""New objects in the place of old ones: a tensor made after the pass, or a module whose place another took before it."""

from __future__ import annotations

import ast

from .backward_lines import last_backward
from .cause import Cause
from .code import Statement, assignment, before_in_scope, may_not_have_run, position, statement_of
from .cutting import called_name
from .facts import Facts
from .holders import PART
from .meant import covers


def renewed(f: Facts) -> Cause | None:
    """The subject is newer than the pass, or was replaced before it by a line that surely ran."""
    asked, name = statement_of(f.here), f.subject.name
    ran = None if asked is None else last_backward(asked)
    if asked is None or name is None or ran is None or position(ran) >= position(asked.node):
        return None
    after = [n for n in before_in_scope(asked) if position(n) > position(ran)]
    new = _last_making(after, PART.sub(r".\1", name), asked)
    if new is not None:
        return Cause("made_after", (f.subject.id,), source=new.source)
    given = assignment(name, asked) if name.isidentifier() else None
    value = None if given is None else getattr(given.node, "value", None)
    if given is None or not isinstance(value, ast.Attribute | ast.Subscript) or position(given.node) > position(ran):
        return None
    between = [n for n in before_in_scope(asked) if position(given.node) < position(n) < position(ran)]
    taken = _last_making(between, PART.sub(r".\1", ast.unparse(value)), asked)
    return None if taken is None else Cause("replaced", (f.subject.id,), source=taken.source, said={"path": ast.unparse(value)})


def _last_making(statements: list[ast.stmt], path: str, asked: Statement) -> Statement | None:
    """The last of the statements that puts a new object there: `net.fc = nn.Linear(2, 1)` for "net.fc.weight"."""
    found = [n for n in statements if isinstance(n, ast.Assign) and not may_not_have_run(n, asked) and _makes(n, path)]
    return Statement(found[-1]) if found else None


def _makes(node: ast.Assign, path: str) -> bool:
    """A class is called, of which the path begins; not with what stood there before, as a wrapper is."""
    is_class = isinstance(node.value, ast.Call) and called_name(node.value)[:1].isupper()
    texts = [PART.sub(r".\1", ast.unparse(t)) for t in node.targets]
    reads = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return is_class and path.partition(".")[0] not in reads and any(covers(t, path) for t in texts)
