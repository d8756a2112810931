"""What in a line of the user's code leaves the graph.

What is made under no_grad, read by `.data` or turned into a number leaves no trace in a graph. The code says it.
"""

from __future__ import annotations

import ast
import functools
from typing import NamedTuple

from ..graph.model import Source
from .calls import users_call
from .code import Statement, assignment, may_not_have_run, scope_of, simple_statements
from .defined import origin
from .meant import Place
from .parsed import parents

METHODS = {  # methods that give something outside the graph
    "item": "item", "tolist": "item", "numpy": "numpy", "__array__": "numpy", "detach": "detach", "detach_": "detach",
    "state_dict": "detach", "sample": "sample",
    "long": "integer", "int": "integer", "bool": "integer", "byte": "integer", "short": "integer", "argmax": "integer",
    "argmin": "integer", "argsort": "integer", "count_nonzero": "integer", "nonzero": "integer", "argwhere": "integer",
    "bucketize": "integer", "searchsorted": "integer", "bincount": "integer",
    "eq": "comparison", "ne": "comparison", "gt": "comparison", "ge": "comparison", "lt": "comparison", "le": "comparison",
    "isclose": "comparison", "logical_not": "comparison",
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
MAKERS = {  # that make tensors of nothing, or of numbers
    "ones", "zeros", "full", "empty", "eye", "arange", "linspace", "logspace", "rand", "randn", "randint", "randperm", "normal",
    "tensor", "as_tensor", "asarray", "from_numpy", "Tensor", "FloatTensor", "DoubleTensor", "LongTensor", "Parameter",
}  # fmt: skip
MODES = {"no_grad": "no_grad", "inference_mode": "inference", "set_grad_enabled": "no_grad"}


DETACHING = ("data", "detach", "new_tensor", "numpy", "item", "sample", "parameter")  # what Detach may be called in the code
COMPUTING = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute, ast.IfExp)


class Maker(NamedTuple):
    """How a value came about, as the code has it.

    Attributes:
        how: "item", "data", "detach", "numpy", "new_tensor", "parameter", "integer", "comparison", "sample", "no_grad",
            "inference", "mode" (one that the run decided), "constant"; "computed" of others, "plain" for what is new, "taken"
            from where nobody knows.
        source: the line.
        what: the words that do it: ".item()", "no_grad()".
        is_sure: it ran if the line did, and is not what an `a if b else c` may not have chosen.
    """

    how: str
    source: Source
    what: str = ""
    is_sure: bool = True


def cuts_in(statement: Statement) -> list[tuple[ast.AST, Maker]]:
    """What in a statement leaves the graph, with the syntax node that does; a mode around it counts for the whole."""
    node = statement.node
    found: list[tuple[ast.AST, Maker]] = []
    for part in ast.walk(node):
        how = _cut(part)
        if how is not None:
            found.append((part, Maker(how[0], statement.source_of(part), how[1])))
    if not _computes(node):
        return found
    mode, open_mode = mode_around(node), mode_of_the_run(node)
    if open_mode is not None:
        found.append((node, Maker("mode", statement.source, ast.unparse(open_mode), is_sure=False)))
    elif mode is not None:
        found.append((node, Maker(MODES[mode], statement.source, f"{mode}({False if mode == 'set_grad_enabled' else ''})")))
    return found


def detaching(made: Statement | None) -> Maker | None:
    """What in the statement of an op Detach is its name: `.data`, `torch.tensor(x)`; None where it is `detach()`, or unseen."""
    return next((c for _, c in cuts_in(made) if c.how in DETACHING), None) if made is not None else None


def _computes(node: ast.stmt) -> bool:
    """It does something to tensors: `last = loss` and `return h` do not, whatever the mode is."""
    value = getattr(node, "value", None)
    return value is None or any(isinstance(n, COMPUTING) for n in ast.walk(value)) or isinstance(node, ast.AugAssign)


