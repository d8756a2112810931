"""Lines of the user's code, between a pass and a question, that cleared a grad, set it to zero, or changed it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..graph.model import Source
from .backward_lines import backward_line, last_backward
from .calls import ran_before
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
from .holders import goes_through, holds, is_same, may_hold
from .meant import Place

CLIPS = {"clip_grad_norm_": "max_norm", "clip_grad_value_": "clip_value"}  # functions, and what they call their limit
MAY_ZERO = ("zero_", "mul_", "fill_", "copy_")  # methods
ZEROS = ("zeros", "zeros_like", "new_zeros")


def cleared_at(name: str | None, here: Source | None) -> Source | None:
    """The last line above the question that may have set the grad of this name to None: zero_grad(), or by hand."""
    asked = statement_of(here)
    if asked is None or name is None:
        return None
    found = [n for n in _since_backward(asked) if _clears(n, name) and not may_not_have_run(n, asked)]
    return Statement(found[-1]).source if found else None


def last_clearing(name: str | None, asked: Statement) -> ast.stmt | None:
    """The last statement above the question that surely set the grad of this name to None, before or after a pass."""
    found = [n for n in before_in_scope(asked) if name is not None and _clears(n, name) and not may_not_have_run(n, asked)]
    return found[-1] if found else None


def retained_at(name: str | None, here: Source | None) -> Source | None:
    """The line between backward() and the question that called retain_grad(), which then was too late."""
    asked = statement_of(here)
    if asked is None or name is None or backward_line(here) is None:
        return None
    ran, found = last_backward(asked), list[Statement]()
    for place in ran_before(asked):
        outer = place.outermost.node
        is_after = ran is not None and position(outer) > position(ran) and not is_given_between(name, ran, asked)
        if is_after and _is_called_of(place, name, "retain_grad"):
            found.append(place.statement)
    return found[-1].source if found else None


def assigned_at(name: str | None, here: Source | None) -> Source | None:
    """The last line above the question that gives the grad of this name a value by hand: `w.grad = ...`."""
    asked = statement_of(here)
    if asked is None or name is None:
        return None
    above = before_in_scope(asked)
    found = [n for n in above if isinstance(n, ast.Assign) and any(_is_grad_of(t, name) for t in n.targets)]
    return Statement(found[-1]).source if found else None


def assigned_since(name: str | None, here: Source | None) -> Source | None:
    """The last line since the last pass that gave the grad of this name a value by hand, and surely ran."""
    asked, put = statement_of(here), statement_of(assigned_at(name, here))
    ran = None if asked is None else last_backward(asked)
    if put is None or ran is None or position(put.node) < position(ran) or may_not_have_run(put.node, asked):
        return None
    return put.source


def zeroed_at(name: str | None, here: Source | None) -> Source | None:
    """The last line between backward() and the question that may have set the grad of this name to zero."""
    asked = statement_of(here)
    found = [n for n in _touching(name, here, sure=False) if _may_zero(n) and not may_not_have_run(n, asked)]
    return Statement(found[-1]).source if found else None


def surely_zeroed_at(name: str | None, here: Source | None) -> Source | None:
    """The last line between backward() and the question that did set the grad of this name to zero, whatever it was."""
    asked = statement_of(here)
    found = [n for n in _touching(name, here, sure=True) if is_zeroing(n) and not may_not_have_run(n, asked)]
    return Statement(found[-1]).source if found else None


def grad_written_at(name: str | None, here: Source | None) -> Source | None:
    """The last line between backward() and the question that may have changed the grad of this name in any way."""
    found = [n for n in _touching(name, here, sure=False) if (call := called_in(n)) is None or call[0] != "zero_grad"]
    return Statement(found[-1]).source if found else None


def clips(line: Source) -> bool:
    """It limits the norm of gradients: it divides them by that."""
    made = statement_of(line)
    call = None if made is None else called_in(made.node)
    return call is not None and call[0] == "clip_grad_norm_"


def is_call(node: ast.stmt, name: str, method: str) -> bool:
    """`name.method()` as a statement."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=of, attr=attr))):
            return attr == method and ast.unparse(of) == name
    return False


def _is_called_of(place: Place, name: str, method: str) -> bool:
    """`t.retain_grad()`, where t stands for that name."""
    match place.statement.node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=of, attr=attr))) if attr == method:
            return is_same(of, name, place)
    return False


