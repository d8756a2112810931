"""What names of classes and functions stand for: in the file where they are read, or in that from which they are imported."""

from __future__ import annotations

import ast
import functools
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .code import Function, is_given_in, parameters_of, scope_of
from .parsed import module_of, place_of, tree_of

MOST = 10  # bases of classes, imports of imports
Definition = ast.ClassDef | Function
OURS = str(Path(__file__).parent.parent)  # which may be installed to be edited
INSTALLED = ("site-packages", "dist-packages")  # other people's code, which is not followed


def is_wrapped(node: ast.AST) -> bool:
    """It stands in a function with a decorator of the user's, in which no call of the function is seen."""
    function = scope_of(node)
    wrappers = [definition(d) for d in getattr(function, "decorator_list", ()) if isinstance(d, ast.Name | ast.Attribute)]
    return any(isinstance(w, Function) and not _calls_its_own(w) for w in wrappers)


def _calls_its_own(wrapper: Function) -> bool:
    """A decorator calls what it is given, or hands it on."""
    given = wrapper.args.args[0].arg if wrapper.args.args else ""
    calls = [n for n in ast.walk(wrapper) if isinstance(n, ast.Call)]
    handed = (a for c in calls if not _only_copies_names(c) for a in (c.func, *c.args))
    return any(isinstance(a, ast.Name) and a.id == given for a in handed)


def _only_copies_names(call: ast.Call) -> bool:
    """`functools.wraps(fn)`."""
    return (call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")) == "wraps"


class _Known(NamedTuple):
    """What a file defines: classes and plain functions by name, in all scopes, and methods called forward; its imports."""

    named: dict[str, list[Definition]]
    forwards: list[Function]
    imports: dict[str, tuple[str, str | None]]  # by name here: a module, and the name of a part of it
    stars: list[str]  # modules that all is imported from


def definition(called: ast.expr) -> Definition | None:
    """The class or function that `Net` or `models.Net` is, if that is code of the user's."""
    match called:
        case ast.Name(id=name):
            return _visible(name, called)
        case ast.Attribute(value=value, attr=attr):
            tree = _module(ast.unparse(value), module_of(called))
            return None if tree is None else _named(attr, tree)
    return None


def _visible(name: str, where: ast.AST) -> Definition | None:
    """What a name is, seen from there: the innermost function around that gives it a value tells."""
    scope = scope_of(where)
    while not isinstance(scope, ast.Module):
        here = [d for d in _known(module_of(where)).named.get(name, ()) if _home(d) is scope]
        if here:
            return _last_above(here, where)
        if name in parameters_of(scope) or is_given_in(name, scope):
            return None
        scope = scope_of(scope)
    own = [d for d in _known(scope).named.get(name, ()) if _home(d) is scope]
    return _last_above(own, where) if own else _named(name, scope)


def _last_above(defined: list[Definition], where: ast.AST) -> Definition:
    """Of several definitions of a name, that which it has there; in a function, which may run later, the last."""
    is_same_scope = scope_of(where) is _home(defined[0])
    above = [d for d in defined if is_same_scope and d.lineno < getattr(where, "lineno", 0)]
    return (above or defined)[-1]


def _home(defined: Definition) -> ast.AST:
    """The function, or module, in which it is defined."""
    return scope_of(defined)


def origin(called: ast.expr) -> str:
    """The full dotted name of what is called, as the file imports it: "torch.autograd.grad" for `grad`; "" if it has none."""
    parts: list[str] = []
    while isinstance(called, ast.Attribute):
        parts.insert(0, called.attr)
        called = called.value
    if not isinstance(called, ast.Name):
        return ""
    module, part = _known(module_of(called)).imports.get(called.id, (called.id, None))
    return ".".join([module, *([part] if part is not None else []), *parts])


def _named(name: str, tree: ast.Module) -> Definition | None:
    """What a name is in a file: defined there, or imported, perhaps through others."""
    queue: list[tuple[str, ast.Module]] = [(name, tree)]
    for _ in range(MOST):
        if not queue:
            break
        name, tree = queue.pop(0)
        known = _known(tree)
        found = [d for d in known.named.get(name, ()) if _home(d) is tree]
        if found:
            return found[-1]
        module, part = known.imports.get(name, (None, None))
        wanted = [(module, part)] if module is not None and part is not None else [(star, name) for star in known.stars]
        queue += [(p, t) for m, p in wanted if (t := _users_tree(m)) is not None]
    return None


def _module(text: str, tree: ast.Module) -> ast.Module | None:
    """The file of the module that `models` or `package.models` is."""
    first, *rest = text.split(".")
    module, part = _known(tree).imports.get(first, (None, None))
    names = [module, *([part] if part is not None else []), *rest]
    return None if module is None else _users_tree(".".join(n for n in names if n is not None))


def _users_tree(module: str) -> ast.Module | None:
    """The tree of a module that has been imported, unless it was installed."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if not isinstance(file, str) or not file.endswith(".py"):
        return None
    is_installed = any(f in file for f in INSTALLED) or file.startswith((sysconfig.get_path("stdlib"), OURS))
    return None if is_installed else tree_of(file)


@functools.lru_cache(maxsize=64)
def _known(tree: ast.Module) -> _Known:
    known = _Known({}, [], {}, [])
    for n in ast.walk(tree):
        if isinstance(n, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            is_method = not isinstance(n, ast.ClassDef) and isinstance(getattr(n, "parent", None), ast.ClassDef)
            if not is_method:
                known.named.setdefault(n.name, []).append(n)
            elif n.name == "forward" and not isinstance(n, ast.ClassDef):
                known.forwards.append(n)
        elif isinstance(n, ast.Import):
            known.imports.update({a.asname or a.name.split(".")[0]: (_bound(a), None) for a in n.names})
        elif isinstance(n, ast.ImportFrom):
            module = _absolute(n)
            known.stars.extend(module for a in n.names if a.name == "*")
            known.imports.update({a.asname or a.name: (module, a.name) for a in n.names})
    return known


def _bound(name: ast.alias) -> str:
    """`import a.b` binds a, `import a.b as c` binds a.b."""
    return name.name if name.asname else name.name.split(".")[0]


def _absolute(node: ast.ImportFrom) -> str:
    """The full name of the module in `from ..models import Net`."""
    if not node.level:
        return node.module or ""
    file = place_of(node)[0]
    owner = next((m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == file), None)
    package = (getattr(owner, "__package__", None) or "").split(".")
    above = package[: len(package) - node.level + 1]
    return ".".join([*above, *([node.module] if node.module else [])])


def forwards_beside(node: ast.AST) -> list[Function]:
    """All methods called forward in the file of a node."""
    return _known(module_of(node)).forwards


def class_of_name(called: ast.expr) -> ast.ClassDef | None:
    """The class that is called, if it is one."""
    found = definition(called)
    return found if isinstance(found, ast.ClassDef) else None


def bases(cls: ast.ClassDef) -> Iterator[ast.ClassDef]:
    """A class and those that it is made from, as far as they are the user's."""
    queue = [cls]
    for _ in range(MOST):
        if not queue:
            return
        now = queue.pop(0)
        yield now
        queue += [c for b in now.bases if (c := class_of_name(b)) is not None]


def method(cls: ast.ClassDef, name: str) -> Function | None:
    """The method of a class, or of what it is made from."""
    methods = (f for c in bases(cls) for f in c.body if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef))
    return next((f for f in methods if f.name == name), None)
