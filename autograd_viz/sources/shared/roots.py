"""Which graph a question about a tensor means: the roots, among the caller's variables, that lead to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

MOST_ROOTS = 8  # graphs that are searched if the loss is not named


class Access(NamedTuple):
    """How to ask a tensor, or a backward node, of one framework.

    Attributes:
        grad_fn: the backward node of a tensor, None for a leaf.
        end: the node at which the gradient of a tensor arrives; None if there is none.
        after: the nodes that a node sends gradients to.
        order: rises with the time at which a node was made.
        size: how many elements a tensor has.
        passes: when backward() was called on a tensor, if that is remembered.
        is_computed: may the tensor be a loss outside every graph?
    """

    grad_fn: Callable[[Any], Any]
    end: Callable[[Any], Any]
    after: Callable[[Any], Iterable[Any]]
    order: Callable[[Any], int]
    size: Callable[[Any], int]
    passes: Callable[[Any], list[Any]]
    is_computed: Callable[[Any], bool]


def roots_among(tensor: Any, known: list[Any], access: Access) -> tuple[Any, ...]:
    """The roots that the tensor's gradient would come from.

    Those that lead to the tensor; else the one on which backward() was called last; else what looks like a loss.

    Args:
        tensor: the tensor in question.
        known: the caller's tensors.
        access: how to ask them.
    """
    others = [t for t in dict.fromkeys(known) if t is not tensor]
    made = [t for t in others if access.grad_fn(t) is not None]
    ends, leads = _ends(made, access.end(tensor), access)
    mine = [t for t in ends if access.grad_fn(t) in leads]
    if not mine and access.passes(tensor):
        return (tensor,)
    asked = _latest_asked(ends, access)
    found = _most_likely(mine, access) or asked or [t for t in _most_likely(ends, access)[-1:] if access.size(t) == 1]
    return tuple((found or [t for t in others if access.is_computed(t)][-1:])[-MOST_ROOTS:])


def _latest_asked(tensors: list[Any], access: Access) -> list[Any]:
    """The tensor on which backward() was called last, if there is one."""
    asked = [(order, i) for i, t in enumerate(tensors) for order in access.passes(t)]
    return [tensors[max(asked)[1]]] if asked else []


def _most_likely(ends: list[Any], access: Access) -> list[Any]:
    """The one on which backward() was called last, else those of one element, else all; the latest last."""
    found = sorted(ends, key=lambda t: access.order(access.grad_fn(t)))
    return _latest_asked(found, access) or [t for t in found if access.size(t) == 1] or found


def _ends(made: list[Any], target: Any, access: Access) -> tuple[list[Any], set[Any]]:
    """The tensors whose nodes no other tensor's node leads to, and all nodes that lead to the target."""
    senders: dict[Any, list[Any]] = {}
    stack = [access.grad_fn(t) for t in made]
    seen = set(stack)
    while stack:
        node = stack.pop()
        for after in access.after(node):
            senders.setdefault(after, []).append(node)
            if after not in seen:
                seen.add(after)
                stack.append(after)
    leads: set[Any] = set()
    back = list(senders.get(target, ())) if target is not None else []
    while back:
        node = back.pop()
        if node not in leads:
            leads.add(node)
            back += senders.get(node, ())
    return [t for t in made if access.grad_fn(t) not in senders], leads
