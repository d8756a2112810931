"""What a document says of a module of PyTorch or of the core: its class, and the user's hooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from ...graph.surroundings import Call, Module, Source

HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
LIBRARIES = {"torch", "autograd_viz"}  # their own hooks (spectral_norm, FSDP) do not count


def module_at(path: str, module: Any, marks: tuple[str, ...] = (), source: Source | None = None) -> Module:
    """A module by its path; a compiled module stands for the original."""
    module = getattr(module, "_orig_mod", module)
    hooks = [hook for kind in HOOKS for hook in getattr(module, kind, {}).values()]
    trains = (p.requires_grad for p in module.parameters())  # of a whole model, around each op: read up to the first that does
    marks = (*marks, "frozen") if next(trains, None) is False and not any(trains) else marks
    marks = marks if getattr(module, "training", True) else (*marks, "eval")
    return Module(path, type(module).__name__, sum(map(_is_users, hooks)), marks, source)


def _is_users(hook: Any) -> bool:
    """Is the hook the user's, not a library's? The core stores a hook with its options."""
    while isinstance(hook, tuple | partial):
        hook = hook[0] if isinstance(hook, tuple) else hook.func
    return str(getattr(hook, "__module__", None)).partition(".")[0] not in LIBRARIES


def parts_of(modules: Iterable[tuple[str, Any]], leaves: Iterable[Any]) -> tuple[Module, ...]:
    """All parts of the models that own these leaves, for a graph whose modules were not recorded. Of several models, a part's
    path begins with the name of its model. One without a name was chosen: it comes first.
    """
    known = {leaf: i for i, leaf in enumerate(leaves)}
    owned = [(name, m, {known[p] for p in m.parameters() if p in known}) for name, m in modules]
    models: list[tuple[str, Any]] = []
    covered: set[int] = set()
    for name, module, found in sorted(owned, key=lambda o: (bool(o[0]), -len(o[2]))):
        if found - covered:
            models.append((name, module))
            covered |= found
    names = {name: name if len(models) > 1 else "" for name, _ in models}
    return together(
        module_at(".".join(p for p in (names[name], *path.split(".")) if p not in ("", "_orig_mod")), part)
        for name, module in models
        for path, part in module.named_modules()
    )


def together(modules: Iterable[Module]) -> tuple[Module, ...]:
    """One module for each path, with the marks of all its calls, in the order of the first calls. If it was called in several
    places, none of them is its source.
    """
    found: dict[str, Module] = {}
    for m in modules:
        known = found.setdefault(m.path, m)
        if not set(m.marks) <= set(known.marks):
            known = found[m.path] = replace(known, marks=tuple(sorted({*m.marks, *known.marks})))
        if known.name == m.name and known.source != m.source:  # the core has several models at the empty path
            found[m.path] = replace(known, source=None)
    return tuple(found.values())


class CallRecord(NamedTuple):
    """A call that was seen."""

    number: int
    name: str
    module: str


class CallList:
    """The calls around some ops, from the outermost, each once. One around all of them tells nothing: it is left out."""

    def __init__(self, all: Iterable[Sequence[CallRecord]]) -> None:
        self.calls: list[Call] = []
        known = list(all)
        shortest = min(known, key=len, default=())
        common = [s.number for k, s in enumerate(shortest) if {around[k] for around in known} == {s}]
        self._places: dict[int, int | None] = dict.fromkeys(common)
        for around in known:
            above: int | None = None
            for seen in around:
                if seen.number not in self._places:
                    self._places[seen.number] = len(self.calls)
                    self.calls.append(Call(seen.name, seen.module, above))
                above = self._places[seen.number]

    def innermost(self, around: Sequence[CallRecord]) -> int | None:
        """The place of the innermost one."""
        return self._places[around[-1].number] if around else None
