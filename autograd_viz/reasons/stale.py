"""A pass that cannot go on: a saved tensor was changed in place, or freed."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..graph.model import Node, Saved, Source
from .cause import Cause, Said
from .changes import changed_line
from .code import statement_of
from .cutting import mode_around
from .facts import Facts
from .freeing import freeing_line
from .reads import grads_read


def modified_causes(f: Facts, nodes: Iterable[str]) -> list[Cause]:
    """The nodes whose saved tensors were changed in place: which op saved at which version, and which line changed it."""
    found = [_modified(f, f.nodes[id], s) for id in nodes for s in f.nodes[id].saved if s.stale]
    return list({(c.nodes, c.said["tensor"], c.source): c for c in found}.values())


def _modified(f: Facts, node: Node, s: Saved) -> Cause:
    changed = f.live.changed(node.id, s.name)
    name = None if changed is None else changed.name
    name = name or (f.tensors[s.tensor].name if s.tensor is not None else None)
    said: dict[str, Said] = {"node": f.at(node.id), "tensor": name or f"_saved_{s.name}", "version": str(s.version)}
    ids = () if s.tensor is None else (s.tensor,)
    source = (None if changed is None else changed.source) or _recorded_change(f, s)
    if source is None and name is not None:
        now = None if changed is None else changed.now
        is_leaf = any(t.is_leaf and (t.id == s.tensor or t.name == name) for t in f.tensors.values())  # its maker may write
        changes = None if now is None or is_leaf else now - s.version
        source = changed_line(name, f.here, f.source(node.id), s.version, changes)
    said["now"] = "?" if changed is None else str(changed.now)
    if source is None:
        return Cause("modified_somewhere", ids, (node.id,), f.source(node.id), said | {"node": f.called(node)})
    return Cause("modified_by_step" if _is_step(f, s, source) else "modified", ids, (node.id,), source, said)


def _is_step(f: Facts, s: Saved, source: Source) -> bool:
    """A step of an optimizer changed it, or one of the user's own: `w -= lr * w.grad` under no_grad()."""
    made, saved = statement_of(source), f.tensors.get(s.tensor or "")
    if made is None:
        return False
    is_update = saved is not None and saved.is_leaf and mode_around(made.node) is not None and bool(grads_read(source))
    return is_update or ast.unparse(made.node).endswith(".step()")


def _recorded_change(f: Facts, s: Saved) -> Source | None:
    """The line of the op that made the next version of what is saved, if the recorder has seen it."""
    saved = f.tensors.get(s.tensor or "")
    for t in f.tensors.values():
        op = f.makers.get(t.id)
        if saved is not None and op is not None and t.version == s.version + 1 and t.id != saved.id and saved.id in t.shares:
            return op.source
    return None


def freed_cause(f: Facts, nodes: Iterable[str], failed: bool = False) -> Cause | None:
    """Saved tensors were given up in an earlier pass: the first such node, and the call that freed it.

    Args:
        f: the graph.
        nodes: where to look.
        failed: the last call of backward() is the one that failed.
    """
    given_up = [id for id in nodes if any(s.state == "freed" for s in f.nodes[id].saved)]
    if not given_up:
        return None
    freed = given_up[0]
    passes = f.live.passes()[: -1 if failed else None]
    mine = [p for p in passes if p.root]  # another graph's pass freed nothing here
    names = [{t.name for t in f.tensors.values() if t.name and t.is_leaf is is_leaf} for is_leaf in (False, True)]
    source = mine[-1].source if mine else freeing_line(f.here, *names)
    if failed and len(given_up) > 1:  # the pass that failed gave up some of them itself, on its way
        return Cause("freed_among", (), tuple(given_up), source, {"count": str(len(given_up))})
    return Cause("freed" if source is not None else "freed_somewhere", (), (freed,), source, {"node": f.at(freed)})


def failed_causes(f: Facts) -> list[Cause]:
    """The last pass raised an error: what stands in grad is older, or a part. With what it failed of, if that is known."""
    last = f.live.passes()[-1] if f.live.passes() else None
    if last is None or not last.failed or last.root not in f.loss or not f.is_connected:
        return []
    broken = modified_causes(f, f.passed)[:1]
    nodes, said = broken[0].nodes if broken else (), {"root": f.tensors[last.root].name or "loss"}
    return [Cause("pass_failed", (f.subject.id, last.root), nodes, last.source, said), *broken]
