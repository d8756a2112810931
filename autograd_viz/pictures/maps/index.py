"""A document looked up from all sides: who made a tensor, who uses it, which edges lead to a node."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container, Iterable

from ...graph.model import Document, Node, Tensor
from .numbers import Place, arrival, sent

REARRANGING = {
    "Alias", "AsStrided", "Clone", "Contiguous", "Detach", "Expand", "Permute", "Reshape", "Select", "Slice", "Split",
    "SplitWithSizes", "Squeeze", "T", "Transpose", "Unbind", "UnsafeSplit", "UnsafeView", "Unsqueeze", "View",
}  # fmt: skip

LONGEST = 9  # letters of an argument
# arguments without which an op is not known
DECIDING = {
    **dict.fromkeys(("Softmax", "LogSoftmax", "Logsumexp"), ("dim",)), "Clamp": ("min", "max"), "NativeLayerNorm": ("eps",),
}  # fmt: skip


class Index:
    """What a map asks of a document. `own`: names of parameters that belong to the model itself, where no variable holds it:
    they have no dots.
    """

    def __init__(self, document: Document, own: Container[str] = ()) -> None:
        self.document, self.own = document, own
        self._is_sure = not document.modules or any(op.reason == "exported" for op in document.ops)
        self.tensors: dict[str, Tensor] = {t.id: t for t in document.tensors}
        self.nodes: dict[str, Node] = {n.id: n for n in document.nodes}
        # by tensor, the place of the op that made it
        self.maker = {t: i for i, op in enumerate(document.ops) for t in op.outputs if t is not None}
        # by op, the tensors that it takes
        self.taken = [[self.tensors[o.tensor] for o in op.inputs if o.tensor is not None] for op in document.ops]
        self.users: dict[str, list[int]] = defaultdict(list)  # by tensor, the places of the ops that take it, in their order
        for i, taken in enumerate(self.taken):
            for t in taken:
                self.users[t.id].append(i)
        # do parameters have their names, so that a tensor without one is none?
        self.names_parts = any("." in (t.name or "") for t in document.tensors if t.is_leaf)
        outside = {op.source.function for op in document.ops if op.source is not None and not op.module} - {"forward"}
        outside = {name for name in outside if not name.startswith("<")}  # a lambda, a comprehension
        self.program = outside.pop() if len(outside) == 1 else ""  # the function around all ops in no module, if it is one
        # by node and output, the next_functions that lead there: node and index
        self.edges: dict[tuple[str, int], list[tuple[str, int]]] = defaultdict(list)
        for node in document.nodes:
            for k, f in enumerate(node.next_functions):
                if f.node is not None:
                    self.edges[f.node, f.index].append((node.id, k))
        self._leaves = [(i, t.id) for i, taken in enumerate(self.taken) for t in taken if self.is_part(t)]

    def op_text(self, i: int) -> str:
        """The name of an op, and the argument that decides: `Softmax(dim=0)`."""
        op = self.document.ops[i]
        node = self.nodes.get(op.node or "")
        told = {} if node is None else {s.name: s.text for s in node.saved}
        given = [(name, told.get(name, "")) for name in DECIDING.get(op.name, ())]
        said = ", ".join(f"{name}={text}" for name, text in given if text not in ("", "None") and len(text) <= LONGEST)
        return f"{op.name}({said})" if said else op.name

    def variable(self, i: int) -> str:
        """What the user calls the result of an op; "" of the result of all."""
        names = (self.tensors[t].name or "" for t in self.document.ops[i].outputs if t and t not in self.document.roots)
        return next((name for name in names if name.isidentifier()), "")

    def rearranges(self, i: int) -> bool:
        """Does an op only show the same numbers in another order or shape?"""
        return self.document.ops[i].name in REARRANGING

    def is_part(self, t: Tensor) -> bool:
        """A parameter or buffer: with dots in its name, or one of `own`; without known modules, and of an exported program, any
        leaf that requires grad.
        """
        is_plain = t.name in self.own or (t.requires_grad and self._is_sure)
        return t.is_leaf and t.name is not None and ("." in t.name or is_plain)

    def leaves(self, ops: range) -> list[Tensor]:
        """The parameters and buffers that ops take, each once."""
        first, last = bisect_left(self._leaves, (ops.start, "")), bisect_left(self._leaves, (ops.stop, ""))
        return [self.tensors[id] for id in dict.fromkeys(id for _, id in self._leaves[first:last])]

    def all_of(self, tensor: str) -> tuple[Place, ...]:
        """Where the whole gradient of a tensor is."""
        t = self.tensors[tensor]
        return ((tensor, "grad", 0) if t.grad_fn is None else arrival(t.grad_fn, t.output_nr),)

    def from_users(self, tensor: str, ops: Iterable[int]) -> tuple[Place, ...]:
        """Where that part of it is that came from some of its users; nowhere if several of them send, and others too."""
        t = self.tensors[tensor]
        if t.grad_fn is None:
            return self.all_of(tensor) if set(self.users[tensor]) <= set(ops) else ()
        nodes = {self.document.ops[i].node for i in ops}
        edges = self.edges[t.grad_fn, t.output_nr]
        inside = [edge for edge in edges if edge[0] in nodes]
        if inside and len(inside) == len(edges):
            return self.all_of(tensor)
        return (sent(*inside[0]),) if len(inside) == 1 else ()
