"""Makes a document of the core's tensors: what led to them, and what backward would do."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...graph import model, surroundings
from ...graph.trace import State
from ...twin.core.backward.accumulate_grad import AccumulateGrad
from ...twin.core.backward.node import Node
from ...twin.core.backward.saved import SavedResult, SavedTensor
from ...twin.core.base.provenance import Call
from ...twin.core.function.function_node import BackwardCFunction
from ...twin.core.tensor.former import Overwritten, formers
from ...twin.core.tensor.tensor import Tensor
from ..shared.formulas import RuleTexts
from ..shared.names import names_by_identity
from ..shared.saved import SavedAlike, is_stale, kept_array, kept_bytes, raw_saved, version_of
from ..shared.source_code import TensorEvent, names_by_line, place_of, statements
from ..shared.storages import sharers
from ..shared.values import value_of
from .reach import Versions, identity, reach, scopes_of

# options that are operands: the number in 2 ** x comes before the tensor, in x ** 2 and 2 - x (rsub) after it
NUMBERS = (("self",), ("exponent", "other"))
NOWHERE = model.NextFunction(None, 0)


def is_tensor(value: Any) -> bool:
    """True for the core's tensors."""
    return isinstance(value, Tensor)


def version_now(t: Tensor) -> int:
    """The version counter of a tensor; 0 for an inference tensor."""
    return 0 if t.is_inference() else t._version


def array_of(t: Tensor) -> NDArray[Any] | None:
    """The elements of a tensor; None if they are overwritten."""
    return None if isinstance(t, Overwritten) else np.asarray(t._data)


