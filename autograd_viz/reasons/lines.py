"""Lines of the user's code, above a question, that did something to a tensor or a graph: found by reading, where nothing else
remembers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..graph.model import Source
from .backward_lines import backward_line, last_backward
from .code import Statement, assignment, may_not_have_run, scope_of, simple_statements, statement_of
from .meant import SAME, Place, covers, path_of
from .parsed import line_in, module_of, parents

PART = re.compile(r"\[['\"]?(\w+)['\"]?\]")  # a part of a Sequential or a ModuleDict, which parameters write with a dot


def cleared_at(name: str | None, here: Source | None) -> Source | None:
    """The last line above the question that may have set the grad of this name to None: zero_grad(), or by hand."""
    asked = statement_of(here)
    if asked is None or name is None:
        return None
    found = [n for n in _since_backward(asked) if _clears(n, name, asked) and not may_not_have_run(n, asked)]
    return Statement(max(found, key=lambda n: n.lineno)).source if found else None


def _since_backward(asked: Statement) -> list[ast.stmt]:
    """The simple statements between the last backward() above the question and the question."""
    ran = last_backward(asked)
    start = (0, 0) if ran is None or ran.lineno >= asked.node.lineno else (ran.lineno, ran.col_offset)
    return [n for n in simple_statements(scope_of(asked.node)) if start < (n.lineno, n.col_offset) < (asked.node.lineno, 0)]


def retained_at(name: str | None, here: Source | None) -> Source | None:
    """The line between backward() and the question that called retain_grad(), which then was too late."""
    asked = statement_of(here)
    if asked is None or name is None or backward_line(here) is None:
        return None
    found = [n for n in _since_backward(asked) if _is_call(n, name, "retain_grad")]
    return Statement(found[-1]).source if found else None


def _is_call(node: ast.stmt, name: str, method: str) -> bool:
    """`name.method()` as a statement."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=of, attr=attr))):
            return attr == method and ast.unparse(of) == name
    return False


def _clears(node: ast.stmt, name: str, asked: Statement) -> bool:
    if isinstance(node, ast.Assign):
        value = node.value
        to_none = isinstance(value, ast.Constant) and value.value is None
        return to_none and any(isinstance(t, ast.Attribute) and ast.unparse(t) == f"{name}.grad" for t in node.targets)
    calls = (n for n in ast.walk(node) if isinstance(n, ast.Call) and not _keeps_zeros(n))
    zeroed = [c.func.value for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "zero_grad"]
    return any(_is_owner(owner, name, Statement(node)) for owner in zeroed)


def _keeps_zeros(call: ast.Call) -> bool:
    """`zero_grad(set_to_none=False)`."""
    wish = next((k.value for k in call.keywords if k.arg == "set_to_none"), None)
    return isinstance(wish, ast.Constant) and wish.value is False


def detached_line(name: str | None, here: Source | None) -> Source | None:
    """The last line above the question that detaches this name in place."""
    asked = statement_of(here)
    if asked is None or name is None:
        return None
    above = [n for n in simple_statements(scope_of(asked.node)) if n.lineno <= asked.node.lineno and n is not asked.node]
    found = [n for n in above if _is_call(n, name, "detach_")]
    return Statement(found[-1]).source if found else None


def written_at(name: str | None, here: Source | None) -> Source | None:
    """The last line above the question that writes into this name in place: `buf[i] = y`, `buf += y`, `buf.mul_(y)`."""
    asked = statement_of(here)
    if asked is None or name is None:
        return None
    above = [n for n in simple_statements(scope_of(asked.node)) if n.lineno < asked.node.lineno]
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


def assigned_at(name: str | None, here: Source | None) -> Source | None:
    """The last line above the question that gives the grad of this name a value by hand: `w.grad = ...`."""
    asked = statement_of(here)
    if asked is None or name is None:
        return None
    above = [n for n in simple_statements(scope_of(asked.node)) if n.lineno < asked.node.lineno]
    found = [n for n in above if isinstance(n, ast.Assign) and any(_is_grad_of(t, name) for t in n.targets)]
    return Statement(found[-1]).source if found else None


