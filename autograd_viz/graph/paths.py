"""Which modules, scopes and calls of functions each op of a document ran in."""

from __future__ import annotations

from functools import cache

from .guess import Path, guessed_paths, names_modules
from .model import Document

__all__ = ["Path", "Way", "are_guessed", "module_paths", "ways"]

Way = tuple[str | int, ...]  # from the outside in: the parts of a module's path, and indices in `Document.calls`


def module_paths(document: Document) -> list[Path]:
    """The path of each op: recorded, or else guessed from parameters and the graph."""
    if are_guessed(document):
        return guessed_paths(document)
    return [_parts(op.module) for op in document.ops]


def may_have_ways(document: Document) -> bool:
    """False if no op has a way, without a look at each."""
    return bool(document.modules or document.calls or not are_guessed(document)) or names_modules(document)


def are_guessed(document: Document) -> bool:
    """Are the paths of `module_paths` guesses, because nobody recorded the modules? A picture of them should say so."""
    if not any(op.module for op in document.ops):
        return True
    if not all(op.reason == "opened" for op in document.ops if op.module):
        return False
    # only compiled regions tell their modules: the other ops with parameters are in some, too
    named = {t.id for t in document.tensors if t.is_leaf and t.requires_grad and "." in (t.name or "")}
    others = (op for op in document.ops if op.reason != "opened" and op.reconstructed)
    return any(i.tensor in named for op in others for i in op.inputs)


def ways(document: Document) -> list[Way]:
    """The path of each op, with the calls of functions between its parts."""
    # for each call the calls around it and itself, from the outside in, each with the path around it
    chains: list[list[tuple[Path, int]]] = []
    for k, call in enumerate(document.calls):
        chains.append([*(chains[call.above] if call.above is not None else ()), (_parts(call.module), k)])
    woven = cache(lambda path, call: path if call is None else _woven(path, chains[call]))
    return [woven(path, op.call) for op, path in zip(document.ops, module_paths(document), strict=True)]


def _parts(path: str) -> Path:
    return tuple(path.split(".")) if path else ()


def _woven(path: Path, chain: list[tuple[Path, int]]) -> Way:
    way: list[str | int] = []
    depth = 0
    for around, call in chain:
        if path[: len(around)] == around and len(around) >= depth:
            way += [*path[depth : len(around)], call]
            depth = len(around)
    return (*way, *path[depth:])
