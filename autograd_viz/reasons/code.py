"""The user's code, read: where a name got its value, and what in that line leaves the graph.

What is made under no_grad, read by `.data` or turned into a number leaves no trace in a graph. The code says it.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator
from typing import NamedTuple

from ..graph.model import Source

METHODS = {  # methods that give something outside the graph
    "item": "item", "tolist": "item", "numpy": "numpy", "__array__": "numpy", "detach": "detach", "detach_": "detach",
    "state_dict": "detach", "sample": "sample",
    "long": "integer", "int": "integer", "bool": "integer", "byte": "integer", "short": "integer", "argmax": "integer",
    "argmin": "integer", "argsort": "integer",
}  # fmt: skip
FACTORIES = {"tensor", "as_tensor", "asarray", "from_numpy", "Tensor", "FloatTensor", "DoubleTensor", "array", "Parameter"}
ATTRIBUTES = {"data": "data", "grad": "gradient", "indices": "integer"}
PICKERS = {"topk", "max", "min", "sort", "kthvalue", "median", "nanmedian", "mode", "cummax", "cummin"}  # give values, indices
CASTS = {"float": "item", "int": "item", "bool": "item", "complex": "item"}
TENSORS_OWN = {  # methods that hardly anything but a tensor has
    "sum", "mean", "norm", "prod", "pow", "sqrt", "exp", "log", "relu", "sigmoid", "tanh", "softmax", "log_softmax", "matmul",
    "mm", "bmm", "view", "reshape", "flatten", "squeeze", "unsqueeze", "transpose", "permute", "clamp", "abs", "float",
    "double", "half", "clone", "gather", "logsumexp", "std", "var",
}  # fmt: skip
MODES = {"no_grad": "no_grad", "inference_mode": "inference", "set_grad_enabled": "no_grad"}


Function = ast.FunctionDef | ast.AsyncFunctionDef


class Statement(NamedTuple):
    """A statement and the file that it stands in."""

    file: str
    node: ast.stmt

    def assigns(self, name: str) -> bool:
        """It gives `name` a new value."""
        return name in targets(self.node)

    def hides_leaf(self, name: str) -> bool:
        """It gives `name` a value computed from what `name` was before, or from a tensor that is made in it to require grad."""
        reads = any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in ast.walk(self.node))
        makes = any(isinstance(n, ast.keyword) and n.arg == "requires_grad" for n in ast.walk(self.node))
        return self.assigns(name) and (reads or makes)

    @property
    def source(self) -> Source:
        """Its place."""
        n = self.node
        text = linecache.getline(self.file, n.lineno).rstrip("\n")
        return Source(self.file, n.lineno, n.lineno, n.col_offset, len(text), text)


class Maker(NamedTuple):
    """How a value came about, as the code has it.

    Attributes:
        how: "item", "data", "detach", "numpy", "new_tensor", "integer", "sample", "no_grad", "inference"; "computed", "plain".
        source: the line.
        what: the words that do it: ".item()", "no_grad()".
    """

    how: str
    source: Source
    what: str = ""


@functools.lru_cache(maxsize=64)
def _tree(lines: tuple[str, ...]) -> ast.Module | None:
    """The file with every node's parent as `parent`; lines with % or ! (IPython's) count as empty."""
    text = "".join("\n" if line.lstrip()[:1] in ("%", "!") else line for line in lines)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node  # type: ignore[attr-defined]
    return tree


def tree_of(file: str) -> ast.Module | None:
    """The syntax tree of a file that Python has run; None if it cannot be seen."""
    lines = tuple(linecache.getlines(file))
    return _tree(lines) if lines else None


def statement_of(source: Source | None) -> Statement | None:
    """The innermost statement around a place."""
    tree = None if source is None else tree_of(source.file)
    if source is None or tree is None:
        return None
    around = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno <= source.line <= (n.end_lineno or n.lineno)]
    return Statement(source.file, max(around, key=lambda n: (n.lineno, n.col_offset))) if around else None


def targets(node: ast.stmt) -> set[str]:
    """The names that a statement gives a value."""
    if isinstance(node, ast.Assign):
        found: list[ast.expr] = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For):
        found = [node.target]
    elif isinstance(node, ast.With):
        found = [i.optional_vars for i in node.items if i.optional_vars is not None]
    else:
        found = []
    return {n.id for t in found for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def parents(node: ast.AST) -> Iterator[ast.AST]:
    """What stands around a node, innermost first."""
    while (node := getattr(node, "parent", None)) is not None:  # type: ignore[assignment]
        yield node


def scope_of(node: ast.AST) -> ast.AST:
    """The function (or module) that a node stands in."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module
    return next((p for p in parents(node) if isinstance(p, kinds)), node)


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
        above = [n for n in found if n.lineno < before.node.lineno]
        if found:
            return Statement(before.file, max(above or found, key=lambda n: n.lineno))
        if isinstance(scope, ast.Module) or within or name in _parameters(scope):
            return None
        scope = scope_of(scope)


