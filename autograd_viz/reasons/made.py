"""Which statement made the tensor that is asked about: the graph may know it, else the code is read."""

from __future__ import annotations

import ast

from ..graph.model import Source, Tensor
from .changes import written_at
from .code import Statement, assignments, before_in_scope, may_not_have_run, position, scope_of, statement_of
from .cutting import Maker, maker_in, mode_around
from .defined import origin
from .facts import Facts
from .kinds import attribute_assignments
from .meant import parts_of

WRITES = ("CopySlices", "IndexPut", "IndexFill", "IndexCopy", "Fill", "Zero")  # nodes of ops that write in place
OF_SUBSCRIPTS = ("Select", "Slice", "Index", "Unsqueeze", "Alias", "Unbind", "Split", "AsStrided")  # nodes of `x[...]`
VIEWS = ("T", "mT", "H", "mH", "real", "imag")  # attributes that are ops
SIGNS: dict[type, tuple[str, ...]] = {ast.Add: ("Add",), ast.Sub: ("Sub", "Rsub"), ast.Mult: ("Mul",), ast.Pow: ("Pow",)}
NO_OPS = ("requires_grad_", "detach_", "share_memory_")  # methods that end as those which change numbers
MOST_ALIASES = 5  # names for names that are followed


def made_at(f: Facts) -> Source | None:
    """The line that made the subject."""
    t = f.subject
    known = (f.source(t.grad_fn) if t.grad_fn is not None else None) or t.source
    if known is None and t.grad_fn is not None and f.called(t.grad_fn).startswith(WRITES):
        return written_at(t.name, f.here)
    read = made_by(f) if known is None else None
    return known if read is None or (t.grad_fn is not None and _is_another_name(read, f.called(t.grad_fn))) else read.source


def _is_another_name(read: Maker, node: str) -> bool:
    """`h = kept["h"]`, `h = self.h`: the statement makes nothing, unless the node is that of `x[0]` or `x.T`."""
    made = statement_of(read.source)
    value = None if made is None else getattr(made.node, "value", None)
    is_op = node.startswith(OF_SUBSCRIPTS) if isinstance(value, ast.Subscript) else getattr(value, "attr", "") in VIEWS
    is_name = isinstance(value, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(made and made.node, ast.AugAssign)
    return read.how == "taken" and is_name and not is_op


def made_by(f: Facts) -> Maker | None:
    """How the subject was made: by the line that the graph has kept, or by the assignment that can have made it.

    A name that is given a value above the question and again below it, in a loop, may have either; so may an attribute that
    several methods write. Nothing is said unless one of them alone fits what the tensor is.
    """
    t = f.subject
    made = statement_of(t.source)
    if made is not None:
        return maker_in(made, t.name is not None)
    node = f.called(t.grad_fn) if t.grad_fn is not None else ""
    could = [s for s in _candidates(t.name, f.here) if _fits(s, t) and _may_be_of(s, node)]
    could = [s for s in could if not node or mode_around(s.node) is None]  # where nothing is recorded, none is made
    if len(could) != 1:
        return None
    asked = statement_of(f.here)
    changed = _changed_in_place(t.name, could[0], asked) if t.grad_fn is not None and asked is not None else None
    if changed is None or asked is None:
        return maker_in(could[0])
    return None if may_not_have_run(changed.node, asked) else Maker("computed", changed.source)


def _changed_in_place(name: str | None, made: Statement, asked: Statement) -> Statement | None:
    """The last statement behind the one that made a tensor that gave it a new grad_fn: `h.add_(1)`, `F.relu_(h)`."""
    above = [n for n in before_in_scope(asked) if scope_of(n) is not scope_of(made.node) or position(n) > position(made.node)]
    found = [n for n in above if isinstance(n, ast.Expr) and _works_in_place(n.value, name)]
    return Statement(found[-1]) if found else None


def _works_in_place(value: ast.expr, name: str | None) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(value=of, attr=attr), args=args) if attr.endswith("_") and attr not in NO_OPS:
            return name is not None and name in (ast.unparse(of), *(ast.unparse(a) for a in args[:1]))
    return False


def _candidates(name: str | None, here: Source | None) -> list[Statement]:
    asked, found = statement_of(here), list[Statement]()
    for _ in range(MOST_ALIASES):
        if asked is None or name is None:
            break
        found = assignments(name, asked) if name.isidentifier() else attribute_assignments(name, asked)
        name, asked = (_other_name(found[0]), found[0]) if len(found) == 1 else (None, None)
    return found


def _other_name(statement: Statement) -> str | None:
    """`net.w` in `w = net.w`: what the statement only gives another name."""
    value, read = getattr(statement.node, "value", None), maker_in(statement)
    is_name = isinstance(value, ast.Name | ast.Attribute) and bool(parts_of(value)) and read is not None and read.how == "taken"
    return ast.unparse(value) if is_name and isinstance(value, ast.expr) else None


def _may_be_of(statement: Statement, node: str) -> bool:
    """What the statement computes last can have such a node: a sum has no NllLossBackward0."""
    value = getattr(statement.node, "value", None)
    sign = statement.node.op if isinstance(statement.node, ast.AugAssign) else getattr(value, "op", None)
    names = SIGNS.get(type(sign), ())
    return not node or not names or node.startswith(names)


def _fits(statement: Statement, t: Tensor) -> bool:
    """Such a statement can make such a tensor: `w = torch.ones(2, requires_grad=True)` makes leaves that require grad."""
    value = getattr(statement.node, "value", None)
    read = maker_in(statement)
    if read is None:
        return True
    if t.grad_fn is not None:
        is_parameter = isinstance(value, ast.Call) and origin(value.func).split(".")[-1] == "Parameter"
        return read.how != "plain" and not is_parameter and not isinstance(value, ast.Name | ast.Attribute)
    wishes = (n.value for n in ast.walk(statement.node) if isinstance(n, ast.keyword) and n.arg == "requires_grad")
    return t.requires_grad or not any(isinstance(w, ast.Constant) and w.value is True for w in wishes)
