"""The forward pass op by op: what it computed, saved and created."""

from __future__ import annotations

from ... import words
from ...graph.model import Document, Node, Op, Tensor
from ...graph.text import value_text
from .text import first_few, listed, together

FEW = 4  # leaves that are named one by one


class ForwardSentences:
    """Writes the sentences of the ops of one document."""

    def __init__(self, document: Document) -> None:
        self.ops = document.ops
        self.tensors = {t.id: t for t in document.tensors}
        self.nodes = {n.id: n for n in document.nodes}
        made = {id for op in document.ops for id in op.outputs}
        self.given = [t for t in document.tensors if t.id not in made]

    def at(self, position: int) -> str:
        """The last event: -F is before the first of F ops, 0 after the last.

        Raises:
            IndexError: there is no such position.
        """
        done = position + len(self.ops)
        if not 0 <= done <= len(self.ops):
            raise IndexError(f"position {position} is out of range; the forward pass has positions -{len(self.ops)} to 0")
        return self.op(self.ops[done - 1]) if done else self.start()

    def start(self) -> str:
        """The tensors that no op has made."""
        if not self.given:
            return words.NO_LEAVES
        if len(self.given) > FEW:
            wanted = sum(t.requires_grad for t in self.given)
            return words.MANY_LEAVES.format(count=len(self.given), wanted=wanted)
        return words.LEAVES.format(leaves=listed([_leaf(t) for t in self.given]))

    def op(self, op: Op) -> str:
        """What one op did."""
        outputs = [None if id is None else self.tensors[id] for id in op.outputs]
        values = [value_text(t.value) for t in outputs if t is not None]
        node = None if op.node is None else self.nodes[op.node]
        saved = [s.name for s in node.saved if s.state in ("kept", "freed")] if node else []
        if values:
            template = words.COMPUTES_AND_SAVES if saved else words.COMPUTES
        else:
            template = words.RAN_AND_SAVES if saved else words.RAN
        text = template.format(call=self._call(op, outputs), value=listed(values), names=listed(saved))
        if node is not None and node.name == "CopySlices" and values:  # a view was changed, and so its base
            name = next((t.name for t in outputs if t is not None and t.name), words.A_TENSOR)
            text = words.WRITES_THROUGH.format(call=self._call(op, []), name=name, value=listed(values))
        return together([text, self._recorded(op, node, outputs)])

    def _call(self, op: Op, outputs: list[Tensor | None]) -> str:
        """`c = Mul(a, b)`; an unnamed operand is its value."""
        given = [(None if o.tensor is None else self.tensors[o.tensor], o.text) for o in op.inputs]
        operands = [text if t is None else t.name or value_text(t.value) for t, text in given]
        call = f"{op.name}({', '.join(first_few(operands))})"
        names = [t.name if t is not None and t.name else "_" for t in outputs]
        return f"{', '.join(first_few(names))} = {call}" if any(n != "_" for n in names) else call

    def _recorded(self, op: Op, node: Node | None, outputs: list[Tensor | None]) -> str:
        """The node that was created, or why there is none."""
        if node is not None:
            return words.CREATED.format(node=node.name)
        dtypes = [t.value.dtype for t in outputs if t is not None]
        if dtypes and not any(map(is_differentiable, dtypes)):
            return words.NOT_DIFFERENTIABLE.format(dtype=dtypes[0])
        if op.name == "Detach":
            return words.CUT_OFF.format(op=op.name)
        wanted = any(o.tensor is not None and self.tensors[o.tensor].requires_grad for o in op.inputs)
        return words.NOT_RECORDED if wanted else words.NOT_WANTED


def is_differentiable(dtype: str) -> bool:
    """Can tensors of this element type require grad?"""
    return dtype.startswith(("float", "complex", "bfloat"))


def _leaf(tensor: Tensor) -> str:
    text = words.LEAF_WITH_GRAD if tensor.requires_grad else words.LEAF
    return text.format(name=tensor.name or words.A_TENSOR, value=value_text(tensor.value))
