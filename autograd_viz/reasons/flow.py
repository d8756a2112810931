"""What becomes of a value in the user's code: the expressions that use it, on its way to the loss."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from .calls import users_call
from .code import Statement, assignments, may_not_have_run, position, scope_of
from .defined import origin
from .kinds import made_of
from .looks import ATTRIBUTES
from .meant import SAME, Place, chain_from, covers, is_parameter, parts_of, path_of
from .op_names import is_op, names_of
from .parsed import parents
from .slices import Key, Read, assigned_from, behind

CONTAINERS = ("Sequential", "ModuleList")
LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)
MOST = 2000  # reads of names that are followed


class Flow:
    """What was read on the way to the loss.

    Attributes:
        reads: by the place of the name.
        readers: by read, what was read of what was made of it.
    """

    def __init__(self) -> None:
        self.reads: dict[ast.Name, list[Read]] = {}
        self.readers: dict[Key, list[Read]] = {}
        self._followed: dict[Key, bool] = {}

    @cached_property
    def _paths(self) -> list[tuple[Read, ast.expr, str]]:
        """Each read with the chain that its name begins, and the path that this has where the question is asked."""
        chains = [(r, chain_from(r.name)) for reads in self.reads.values() for r in reads]
        return [(r, chain, path_of(chain, r.place, r.rest)) for r, chain in chains]

    def is_op(self, node: ast.AST, op: str) -> bool:
        """The expression is the op; that of a module, by the module's class."""
        called = node.func if isinstance(node, ast.Call) else None
        places = self._places(called) if called is not None and parts_of(called) else []
        return is_op(node, op) or any(
            _library_class(called, p, []).lower() in names_of(op) for p in places if called is not None
        )

    def uses_of(self, leaf: str) -> tuple[set[ast.AST], set[ast.AST]]:
        """The expressions that use a leaf, and those that call the module whose parameter it is; none if not all are known."""
        plain, modules = set[ast.AST](), set[ast.AST]()
        for read, chain, path in self._paths:
            rest = leaf.split(".")[path.count(".") + 1 :]
            if covers(path, leaf) and path != leaf:
                if self._goes_on(chain, read):
                    continue
                if not _is_called(chain) or not _library_class(chain, read.place, rest[:-1]):
                    return set(), set()
                modules.add(chain.parent)  # type: ignore[attr-defined]
            elif covers(leaf, path):
                uses = self.uses(_shortened(chain, path.count(".") - leaf.count(".")))
                if not uses:
                    return set(), set()
                plain |= uses
        return plain, modules

    def is_read_in(self, node: ast.AST) -> bool:
        """Something that leads to the loss is read in it."""
        return any(isinstance(n, ast.Name) and n in self.reads for n in ast.walk(node))

    def is_repeated(self, node: ast.AST) -> bool:
        """It may run an op more than once: in a loop, in a function that is called again, or as a module of many ops."""
        called = node.func if isinstance(node, ast.Call) and parts_of(node.func) else None
        if called is not None and any(_library_class(called, p, []) not in ("", "Linear") for p in self._places(called)):
            return True
        calls = {r.key[1] for n in ast.walk(node) if isinstance(n, ast.Name) for r in self.reads.get(n, ())}
        return len(calls) > 1 or any(_is_in_loop(n) for n in (node, *(call for chain in calls for call in chain)))

    def _goes_on(self, chain: ast.expr, read: Read) -> bool:
        """What is done with its parts is read elsewhere: in the function that is called, or under another name."""
        node = getattr(chain, "parent", None)
        if read.key not in self._followed:
            self._followed[read.key] = isinstance(node, ast.Call) and users_call(node, read.place) is not None
        return self._followed[read.key] or (bool(self.readers.get(read.key)) and not _is_called(chain))

    def _places(self, part: ast.AST) -> list[Place]:
        """Where an expression is read: more than one, if it stands in a function that is called more than once."""
        return [r.place for n in ast.walk(part) if isinstance(n, ast.Name) for r in self.reads.get(n, ())]

    def uses(self, made: ast.AST) -> set[ast.AST]:
        """The expressions that use the value of another; none if not all are known."""
        found, stack, seen = set[ast.AST](), [made], set[ast.AST]()
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            above: ast.AST | None = getattr(node, "parent", None)
            match above:
                case ast.List() | ast.Tuple() | ast.Starred() | ast.keyword() | ast.Await():
                    stack.append(above)
                case ast.BinOp() | ast.UnaryOp() | ast.AugAssign() | ast.Subscript():
                    found.add(above)
                case ast.Attribute(attr=attr) if attr in ATTRIBUTES:
                    pass
                case ast.Attribute():
                    called = getattr(above, "parent", None)
                    found.add(called if isinstance(called, ast.Call) and called.func is above else above)
                case ast.Call():
                    if self._is_users(above):
                        stack += self._read_of(node)
                    else:
                        found.add(above)
                case ast.Assign() | ast.AnnAssign() | ast.Return() | ast.For():
                    stack += self._read_of(node)
                case _:
                    return set()
        return found

    def _is_users(self, call: ast.Call) -> bool:
        """It calls a function of the user's, as seen from any of the places where it runs."""
        return any(users_call(call, place) is not None for place in self._places(call.func))

    def _read_of(self, node: ast.AST) -> Iterator[ast.AST]:
        """Where what was made of it is read: a name, or the call of the function that gave it back."""
        for name in ast.walk(node):
            for read in self.reads.get(name, ()) if isinstance(name, ast.Name) else ():
                for reader in self.readers.get(read.key, ()):
                    chain = chain_from(reader.name)
                    gives_back = isinstance(_statement(node), ast.Return) and _is_called(chain)
                    yield chain.parent if gives_back else reader.name  # type: ignore[attr-defined]


