"""An exported program (`torch.export.ExportedProgram`) as a document: the ops of its forward pass.

No pass has run. So there are no nodes, and only parameters, buffers and constants have elements.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import torch
from torch.fx.node import map_arg

from ....graph import model
from ....graph.surroundings import Module
from ...shared.modules import together
from . import compiled
from .forward import NUMBERS, title_named
from .values import dtype_name, outline_of, unseen, value_of

RESULTS = {"USER_OUTPUT", "LOSS_OUTPUT"}  # kinds of outputs; others are gradients, and buffers that change


class Place(NamedTuple):
    """A tensor of the graph: the op or placeholder that gives it, and which of its results it is."""

    node: Any
    nr: int


@unseen
def exported_document(program: Any, is_outline: bool) -> model.Document:
    """The document of an exported program. `is_outline`: elements are not read."""
    return _Exported(program, is_outline).document()


class _Exported:
    """What a program's graph says."""

    def __init__(self, program: Any, is_outline: bool) -> None:
        self._held = {**getattr(program, "constants", {}), **program.state_dict}
        self._value = outline_of if is_outline else value_of
        signature, nodes = program.graph_signature, program.graph.nodes
        self._names = {spec.arg.name: spec.target for spec in signature.input_specs if spec.target is not None}
        results = zip(next(n for n in nodes if n.op == "output").args[0], signature.output_specs, strict=True)
        self._roots = [_place_of(r) for r, spec in results if spec.kind.name in RESULTS and _tensors_of(r)]
        known = _behind([place.node for place in self._roots], nodes)
        self._ops = [n for n in nodes if n in known and n.op == "call_function" and n.target is not operator.getitem]
        inputs = [n for n in nodes if n in known and n.op in ("placeholder", "get_attr")]
        places = (Place(n, k) for n in (*inputs, *self._ops) for k in range(len(_tensors_of(n))))
        self._ids = {place: f"t{i}" for i, place in enumerate(places)}

    def document(self) -> model.Document:
        modules = (Module(path, kind) for n in self._ops for _, path, kind in compiled.modules_around(n))
        return model.Document(
            tensors=tuple(self._tensor(place, id) for place, id in self._ids.items()),
            ops=tuple(self._op(n, f"o{i}") for i, n in enumerate(self._ops)),
            roots=tuple(dict.fromkeys(self._ids[place] for place in self._roots)),
            modules=together(modules),
        )

    def _tensor(self, place: Place, id: str) -> model.Tensor:
        n, t = place.node, _tensors_of(place.node)[place.nr]
        is_input = n.op != "call_function"
        name = self._names.get(n.name, n.name) if is_input else None
        kept = self._held.get(name) if is_input else None
        return model.Tensor(
            id=id,
            name=name,
            value=self._value(kept) if isinstance(kept, torch.Tensor) else _not_computed(t),
            grad=None,
            grad_fn=None,
            output_nr=place.nr,
            is_leaf=True,  # as of a result under no_grad()
            requires_grad=is_input and (kept if isinstance(kept, torch.Tensor) else t).requires_grad,
            source=None if is_input else compiled.line_of([n]),
        )

    def _op(self, n: Any, id: str) -> model.Op:
        around = compiled.modules_around(n)
        operands = tuple(model.Operand(None, o) if isinstance(o, str) else model.Operand(self._ids[o]) for o in _operands(n))
        outputs = tuple(self._ids[Place(n, k)] for k in range(len(_tensors_of(n))))
        path, line = around[-1][1] if around else "", compiled.line_of([n])
        return model.Op(id, title_named(compiled.own_name(n)), operands, outputs, None, line, path, reason="exported")


def _not_computed(t: Any) -> model.Value:
    shape = compiled.exported_shape(t)
    if shape is None:
        return model.Value((), model.NOT_TOLD, "size depends on data")
    return model.Value(shape, dtype_name(t.dtype), "not computed")


def _behind(results: list[Any], nodes: Any) -> set[Any]:
    """What leads to the results, and what changes a value of the program in place. Buffers that change lead nowhere."""
    todo = [*results, *(n for n in nodes if _is_mutable(n) and n.args[0].op == "call_function")]
    found: set[Any] = set()
    while todo:
        n = todo.pop()
        todo += [] if n in found else n.all_input_nodes
        found.add(n)
    return found


def _is_mutable(n: Any) -> bool:
    is_op = isinstance(n.target, torch._ops.OpOverload) and n.target._schema.is_mutable
    return is_op and bool(n.args) and isinstance(n.args[0], torch.fx.Node)


def _operands(n: Any) -> list[Place | str]:
    """The tensors that an op takes, and the text of each number that it computes with."""
    found: list[Place | str] = []

    def note(given: Any) -> None:
        if _tensors_of(given):
            found.append(_place_of(given))

    schema = n.target._schema.arguments if isinstance(n.target, torch._ops.OpOverload) else ()
    names = [a.name for a in schema] + [""] * len(n.args)
    for name, value in (*zip(names, n.args, strict=False), *n.kwargs.items()):
        if name in NUMBERS and isinstance(value, int | float | complex):
            found.append(str(value))
        else:
            map_arg(value, note)
    return found


def _place_of(n: Any) -> Place:  # `getitem` picks one of several results
    return Place(n.args[0], n.args[1]) if n.target is operator.getitem else Place(n, 0)


def _tensors_of(n: Any) -> list[Any]:
    """The tensors that a node of the graph gives; none for a number."""
    value = n.meta.get("val") if isinstance(n, torch.fx.Node) else None
    return [t for t in (value if isinstance(value, list | tuple) else [value]) if isinstance(t, torch.Tensor)]
