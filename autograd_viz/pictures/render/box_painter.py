"""The boxes of a picture: tensors, ops, nodes, and their contents."""

from __future__ import annotations

from dataclasses import replace

from ... import words
from ...graph.model import Entry, Node, Op, Tensor
from ...graph.text import shape_text
from ..layout.geometry import Box
from ..layout.measure import ADVANCE, MOST_COLUMNS, accumulate_title, columns, count_text, op_title, title_of
from .escape import element, text
from .pen import PALE, Pen, tensor_kind
from .writer import Lines, Run, clipped, entry_of, node_title, path_clipped, why_unseen

STACK = 5.0  # px: offset of a group's second outline, like stacked cards


class BoxPainter(Pen):
    """Draws boxes."""

    def kind(self, box: Box) -> str:
        """The colour of a box: green, yellow, brown or blue."""
        if box.kind == "tensor":
            return tensor_kind(self.tensors[box.id])
        if box.kind == "op":
            return "brown" if self.ops[box.id].node is not None else "yellow"
        return "blue"

    def box(self, box: Box) -> str:
        """A box with its title and rows."""
        known: Op | Node | None = self.ops.get(box.id) or self.nodes.get(box.id)
        is_group = known is not None and known.members > 0
        behind = [self.outline(replace(box, x=box.x + STACK, y=box.y + STACK))] if is_group else []
        content = [element("title", text(self.badge(box))), *behind, self.outline(box)]
        content += getattr(self, f"{box.kind}_content")(box)
        lit = " lit" if box.id == self.lit else ""
        faint = self.faint(box.id)
        return element("g", "".join(content), class_=f"{box.kind} {self.kind(box)}{lit}", opacity=faint, data_at=box.id)

    def is_reconstructed(self, box: Box) -> bool:
        """Is it known from the backward graph only?"""
        known: Tensor | Op | None = self.tensors.get(box.id) or self.ops.get(box.id)
        return known is not None and known.reconstructed

    def badge(self, box: Box) -> str:
        """A box in words: as a tooltip, and for readers who cannot see colours."""
        reason = why_unseen(self.ops.get(box.id))
        known = words.BOX_RECONSTRUCTED if self.is_reconstructed(box) else ""
        known += words.BOX_UNREACHED if box.id in self.unreached else ""
        return self.what(box) + known + (words.BOX_REASON.format(reason=reason) if reason else "")

    def what(self, box: Box) -> str:
        """A box in words."""
        if box.kind == "tensor":
            t = self.tensors[box.id]
            kind = words.BOX_NON_LEAF if not t.is_leaf else words.BOX_LEAF if t.requires_grad else words.BOX_CONSTANT
            name = t.name or words.BOX_UNNAMED
            return words.BOX_TENSOR.format(name=name, kind=kind, shape=shape_text(t.value.shape), dtype=t.value.dtype)
        if box.kind == "op":
            op = self.ops[box.id]
            said = words.BOX_OP_GROUP if op.members else words.BOX_OP
            return said.format(name=op_title(op), count=op.members) + ("" if op.node else words.BOX_NOT_RECORDED)
        if box.kind == "ctx":
            return words.BOX_CTX
        node = self.nodes[box.id]
        return (words.BOX_NODE_GROUP if node.members else words.BOX_NODE).format(name=node.name, count=node.members)

    def outline(self, box: Box) -> str:
        """The outline of a box. Sharp corners: a tensor; rounded: a function; round: ctx. Dashed: takes no part in autograd.
        Dotted: nobody saw it; the backward graph shows that it existed. Pale and dashed: a node that a pass from the roots does
        not call.
        """
        kind = self.kind(box)
        radius = {"tensor": 0, "ctx": box.h / 2, "node": self.sizes.corner}.get(box.kind, 12)
        width = {"tensor": 3.0, "op": 3.0 if kind == "brown" else 2.0}.get(box.kind, 2.5)
        pale = PALE if box.id in self.unreached and box.id != self.lit else None
        dashes = "2 4" if self.is_reconstructed(box) else "7 4" if kind == "yellow" or pale else None
        stroke, role = self.colour[f"{kind}-stroke"], f"s-{kind}"
        if box.id == self.lit:
            stroke, role, width = self.colour["grad"], "s-grad", 5.0
        return element(
            "rect", x=box.x, y=box.y, width=box.w, height=box.h, rx=radius or None, fill=self.colour[f"{kind}-fill"],
            fill_opacity=pale, stroke=stroke, stroke_width=width, stroke_dasharray=dashes, class_=f"outline f-{kind} {role}",
        )  # fmt: skip

    def tensor_content(self, box: Box) -> list[str]:
        """The name and five rows."""
        name = title_of(self.tensors[box.id], self.sizes)
        size = min(self.sizes.name, max(11.0, (box.w - 20) / (max(1, columns(name)) * ADVANCE)))
        clear = path_clipped(name, int((box.w - 16) / size / ADVANCE))
        title = self.text(box.x + box.w / 2, box.y + self.sizes.name_y, [Run(clear)], size, "middle")
        return [title, *(self.row(box, row, f"{box.id}.{row.key}") for row in box.rows)]

    def op_content(self, box: Box) -> list[str]:
        """The op's name, and the save row if its node keeps a tensor."""
        title = clipped(op_title(self.ops[box.id]), int((box.w - 10) / self.sizes.title / ADVANCE))
        members = self.ops[box.id].members
        counted = words.PICTURE_OP if members == 1 else words.PICTURE_OPS.format(count=members)
        inside = counted if members else f"ctx.save_for_backward({'...' if self.sizes.closes else '…'})"
        rows = [self.row(box, row, "", ((Run(inside),),), radius=10, middle=True) for row in box.rows]
        return [self.title(box, title), *rows]

    def ctx_content(self, box: Box) -> list[str]:
        """One word."""
        return [self.title(box, "ctx")]

    def node_content(self, box: Box) -> list[str]:
        """Name, saved tensors, next_functions."""
        node = self.nodes[box.id]
        name = clipped(node_title(node.name, self.theme), int((box.w - 12) / self.sizes.title / ADVANCE))
        parts = [self.title(box, name)]
        for row in box.rows:
            if row.key in ("saved", "called"):
                parts.append(self.row(box, row, f"{box.id}.{row.key}", radius=6))
            else:
                lines, s = self.next_functions(node), self.sizes
                parts.append(self.row(box, row, "", lines, radius=10, pitch=s.line, top=s.first))
        return parts

    def title(self, box: Box, name: str) -> str:
        """The title of an op, a ctx or a node."""
        y = self.sizes.title_y if box.rows else box.h / 2 + 5
        return self.text(box.x + box.w / 2, box.y + y, [Run(name)], self.sizes.title, "middle")

    def accumulate_content(self, box: Box) -> list[str]:
        """The word `variable`, and its leaf."""
        node = self.nodes[box.id]
        variable = self.tensors[node.variable].name if node.variable else None
        room = MOST_COLUMNS - len("variable = ")
        word = f"variable = {path_clipped(variable, room)}" if variable and self.theme.pytorch_words else "variable"
        parts = [self.title(box, accumulate_title(node, self.tensors.get(node.variable or ""), self.sizes))]
        return parts + [self.row(box, row, "", ((Run(word),),), radius=6, middle=True) for row in box.rows]

    def next_functions(self, node: Node) -> Lines:
        """The tuple of tuples, one per line."""
        opening, closing = "()" if self.theme.pytorch_words else "[]"
        lines, last = [(Run(f"next_functions = {opening}"),)], len(node.next_functions) - 1
        for i, f in enumerate(node.next_functions):
            end = entry_of(self.nodes[f.node], f.index) if f.node else Entry("None", f.index)
            name, index = clipped(node_title(end.name, self.theme), 16), "…" if end.index is None else end.index
            comma = "," * (i < last or (last == 0 and self.theme.pytorch_words))
            lines.append((Run(f"  ({name}, {index}) {count_text(f.count)}".rstrip() + comma),))
        return (*lines, (Run(closing),)) if self.sizes.closes else (*lines[:-1], (Run(f"{lines[-1][0].text}{closing}"),))