def _is_in_loop(node: ast.AST) -> bool:
    scope = scope_of(node)
    return any(isinstance(p, LOOPS) and scope_of(p) is scope for p in parents(node))


def _statement(node: ast.AST) -> ast.AST:
    return next(n for n in (node, *parents(node)) if isinstance(n, ast.stmt))


def _shortened(chain: ast.expr, more: int) -> ast.expr:
    """The chain without its last parts: `self.w` of `self.w.pow`."""
    for _ in range(more):
        chain = chain.value if isinstance(chain, ast.Attribute | ast.Subscript) else chain
    return chain


def _library_class(called: ast.expr, place: Place, parts: list[str]) -> str:
    """The class of a module of PyTorch's that is called, or of a part of it; "" for what is none, or what nobody knows."""
    made = made_of(called, place)
    for part in [*parts, ""]:
        value = None if made is None else made[0]
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in SAME:
            value = value.func.value
        name = origin(value.func) if isinstance(value, ast.Call) else ""
        if made is None or not isinstance(value, ast.Call) or not name.startswith("torch."):
            return ""
        if not part:
            return name.rpartition(".")[2]
        is_container = name.endswith(CONTAINERS) and part.isdigit() and not any(isinstance(a, ast.Starred) for a in value.args)
        made = (value.args[int(part)], made[1]) if is_container and int(part) < len(value.args) else None
    return ""


def _is_called(chain: ast.expr) -> bool:
    node = getattr(chain, "parent", None)
    return isinstance(node, ast.Call) and node.func is chain


def flow_to(starts: list[Read]) -> Flow | None:
    """What is read on the way to the loss and nothing cuts off; None if that is too much."""
    flow = Flow()
    queue: list[tuple[Read | None, Read]] = [(None, r) for r in starts]
    seen = set[Key]()
    while queue:
        reader, read = queue.pop(0)
        if read.cut is not None and read.cut.is_sure:
            continue
        key = read.key
        if reader is not None:
            flow.readers.setdefault(key, []).append(reader)
        if key not in seen:
            if len(seen) == MOST:
                return None
            seen.add(key)
            flow.reads.setdefault(read.name, []).append(read)
            queue += [(read, r) for r in _all_behind(read)]
    return flow


def _all_behind(read: Read) -> Iterator[Read]:
    """What a name may have been made from, also where a later line may not have run, and in the turn of a loop before."""
    made = assignments(read.name.id, read.statement)
    yield from behind(read)
    for statement in made:
        yield from assigned_from(read, statement)
    if read.call is not None and is_parameter(read.name.id, read.call) and _are_doubtful(made, read.statement):
        yield from behind(read._replace(statement=Statement(read.call.function.body[0])))  # as it was given


def _are_doubtful(made: list[Statement], before: Statement) -> bool:
    return all(may_not_have_run(s.node, before) or position(s.node) >= position(before.node) for s in made)
