"""Makes a document of PyTorch's tensors: what led to them, and what backward would do."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from ....graph import model, surroundings
from ....graph.surroundings import Module
from ....graph.trace import State
from ...shared.modules import CallList, parts_of, together
from ...shared.names import modules_among, names_by_identity
from ...shared.source_code import TensorEvent, names_by_line, place_of, statements
from .boxes import Box, sharers
from .forward import NUMBERS, reason_of, title_named, title_of
from .found_graph import FoundGraph
from .handles import Event, current, is_parameter, version_of
from .nodes import COMPILED, grad_fn_of, grad_of, is_accumulate, is_function, name_of, variable_of, when_made
from .op_log import lines_of
from .reference_op import formulas_of, reference_of, signature_of
from .region_op import RegionOp, placed
from .saved import SavedValue
from .shards import whole_of
from .values import is_plain, outline_of, unseen, value_of


def is_tensor(value: object) -> bool:
    """True for PyTorch's tensors."""
    return isinstance(value, torch.Tensor)


class TorchGraph(FoundGraph):
    """The live graph behind a document of everything that led to the roots; it is `from_core.CoreGraph` for PyTorch's tensors.

    `is_outline`: read elements only of the roots and leaves, and make no formulas; other tensors have shape and dtype.
    `opens`: as in `FoundGraph`. It has the `document` as the graph was when this was built, the live tensor of each id
    (`tensors`), and the id of each live node (`node_ids`).
    """

    @unseen
    def __init__(
        self, roots: Iterable[Any], variables: Mapping[str, Any], is_outline: bool = False, opens: bool = True
    ) -> None:
        super().__init__(roots, opens)
        self._is_outline = is_outline
        self._formulas: dict[Any, dict[str, str]] = {}
        self._values: dict[str, model.Value] = {}
        self._lines = lines_of(self.nodes)
        self._name(variables)
        leaves = [b.tensor for b in self.boxes if b.edge is None and (b.requires_grad or is_parameter(b.tensor))]
        is_recorded = any(e.inside.path for e in self._events)
        models = [] if is_recorded and not self.regions else modules_among(variables)
        models += modules_among({**variables}) if models[:1] and not models[0][0] else []  # others, beside the chosen one
        parts = parts_of(models, leaves)
        self._parts = () if is_recorded else parts
        self._inside = tuple(self._opened({m.path: m for m in parts}))
        self._number()
        self.document = self._document()

    # -- names and ids ------------------------------------------------------------------------------------------------

    def _name(self, variables: Mapping[str, Any]) -> None:
        self.names: dict[Any, str] = {}
        turned = {b.tensor._base: b for b in self.boxes if b.edge is None and b.tensor is not None and _is_turned(b.tensor)}
        for name, tensor in names_by_identity(variables, is_tensor):
            whole = whole_of(tensor) if type(tensor).__name__ == "DTensor" else None  # FSDP holds the tensor as a shard
            box = self.boxes.find(tensor) or self._beside(tensor) or (None if whole is None else self.boxes.find(whole))
            if box is not None:
                if box.edge is not None or box.handle is None:
                    box.tensor = tensor
                self.names.setdefault(self._key(box), name)
            elif tensor in turned:
                self.names.setdefault(self._key(turned[tensor]), f"{name}.T")
        arguments = {self._key(b): called for b in self.boxes if b.handle is not None and (called := b.handle.argument)}
        self._taken = {*variables, *getattr(variables, "chosen", ())}
        counts = Counter([*arguments.values(), *self._taken])
        self.names = {key: name for key, name in arguments.items() if counts[name] == 1} | self.names

    def _name_by_line(self, ops: tuple[model.Op, ...]) -> None:
        """Name tensors that no variable names: see Note [A name by its line]."""
        keys = {id: key for key, id in self.ids.items()}
        makers = {t: op.source for op in ops for t in op.outputs if t is not None}
        places = {id: makers[id] if id in makers else self._place(b) for b in self.ordered for id in (self.id_of(b),)}
        named = {self.ids[key]: name for key, name in self.names.items()}
        found = names_by_line(places, ops, named.keys(), self._taken, {*named.values()})
        self.names |= {keys[id]: name for id, name in found.items()}

    def _beside(self, tensor: torch.Tensor) -> Box | None:
        """The box of a result that is not differentiable and that no op reads. Without a name, it appears where it is saved."""
        handle = None if grad_fn_of(tensor) is not None else current(tensor)
        return self._box_of(handle) if handle is not None and handle.maker in self._events else None

    def _key(self, box: Box) -> Any:
        return box.edge or box.handle or box.tensor

    def _number(self) -> None:
        self._made = when_made(self.nodes, self.edges_of)
        for box in self.boxes:
            node, index = box.edge or (None, 0)
            event = self.event_of(node) if node is not None else box.maker
            if node is None and event is not None:
                index = next((i for i, h in enumerate(event.outputs) if h is box.handle), 0)
            order = event.order if event is not None else (-1, 0) if node is None else self._made[node]
            box.order = (*order, index)
        self.ordered = boxes = sorted(self.boxes, key=lambda b: b.order)
        self.ids = {self._key(b): f"t{i}" for i, b in enumerate(boxes)}
        self.tensors = {f"t{i}": b.tensor for i, b in enumerate(boxes) if b.tensor is not None}
        leaves = {b.tensor: i for i, b in enumerate(boxes) if b.edge is None and b.tensor is not None}
        nodes = sorted(self.nodes, key=lambda n: (n._sequence_nr(), leaves.get(variable_of(n), 0)))
        self.node_ids = {n: f"n{i}" for i, n in enumerate(nodes)}
        ops = [o for o in self.operands if not isinstance(o, Event) or o.inputs]
        ops.sort(key=lambda o: self._made[o] if (event := self._event(o)) is None else event.order)
        self.op_ids = {o: f"o{i}" for i, o in enumerate(ops)}

    def id_of(self, box: Box) -> str:
        """The id of a box."""
        return self.ids[self._key(box)]

    @unseen
    def tensor_id(self, tensor: torch.Tensor) -> str | None:
        """The id of a tensor, or None if it is not part of the graph."""
        box = self.boxes.find(tensor)
        return None if box is None else self.id_of(box)

    def past(self) -> State:
        """Empty: PyTorch does not remember the gradients of a pass."""
        return State()

    # -- the document -------------------------------------------------------------------------------------------------

    def _document(self) -> model.Document:
        rank = {s: i for i, s in enumerate(sorted(n._sequence_nr() for n in self.nodes if not is_accumulate(n)))}
        shares = sharers(self.ordered, self.id_of)
        self._calls = CallList(e.inside.calls for o in self.op_ids if (e := self._event(o)) is not None)
        ops = tuple(self._op(o, id) for o, id in self.op_ids.items())
        self._name_by_line(ops)
        return model.Document(
            tensors=tuple(self._tensor(b, shares) for b in self.ordered),
            ops=ops,
            nodes=tuple(self._node(n, id, rank.get(n._sequence_nr())) for n, id in self.node_ids.items()),
            statements=self._statements(),
            roots=tuple(self.id_of(self.boxes.of(r)) for r in self.roots),
            modules=together((*self._parts, *self._modules(), *self._inside)),
            calls=tuple(self._calls.calls),
        )

    def _opened(self, known: dict[str, Module]) -> Iterator[Module]:
        """The modules in open regions. `known`: the model's modules by path."""
        leaves = {b.tensor: name for b in self.boxes if b.edge is None and (name := self.names.get(self._key(b)))}
        for node, region in self.regions.items():
            event = self.event_of(node)
            inside = event.inside if event is not None and event.inside.modules else None
            yield from placed(region.ops, None if inside is None else inside.path, leaves, known)

    def _modules(self) -> Iterator[Module]:
        for op in self.op_ids:
            event = self._event(op)
            inside = () if event is None else event.inside.modules
            yield from inside
            if inside and not isinstance(op, Event) and type(op).__name__ == COMPILED:
                yield dataclasses.replace(inside[-1], marks=("compiled",))

    def _tensor(self, box: Box, shares: dict[str, tuple[str, ...]]) -> model.Tensor:
        id, t = self.id_of(box), box.tensor
        retains = t is not None and grad_fn_of(t) is not None and t.retains_grad
        grad = None if t is None else grad_of(t)
        is_whole = not self._is_outline or any(t is root for root in self.roots)
        self._values[id] = box.value(self.outputs_of) if is_whole else box.outline(self.outputs_of)
        return model.Tensor(
            id=id,
            name=self.names.get(self._key(box)),
            value=self._values[id],
            grad=None if grad is None else value_of(grad),
            grad_fn=None if box.edge is None else self.node_ids[box.edge[0]],
            output_nr=0 if box.edge is None else box.edge[1],
            is_leaf=box.edge is None,
            requires_grad=box.requires_grad,
            retains_grad=retains,
            version=box.handle.version if box.handle is not None else 0 if t is None else version_of(t),
            source=self._place(box),
            shares=shares.get(id, ()),
            reconstructed=box.known is None and box.handle is None,
        )

    def _place(self, box: Box) -> surroundings.Source | None:
        return None if (event := self._maker(box)) is None else place_of(event.place)

    def _maker(self, box: Box) -> Event | None:
        return self.event_of(box.edge[0]) if box.edge is not None else box.maker

    def _event(self, op: object) -> Event | None:
        return op if isinstance(op, Event) else self.event_of(op)

    def _op(self, op: Any, id: str) -> model.Op:
        event = self._event(op)
        node = None if isinstance(op, Event) else op
        given = self.operands[op]
        operands = tuple(model.Operand(None, o) if isinstance(o, str) else model.Operand(self.id_of(o)) for o in given)
        title = title_of(node) if node is not None else title_named(op.name)
        place = self._lines.get(node) if event is None else place_of(event.place)
        module = "" if event is None else event.inside.path
        outputs = self._outputs(node, event)
        node_id = None if node is None else self.node_ids[node]
        reason = reason_of(node, event, node in self.regions)
        call = None if event is None else self._calls.innermost(event.inside.calls)
        if isinstance(node, RegionOp):
            place, module = node.place, node.path
        broken = self.regions[node].graph_break if node in self.regions else ""
        return model.Op(id, title, operands, outputs, node_id, place, module, event is None, 0, reason, broken, call)

    def _outputs(self, node: object, event: Event | None) -> tuple[str | None, ...]:
        if node is None and event is not None:
            return tuple(self.ids.get(h) for h in event.outputs)
        differentiable = [self.ids.get((node, i)) for i in range(len(self.outputs_of(node)))]
        others = [h for h in event.outputs if h is not None and h.edge is None] if event is not None else []
        return (*differentiable, *(self.ids[h] for h in others if h in self.ids))

    def _node(self, node: Any, id: str, order: int | None) -> model.Node:
        saved = self.saved[node]
        is_op = not is_accumulate(node)
        formulas = self._rules(node, saved) if is_op and not self._is_outline else {}
        leaf = variable_of(node)
        return model.Node(
            id=id,
            name=name_of(node),
            op=self.op_ids.get(node),
            outputs=len(self.outputs_of(node)),
            next_functions=tuple(
                model.NextFunction(None if after is None else self.node_ids[after], i) for after, i in self.edges_of(node)
            ),
            saved=tuple(self._saved(k) for k in saved),
            formulas=tuple(model.Formula(i, text) for i, text in formulas.items()),
            variable=None if leaf is None else self.tensor_id(leaf),
            order=order if is_op else None,
            rule="user" if is_function(node) else "torch" if is_op and not formulas else "",
        )

    def _rules(self, node: object, saved: list[SavedValue]) -> dict[str, str]:
        """The rules of a node in symbols. Nodes with alike saved values share them."""
        if isinstance(node, RegionOp):
            return node.formulas()
        alike = signature_of(node, saved, self.outputs_of)
        if alike not in self._formulas:
            self._formulas[alike] = formulas_of(reference_of(name_of(node), node, saved))
        return self._formulas[alike]

    def _saved(self, kept: SavedValue) -> model.Saved:
        if kept.state in ("none", "freed"):
            return model.Saved(kept.name, kept.state)
        value = kept.value
        if kept.state == "plain":
            return model.Saved(kept.name, "plain", text=repr(value))
        if value is None:
            return model.Saved(kept.name, "kept", version=kept.versions[1] if kept.versions else 0, stale=kept.stale)
        box = self.boxes.find(value)
        is_number = box is None and value.ndim == 0 and kept.name in NUMBERS
        size = value.untyped_storage().nbytes() if is_plain(value) and not is_number else 0
        version = kept.versions[1] if kept.versions else version_of(value)
        id = None if box is None else self.id_of(box)
        is_known = box is not None and box.shows(value)
        shown = self._values[id] if is_known and id is not None else (outline_of if self._is_outline else value_of)(value)
        return model.Saved(kept.name, "kept", shown, id, version=version, stale=kept.stale, bytes=size)

    def _statements(self) -> tuple[model.Statement, ...]:
        made = [(event, self.id_of(b)) for b in self.ordered if (event := self._maker(b)) is not None]
        names = {self.ids[key]: name for key, name in self.names.items()}
        return statements((TensorEvent(e.order, e.place, id, "make") for e, id in made), names.get)


def _is_turned(t: torch.Tensor) -> bool:
    """Is it `weight.T`, which a node of a frozen Linear has saved?"""
    base = None if t.requires_grad or t.dim() != 2 else t._base
    if base is None or not base.is_leaf or base.dim() != 2:
        return False
    return (t.shape, t.stride(), t.storage_offset()) == (base.shape[::-1], base.stride()[::-1], base.storage_offset())
