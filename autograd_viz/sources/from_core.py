"""A document from the core's tensors: what led to them, and what backward would do."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..core.accumulate_grad import AccumulateGrad
from ..core.former import Overwritten, formers
from ..core.function_node import BackwardCFunction
from ..core.node import Node
from ..core.printing import values_text
from ..core.provenance import Call
from ..core.saved import FREED, SavedResult, SavedTensor
from ..core.tensor import Tensor
from ..graph import model
from ..graph.trace import State
from .formulas import symbolic_formulas
from .kept import is_stale, kept_array, kept_bytes, raw_saved, version_of
from .memory import sharers
from .names import names_by_identity
from .reach import identity, reach
from .scopes import scope_paths
from .statements import Happened, place_of, statements
from .summary import summary_of
from .versions import Versions

# options that are operands: the number in 2 ** x stands before the tensor, those in x ** 2 and 2 - x (rsub) after it
NUMBERS = (("self",), ("exponent", "other"))
FEW = 64  # arrays up to this size keep their numbers in the document


def is_tensor(value: Any) -> bool:
    """True for the core's tensors."""
    return isinstance(value, Tensor)


dtype_text = functools.cache(str)  # NumPy writes "float64" anew each time it is asked


def value_of(array: Any, dtype: str = "") -> model.Value:
    """What a picture needs of a NumPy array; `dtype`: what to call its type, if not by NumPy's name."""
    if isinstance(array, Overwritten):
        return model.Value(tuple(array.shape), dtype_text(array._data.dtype), "overwritten")
    if isinstance(array, Tensor):
        array = array._data
    dtype = dtype or dtype_text(array.dtype)
    if array.size > FEW:
        return model.Value(tuple(array.shape), dtype, _ends(array), summary=summary_of(array))
    text = " ".join(values_text(array).split())
    return model.Value(tuple(array.shape), dtype, text, tuple(array.reshape(-1).tolist()))


def version_now(t: Tensor) -> int:
    """How often a tensor has been changed in place by now; inference tensors do not count."""
    return 0 if t.is_inference() else t._version


def _ends(array: Any) -> str:
    """``[[1.5000, ..., 0.2500]]``: what nobody reads need not be written."""
    ends = np.array([array.item(0), array.item(-1)], array.dtype)
    first, last = values_text(ends)[1:-1].split(",")
    return f"{'[' * array.ndim}{first.strip()}, ..., {last.strip()}{']' * array.ndim}"


