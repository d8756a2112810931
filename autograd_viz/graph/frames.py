"""Which boxes stand in which open group. They are what its one box would hide (collapse.py, Note [What a group hides])."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

from .collapse import node_id, titled
from .collapsed import Collapsed
from .groups import Group
from .guess import common
from .model import Document

Chain = tuple[str, ...]  # ids of open groups, each in the one before it
QUIET = ("all", "crowd")  # kinds of groups without a frame


@dataclass(frozen=True, slots=True)
class OpenGroup:
    """A group whose contents are drawn."""

    id: str
    title: str  # id, title: the group's
    members: frozenset[str]  # ids of its ops, nodes and tensors, as they are drawn
    height: int = 1  # the nesting depth of frames in it, its own included: 1 for an innermost one


def open_groups(shown: Collapsed, tree: Group, opened: Set[str] | None) -> tuple[OpenGroup, ...]:
    """The open groups of a picture, each after those around it. `opened`: None if nobody has closed any: only modules."""
    chains: dict[str, Chain] = {}
    titles: dict[str, str] = {}
    for group, chain in _walked(tree, opened):
        if chain and chain[-1] == group.id:
            titles[group.id] = titled(group)
        if opened is None or group.id in opened or group is tree:
            chains |= {shown.whole.ops[i].id: chain for i in group.items if isinstance(i, int)}
        else:
            chains |= {group.id: chain, node_id(group): chain}
    members: dict[str, set[str]] = {id: set() for id in titles}
    heights = dict.fromkeys(titles, 1)
    for id, chain in _with_tensors(shown.document, chains):
        for height, group_id in enumerate(reversed(chain), 1):
            members[group_id].add(id)
            heights[group_id] = max(heights[group_id], height)
    return tuple(OpenGroup(id, titles[id], frozenset(inside), heights[id]) for id, inside in members.items() if inside)


def _walked(tree: Group, opened: Set[str] | None) -> Iterator[tuple[Group, Chain]]:
    """Open groups and the closed ones in them, each with the framed groups around it. A framed group is the last of its own."""
    stack: list[tuple[Group, Chain]] = [(tree, ())]
    while stack:
        group, chain = stack.pop()
        is_open = opened is None or group.id in opened or group is tree
        is_framed = group.kind == "module" if opened is None else is_open and group.kind not in QUIET
        chain = (*chain, group.id) if is_framed else chain
        yield group, chain
        if is_open:
            stack += [(inner, chain) for inner in reversed(list(group.groups))]


def _with_tensors(document: Document, chains: dict[str, Chain]) -> Iterator[tuple[str, Chain]]:
    """Everything that is drawn in a group. It has a tensor if only its ops make and take it, and no variable names a leaf."""
    of: dict[str | None, Chain] = {}
    for op in document.ops:
        around = chains.get(op.id, ())
        for id in [*op.outputs, *(i.tensor for i in op.inputs)]:
            of[id] = common([of.get(id, around), around])
    users = {i.tensor for op in document.ops for i in op.inputs}
    for t in document.tensors:
        is_variable = t.is_leaf and t.name is not None and t.name.isidentifier()
        if t.id in of and t.id in users and t.id not in document.roots and not is_variable:
            yield t.id, of[t.id]
        else:
            of[t.id] = ()
    yield from ((op.id, chains.get(op.id, ())) for op in document.ops)
    for node in document.nodes:
        around = chains.get(node.op or node.id, ()) if node.variable is None else of.get(node.variable, ())
        yield node.id, around
