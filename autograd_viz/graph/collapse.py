"""A document with each group drawn as one op and one backward node. It is a document again: layout and drawing take it as is.

# Note [What a group hides]
A group hides its ops and nodes, and the results that nothing outside takes; and a leaf, with its AccumulateGrad, if only its
ops take it and no variable names it. What crosses its border stays. An edge out of a group stands for several edges: it carries
what ran along them, the latest last.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .collapsed import Collapsed
from .groups import Group
from .model import Document, Entry, NextFunction, Node, Op, Operand, Tensor

Output = tuple[str, int]  # a node's id, and which output of its op
LONGEST = 39  # letters of a title, as many as the widest box shows


def collapse(document: Document, tree: Group, opened: frozenset[str]) -> Collapsed:
    """Draw every group that is not in `opened` (and whose groups above are) as one box."""
    groups = closed_groups(tree, opened)
    return _Collapse(document, groups).result() if groups else Collapsed(document, document, {}, {}, {})


def closed_groups(tree: Group, opened: frozenset[str]) -> list[Group]:
    """The groups that are drawn, in the order of the program."""
    found, stack = [], [tree]
    while stack:
        group = stack.pop()
        if group.id in opened or group is tree:
            stack += reversed(list(group.groups))
        else:
            found.append(group)
    return found


class _Collapse:
    def __init__(self, document: Document, groups: list[Group]) -> None:
        self.document, self.groups = document, groups
        self.boxes = {g.id for g in groups}
        self.nodes = {n.id: n for n in document.nodes}
        self.group_of: dict[str, Group] = {op.id: g for g in groups for op in document.ops[g.first : g.last]}
        self.maker = {t: op.id for op in document.ops for t in op.outputs if t is not None}
        self.hidden = self._hidden_tensors()
        self._place_nodes()
        self.entries: dict[str, dict[Output, int]] = {g.id: {} for g in groups}
        self.moved: dict[str, str] = {}

    def result(self) -> Collapsed:
        for t in self.document.tensors:
            if t.grad_fn is not None and t.id not in self.hidden:
                self._arrives(t.grad_fn, t.output_nr)
        for node in self.document.nodes:
            for f in node.next_functions:
                if f.node is not None and self.group_of.get(node.id) is not self.group_of.get(f.node):
                    self._arrives(f.node, f.index)
        nodes = self._nodes()
        tensors = tuple(self._tensor(t) for t in self.document.tensors if t.id not in self.hidden)
        ops = tuple(self._ops({n.id for n in nodes}))
        statements = tuple(s for s in self.document.statements if s.tensor not in self.hidden)
        document = Document(tensors, ops, nodes, statements, self.document.roots, self.document.modules)
        ids = {o.id for o in self.document.ops}
        shown = {id: (g.id if id in ids else node_id(g)) for id, g in self.group_of.items()}
        return Collapsed(document, self.document, shown, self.moved, {g.id: g for g in self.groups})

    def _hidden_tensors(self) -> set[str]:
        """See Note [What a group hides]."""
        user: dict[str, str] = {}  # the box that takes a tensor
        apart = set(self.document.roots)  # and the tensors that several boxes take
        for op in self.document.ops:
            box = self._box(op.id)
            for operand in op.inputs:
                if operand.tensor is not None and user.setdefault(operand.tensor, box) != box:
                    apart.add(operand.tensor)
        hidden = set[str]()
        for t in self.document.tensors:
            maker, taker = self.maker.get(t.id), user.get(t.id)
            if maker is not None:
                is_inside = maker in self.group_of and taker in (None, self._box(maker))
            else:
                is_inside = taker in self.boxes and not (t.name or "").isidentifier()
            hidden |= {t.id} if is_inside and t.id not in apart else set()
        return hidden

    def _box(self, op: str) -> str:
        group = self.group_of.get(op)
        return op if group is None else group.id

    def _place_nodes(self) -> None:
        """Place each node where its op is, AccumulateGrad where its leaf is hidden, another node where those before it are."""
        users = {i.tensor: op.id for op in self.document.ops for i in op.inputs if i.tensor in self.hidden}
        before: Group | None = None
        for node in self.document.nodes:
            before = before if node.op is None else self.group_of.get(node.op)
            group = before if node.variable is None else self.group_of.get(users.get(node.variable, ""))
            if group is not None:
                self.group_of[node.id] = group

    def _arrives(self, node: str, index: int) -> None:
        """A gradient arrives at a node from outside its group."""
        if (group := self.group_of.get(node)) is not None:
            entries = self.entries[group.id]
            self.moved[f"sum:{node}.{index}"] = f"sum:{node_id(group)}.{entries.setdefault((node, index), len(entries))}"

    def _end(self, node: str, index: int) -> NextFunction:
        group = self.group_of.get(node)
        return NextFunction(node, index) if group is None else NextFunction(node_id(group), self.entries[group.id][node, index])

    def _nodes(self) -> tuple[Node, ...]:
        """Nodes and groups, each group in the place of its first node."""
        members: dict[str, list[Node]] = {}  # by group, and nodes of none by themselves
        for node in self.document.nodes:
            group = self.group_of.get(node.id)
            members.setdefault(node.id if group is None else group.id, []).append(node)
        return tuple(self._node(nodes[0]) if nodes[0].id == id else self._group_node(nodes) for id, nodes in members.items())

    def _node(self, node: Node) -> Node:
        ends = tuple(f if f.node is None else self._end(f.node, f.index) for f in node.next_functions)
        saved = tuple(replace(s, tensor=None) if s.tensor in self.hidden else s for s in node.saved)
        return replace(node, next_functions=ends, saved=saved)

    def _group_node(self, members: list[Node]) -> Node:
        group = self.group_of[members[0].id]
        exits: dict[NextFunction, int] = {}
        for node in members:
            for i, f in enumerate(node.next_functions):
                if f.node is not None and self.group_of.get(f.node) is not group:
                    place = exits.setdefault(self._end(f.node, f.index), len(exits))
                    self.moved[f"next:{node.id}.{i}"] = f"next:{node_id(group)}.{place}"
        entries = tuple(Entry(self.nodes[node].name, index) for node, index in self.entries[group.id])
        node = Node(node_id(group), group.title, group.id, len(entries), tuple(exits), members=len(members), entries=entries)
        return replace(node, order=min((n.order for n in members if n.order is not None), default=None))

    def _ops(self, nodes: set[str]) -> Iterable[Op]:
        ops, at = self.document.ops, 0
        made = {t.id for t in self.document.tensors if t.id not in self.hidden and t.id in self.maker}
        for group in self.groups:
            yield from ops[at : group.first]
            at = group.last
            inside = ops[group.first : at]
            own = {t for op in inside for t in op.outputs if t is not None}
            given = dict.fromkeys(i.tensor for op in inside for i in op.inputs if i.tensor is not None)
            operands = tuple(Operand(t) for t in given if t not in own and t not in self.hidden)
            outputs = tuple(t for op in inside for t in op.outputs if t in made)
            node = node_id(group) if node_id(group) in nodes else None
            known = all(op.reconstructed for op in inside)
            yield Op(group.id, titled(group), operands, outputs, node, reconstructed=known, members=group.last - group.first)
        yield from ops[at:]

    def _tensor(self, t: Tensor) -> Tensor:
        shares = tuple(s for s in t.shares if s not in self.hidden)
        if t.grad_fn is None:
            return replace(t, shares=shares)
        end = self._end(t.grad_fn, t.output_nr)
        return replace(t, grad_fn=end.node, output_nr=end.index, shares=shares)


def titled(group: Group) -> str:
    """The title of a group's box: `layers.0 … layers.5 · Block × 6`; a long one is `Block × 6`, or the path of a module."""
    count = f" × {group.count:,}" if group.count > 1 else ""
    whole = f"{group.title} · {group.name}{count}" if group.name else f"{group.title}{count}"
    return whole if len(whole) <= LONGEST or not group.name else f"{group.name if count else group.title}{count}"


def node_id(group: Group) -> str:
    """Id of the backward node that stands for a group."""
    return f"b{group.id}"