@functools.lru_cache(maxsize=1024)
def _assigned_in(scope: ast.AST) -> dict[str, list[ast.stmt]]:
    """The statements of a scope that give each name a value."""
    found: dict[str, list[ast.stmt]] = {}
    for n in ast.walk(scope):
        if isinstance(n, ast.stmt) and scope_of(n) is scope:
            for name in targets(n):
                found.setdefault(name, []).append(n)
    return found


def _parameters(function: ast.AST) -> set[str]:
    """The names of what a function is given."""
    a = getattr(function, "args", None)
    given = () if a is None else (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg)
    return {p.arg for p in given if p is not None}


def alias_of(name: str | None, here: Source | None) -> str | None:
    """What a name was given as another name for, above the question: "model.weight" after `q = model.weight`."""
    asked = statement_of(here)
    made = assignment(name, asked) if asked is not None and name is not None and name.isidentifier() else None
    value = getattr(made.node, "value", None) if made is not None else None
    return ast.unparse(value) if isinstance(value, ast.Name | ast.Attribute | ast.Subscript) else None


def cuts_in(statement: Statement) -> list[tuple[ast.AST, Maker]]:
    """What in a statement leaves the graph, with the syntax node that does; a mode around it counts for the whole."""
    node = statement.node
    found: list[tuple[ast.AST, Maker]] = []
    for part in ast.walk(node):
        how = _cut(part)
        if how is not None:
            found.append((part, Maker(how[0], statement.source, how[1])))
    mode = mode_around(node)
    if mode is not None:
        found.append((node, Maker(MODES[mode], statement.source, f"{mode}({False if mode == 'set_grad_enabled' else ''})")))
    return found


def _cut(part: ast.AST) -> tuple[str, str] | None:
    if isinstance(part, ast.Attribute) and part.attr in ATTRIBUTES and isinstance(part.ctx, ast.Load) and not _is_called(part):
        return ATTRIBUTES[part.attr], f".{part.attr}"
    if isinstance(part, ast.Subscript) and _called(part.value) in PICKERS and isinstance(part.value, ast.Call):
        is_second = isinstance(part.slice, ast.Constant) and part.slice.value == 1
        return ("integer", f"{_called(part.value)}()[1]") if is_second else None
    return _cutting_call(part) if isinstance(part, ast.Call) else None


def indices_cut(statement: Statement, name: str) -> Maker | None:
    """`_, name = x.topk(2)`: the second of two is indices."""
    node = statement.node
    value = node.value if isinstance(node, ast.Assign) else None
    if not isinstance(node, ast.Assign) or not isinstance(value, ast.Call) or _called(value) not in PICKERS:
        return None
    seconds = [t.elts[1] for t in node.targets if isinstance(t, ast.Tuple) and len(t.elts) == 2]
    is_second = any(isinstance(s, ast.Name) and s.id == name for s in seconds)
    return Maker("integer", statement.source, f"{_called(value)}()[1]") if is_second else None


def _cutting_call(part: ast.Call) -> tuple[str, str] | None:
    called = part.func
    if isinstance(called, ast.Name) and called.id in CASTS and part.args:
        return CASTS[called.id], f"{called.id}()"
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    keywords = {k.arg: k.value for k in part.keywords}
    is_made_so = isinstance(wish := keywords.get("requires_grad"), ast.Constant) and wish.value is False
    if name in FACTORIES and part.args and not isinstance(part.args[0], ast.Constant | ast.List) and not is_made_so:
        return "new_tensor", f"{name}()"
    if name == "grad" and "create_graph" not in keywords:
        return "gradient", "grad()"
    if isinstance(called, ast.Attribute) and name in METHODS:
        return METHODS[name], f".{name}()"
    return None


