"""In which modules the ops of an open region are, with the paths that the whole model has for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ....graph.surroundings import Module
from .nodes import variable_of
from .region_op import RegionOp
from .regions import Region


def placed(region: Region, around: str | None, names: Mapping[Any, str], known: Mapping[str, Module]) -> Iterator[Module]:
    """Give the ops of a region their paths; the modules around them. That of the region says that it is compiled.

    Args:
        region: the region.
        around: the path of the module in which the region was called; None if nobody has seen the call.
        names: of leaves, as "model.encoder.0.weight".
        known: the model's modules by path.
    """
    has_roots = len({op.modules[0][0] for op in region.ops if op.modules}) > 1
    is_told = around is not None
    around = _found(region.ops, has_roots, names, known) if around is None else around
    if around in known and not is_told:
        is_told = True
        yield replace(known[around], marks=tuple(sorted({*known[around].marks, "compiled"})))
    for op in region.ops:
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
                heads = (".".join(before[k:]) for k in range(len(before)))
                return next((head for head in heads if head in known), "")
    return ""


def _joined(*parts: str) -> str:
    return ".".join(part for part in parts if part)