def called_in(node: ast.stmt) -> tuple[str, ast.Call] | None:
    """The call that a statement is, and the last part of its name."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) as call):
            return name, call
        case ast.Assign(value=ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) as call) if name in CLIPS:
            return name, call
    return None


def _since_backward(asked: Statement) -> list[ast.stmt]:
    """The simple statements between the last backward() above the question and the question, in their order."""
    ran = last_backward(asked)
    start = (0, 0) if ran is None or position(ran) >= position(asked.node) else position(ran)
    return [n for n in simple_statements(scope_of(asked.node)) if start < position(n) < position(asked.node)]


def _touching(name: str | None, here: Source | None, sure: bool) -> list[ast.stmt]:
    """The statements between backward() and the question that change the grad of this name, or may."""
    asked = statement_of(here)
    if asked is None or name is None:
        return []
    return [n for n in _since_backward(asked) if any(t or (t is None and not sure) for t in _touches(n, name))]


def _touches(node: ast.stmt, name: str) -> Iterator[bool | None]:
    """Does the statement change the grad of this name? None if nobody knows."""
    call = called_in(node)
    if call is not None and call[0] in CLIPS:
        yield from (goes_through(a, name, Statement(node)) or is_same(a, name) or None for a in call[1].args[:1])
    elif call is not None and isinstance(call[1].func, ast.Attribute):
        of = call[1].func.value
        if call[0] == "zero_grad":
            yield may_hold(of, name, Statement(node))
        elif call[0].endswith("_"):
            yield from (holds(g, name) for g in _grad_of(of))
    elif isinstance(node, ast.AugAssign | ast.Assign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (holds(g, name) for t in targets for g in _grad_of(t))


def _may_zero(node: ast.stmt) -> bool:
    call = called_in(node)
    return call is None or call[0] in (*MAY_ZERO, *CLIPS, "zero_grad")


def is_zeroing(node: ast.stmt) -> bool:
    """`g.zero_()`, `p.grad = torch.zeros_like(p)`, `p.grad *= 0`, `zero_grad(set_to_none=False)`, clipping to 0."""
    call = called_in(node)
    if call is not None:
        name, c = call
        limits = [*c.args[1:2], *(k.value for k in c.keywords if k.arg == CLIPS.get(name))]
        is_clip = name in CLIPS and any(map(_is_zero, limits))
        is_filled = name in ("fill_", "mul_") and any(map(_is_zero, c.args[:1]))
        return is_clip or is_filled or name == "zero_" or (name == "zero_grad" and _keeps_zeros(c))
    match node:
        case ast.AugAssign(op=ast.Mult(), value=value):
            return _is_zero(value)
        case ast.Assign(value=ast.BinOp(op=ast.Mult(), left=left, right=right)):
            return _is_zero(left) or _is_zero(right)
        case ast.Assign(value=ast.Call(func=ast.Attribute(attr=made) | ast.Name(id=made))):
            return made in ZEROS
        case ast.Assign(targets=[ast.Subscript(slice=ast.Slice(lower=None, upper=None))], value=value):
            return _is_zero(value)
    return False


def _is_zero(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not isinstance(value.value, bool) and value.value == 0


def _clears(node: ast.stmt, name: str) -> bool:
    if isinstance(node, ast.Assign):
        value = node.value
        to_none = isinstance(value, ast.Constant) and value.value is None
        return to_none and any(isinstance(t, ast.Attribute) and ast.unparse(t) == f"{name}.grad" for t in node.targets)
    calls = (n for n in ast.walk(node) if isinstance(n, ast.Call) and not _keeps_zeros(n))
    zeroed = [c.func.value for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "zero_grad"]
    return any(may_hold(owner, name, Statement(node)) for owner in zeroed)


def _keeps_zeros(call: ast.Call) -> bool:
    """`zero_grad(set_to_none=False)`."""
    wish = next((k.value for k in call.keywords if k.arg == "set_to_none"), None)
    return isinstance(wish, ast.Constant) and wish.value is False


def _is_grad_of(target: ast.expr, name: str) -> bool:
    """`w.grad`, or `p.grad` in a loop over what w may be among."""
    return isinstance(target, ast.Attribute) and target.attr == "grad" and holds(target.value, name) is not False


def _grad_of(expression: ast.expr) -> Iterator[ast.expr]:
    """What the grad belongs to in `x.grad`, `x.grad.data` and `x.grad[0]`."""
    while isinstance(expression, ast.Subscript) or (isinstance(expression, ast.Attribute) and expression.attr == "data"):
        expression = expression.value
    if isinstance(expression, ast.Attribute) and expression.attr == "grad":
        yield expression.value
