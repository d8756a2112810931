"""A pass that cannot go on: a saved tensor was changed in place, or freed."""

from __future__ import annotations

from collections.abc import Iterable

from ..graph.model import Node, Saved, Source
from .cause import Cause
from .facts import Facts


def modified_causes(f: Facts, nodes: Iterable[str]) -> list[Cause]:
    """The nodes whose saved tensors were changed in place: which op saved at which version, and which line changed it."""
    found = [_modified(f, f.nodes[id], s) for id in nodes for s in f.nodes[id].saved if s.stale]
    return list({(c.nodes, c.said["tensor"], c.source): c for c in found}.values())


def _modified(f: Facts, node: Node, s: Saved) -> Cause:
    changed = f.live.changed(node.id, s.name)
    name = None if changed is None else changed.name
    name = name or (f.tensors[s.tensor].name if s.tensor is not None else None) or f"_saved_{s.name}"
    said = {"node": node.name, "tensor": name, "version": str(s.version), "op_line": _line(f.source(node.id))}
    ids = () if s.tensor is None else (s.tensor,)
    if changed is None or changed.source is None:
        now = "?" if changed is None else str(changed.now)
        return Cause("modified_somewhere", ids, (node.id,), f.source(node.id), said | {"now": now})
    return Cause("modified", ids, (node.id,), changed.source, said | {"now": str(changed.now)})


def _line(source: Source | None) -> str:
    return "?" if source is None else str(source.line)


def freed_cause(f: Facts, nodes: Iterable[str], failed: bool = False) -> Cause | None:
    """Saved tensors were given up in an earlier pass: the first such node, and the call that freed it.

    Args:
        f: the graph.
        nodes: where to look.
        failed: the last call of backward() is the one that failed.
    """
    freed = next((id for id in nodes if any(s.state == "freed" for s in f.nodes[id].saved)), None)
    if freed is None:
        return None
    passes = f.live.passes()[: -1 if failed else None]
    source = passes[-1].source if passes else None
    said = {"node": f.called(freed), "op_line": _line(f.source(freed))}
    return Cause("freed" if source is not None else "freed_somewhere", (), (freed,), source, said)
