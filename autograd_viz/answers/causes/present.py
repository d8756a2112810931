"""What an existing gradient is made of, and what happened to it: passes, clipping, optimizers."""

from __future__ import annotations

from ... import words
from ...graph.passes import Holder
from ...graph.text import number_text, shape_text, value_text
from .became_number import number_of
from .cause import Cause, Said
from .history import Event, PassEvent
from .missing import cut
from .paths import is_op, reaches
from .question import Question
from .spelling import spelled

MOST_SHOWN, MOST_OPS = 8, 200  # elements of a shown gradient; ops of a graph that is read for it


def old(q: Question) -> list[Cause]:
    """The last pass did not reach it: its grad is from an earlier pass."""
    last, is_plain = q.last, q.root is None and q.is_leaf and len(q.passes) > 1
    if last is None or last.root is None or not is_plain or reaches(last.root, q.subject) or q.facts.live.is_stepped():
        return []
    return [Cause("old", source=last.source), *cut(q, last.root, q.subject)[:1]]


def written(q: Question) -> list[Cause]:
    """A line has changed grad since the last pass."""
    grad, last = q.history.grad_of(q.tensor), q.last
    events = q.history.events_of(grad, "written") if grad is not None else []
    since = [e for e in events if last is None or e.number > last.number]
    factor = q.history.factor_of(since[-1]) if since else 1
    if factor == 1:  # clipping that changed nothing
        return []
    e = since[-1]
    by = f"{e.name}()" if e.name else words.A_WRITE
    is_clip = e.name.startswith("clip_")
    kind = "grad_zeroed" if e.name in ("zero_grad", "zero_", "_foreach_zero_") else "clipped" if is_clip else "grad_written"
    return [Cause(kind, source=e.source, said={"by": by, "factor": "?" if factor is None else number_text(factor)})]


def several(q: Question) -> list[Cause]:
    """Several passes have accumulated, and nothing cleared it in between."""
    added = _added(q)
    if len(added) <= 1:
        return []
    lines = list(dict.fromkeys(s for p in added if (s := p.source) is not None))
    steps = [s for h in q.history.optimizers(q.tensor) if h.holds for s in h.steps]
    is_meant = bool(steps) and not any(added[0].number < s.number < added[-1].number for s in steps)
    kind = "accumulating" if is_meant else "several" if len(lines) <= 1 else "several_lines"
    other = lines[-2] if len(lines) > 1 else None
    return [Cause(kind, source=lines[-1] if lines else None, said={"count": str(len(added)), "other": other})]


def _added(q: Question) -> list[PassEvent]:
    """The passes that reached it since its grad was cleared. Old ones count only if a later pass ran at the same line."""
    cleared, grad = q.history.clearings(q.tensor) + q.history.events_of(q.tensor, "made"), q.history.grad_of(q.tensor)
    zeroed = [e for e in q.history.events_of(grad, "written") if "zero" in e.name] if grad is not None else []
    since = max((e.number for e in (*cleared, *zeroed)), default=None)
    after = [p for p in q.passes if (since is None or p.number > since) and not p.error and not p.wanted and p.has_graph]
    came = [p for p in after if p.root is not None and reaches(p.root, q.subject)]
    lines = {p.source for p in came}
    return [p for p in after if p in came or (p.root is None and p.source in lines)]


def collected(q: Question) -> list[Cause]:
    """There are optimizers, and none moves it; or its learning rate keeps it in place."""
    holders = q.history.optimizers(q.tensor)
    own = [h for h in holders if h.holds]
    if not holders or not q.is_leaf:
        return []
    if not own:
        return _not_held(q, holders) if type(q.tensor).__name__ == "Parameter" else _left_alone(q)
    if all(h.rate == 0 for h in own):
        return [Cause("rate_zero", said={"optimizer": own[0].kind})]
    return _not_stepped(q, own)


