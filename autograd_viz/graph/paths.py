"""Which module (or scope) each op of a document ran in."""

from __future__ import annotations

from .model import Document, Tensor

Path = tuple[str, ...]


def module_paths(document: Document) -> list[Path]:
    """The path of each op: as it was recorded, or else as the names of parameters tell it."""
    recorded = [op.module for op in document.ops]
    if any(recorded):
        return [tuple(path.split(".")) if path else () for path in recorded]
    return _between(_of_parameters(document))


def _of_parameters(document: Document) -> list[Path | None]:
    """`encoder.0` for an op that takes `encoder.0.weight`, or what was made of that alone; None for other ops."""
    of: dict[str, Path] = {t.id: path for t in document.tensors if (path := _path_of(t))}
    if not of:
        return [None] * len(document.ops)
    found: list[Path | None] = []
    for op in document.ops:
        inputs = [i.tensor for i in op.inputs if i.tensor is not None]
        paths = [of[t] for t in inputs if t in of]
        found.append(_common(paths) or None)
        if paths and len(paths) == len(inputs):
            of |= dict.fromkeys((t for t in op.outputs if t is not None), _common(paths))
    return found


def _path_of(tensor: Tensor) -> Path:
    """Of a leaf whose name has dots."""
    name = tensor.name
    return tuple(name.split(".")[:-1]) if name is not None and tensor.is_leaf and "." in name else ()


def _between(known: list[Path | None]) -> list[Path]:
    """An op that no parameter tells of is where the ops before and after it both are."""
    following: list[Path] = []
    after: Path = ()
    for path in reversed(known):
        after = after if path is None else path
        following.append(after)
    found: list[Path] = []
    before: Path = ()
    for path, after in zip(known, reversed(following), strict=True):
        before = before if path is None else path
        found.append(_common([before, after]) if path is None else path)
    return found


def _common(paths: list[Path]) -> Path:
    """What all paths begin with."""
    if not paths:
        return ()
    shortest = min(paths, key=len)
    same = next((i for i in range(len(shortest)) if any(p[i] != shortest[i] for p in paths)), len(shortest))
    return shortest[:same]