def _cut(part: ast.AST) -> tuple[str, str] | None:
    if isinstance(part, ast.Compare) and not isinstance(part.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn):
        return "comparison", ast.unparse(part)
    if isinstance(part, ast.Attribute) and part.attr in ATTRIBUTES and isinstance(part.ctx, ast.Load) and not is_called(part):
        return ATTRIBUTES[part.attr], f".{part.attr}"
    if isinstance(part, ast.Subscript) and called_name(part.value) in PICKERS and isinstance(part.value, ast.Call):
        is_second = isinstance(part.slice, ast.Constant) and part.slice.value == 1
        return ("integer", f"{called_name(part.value)}()[1]") if is_second else None
    return _cutting_call(part) if isinstance(part, ast.Call) else None


def indices_cut(statement: Statement, name: str) -> Maker | None:
    """`_, name = x.topk(2)`: the second of two is indices."""
    node = statement.node
    value = node.value if isinstance(node, ast.Assign) else None
    if not isinstance(node, ast.Assign) or not isinstance(value, ast.Call) or called_name(value) not in PICKERS:
        return None
    seconds = [t.elts[1] for t in node.targets if isinstance(t, ast.Tuple) and len(t.elts) == 2]
    is_second = any(isinstance(s, ast.Name) and s.id == name for s in seconds)
    return Maker("integer", statement.source, f"{called_name(value)}()[1]") if is_second else None


def _cutting_call(part: ast.Call) -> tuple[str, str] | None:
    called = part.func
    if isinstance(called, ast.Name) and called.id in CASTS and part.args:
        return CASTS[called.id], f"{called.id}()"
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    if origin(called).startswith(("math.", "cmath.")) and part.args:
        return "item", f"{ast.unparse(called)}()"
    keywords = {k.arg: k.value for k in part.keywords}
    is_made_so = isinstance(wish := keywords.get("requires_grad"), ast.Constant) and wish.value is False
    if name in FACTORIES and part.args and not isinstance(part.args[0], ast.Constant | ast.List) and not is_made_so:
        return "parameter" if name == "Parameter" else "new_tensor", f"{name}()"
    if name == "grad" and "create_graph" not in keywords:
        return "gradient", "grad()"
    if isinstance(called, ast.Attribute) and name in METHODS:
        return METHODS[name], f".{name}()"
    return None


def copied_in(name: ast.Name, statement: Statement) -> Maker | None:
    """`torch.tensor([a, b])` of tensors: the names in its list."""
    inside: ast.AST = name
    for above in parents(name):
        if isinstance(above, ast.Call) and called_name(above) in FACTORIES and inside in above.args[:1]:
            return (
                Maker("new_tensor", statement.source, f"{called_name(above)}()")
                if isinstance(inside, ast.List | ast.Tuple)
                else None
            )
        if isinstance(above, ast.stmt):
            break
        inside = above
    return None


def is_called(part: ast.AST) -> bool:
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


def mode_of_the_run(node: ast.AST) -> ast.expr | None:
    """`set_grad_enabled(phase == "train")` in the nearest `with` that sets a mode: which it sets, the code does not say."""
    for p in parents(node):
        if isinstance(p, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        for e in [i.context_expr for i in p.items] if isinstance(p, ast.With) else []:
            if _mode(e) is not None:
                return None
            if called_name(e) == "set_grad_enabled" and isinstance(e, ast.Call) and e.args:
                return e
    return None


def _switched_mode(node: ast.AST) -> str | None:
    """`torch.set_grad_enabled(False)` as a statement, the last of its kind above the node in its scope."""
    line, asked = getattr(node, "lineno", 0), Statement(node) if isinstance(node, ast.stmt) else None
    above = [n for n in _switches_in(scope_of(node)) if n.lineno < line]
    return None if not above or may_not_have_run(above[-1], asked) else _mode(above[-1].value) or None


@functools.lru_cache(maxsize=1024)
def _switches_in(scope: ast.AST) -> list[ast.Expr]:
    """The statements of a scope that call set_grad_enabled(), in their order."""
    found = [n for n in simple_statements(scope) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)]
    return [n for n in found if called_name(n.value) == "set_grad_enabled"]


