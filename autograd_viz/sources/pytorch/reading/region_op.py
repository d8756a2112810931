"""The rule of one op in an open region, as a node of the picture; in which modules it is."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

from ....graph.surroundings import Module, Source
from ....graph.text import shape_text
from . import compiled
from .nodes import UNKNOWN, Metadata, variable_of
from .saved import SavedValue

LONGEST = 80  # characters of a rule


@dataclass(eq=False, repr=False, slots=True, weakref_slot=True)
class RegionOp:
    """The rule of one op in a region. For a graph it is a node of PyTorch's, with the same methods and attributes."""

    title: str
    origin: int | None  # the sequence number of the forward op; None if it is not known
    arrivals: list[Any]  # the values of the graph that arrive, one for each output of the forward op
    looks: list[Metadata]  # what they look like
    ops: list[Any] = field(default_factory=list)  # of the backward graph, in order; none if it passes on what arrives
    again: list[Any] = field(default_factory=list)  # ops before them, that are computed again from what is saved
    reads: list[SavedValue] = field(default_factory=list)  # what it reads of the saved values
    modules: list[tuple[str, str, str]] = field(default_factory=list)  # around the op, outermost first: variable, path, class
    place: Source | None = None
    inputs: list[Any] = field(default_factory=list)  # of what it reads, arguments of the region that need no gradient
    result: Any = None  # the saved tensor that is the result of the forward op; None if there is none, or that is not certain
    path: str = ""  # of the innermost module in the whole model
    number: float = 0.0
    results: list[Any] = field(default_factory=list)  # the values that leave, one for each of `next_functions`
    leaves: dict[int, int] = field(default_factory=dict)  # which leave the region; places in its own node's `next_functions`
    next_functions: tuple[tuple[Any, int], ...] = ()
    metadata: dict[Any, Any] = field(default_factory=dict)
    _hooks: OrderedDict[Any, Any] = field(default_factory=OrderedDict)

    def name(self) -> str:
        """Its name in pictures. It has no number, as PyTorch's class has."""
        return f"{self.title}Backward"

    def _sequence_nr(self) -> float:
        return self.number

    @property
    def _input_metadata(self) -> list[Metadata]:
        return self.looks

    def register_hook(self, hook: Any) -> RemovableHandle:
        """As of PyTorch's node: it has no hooks."""
        return RemovableHandle(self._hooks)

    register_prehook = register_hook

    def formulas(self) -> dict[str, str]:
        """The rule in the ops of the graph, for each gradient that leaves; by the argument of the forward op."""
        names = {a: "grad" if len(self.arrivals) == 1 else f"grads[{i}]" for i, a in enumerate(self.arrivals)}
        ends = [r for r, (after, _) in zip(self.results, self.next_functions, strict=True) if after is not None]
        texts = texts_of(self.ops, names)
        return {r.name: str(texts.get(r, r.name)) for r in dict.fromkeys(ends)}


def texts_of(ops: Iterable[Any], names: Mapping[Any, str]) -> dict[Any, str]:
    """Each op as nested calls. What is not among them, and a text that is too long, is the name of the op."""
    texts: dict[Any, str] = dict(names)
    for n in (n for n in ops if n not in names):
        given = [*map(_name, n.args), *(f"{k}={_name(v)}" for k, v in n.kwargs.items())]
        words = re.split(r"(\w+)", ", ".join(given))
        inner = {a.name: texts[a] for a in n.all_input_nodes if a in texts}
        text = f"{compiled.own_name(n)}({''.join(inner.get(word, word) for word in words)})"
        texts[n] = text if len(text) <= LONGEST else str(n.name)
    return texts


def _name(argument: Any) -> str:
    return str(argument).removeprefix("torch.")


class Again:
    """A value that is computed again: how. It stands among what a node keeps, as a plain value."""

    def __init__(self, n: Any, again: Sequence[Any], look: Metadata) -> None:
        text = texts_of(again, {})[n]
        led = {n}
        for op in reversed(again):
            led.update(op.all_input_nodes if op in led else ())
        behind = [a.name for a in n.graph.nodes if a.op == "placeholder" and a in led] if text == n.name else []
        text = f"{compiled.own_name(n)}({', '.join([*behind, '…'])})" if text == n.name else text
        self._said = f"{text}, {shape_text(look.shape)}"

    def __repr__(self) -> str:
        return self._said


def look_of(n: Any, sizes: dict[Any, int]) -> Metadata:
    """What a value of the graph looks like; a type of None if that is not known."""
    value = n.meta.get("val")
    shape = compiled.shape_of(value, sizes) if isinstance(value, torch.Tensor) else None
    return UNKNOWN if shape is None else Metadata(shape, value.dtype, value.device)


def placed(
    ops: Sequence[RegionOp], around: str | None, names: Mapping[Any, str], known: Mapping[str, Module]
) -> Iterator[Module]:
    """Give the ops of a region their paths; the modules around them. That of the region says that it is compiled.

    Args:
        ops: of the region.
        around: the path of the module in which the region was called; None if nobody has seen the call.
        names: of leaves, as "model.encoder.0.weight".
        known: the model's modules by path.
    """
    has_roots = len({op.modules[0][0] for op in ops if op.modules}) > 1
    is_told = around is not None
    around = _found(ops, has_roots, names, known) if around is None else around
    if around in known and not is_told:
        is_told = True
        yield replace(known[around], marks=tuple(sorted({*known[around].marks, "compiled"})))
    for op in ops:
        op.path = around
        for depth, (root, path, kind) in enumerate(op.modules):
            op.path = _joined(around, root if has_roots else "", path)
            yield Module(op.path, kind, marks=() if depth or is_told else ("compiled",))


def _found(ops: Iterable[RegionOp], has_roots: bool, names: Mapping[Any, str], known: Collection[str]) -> str:
    """What the model calls the compiled module, by the name of a parameter of a module in it."""
    for op in (op for op in ops if op.modules):
        inside = _joined(op.modules[-1][0] if has_roots else "", op.modules[-1][1]).split(".")
        inside = [] if inside == [""] else inside
        for leaf in (leaf for after, _ in op.next_functions if (leaf := variable_of(after)) is not None):
            owner = [part for part in names.get(leaf, "").split(".")[:-1] if part != "_orig_mod"]
            before = owner[: len(owner) - len(inside)]
            if owner[len(before) :] == inside:
                return next((head for k in range(len(before)) if (head := ".".join(before[k:])) in known), "")
    return ""


def _joined(*parts: str) -> str:
    return ".".join(filter(None, parts))