def _is_grad_of(target: ast.expr, name: str) -> bool:
    """`w.grad`, or `p.grad` in a loop over what w is among."""
    return isinstance(target, ast.Attribute) and target.attr == "grad" and (is_same(target.value, name) or _loops(target.value))


def zeroed_at(name: str | None, here: Source | None) -> Source | None:
    """The last line between backward() and the question that may have set the grad of this name to zero."""
    asked = statement_of(here)
    if asked is None or name is None:
        return None
    found = [n for n in _since_backward(asked) if any(is_same(g, name) or _loops(g) for g in _zeroed(n))]
    return Statement(max(found, key=lambda n: n.lineno)).source if found else None


def grad_written_at(name: str | None, here: Source | None) -> Source | None:
    """The last line between backward() and the question that may have changed the grad of this name in any way."""
    asked = statement_of(here)
    if asked is None or name is None:
        return None
    found = [n for n in _since_backward(asked) if any(is_same(g, name) or _loops(g) for g in _written_grads(n))]
    return Statement(found[-1]).source if found else None


def _written_grads(node: ast.stmt) -> Iterator[ast.expr | None]:
    """The expressions whose grad a statement may change; None for all that an optimizer or a module knows."""
    yield from _zeroed(node)
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=of, attr=attr))) if attr.endswith("_"):
            yield from _grad_of(of)


def surely_zeroed_at(name: str | None, here: Source | None) -> Source | None:
    """The last line between backward() and the question that did set the grad of this name to zero, whatever it was."""
    asked = statement_of(here)
    if asked is None or name is None:
        return None
    zeroed = [n for n in _since_backward(asked) if any(is_same(g, name) or _loops(g) for g in _zeroed(n)) and _is_zeroing(n)]
    found = [n for n in zeroed if not may_not_have_run(n, asked)]
    return Statement(found[-1]).source if found else None


def _is_zeroing(node: ast.stmt) -> bool:
    """`g.zero_()`, `p.grad = torch.zeros_like(p)`, `zero_grad(set_to_none=False)`, clipping to 0."""
    text = ast.unparse(node)
    numbers = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    is_clip = "clip_grad" in text and 0 in [n for n in numbers if not isinstance(n, bool)]
    return is_clip or ".zero_()" in text or "zeros" in text or "set_to_none=False" in text or text.endswith(("*= 0", "*= 0.0"))


def _zeroed(node: ast.stmt) -> Iterator[ast.expr | None]:
    """The expressions whose grad a statement may set to zero; None for all that an optimizer or a module knows."""
    call = node.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    if call is not None and isinstance(call.func, ast.Attribute):
        if call.func.attr in ("zero_grad", "clip_grad_norm_", "clip_grad_value_"):
            yield None
        elif call.func.attr in ("zero_", "mul_", "fill_", "copy_"):
            yield from _grad_of(call.func.value)
    elif isinstance(node, ast.AugAssign):
        yield from _grad_of(node.target)
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _grad_of(target)


def _loops(expression: ast.expr | None) -> bool:
    """The variable of a loop, which may have been any tensor."""
    return isinstance(expression, ast.Name) and any(
        isinstance(p, ast.For) and expression.id in _names(p.target) for p in parents(expression)
    )


def _grad_of(expression: ast.expr) -> Iterator[ast.expr]:
    """What the grad belongs to in `x.grad`, `x.grad.data` and `x.grad[0]`."""
    while isinstance(expression, ast.Subscript) or (isinstance(expression, ast.Attribute) and expression.attr == "data"):
        expression = expression.value
    if isinstance(expression, ast.Attribute) and expression.attr == "grad":
        yield expression.value


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


