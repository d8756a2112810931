"""Names of which the code does not say whether their value was the one that was taken."""

from __future__ import annotations

import ast

from .code import makers
from .cutting import called_name, is_one_of_two
from .meant import chain_from, covers, path_of
from .slices import Read

CONTAINERS = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp)
PICK = ("max", "min", "choice", "next", "getattr")  # functions that take one of what they are given


def may_be_other(read: Read, wanted: str) -> bool:
    """Another may have been taken than the wanted one: of `a if c else b`, `layers[key]`, `getattr(net, name)`, `max(tensors)`.

    Args:
        read: where the name of it, or of what holds it, is read.
        wanted: the name, or the path: "net.blocks.0.weight".
    """
    return is_one_of_two(read.name) or (_is_picked_from(chain_from(read.name)) and _holds_several(read, wanted))


def _is_picked_from(chain: ast.expr) -> bool:
    match getattr(chain, "parent", None):
        case ast.Subscript(value=value, slice=key) as part if value is chain:
            names = [n.id for n in ast.walk(key) if isinstance(n, ast.Name)]
            return not isinstance(key, ast.Slice) and not any(_goes_through(n, part) for n in names)
        case ast.Call(func=called, args=[first, *rest]) if first is chain:
            is_written = bool(rest) and isinstance(rest[0], ast.Constant)
            return called_name(called) in PICK and not (called_name(called) == "getattr" and is_written)
    return False


def _goes_through(name: str, part: ast.AST) -> bool:
    """The name is the variable of a loop around: it comes to every part."""
    above: ast.AST | None = part
    while above is not None:
        targets = [g.target for g in getattr(above, "generators", ())]
        targets += [above.target] if isinstance(above, ast.For) else []
        if any(isinstance(n, ast.Name) and n.id == name for t in targets for n in ast.walk(t)):
            return True
        above = getattr(above, "parent", None)
    return False


def _holds_several(read: Read, wanted: str) -> bool:
    """The name is that of a list, a dict or an object of which the wanted one is a part; not that of a tensor."""
    path = path_of(chain_from(read.name), read.place, read.rest)
    is_around = covers(path, wanted) and path != wanted
    made = makers(read.name.id, read.statement, within=False)
    return is_around or any(isinstance(getattr(s.node, "value", None), CONTAINERS) for s in made)
