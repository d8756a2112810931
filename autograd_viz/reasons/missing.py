"""Why grad is None."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from .. import words
from ..graph.model import Source
from ..graph.text import value_text
from .backward_lines import (
    is_started_from,
    keeping_line,
    last_backward,
    leaving_out_line,
    may_have_kept,
    other_pass_line,
    started_at,
    started_line,
)
from .cause import Cause
from .code import Statement, alias_of, position, statement_of
from .cuts import cut_causes, loss_names
from .facts import Facts
from .functional import functional_line
from .grad_lines import cleared_at, last_clearing, retained_at
from .led_off import comes_from_leaves, computed_from, cut_from_leaves
from .made import made_at
from .not_required import not_required
from .renewed import renewed
from .stale import freed_cause, modified_causes

OPEN = ("computed", "not_asked_or_cut", "made_of_unnamed", "made_of_constants")  # why they are so, is still a question
MOST_LEAVES = 3  # that are named
LEFT_OUT = ("made_detach", "made_data", "made_no_grad", "made_inference")  # what may be left out, if something requires grad


def missing_causes(f: Facts) -> list[Cause]:
    """Why the subject has no gradient."""
    t = f.subject
    if not t.requires_grad:
        return not_required_causes(f)
    if not t.is_leaf and not t.retains_grad:
        return not_kept(f)
    new = None if f.is_connected else renewed(f)
    if new is not None:
        return [new]
    if not f.is_connected:
        return cut_causes(f) if f.loss else [_no_loss(f)]
    late = retained_at(t.name, f.here) if t.retains_grad and f.edge and f.live.has_run(f.edge[0]) is not False else None
    if late is not None and f.edge is not None:
        return [Cause("retained_late", (t.id,), (f.edge[0],), late)]
    return [did_not_arrive(f)] if f.edge is not None else []


def not_required_causes(f: Facts) -> list[Cause]:
    """requires_grad is False: why; where that is open, the line that cut the way from what requires grad."""
    own = not_required(f)
    first = cut_from_leaves(f) if own.kind in OPEN or own.kind.startswith("made_") else []
    if own.kind in OPEN:
        return first or [own]
    is_idle = own.kind in LEFT_OUT and f.makers.get(f.subject.id) is None and not comes_from_leaves(f)
    alone = [Cause("made_of_frozen", (f.subject.id,))] if is_idle else []
    return [*(c for c in first if _line_of(c) != _line_of(own)), own, *alone]


def _line_of(cause: Cause) -> tuple[str, int] | None:
    return None if cause.source is None else (cause.source.file, cause.source.line)


def open_origins(f: Facts, causes: Sequence[Cause]) -> list[ast.expr]:
    """What the subject was computed from, if it is not known yet why none of that requires grad."""
    return computed_from(f) if any(c.kind in OPEN for c in causes) else []


def led_off_at(f: Facts) -> Cause | None:
    """Where the subject, of which something else was computed, lost its history."""
    found = None if f.subject.requires_grad or f.subject.name is None else not_required(f)
    if found is None or found.kind in OPEN or not found.kind.startswith(("made_", "switched_off")):
        return None
    return replace(found, said={**found.said, "name": f.subject.name or ""})


def _no_loss(f: Facts) -> Cause:
    functional = functional_line(f.subject.name, f.here)
    if functional is not None:
        return Cause("functional", (f.subject.id,), source=functional)
    cleared = cleared_at(f.subject.name, f.here)
    return Cause("no_loss" if cleared is None else "no_loss_cleared", (f.subject.id,), source=cleared)


def not_kept(f: Facts) -> list[Cause]:
    """Not a leaf, and retain_grad() was not called; where the variable once was a leaf, that is said."""
    t, node = f.subject, f.subject.grad_fn or ""
    said = {"node": f.called(node) if node else "?", "value": _passed(f)}
    lost = _lost_leaf(f)
    if lost is not None:
        grad = f.tensors[lost].grad
        said |= {"grad": "None" if grad is None else value_text(grad)}
        return [Cause("leaf_lost", (t.id, lost), (node,), made_at(f), said)]
    if t.name is None:
        return [Cause("not_leaf_fresh", (t.id,), (node,), made_at(f), said), *_leaves_behind(f)]
    if f.loss and not f.is_connected and not is_started_from(t.name, f.here):
        return _beside(f, said)
    return [Cause("not_leaf_passed" if said["value"] else "not_leaf", (t.id,), (node,), made_at(f), said)]


def _beside(f: Facts, said: dict[str, str]) -> list[Cause]:
    """The loss was not computed from it, as of a slice made beside: retain_grad() would keep nothing. With the cut, if any."""
    cuts = [c for c in cut_causes(f) if c.kind.startswith(("cut_", "required"))]
    own = Cause("not_leaf_beside", (f.subject.id,), (f.subject.grad_fn or "",), made_at(f), {**said, "root": loss_names(f)})
    return [replace(own, kind="not_leaf_cut") if cuts else own, *cuts]


def _leaves_behind(f: Facts) -> list[Cause]:
    """What a tensor that no variable holds was made of, as `layer.weight` of a weight norm is."""
    node = f.subject.grad_fn
    behind = [f.nodes[n].variable for n in f.downstream([node])] if node is not None else []
    names = [f.tensors[v].name for v in behind if v is not None]
    leaves = [n for n in names if n is not None]
    if not 0 < len(leaves) == len(names) <= MOST_LEAVES:
        return []
    return [Cause("made_of_leaves", (f.subject.id,), said={"leaves": words.COMMA.join(leaves)})]


def _passed(f: Facts) -> str:
    """The gradient that went through in the last pass, if known."""
    if f.edge is None or f.live.has_run(f.edge[0]) is False or any(p.failed for p in f.live.passes()[-1:]):
        return ""
    value = f.arrived(*f.edge)
    return "" if value is None else value_text(value)


def _lost_leaf(f: Facts) -> str | None:
    """A leaf without a name behind the subject that was made in the same statement, or by another that assigns to its name."""
    name, edge = f.subject.name, f.edge
    other = alias_of(name, f.here)
    name = name if other is None else other.split("[")[0]
    if name is None or edge is None:
        return None
    own = statement_of(made_at(f))
    leaves = [v for node in f.downstream([edge[0]]) if (v := f.nodes[node].variable) is not None]
    if len(leaves) != 1 or f.tensors[leaves[0]].name is not None:  # of several, as a model has them, it is no new value of one
        return None
    made = statement_of(f.tensors[leaves[0]].source)
    is_own = made is not None and (made == own or made.assigns(name))
    return leaves[0] if is_own or (made is None and own is not None and own.hides_leaf()) else None


def did_not_arrive(f: Facts) -> Cause:
    """There is a path, and still nothing stands in grad."""
    assert f.edge is not None
    t, (node, index) = f.subject, f.edge
    roots = [n for n, _ in f.starts]
    leading = [n for n in f.leading(f.edge) if f.has_run(n) is not True]
    kept, cleared = _kept_by(f), cleared_at(t.name, f.here)
    broken = modified_causes(f, leading) if kept is None or cleared is None else []
    if broken:
        line = _cleared_before(f)
        return broken[0] if line is None else Cause("cleared_by", (t.id,), (node,), line)
    if f.live.is_awaited(node):
        return Cause("awaited", (t.id,), (node,), said={"node": f.called(node)})
    if f.has_run(node) is False and any(f.has_run(n) for n in roots):
        return _left_out(f, node)
    if f.arrived(node, index) is not None:
        value = f.arrived(node, index)
        said = {"value": value_text(value) if value is not None else ""}
        kind = "cleared_at" if cleared is not None else "cleared" if t.is_leaf else "cleared_or_late"
        return Cause(kind, (t.id,), (node,), cleared, said)
    if all(f.has_run(n) is not True for n in _that_would_show_it(f, roots)):
        return freed_cause(f, leading) or _not_run(f, roots)
    return _unknown_arrival(f, node)


def _cleared_before(f: Facts) -> Source | None:
    """The line that cleared grad after a pass on another root, and before the last pass."""
    asked = statement_of(f.here)
    found = None if asked is None else last_clearing(f.subject.name, asked)
    ran = None if asked is None else last_backward(asked)
    if found is None or ran is None or position(found) > position(ran):
        return None
    root = started_at(ran)
    is_this = root is not None and ast.unparse(root) in [f.tensors[id].name for id in f.loss]  # which then failed
    return None if is_this else Statement(found).source


def _that_would_show_it(f: Facts, roots: list[str]) -> Iterable[str]:
    """The nodes whose saved tensors tell whether a pass has come here: those between the subject and the root, if any saves."""
    if f.edge is None or f.live.has_run(f.edge[0]) is not None:
        return roots
    between = f.leading(f.edge)
    return between if any(s.state in ("kept", "freed") for n in between for s in f.nodes[n].saved) else f.passed


def _kept_by(f: Facts) -> Source | None:
    """The line of a pass through this graph that has left its saved tensors there."""
    return keeping_line(f.here, [t.name for t in f.tensors.values() if t.name])


def _left_out(f: Facts, node: str) -> Cause:
    """A pass has run and kept no gradient of the subject; the line is told where the code has it."""
    line = _left_out_at(f)
    return Cause("left_out" if line is None else "left_out_at", (f.subject.id,), (node,), line)


def _left_out_at(f: Facts) -> Source | None:
    """The line of a pass through this graph that kept no gradient of the subject."""
    made = {t.name for t in f.tensors.values() if t.name} - {f.subject.name}
    return leaving_out_line(f.here, f.subject.name, {n for n in made if n is not None})


def _not_run(f: Facts, roots: list[str]) -> Cause:
    """No pass has gone through; or nobody would know, because nothing in the graph is saved or freed."""
    is_known = all(f.has_run(n) is False for n in roots)
    kept = None if is_known else _kept_by(f)
    if kept is not None:
        cleared = cleared_at(f.subject.name, f.here)
        kind, line = ("kept", kept) if cleared is None else ("cleared_by", cleared)
        return Cause(kind, (f.subject.id,), tuple(roots), line)
    waiting = [id for id in f.loss if (at := f.edge_of(id)) is not None and f.has_run(at[0]) is not True]
    loss = next((name for id in waiting[::-1] if (name := f.tensors[id].name)), "")
    if not is_known and _left_out_at(f) is not None:
        return _left_out(f, roots[0])
    saves = any(s.state == "kept" for n in f.passed for s in f.nodes[n].saved)
    is_sure = saves or is_known
    is_number = any(math.prod(f.tensors[id].value.shape) == 1 for id in f.loss)
    is_freed = any(s.state == "freed" for n in f.passed for s in f.nodes[n].saved)
    sure = "not_run_array" if not is_number else "not_run_freed" if is_freed else "not_run"
    functional = functional_line(f.subject.name, f.here)
    if functional is not None:
        return Cause("functional", (f.subject.id,), tuple(roots), functional)
    kind = sure if is_sure else "not_run_unknown"
    if f.live.is_running():
        return Cause("running", (f.subject.id, *f.loss), tuple(roots))
    kind, seen = _without_trace(f, loss, is_known) if kind == "not_run" else (kind, None)
    return Cause(kind, (f.subject.id, *f.loss), tuple(roots), seen, {"root": loss or loss_names(f)})


def _without_trace(f: Facts, loss: str, is_known: bool) -> tuple[str, Source | None]:
    """What the code says of a graph through which no pass has gone: the kind of the cause, and its line."""
    raised = started_line(loss, f.here) if not is_known and loss else None
    if raised is not None:
        return "raised", raised
    if not is_known and may_have_kept(f.here, {t.name for t in f.tensors.values() if t.name}):
        return "not_run_or_kept", None
    other = other_pass_line(loss, f.here)
    return ("not_run", None) if other is None else ("not_run_other", other)


def _unknown_arrival(f: Facts, node: str) -> Cause:
    """A pass has gone through, and what came is not known: it may have been too large to be remembered."""
    t = f.subject
    users = next((s for s in f.leading((node, 0)) if f.nodes[s].rule == "user"), None)
    if users is not None and t.value.summary is None and not f.arrivals(node):
        return Cause("nothing_sent", (t.id,), (users,), f.source(users), {"node": f.called(users)})
    if f.live.has_run(node) is None:
        cleared = cleared_at(t.name, f.here)
        if cleared is None and _left_out_at(f) is not None:
            return _left_out(f, node)
        return Cause("left_out_or_cleared" if cleared is None else "cleared_by", (t.id,), (node,), cleared)
    if not f.has_run(node):
        return _left_out(f, node)
    if f.nodes[node].variable is not None and t.value.summary is None:
        return Cause(
            "nothing_sent", (t.id,), tuple(s for s, _ in f.senders.get((node, 0), ())), _line(f), {"node": _senders(f)}
        )
    return Cause("cleared_unknown", (t.id,), (node,))


def _senders(f: Facts) -> str:
    return f.called(f.senders[f.edge][0][0]) if f.edge in f.senders and f.edge is not None else "?"


def _line(f: Facts) -> Source | None:
    return f.source(f.senders[f.edge][0][0]) if f.edge is not None and f.edge in f.senders else None