def changed_line(name: str, here: Source | None, after: Source | None) -> Source | None:
    """A line of the question's code that changes a variable in place, or, for a parameter, an optimizer's step.

    Args:
        name: the variable.
        here: where the question was asked.
        after: where the variable was saved, if known: the first change below; else the last above the question.
    """
    asked = statement_of(here)
    if asked is None:
        return None
    simple = simple_statements(scope_of(asked.node))
    saved = None if after is None else line_in(module_of(asked.node), after)
    start = 0 if saved is None else saved
    found = [n for n in simple if start <= n.lineno < asked.node.lineno and _changes(n, name) and _may_hold(n, name, asked)]
    found.sort(key=lambda n: n.lineno)
    return Statement(found[-1 if saved is None else 0]).source if found else None


def _changes(node: ast.stmt, name: str) -> bool:
    if _writes_data(node, name):
        return not isinstance(node, ast.Assign) or any(isinstance(t, ast.Subscript) for t in node.targets)
    call = node.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    if call is None or not isinstance(call.func, ast.Attribute):
        return False
    through = ast.unparse(call.func.value)
    return call.func.attr == "step" or (call.func.attr.endswith("_") and through in (f"{name}.detach()", f"{name}.data"))


def _may_hold(node: ast.stmt, name: str, asked: Statement) -> bool:
    """An optimizer's step changes what it was given: `optim.SGD(net.parameters())` holds the parameters of net alone."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "step"):
        return True
    return _is_optimizer(call.func.value, Statement(node)) and _is_owner(call.func.value, name, Statement(node))


def _made_by(owner: ast.expr, before: Statement) -> ast.Call | None:
    """The call that a variable was given the result of."""
    made = assignment(owner.id, before) if isinstance(owner, ast.Name) else None
    given = getattr(made.node, "value", None) if made is not None else None
    return given if isinstance(given, ast.Call) else None


def _is_optimizer(owner: ast.expr, before: Statement) -> bool:
    """By what it was made of, or else by its name."""
    made = _made_by(owner, before)
    return "opt" in ast.unparse(owner if made is None else made.func).lower() or (
        made is not None and any(_gives_parameters(n) for n in ast.walk(made))
    )


def _is_owner(owner: ast.expr, name: str, before: Statement) -> bool:
    """An optimizer or a module may hold a tensor; those that were made of other parameters do not."""
    made = _made_by(owner, before)
    holds = [n.func.value for n in ast.walk(made) if _gives_parameters(n)] if made is not None else []  # type: ignore[attr-defined]
    if holds:
        return any(is_same(h, name) for h in holds)
    given = made.args[0] if made is not None and made.args else None
    if isinstance(given, ast.List | ast.Tuple) and all(isinstance(e, ast.Name | ast.Attribute) for e in given.elts):
        return any(is_same(e, name) for e in given.elts)
    return made is None or "opt" in ast.unparse(made.func).lower() or is_same(owner, name)


def _gives_parameters(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "parameters"


def _names(target: ast.expr) -> list[str]:
    """The variables of a loop."""
    return [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]


def is_same(expression: ast.expr | None, name: str, place: Place | None = None) -> bool:
    """`lin.weight` is itself, a part of `lin`, and one of the p in `for p in lin.parameters()`; None stands for everything.

    Args:
        expression: what is read.
        name: what is asked about.
        place: where it is read, if that may be in a called function.
    """
    if expression is None:
        return True
    while isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute) and expression.func.attr in SAME:
        expression = expression.func.value
    looped = ast.unparse(expression)
    loop = next((p for p in parents(expression) if isinstance(p, ast.For) and looped in _names(p.target)), None)
    match loop and loop.iter:
        case ast.Call(func=ast.Attribute(value=of, attr="parameters" | "named_parameters")):
            expression = of
    text = PART.sub(r".\1", ast.unparse(expression) if place is None else path_of(expression, place))
    return covers(text, name)
