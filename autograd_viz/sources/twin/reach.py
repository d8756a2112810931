"""What led to a tensor, in the order of the program: calls, tensors and nodes; in which module or scope each op ran."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from ...graph.surroundings import Module
from ...twin.core.backward.accumulate_grad import AccumulateGrad, gradient_edge
from ...twin.core.backward.node import Node
from ...twin.core.base.provenance import Call
from ...twin.core.base.scopes import Order, Stretch, stretches
from ...twin.core.tensor.former import formers
from ...twin.core.tensor.tensor import Tensor
from ..shared.modules import module_at, together
from ..shared.source_code import place_of

Moment = tuple[int, int]  # Call.order, Node.order


class Versions:
    """Which version of a tensor an op read or made."""

    def __init__(self) -> None:
        self._known: dict[Tensor, tuple[list[Moment], list[Tensor]]] = {}

    def at(self, tensor: Tensor, moment: Moment) -> Tensor:
        """The tensor as it was right after `moment`."""
        if tensor._extra is None or tensor._extra.former is None:
            return tensor
        if tensor not in self._known:
            tensors = [tensor, *(t for t, _ in formers(tensor))][::-1]
            self._known[tensor] = ([_moment(t) for t in tensors[1:]], tensors)
        changed, tensors = self._known[tensor]
        return tensors[bisect_left(changed, (*moment, 1))]  # a change at `moment` itself is the op's own


def _moment(tensor: Tensor) -> Moment:
    return tensor._made_by.order if tensor._made_by is not None else (-1, 0)


def identity(t: Tensor) -> Any:
    """The key that Tensor objects of one box share: an unpacked result is another object for the same output."""
    return t if t._node is None else (t._node, t._output_nr)


def reach(
    roots: tuple[Tensor, ...], prefer: Mapping[Tensor, str], versions: Versions
) -> tuple[list[Call | Node], list[Tensor], list[Node]]:
    """Every call, tensor and backward node that led to the roots, in the order of the program."""
    tensors, calls, nodes = dict[Any, Tensor](), dict[Call | Node, None](), dict[Node, None]()
    for root in roots:
        backward_of(root)  # a view of a changed base gets its grad_fn when it is asked; other tensors have that of their op
    stack: list[Tensor | Node | None] = list(roots)
    while stack:
        item = stack.pop()
        if isinstance(item, Node):
            if item not in nodes:
                nodes[item] = None
                stack += [after for after in item._next if after is not None and after not in nodes]
                if isinstance(item, AccumulateGrad):
                    stack.append(item.variable)
        elif item is not None and not item._is_number:
            key = identity(item)
            known = tensors.get(key)
            if known is None or (known not in prefer and item in prefer):
                tensors[key] = item
            if known is None or known._made_by is None:
                stack += [item._node or backward_of(item), *_behind(item, calls, versions, prefer)]
    in_order = sorted(tensors.values(), key=lambda t: (_moment(t), _place_among_results(t)))
    rank = {identity(t): i for i, t in enumerate(in_order)}
    return (
        sorted((c for c in calls if c.inputs), key=lambda c: c.order),
        in_order,
        sorted(nodes, key=lambda n: (n._sequence, rank[identity(n.variable)] if isinstance(n, AccumulateGrad) else 0)),
    )


def _place_among_results(tensor: Tensor) -> int:
    if tensor._node is not None or tensor._made_by is None:
        return tensor._output_nr
    return next((i for i, reference in enumerate(tensor._made_by.outputs) if reference() is tensor), 0)


def backward_of(tensor: Tensor) -> Node | None:
    """Its grad_fn, or the AccumulateGrad of a leaf."""
    try:
        node: Node | None = gradient_edge(tensor)[0]
    except RuntimeError:  # a view whose grad_fn raises: it is drawn with its last one
        node = tensor._node
    return node


def _behind(tensor: Tensor, calls: dict[Call | Node, None], versions: Versions, prefer: Mapping[Tensor, str]) -> list[Tensor]:
    """What a tensor leads to in the forward graph: the inputs and the other results of the call that made it. A result that is
    not differentiable (indices, a mask) counts only if a variable holds it. As an input it is reached anyway.
    """
    if (call := tensor._made_by) is None or call in calls:
        return []
    calls[call] = None
    results = [t for reference in call.outputs if (t := reference()) is not None]
    siblings = [t for t in results if t._node is not None or not isinstance(call, Node) or t in prefer]
    return [versions.at(t, call.order) for t in (*call.inputs, *siblings) if t is not None]


LATEST: Order = (sys.maxsize, 0)


def scopes_of(orders: Sequence[Order]) -> tuple[list[str], tuple[Module, ...]]:
    """The path of each op, in the order of all ops; and the modules and scopes that ran."""
    waiting = _near(orders)
    open: list[tuple[Stretch, str]] = []
    parts_of = cache(lambda module: {m: name for name, m in module.named_modules()})
    paths, modules = [], list[Module]()
    for order in orders:
        while waiting and waiting[-1].begin < order:
            stretch = waiting.pop()
            _leave(open, stretch.begin)
            name = stretch.name if stretch.module is None else _name(stretch.module(), open, parts_of)
            path = ".".join(filter(None, (open[-1][1] if open else "", name)))
            if not stretch.is_checkpoint:
                modules.append(_module(stretch, path, is_checkpointed=bool(open) and open[-1][0].is_checkpoint))
            open.append((stretch, path))
        _leave(open, order)
        paths.append(open[-1][1] if open else "")
    used = {path[:end] for path in set(paths) for end in (0, *(i for i, c in enumerate(path) if c == "."), len(path))}
    return paths, together(m for m in modules if m.path in used or m.marks)


def _near(orders: Sequence[Order]) -> list[Stretch]:
    """The stretches around and between ops, the last first. A Function's op comes after the ops inside it."""
    near = list[Stretch]()
    for stretch in reversed(stretches) if orders else ():
        if stretch.outermost is None and (stretch.end or LATEST) <= orders[0]:
            break  # and with it all that began before
        if stretch.begin < orders[-1]:
            near.append(stretch)
    while near and (near[-1].end or LATEST) <= orders[0]:
        near.pop()
    return near


def _module(stretch: Stretch, path: str, is_checkpointed: bool) -> Module:
    module = None if stretch.module is None else stretch.module()
    marks = ("checkpointed",) if is_checkpointed else ()
    return Module(path, marks=marks) if module is None else module_at(path, module, marks, place_of(stretch.at))


def _leave(open: list[tuple[Stretch, str]], order: Order) -> None:
    while open and (open[-1][0].end or LATEST) < order:
        open.pop()


def _name(module: Any, open: list[tuple[Stretch, str]], parts_of: Callable[[Any], dict[Any, str]]) -> str:
    """Its name in the innermost open module; a module without a caller has none."""
    callers = [s.module() for s, _ in open if s.module is not None]
    if module is None or not callers or callers[-1] is None:
        return ""
    return parts_of(callers[-1]).get(module, type(module).__name__)
