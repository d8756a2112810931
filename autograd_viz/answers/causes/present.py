"""What an existing gradient is made of, and what happened to it: passes, clipping, optimizers, a wrong loss."""

from __future__ import annotations

from ... import words
from ...graph.passes import Holder
from ...graph.text import number_text, shape_text, value_text
from .cause import Cause, Said, cause_of, source_of
from .code import spelling
from .facts import Facts
from .history import Event, PassEvent
from .missing import cuts_before
from .ops import cause_at, op_of
from .paths import is_op
from .question import Question

MOST_SHOWN, MOST_OPS = 8, 200  # elements of a shown gradient; ops of a graph that is read for it
LOSSES = ("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "Sub")  # functional losses expand their inputs first
LAYERS = ("Addmm", "Mm", "Sigmoid", "Tanh", "Relu", "Softplus", "Gather")  # `x[:, None] - y` or a mean of columns is meant so


def old(q: Question) -> list[Cause]:
    """The last pass did not reach it: its grad is from an earlier pass."""
    last, is_plain = q.last, q.root is None and q.is_leaf and len(q.passes) > 1
    if last is None or last.root is None or not is_plain or q.is_reached_from(last.root) or q.facts.live.is_stepped():
        return []
    return [cause_of("old", last), *cuts_before(q, last.root)[:1]]


def _writes(q: Question) -> list[Event]:
    return [] if q.grad is None else q.history.events_of(q.grad, "written")


def last_write(q: Question) -> list[Cause]:
    """A line has changed grad since the last pass."""
    since = [e for e in _writes(q) if q.last is None or e.number > q.last.number]
    factor = q.history.factor_of(since[-1]) if since else 1
    if factor == 1:  # clipping that changed nothing
        return []
    name = since[-1].name
    is_zero, is_clip = name in ("zero_grad", "zero_", "_foreach_zero_"), name.startswith("clip_")
    kind = "grad_zeroed" if is_zero else "clipped" if is_clip else "grad_written"
    by = f"{name}()" if name else words.A_WRITE
    return [cause_of(kind, since[-1], by=by, factor="?" if factor is None else number_text(factor))]


def several(q: Question) -> list[Cause]:
    """Several passes have accumulated, and nothing cleared it in between."""
    added = _added(q)
    if len(added) <= 1:
        return []
    lines = list(dict.fromkeys(s for p in added if (s := p.source) is not None))
    steps = [s for h in q.optimizers for s in h.steps]
    is_meant = bool(steps) and not any(added[0].number < s.number < added[-1].number for s in steps)
    kind = "accumulating" if is_meant else "several" if len(lines) <= 1 else "several_lines"
    said: dict[str, Said] = {"count": str(len(added)), "other": lines[-2] if len(lines) > 1 else None}
    return [Cause(kind, source=lines[-1] if lines else None, said=said)]


def _added(q: Question) -> list[PassEvent]:
    """The passes that reached it since its grad was cleared. Old ones count only if a later pass ran at the same line."""
    cleared = [*q.history.clearings(q.tensor), *q.events("made"), *(e for e in _writes(q) if "zero" in e.name)]
    since = max((e.number for e in cleared), default=None)
    after = [p for p in q.passes if (since is None or p.number > since) and not p.error and not p.wanted and p.has_graph]
    came = [p for p in after if q.is_reached_from(p.root)]
    lines = {p.source for p in came}
    return [p for p in after if p in came or (p.root is None and p.source in lines)]


def without_step(q: Question) -> list[Cause]:
    """There are optimizers, and none moves it; or its learning rate keeps it in place."""
    holders = q.history.optimizers(q.tensor)
    if not holders or not q.is_leaf:
        return []
    if not q.optimizers:
        return _not_held(q, holders) if type(q.tensor).__name__ == "Parameter" else _left_alone(q)
    if all(h.rate == 0 for h in q.optimizers):
        return [cause_of("rate_zero", optimizer=q.optimizers[0].kind)]
    return _not_stepped(q)


def _left_alone(q: Question) -> list[Cause]:
    added = _added(q)
    return [cause_of("left_alone", added[-1], count=str(len(added)))] if len(added) > 1 else []


def _not_held(q: Question, holders: list[Holder]) -> list[Cause]:
    """The optimizer has only the graph's other parameters, or was made before its module changed."""
    near = [h for h in holders if any(map(q.facts.live.has, h.leaves))]
    last = (near or holders)[-1]
    new = [p for p in q.events("placed", "made") if last.made is not None and p.number > last.made.number]
    if not near and not any(p.kind == "placed" for p in new):
        return []
    placed = source_of(new[-1]) if new else None
    return [cause_of("not_held_new" if new else "not_held", last.made, optimizer=last.kind, placed=placed)]


def _not_stepped(q: Question) -> list[Cause]:
    """No step has moved it since the pass."""
    last, steps = q.last, sorted((s for h in q.optimizers for s in h.steps), key=lambda s: s.number)
    if last is None:
        return []
    checks = [e for e in q.history.scalers if not steps or e.number > steps[-1].number]
    if checks and checks[-1].detail is not None and float(checks[-1].detail.sum()) > 0:  # it found an inf
        return [cause_of("skipped", checks[-1])]
    are_before = bool(steps) and steps[-1].number < last.number
    if are_before and len(steps) == len(q.passes) and steps[0].number < q.passes[0].number:
        return [cause_of("step_first", steps[-1], **{"pass": last.source})]
    return []


def never_stepped(q: Question) -> list[Cause]:
    """Passes have run, and its optimizer has never moved it."""
    if len(q.passes) <= 1 or not q.optimizers or any(h.steps for h in q.optimizers):
        return []
    return [cause_of("no_step", q.last, optimizer=q.optimizers[0].kind)]


def skip(q: Question) -> list[Cause]:
    """GradScaler has skipped the last step."""
    return [c for c in without_step(q) if c.kind == "skipped"]


def lost_part(q: Question) -> list[Cause]:
    """One use of it became a number, so its gradient lacks that part."""
    if q.number is None:
        return []
    number, user = q.number
    nodes = [o.node for o in q.facts.document.ops if o.node and o.source == user.source]
    return [Cause("lacks_number", nodes=tuple(nodes[:1]), source=number.source, said={"op": spelling(number)})]


def loss_causes(f: Facts) -> list[Cause]:
    """What the pass shows of a loss that is given the wrong thing: one cause at most."""
    ways = () if f.edge is None or not f.is_connected else f.leading(f.edge)
    return [c for node in ways for c in _given_wrong(f, node)][:1]


def _given_wrong(f: Facts, node: str) -> list[Cause]:
    """A log_softmax of a softmax; or a layer's (n, 1) that a difference with targets of shape (n,) made (n, n)."""
    op, results, shapes = op_of(f, node), [t.value.shape for t in f.results(node)], {t.value.shape for t in f.inputs(node)}
    before = {a.node: op_of(f, a.node) for a in f.nodes[node].next_functions if a.node is not None}
    if op == "LogSoftmax":
        return [cause_at(f, "softmax_twice", b) for b, name in before.items() if name == "Softmax"]
    after = [s for e in f.edges_at(node) for s, _ in f.senders.get(e, ()) if op == "Expand" and op_of(f, s) in LOSSES]
    n, is_difference = (results or [(0,)])[0][:1], (op == "Sub" or after) and {*before.values()} & {*LAYERS}
    if not is_difference or n < (2,) or results != [n * 2] or shapes not in ({(*n, 1)}, {(*n, 1), n}):
        return []
    return [cause_at(f, "every_pair", (after or [node])[0], result=shape_text((*n, 1)), shape=shape_text(n * 2))]


def plain_gradient(q: Question) -> Cause:
    """Nothing stands out: the op that sent it, and for several uses, the gradient of each."""
    is_small = q.grad.numel() <= MOST_SHOWN and len(q.ops) <= MOST_OPS
    value = q.facts.subject.grad if is_small else None
    grad = shape_text(tuple(q.grad.shape)) if value is None else value_text(value)
    uses = (op for op in q.ops for g in op.given if g is q.tensor or (is_op(g) and g == q.subject))
    users = sorted(uses, key=lambda op: op.number)
    if not users:
        return cause_of("fine_unseen", grad=grad)
    said: dict[str, Said] = {"grad": grad, "op": spelling(users[0]), "count": str(len(users)), "other": users[-1].source}
    if len(users) == 1:
        return cause_of("fine", users[0], **said)
    return cause_of("fine_paths", users[0], **said, parts=_parts(q))


def _parts(q: Question) -> str:
    """What each use sent: `3.0 + 3.0`."""
    sent = [] if (f := q.facts).edge is None else [f.sent(*s) for s in f.senders.get(f.edge, ())]
    return "" if None in sent else " + ".join(value_text(v) for v in sent if v is not None)
