"""Paths through the ops that ran: which led to what, and where one lost its history."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .history import Op

CUTS = ("op", "no_grad", "inference")


def is_op(thing: Any) -> bool:
    """Is it an op, not a leaf?"""
    return hasattr(thing, "given")


def behind(starts: Iterable[Op]) -> list[Op]:
    """These ops, and all whose results led to them. Paths through detached tensors count."""
    found = dict.fromkeys(starts)
    stack = list(found)
    while stack:
        for given in stack.pop().given:
            if is_op(given) and given not in found:
                found[given] = None
                stack.append(given)
    return list(found)


def leading_from(leaf: Any, ops: list[Op]) -> set[Op]:
    """Those of the ops that a leaf, or a result, led to."""
    users: dict[Any, list[Op]] = {}
    found = set()
    for op in ops:
        for given in op.given:
            if is_op(given):
                users.setdefault(given, []).append(op)
            elif given is leaf:
                found.add(op)
    found |= {op for op in ops if op is leaf}
    stack = list(found)
    while stack:
        for user in users.get(stack.pop(), ()):
            if user not in found:
                found.add(user)
                stack.append(user)
    return found


def with_history(starts: Iterable[Op]) -> set[Op]:
    """The ops that a gradient reaches from these; it stops where a tensor was detached."""
    found = {op for op in starts if not op.cut}
    stack = list(found)
    while stack:
        for given in stack.pop().given:
            if is_op(given) and not given.cut and given not in found:
                found.add(given)
                stack.append(given)
    return found


def reaches(root: Op, leaf: Any) -> bool:
    """Does a gradient of the root reach the leaf, or the result of an op?"""
    there = with_history([root])
    return leaf in there if is_op(leaf) else any(g is leaf for op in there for g in op.given)


def cuts_between(root: Op, leaf: Any) -> list[Op]:
    """The ops where paths from the leaf to the root lost their history, the nearest to the root first."""
    ops = behind([root])
    led = leading_from(leaf, ops)
    found = [op for op in ops if op in led and op.cut in CUTS]
    return sorted(_frontier(found, root), key=lambda op: op.number, reverse=True)


def _frontier(cuts: list[Op], root: Op) -> list[Op]:
    """Those of these ops that a gradient of the root reaches first; else all."""
    reached = with_history([root]) if not root.cut else set()
    near = set()
    stack = [g for op in (reached or [root]) for g in op.given if is_op(g) and g.cut]
    stack += [root] if root.cut else []
    seen = set(stack)
    while stack:
        op = stack.pop()
        if op.cut in CUTS:
            near.add(op)
            continue
        new = [g for g in op.given if is_op(g) and g.cut and g not in seen]
        seen.update(new)
        stack += new
    return [op for op in cuts if op in near] or cuts


def origins(op: Op) -> list[Op]:
    """The ops where what led here lost its history, the nearest first."""
    return sorted(_frontier([o for o in behind([op]) if o.cut in CUTS], op), key=lambda o: o.number, reverse=True)