def _left_alone(q: Question) -> list[Cause]:
    """Several passes have added to a plain leaf, which no optimizer clears."""
    added = _added(q)
    said: dict[str, Said] = {"count": str(len(added))}
    return [Cause("left_alone", source=added[-1].source, said=said)] if len(added) > 1 else []


def _not_held(q: Question, holders: list[Holder]) -> list[Cause]:
    """The optimizer has only the graph's other parameters, or was made before its module changed."""
    near = [h for h in holders if any(map(q.facts.live.has, h.leaves))]
    last, placed = (near or holders)[-1], q.history.events_of(q.tensor, "placed", "made")
    new = [p for p in placed if last.made is not None and p.number > last.made.number]
    if not near and not any(p.kind == "placed" for p in new):
        return []
    said: dict[str, Said] = {"optimizer": last.kind, "placed": new[-1].source if new else None}
    return [Cause("not_held_new" if new else "not_held", source=None if last.made is None else last.made.source, said=said)]


def _not_stepped(q: Question, own: list[Holder]) -> list[Cause]:
    """No step has moved it since the pass."""
    last, steps = q.last, sorted((s for h in own for s in h.steps), key=lambda s: s.number)
    if last is None:
        return []
    checks = [e for e in q.history.scalers if not steps or e.number > steps[-1].number]
    if checks and _is_inf(checks[-1]):
        return [Cause("skipped", source=checks[-1].source)]
    are_before = bool(steps) and steps[-1].number < last.number
    if are_before and len(steps) == len(q.passes) and steps[0].number < q.passes[0].number:
        return [Cause("step_first", source=steps[-1].source, said={"pass": last.source})]
    return []


def never_stepped(q: Question) -> list[Cause]:
    """Passes have run, and its optimizer has never moved it."""
    own = [h for h in q.history.optimizers(q.tensor) if h.holds]
    if q.last is None or len(q.passes) <= 1 or not own or any(h.steps for h in own):
        return []
    return [Cause("no_step", source=q.last.source, said={"optimizer": own[0].kind})]


def skipped(q: Question) -> list[Cause]:
    """GradScaler has skipped the last step."""
    return [c for c in collected(q) if c.kind == "skipped"]


def _is_inf(check: Event) -> bool:
    return bool(check.detail is not None and float(check.detail.sum()) > 0)


def lacking(q: Question) -> list[Cause]:
    """One use of it became a number, so its gradient lacks that part."""
    found = number_of(q)
    if found is None:
        return []
    number, user = found
    there = [o for o in q.facts.document.ops if o.node and o.source == user.source]
    said: dict[str, Said] = {"op": spelled(number)}
    return [Cause("lacks_number", nodes=tuple(o.node or "" for o in there[:1]), source=number.source, said=said)]


def plain_gradient(q: Question) -> Cause:
    """Nothing stands out: the op that sent it, and for several uses, the gradient of each."""
    grad = q.history.grad_of(q.tensor)
    is_small = grad.numel() <= MOST_SHOWN and len(q.ops) <= MOST_OPS
    value = q.facts.subject.grad if is_small else None
    said: dict[str, Said] = {"grad": shape_text(tuple(grad.shape)) if value is None else value_text(value)}
    uses = (op for op in q.ops for g in op.given if g is q.tensor or (is_op(g) and g == q.subject))
    users = sorted(uses, key=lambda op: op.number)
    if not users:
        return Cause("fine_unseen", said=said)
    said |= {"op": spelled(users[0]), "count": str(len(users)), "other": users[-1].source}
    if len(users) == 1:
        return Cause("fine", source=users[0].source, said=said)
    return Cause("fine_paths", source=users[0].source, said={**said, "parts": _parts(q)})


def _parts(q: Question) -> str:
    """What each use sent: `3.0 + 3.0`."""
    f = q.facts
    sent = [f.sent(*s) for s in f.senders.get(f.edge, ())] if f.edge is not None else []
    return " + ".join(value_text(v) for v in sent if v is not None) if all(v is not None for v in sent) else ""