class CoreGraph:
    """The live graph behind a document: it knows which tensor and which node each id stands for.

    Args:
        roots: where to start; everything that led to them is in the graph.
        variables: the caller's names.

    Attributes:
        document: the graph as it was when this was built.
        tensors: the live tensor of each id.
        node_ids: the id of each live node.
    """

    def __init__(self, roots: Iterable[Tensor], variables: Mapping[str, Any]) -> None:
        self.roots = tuple(roots)
        self.names: dict[Tensor, str] = {}
        for name, tensor in names_by_identity(variables, is_tensor):
            self.names.setdefault(tensor, name)
            for former, version in formers(tensor):
                self.names.setdefault(former, f"{name} (v{version})")
        self._versions = Versions()
        calls, tensors, nodes = reach(self.roots, self.names, self._versions)
        self.tensors = {f"t{i}": t for i, t in enumerate(tensors)}
        self._ids = {identity(t): id for id, t in self.tensors.items()}
        self.node_ids = {n: f"n{i}" for i, n in enumerate(nodes)}
        self.op_ids = {c: f"o{i}" for i, c in enumerate(calls)}
        self._paths = dict(zip(calls, scope_paths([c.order for c in calls]), strict=True))
        self._made: dict[Call | Node, tuple[str, ...]] = {}
        for id, t in self.tensors.items():
            if t._made_by is not None:
                self._made[t._made_by] = (*self._made.get(t._made_by, ()), id)
        self._values = {id: value_of(t) for id, t in self.tensors.items()}
        self._shares = sharers({id: t._data for id, t in self.tensors.items() if not isinstance(t, Overwritten)})
        self.document = self._document()

    def tensor_id(self, tensor: Tensor) -> str | None:
        """The id of a tensor, or None if it is not part of the graph."""
        return self._ids.get(identity(tensor))

    def past(self) -> State:
        """The numbers on the arrows after the last backward pass through this graph."""
        values: dict[str, model.Value | None] = {}
        parts: dict[tuple[str, int], int] = {}
        for node, id in self.node_ids.items():
            for i, ((after, index), g) in enumerate(_passed_on(node)):
                if after is not None and g is not None:
                    values[f"next:{id}.{i}"] = value_of(np.asarray(g))
                    parts[self.node_ids[after], index] = parts.get((self.node_ids[after], index), 0) + 1
        for node, id in self.node_ids.items():
            for i, g in enumerate(node._passed[0] if node._passed else ()):
                if g is not None:
                    first = node._passed is not None and node._passed[2]
                    values |= self._arrived(node, id, i, value_of(np.asarray(g)), parts.get((id, i), 0), first)
        return State(values)

    def _arrived(self, node: Node, id: str, index: int, value: model.Value, parts: int, first: bool) -> dict[str, model.Value]:
        """Labels before a node: a sum, a first gradient, and what AccumulateGrad hands on."""
        found = {f"sum:{id}.{index}": value} if parts + first > 1 else {}
        if isinstance(node, AccumulateGrad):
            found[f"grad:{id}"] = value
        elif first and parts == 0:
            found |= {f"grad_fn:{self.tensor_id(t)}": value for t in self.roots if t._grad_fn is node and t._output_nr == index}
        return found

    def _name(self, id: str) -> str | None:
        return self.names.get(self.tensors[id])

    def _document(self) -> model.Document:
        node_ops: dict[Node, str] = {c.node: i for c, i in self.op_ids.items() if c.node is not None}
        ranked = sorted(n._sequence for n in self.node_ids if not isinstance(n, AccumulateGrad))
        rank = {s: i for i, s in enumerate(ranked)}
        return model.Document(
            tensors=tuple(self._tensor(t, i) for i, t in self.tensors.items()),
            ops=tuple(self._op(c, i) for c, i in self.op_ids.items()),
            nodes=tuple(self._node(n, i, node_ops.get(n), rank.get(n._sequence)) for n, i in self.node_ids.items()),
            statements=self._statements(),
            roots=tuple(self._ids[identity(t)] for t in self.roots),
        )

    def _tensor(self, t: Tensor, id: str) -> model.Tensor:
        return model.Tensor(
            id=id,
            name=self._name(id),
            value=self._values[id],
            grad=None if t._grad is None else value_of(t._grad),
            grad_fn=None if t._grad_fn is None else self.node_ids.get(t._grad_fn),
            output_nr=t.output_nr,
            is_leaf=t._grad_fn is None,
            requires_grad=t.requires_grad,
            retains_grad=t.retains_grad,
            version=version_now(t),
            source=place_of(t._made_by.at) if t._made_by else None,
            shares=self._shares.get(id, ()),
        )

    def _op(self, call: Call | Node, id: str) -> model.Op:
        operands = tuple(
            model.Operand(None, str(t.item())) if t._is_number else model.Operand(self._id_at(t, call))
            for t in call.inputs
            if t is not None
        )
        before, after = ([model.Operand(None, str(call.options[n])) for n in names if n in call.options] for names in NUMBERS)
        node = None if call.node is None else self.node_ids.get(call.node)  # None for one whose indices alone were used
        operands = (*before, *operands, *after)
        return model.Op(id, call.op, operands, self._outputs(call), node, place_of(call.at), self._paths[call])

    def _outputs(self, call: Call | Node) -> tuple[str | None, ...]:
        if call.outputs:
            alive = [reference() for reference in call.outputs]
            ids = [None if t is None else self._id_at(t, call) for t in alive]
            count = len(call._outputs_metadata()) if isinstance(call, Node) else len(ids)
            return (*ids[:count], *(id for id in ids[count:] if id is not None))  # others are not differentiable
        return self._made.get(call, ())

    def _id_at(self, tensor: Tensor, call: Call | Node) -> str | None:
        """The box of the tensor that the call read or made."""
        return self.tensor_id(self._versions.at(tensor, call.order))

    def _node(self, n: Node, id: str, op: str | None, order: int | None) -> model.Node:
        return model.Node(
            id=id,
            name=type(n).__name__,
            op=op,
            outputs=len(n._outputs_metadata()),
            next_functions=tuple(
                model.NextFunction(None if after is None else self.node_ids[after], index) for after, index in n.next_functions
            ),
            saved=tuple(self._saved(name, kept, n) for name, kept in raw_saved(n).items()),
            formulas=tuple(model.Formula(i, text) for i, text in symbolic_formulas(n).items()),
            variable=self.tensor_id(n.variable) if isinstance(n, AccumulateGrad) else None,
            order=order,
            rule="user" if isinstance(n, BackwardCFunction) else "",
        )

    def _saved(self, name: str, kept: Any, node: Node) -> model.Saved:
        if kept is None:
            return model.Saved(name, "none")
        if kept is FREED:
            return model.Saved(name, "freed")
        stale, size = is_stale(node, kept), kept_bytes(kept)
        if not isinstance(kept, SavedTensor | Tensor):
            return model.Saved(name, "plain", text=repr(kept), stale=stale, bytes=size)
        array, box = kept_array(kept), self._saved_id(kept, node)
        if box is not None and array is self.tensors[box]._data:
            value: model.Value | None = self._values[box]
        else:
            value = None if array is None else value_of(array)
        return model.Saved(name, "kept", value, box, version=version_of(kept), stale=stale, bytes=size)

    def _saved_id(self, kept: SavedTensor | Tensor, node: Node) -> str | None:
        """The box of what is kept; None if it is none of the document's."""
        if isinstance(kept, Tensor):
            return self.tensor_id(kept)
        if kept.output_nr is not None:
            return self._ids.get((node, kept.output_nr))
        if isinstance(kept, SavedResult):  # not differentiable: indices, a mask
            results = (reference() for reference in node.outputs)
            return next((self.tensor_id(t) for t in results if t is not None and t._data is kept.data), None)
        tensor = kept.tensor if isinstance(kept.tensor, Tensor) else kept.tensor.same()
        return None if tensor is None else self.tensor_id(tensor)

    def _statements(self) -> tuple[model.Statement, ...]:
        happened = []
        for id, t in self.tensors.items():
            if t._made_by is not None:
                happened.append(Happened(t._made_by.order, t._made_by.at, id, "make"))
            happened += [Happened(e.order, e.at, id, e.kind) for e in t._events]
        return statements(happened, self._name)


def _passed_on(node: Node) -> Iterator[tuple[Any, Any]]:
    """The edges of a node with the gradients that last went along them."""
    return zip(node.next_functions, node._passed[1], strict=True) if node._passed else iter(())