class CoreGraph:
    """The live graph behind a document: it knows the tensor or node of each id."""

    def __init__(self, roots: Iterable[Tensor], variables: Mapping[str, Any]) -> None:
        self.roots = tuple(roots)
        self.names: dict[Tensor, str] = {}
        self._taken = {*variables, *getattr(variables, "chosen", ())}
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
        paths, self._modules = scopes_of([c.order for c in calls])
        self._paths = dict(zip(calls, paths, strict=True))
        self._sources: dict[Call | Node | None, surroundings.Source | None] = {}
        self._rules, self._alike = RuleTexts(), SavedAlike()
        self._made = defaultdict[Call | Node | None, list[str]](list)
        for id, t in self.tensors.items():
            self._made[t._made_by].append(id)
        self._values = {id: value_of(t) for id, t in self.tensors.items()}
        self._shares = sharers({id: t._data for id, t in self.tensors.items() if not isinstance(t, Overwritten)})
        self.document = self._document()

    def tensor_id(self, tensor: Tensor) -> str | None:
        """The id of a tensor, or None if it is not part of the graph."""
        return self._ids.get(identity(tensor)) if isinstance(tensor, Tensor) else None

    def past(self) -> State:
        """The numbers on the arrows after the last backward pass through this graph."""
        values: dict[str, model.Value | None] = {}
        parts = Counter[tuple[str, int]]()
        passed = [(node, id, node._passed) for node, id in self.node_ids.items() if node._passed]
        for node, id, (_, left, _) in passed:
            for i, ((after, index), g) in enumerate(zip(node.next_functions, left, strict=True)):
                if after is not None and g is not None:
                    values[f"next:{id}.{i}"] = value_of(np.asarray(g))
                    parts[self.node_ids[after], index] += 1
        for node, id, (arrived, _, first) in passed:
            for i, g in enumerate(arrived):
                if g is not None:
                    values |= self._arrived(node, id, i, value_of(np.asarray(g)), parts[id, i], first)
        return State(values)

    def _arrived(self, node: Node, id: str, index: int, value: model.Value, parts: int, first: bool) -> dict[str, model.Value]:
        """Labels at a node's outputs: a sum, a first gradient, and what AccumulateGrad adds."""
        found = {f"sum:{id}.{index}": value} if parts + first > 1 else {}
        if isinstance(node, AccumulateGrad):
            found[f"grad:{id}"] = value
        elif first and parts == 0:
            found |= {f"grad_fn:{self.tensor_id(t)}": value for t in self.roots if t._node is node and t._output_nr == index}
        return found

    def _source(self, call: Call | Node | None) -> surroundings.Source | None:
        """Where an op ran. It is cached, as its result, the op and its statement all ask."""
        if call not in self._sources:
            self._sources[call] = None if call is None else place_of(call.at)
        return self._sources[call]

    def _name(self, id: str) -> str | None:
        return self.names.get(self.tensors[id]) or self._line_names.get(id)

    def _document(self) -> model.Document:
        node_ops: dict[Node, str] = {c.node: i for c, i in self.op_ids.items() if c.node is not None}
        ranked = sorted(n._sequence for n in self.node_ids if not isinstance(n, AccumulateGrad))
        rank = {s: i for i, s in enumerate(ranked)}
        ops = tuple(self._op(c, i) for c, i in self.op_ids.items())
        named = {id: self.names[t] for id, t in self.tensors.items() if t in self.names}
        places = {id: self._source(t._made_by) for id, t in self.tensors.items()}
        self._line_names = names_by_line(places, ops, named.keys(), self._taken, {*named.values()})
        tensors = tuple(self._tensor(t, i) for i, t in self.tensors.items())
        nodes = tuple(self._node(n, i, node_ops.get(n), rank.get(n._sequence)) for n, i in self.node_ids.items())
        roots = tuple(self._ids[identity(t)] for t in self.roots)
        return model.Document(tensors, ops, nodes, self._statements(), roots, self._modules)

    def _tensor(self, t: Tensor, id: str) -> model.Tensor:
        grad, node = None if t._grad is None else value_of(t._grad), None if t._node is None else self.node_ids.get(t._node)
        return model.Tensor(
            id, self._name(id), self._values[id], grad, node, t.output_nr, t._node is None, t.requires_grad, t.retains_grad,
            version=version_now(t), source=self._source(t._made_by), shares=self._shares.get(id, ()),
        )  # fmt: skip

    def _op(self, call: Call | Node, id: str) -> model.Op:
        inputs = [t for t in call.inputs if t is not None]
        operands = [model.Operand(None, str(t.value)) if t._is_number else model.Operand(self._id_at(t, call)) for t in inputs]
        if options := call.options:
            before, after = ([model.Operand(None, str(options[n])) for n in names if n in options] for names in NUMBERS)
            operands = [*before, *operands, *after]
        node = None if call.node is None else self.node_ids.get(call.node)  # None if only the node's indices were used
        return model.Op(id, call.op, tuple(operands), self._outputs(call), node, self._source(call), self._paths[call])

    def _outputs(self, call: Call | Node) -> tuple[str | None, ...]:
        if call.outputs:
            ids = [None if (t := reference()) is None else self._id_at(t, call) for reference in call.outputs]
            count = len(call._outputs_metadata()) if isinstance(call, Node) else len(ids)
            return (*ids[:count], *(id for id in ids[count:] if id is not None))  # the rest is not differentiable
        return tuple(self._made.get(call, ()))

    def _id_at(self, tensor: Tensor, call: Call | Node) -> str | None:
        """The box of a tensor as the call read or made it."""
        if tensor._extra is not None:
            tensor = self._versions.at(tensor, call.order)
        return self._ids.get(identity(tensor)) if isinstance(tensor, Tensor) else None

    def _node(self, n: Node, id: str, op: str | None, order: int | None) -> model.Node:
        kept = raw_saved(n)
        ends = tuple([NOWHERE if m is None else model.NextFunction(self.node_ids[m], i) for m, i in n.next_functions])
        saved = tuple([self._saved(name, value, n) for name, value in kept.items()])
        leaf = self.tensor_id(n.variable) if isinstance(n, AccumulateGrad) else None
        rule = "user" if isinstance(n, BackwardCFunction) else ""
        outputs, rules = len(n._outputs_metadata()), self._rules.of(n, kept)
        return model.Node(id, type(n).__name__, op, outputs, ends, saved, rules, variable=leaf, order=order, rule=rule)

    def _saved(self, name: str, kept: Any, node: Node) -> model.Saved:
        if (known := self._alike.of(name, kept)) is not None:
            return known
        stale, size = is_stale(node, kept), kept_bytes(kept)
        if not isinstance(kept, SavedTensor | Tensor):
            return model.Saved(name, "plain", text=repr(kept), stale=stale, bytes=size)
        array, box = kept_array(kept), self._saved_id(kept, node)
        is_drawn = box is not None and array is self.tensors[box]._data
        value = self._values[box] if box is not None and is_drawn else None if array is None else value_of(array)
        return model.Saved(name, "kept", value, box, version=version_of(kept), stale=stale, bytes=size)

    def _saved_id(self, kept: SavedTensor | Tensor, node: Node) -> str | None:
        """The box of a saved value; None if the document has no box for it."""
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
        events = [TensorEvent(c.order, c.at, id, "make") for id, t in self.tensors.items() if (c := t._made_by) is not None]
        events += [TensorEvent(e.order, e.at, id, e.kind) for id, t in self.tensors.items() for e in t._events]
        return statements(events, self._name)