def is_one_of_two(node: ast.AST) -> bool:
    """It stands in an expression that may not have run: in `a if b else c`, behind `and` or `or`."""
    for above in parents(node):
        if isinstance(above, ast.IfExp) and node is not above.test:
            return True
        if isinstance(above, ast.BoolOp) and node is not above.values[0]:
            return True
        if isinstance(above, ast.stmt):
            return False
        node = above
    return False


def called_name(expression: ast.expr) -> str:
    """The last part of the name of what is called."""
    called = expression.func if isinstance(expression, ast.Call) else expression
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def _mode(expression: ast.expr) -> str | None:
    """The name of a mode that switches recording off, "" for one that switches it on, None for neither."""
    call, name = expression if isinstance(expression, ast.Call) else None, called_name(expression)
    given = call.args[0].value if call is not None and call.args and isinstance(call.args[0], ast.Constant) else None
    if name == "enable_grad" or (name in MODES and given is (name == "set_grad_enabled")):
        return ""
    is_told = name != "set_grad_enabled" or given is False  # what an expression gave is not in the code
    return name if name in MODES and is_told else None


def maker_in(made: Statement, is_named: bool = True) -> Maker | None:
    """How the value came about that a statement assigns, or, without a name, a part of it: g[0] in `h = grad(g[0], x)`."""
    if isinstance(made.node, ast.For):  # a loop gives a tensor another name
        return None
    value = getattr(made.node, "value", None)
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):  # another name for what a list holds
        listed = assignment(value.value.id, made)
        is_written = listed is not None and _is_written_out(getattr(listed.node, "value", None))
        made, value = (listed, None) if listed is not None and is_written else (made, value)
    if isinstance(value, ast.Call) and called_name(value) == "register_buffer" and len(value.args) > 1:
        value = value.args[1]
    if isinstance(value, ast.Call) and called_name(value) == "grad" and any(k.arg == "create_graph" for k in value.keywords):
        return Maker("constant", made.source, "grad()")
    outermost = [m for p, m in cuts_in(made) if (p is value and is_named and not _is_users(p, made)) or p is made.node]
    if isinstance(value, ast.Call) and called_name(value) in FACTORIES and value.args and _is_list_of_computed(value.args[0]):
        return Maker("new_tensor", made.source, f"{called_name(value)}()")
    if outermost and outermost[0].how == "mode" and _how_plain(value) != "computed":
        outermost = []
    inside = [m for part, m in cuts_in(made) if _carries(part, value)]
    return (outermost or inside or [Maker(_how_plain(value), made.source)])[0]


def _is_users(part: ast.AST, made: Statement) -> bool:
    """It calls a function of the user's own, which may be named like a tensor's."""
    return isinstance(part, ast.Call) and users_call(part, Place(made, None)) is not None


def _is_list_of_computed(value: ast.expr) -> bool:
    """`[torch.cos(a), 0.0]`: a list, of lists perhaps, in which something was worked out."""
    is_list = isinstance(value, ast.List | ast.Tuple)
    return is_list and any(_is_computed(n) or _is_users_call(n) for n in ast.walk(value) if n is not value)


def _is_users_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and (isinstance(node.func, ast.Attribute) and origin(node.func).startswith("torch."))


def _is_written_out(value: ast.AST | None) -> bool:
    """`[a, b]`, and no empty list, which was filled later."""
    return isinstance(value, ast.ListComp) or (isinstance(value, ast.List) and bool(value.elts))


def _how_plain(value: ast.AST | None) -> str:
    """A value that nothing cut off: worked out of others, made anew, or taken from somewhere."""
    if _is_computed(value):
        return "computed"
    called = called_name(value) if isinstance(value, ast.Call) else ""
    is_new = called in MAKERS or called.endswith("_like") or called.startswith("new_")
    is_call_of_ours = isinstance(value, ast.Call) and isinstance(value.func, ast.Name)
    return "plain" if is_new or value is None else "computed" if is_call_of_ours else "taken"


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