def copied_in(name: ast.Name, statement: Statement) -> Maker | None:
    """`torch.tensor([a, b])` of tensors: the names in its list."""
    above = next((p for p in parents(name) if not isinstance(p, ast.List | ast.Tuple | ast.UnaryOp)), None)
    is_listed = isinstance(above, ast.Call) and _called(above) in FACTORIES and isinstance(above.args[0], ast.List | ast.Tuple)
    return Maker("new_tensor", statement.source, f"{_called(above)}()") if is_listed and isinstance(above, ast.Call) else None


def _is_called(part: ast.AST) -> bool:
    """`torch.autograd.grad(...)`: the attribute is a function."""
    above = getattr(part, "parent", None)
    return isinstance(above, ast.Call) and above.func is part


def mode_around(node: ast.AST) -> str | None:
    """The mode (no_grad, inference_mode) in whose block, or in whose function, the node stands; None in grad mode."""
    for p in (node, *parents(node)):
        expressions: list[ast.expr] = []
        if isinstance(p, ast.With):
            expressions = [i.context_expr for i in p.items]
        elif isinstance(p, ast.FunctionDef | ast.AsyncFunctionDef):
            expressions = p.decorator_list
        for e in expressions:
            mode = _mode(e)
            if mode is not None:
                return mode or None
    return _switched_mode(node)


def _switched_mode(node: ast.AST) -> str | None:
    """`torch.set_grad_enabled(False)` as a statement, the last of its kind above the node in its scope."""
    scope, line = scope_of(node), getattr(node, "lineno", 0)
    alone = [n for n in ast.walk(scope) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) and n.lineno < line]
    switches = [n.value for n in alone if _called(n.value) == "set_grad_enabled" and scope_of(n) is scope]
    return (_mode(max(switches, key=lambda n: n.lineno)) or None) if switches else None


def _called(expression: ast.expr) -> str:
    """The last part of the name of what is called."""
    called = expression.func if isinstance(expression, ast.Call) else expression
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def _mode(expression: ast.expr) -> str | None:
    """The name of a mode that switches recording off, "" for one that switches it on, None for neither."""
    call, name = expression if isinstance(expression, ast.Call) else None, _called(expression)
    given = call.args[0].value if call is not None and call.args and isinstance(call.args[0], ast.Constant) else None
    if name == "enable_grad" or (name in MODES and given is (name == "set_grad_enabled")):
        return ""
    is_told = name != "set_grad_enabled" or given is False  # what an expression gave is not in the code
    return name if name in MODES and is_told else None


def maker_of(name: str | None, source: Source | None, here: Source | None) -> Maker | None:
    """How a tensor was made, by the line that made it, or else by the last assignment to its name above the question."""
    made = statement_of(source)
    if made is None and name is not None and name.isidentifier():
        asked = statement_of(here)
        made = assignment(name, asked) if asked is not None else None
    if made is None or isinstance(made.node, ast.For):  # a loop gives a tensor another name
        return None
    value = getattr(made.node, "value", None)
    outermost = [m for part, m in cuts_in(made) if part is value or part is made.node]
    inside = [m for part, m in cuts_in(made) if _carries(part, value)]
    return (outermost or inside or [Maker("computed" if _is_computed(value) else "plain", made.source)])[0]


def _is_computed(value: ast.AST | None) -> bool:
    """The value is worked out of others: `a @ b`, `model(x).mean()`; not `torch.ones(2)`, `batch[0]` or `load(file)`."""
    if isinstance(value, ast.BinOp | ast.UnaryOp | ast.Compare):
        return not isinstance(value, ast.UnaryOp) or _is_computed(value.operand)
    method = value.func if isinstance(value, ast.Call) else None
    if not isinstance(method, ast.Attribute):
        return False
    return isinstance(method.value, ast.Call | ast.BinOp) or (isinstance(method.value, ast.Name) and method.attr in TENSORS_OWN)


def _carries(part: ast.AST, value: ast.AST | None) -> bool:
    """What the part gives is what the value is made of, through methods of it: `x.detach().clone()`."""
    while isinstance(value, ast.Call | ast.Attribute | ast.Subscript):
        value = value.func if isinstance(value, ast.Call) else value.value
        if value is part:
            return True
    return False
