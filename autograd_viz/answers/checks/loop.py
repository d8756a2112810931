"""Checks of the training loop: passes, clipping, optimizers, and graphs that are kept."""

from __future__ import annotations

import ast
import linecache
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any

from ...graph.listing import parsed
from ...graph.passes import Holder
from ..causes.cause import Cause, cause_of, source_of
from ..causes.check import ASKED, MAY, SO, check
from ..causes.history import Event, Op, PassEvent
from ..causes.paths import is_op
from ..causes.question import Question
from .aim import AIMED
from .missing import missing
from .present import added, last_write

MEANS = ("mean", "mse_loss", "l1_loss", "smooth_l1_loss", "cross_entropy", "nll_loss", "binary_cross_entropy_with_logits")
ACCUMULATED_KINDS = {
    **dict.fromkeys(("several", "accumulated_whole", "kept_over_step", "divided_twice"), MAY),
    **dict.fromkeys(("several_lines", "accumulating"), ASKED),
}
RATES = dict.fromkeys(
    ("rate_always_zero", "rate_as_factor", "rate_gone", "rate_stopped", "rate_rises", "rate_rests", "rate_times_zero",
     "schedules_other", "no_step", "no_backward", "grads_unused", "rebound"), MAY,
)  # fmt: skip
DIVIDING = ("div", "truediv", "itruediv", "idiv")
LARGE, NEAR = 100.0, 0.1  # the root mean square of a weight; a step of a weight that it has made, as a part of it
MANY = 12  # passes without a step
PLENTY = 2  # iterations in which it is so
CLOSE = 1e-6  # a rate, as a part of itself
GONE = 1e-12  # a learning rate, as a part of the first
FALLEN = 2e-6  # the same for schedules that do not end at 0
ENDING = {"CosineAnnealingLR": "T_max", "LinearLR": "total_iters", "PolynomialLR": "total_iters", "OneCycleLR": "total_steps"}
FALLING = ("StepLR", "MultiStepLR", "ExponentialLR", "ReduceLROnPlateau")
KNOWN = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "RAdam", "Adadelta")  # they go by .grad
TURNS = 3  # times that a cosine schedule has passed its end
REBOUND = re.compile(r"^\s*(\w+) *= *\1 *- *.*\b\1\.grad\b")  # `p = p - rate * p.grad`
SETTLED = 3  # steps: weights that begin at zero have grown by then
HUGE_RATE, LARGE_RATE = 2.0, 0.3  # of Adam: as a multiple of the weights that nn.Linear begins with; and itself
SPACING = {"bfloat16": 2**-10, "float16": 2**-13}  # a quarter of the distance between two numbers, as a part of them
NOTHING, SMALL_RATE = 1e-7, 1e-5  # a step, as a part of a weight; a learning rate


@check("AV401", "cleared-before-step", {"cleared_before_step": SO})
def cleared_before_step(q: Question) -> list[Cause]:
    """zero_grad() between backward() and step(): the step has nothing to go by."""
    return [c for c in q.once(missing) if c.kind == "cleared_before_step"]


@check("AV402", "not-in-optimizer", {"not_held*": MAY, "left_alone": ASKED}, first=True)
def not_held(q: Question) -> Iterator[Cause]:
    """No optimizer has the parameter: it got only the graph's other parameters, or was made before its module changed."""
    holders = q.holders
    if not holders or q.optimizers or _is_stepped_by_hand(q):
        return
    last = holders[-1]
    if type(q.tensor).__name__ != "Parameter":
        yield from _plain(q, last)
        return
    if last.steps and last.leaves and len(holders) == 1 and not any(p.requires_grad for p in last.leaves):
        yield cause_of("not_held_frozen", last.made, optimizer=last.kind)
    used = q.history.used(q.tensor)
    if _is_judge(q) or (used is not None and _has_inner_loop(q, used)):
        return
    if (followed := _followed(q)) is not None:
        yield cause_of("not_held_target", used, target=followed)
    near = [h for h in holders if q.facts.is_connected and any(map(q.facts.live.has, h.leaves))]
    last = (near or holders)[-1]
    if near and not any(type(p).__name__ == "Parameter" for h in near for p in h.leaves):  # an input is trained, and no model
        return
    new = [p for p in q.events("placed", "made") if last.made is not None and p.number > last.made.number]
    is_copied = any(p.shape == q.tensor.shape and q.history.grad_of(p) is None for p in last.leaves)
    goes_on = q.last is not None and any(s.number > q.last.number for s in last.steps)
    if near or (goes_on and any(p.kind == "placed" for p in new)):
        is_anew = len(q.passes) > PLENTY and bool(new) and new[-1].number > q.passes[-PLENTY].number and not q.name_of(q.tensor)
        kind = "not_held_anew" if is_anew else "not_held_new" if new else "not_held"
        twins = [h for h in holders if h is not last and {*h.leaves} == {*last.leaves}] if kind == "not_held" else []
        kind, placed = ("not_held_twice", twins[0].made) if twins else (kind, new[-1] if new else None)
        yield cause_of(kind, new[-1] if is_anew else last.made, optimizer=last.kind, placed=source_of(placed))
    elif last.steps and q.name_of(q.tensor) and is_copied:
        yield cause_of("not_held_copied", last.made, optimizer=last.kind)


def _has_inner_loop(q: Question, used: Event) -> bool:
    """Has an optimizer of which nothing is known stepped since the first use? An inner loop trained a copy."""
    known = {s.number for h in q.holders for s in h.steps}
    return any(e.number > used.detail and e.number not in known for e in q.history.gone)


def _is_stepped_by_hand(q: Question) -> bool:
    """Does the program write it after its first use, by a line that reads a grad?"""
    used = q.history.used(q.tensor)
    written = [e for e in q.events("written", "data") if used is not None and e.number > used.detail]
    return any(e.source is not None and ".grad" in e.source.text for e in written)


def _plain(q: Question, last: Holder) -> Iterator[Cause]:
    """What no optimizer has, and is no parameter: a part of a module, or what the optimizer has a copy of."""
    if len(passes := added(q)) > 1:
        is_part = any(v is q.tensor for m in modules_of(q) for v in (*vars(m).values(), *m._buffers.values()))
        is_like = any(p.shape == q.tensor.shape for p in last.leaves)
        is_copied = bool(last.steps) and is_like and all(q.history.grad_of(p) is None for p in last.leaves)
        if is_copied and not is_part:
            yield cause_of("not_held_copied", last.made, optimizer=last.kind)
        else:
            yield cause_of("not_held_as_parameter" if is_part else "left_alone", passes[-1], count=len(passes))


def _followed(q: Question) -> str | None:
    """The model with the name of a target that has it, if a model of the same shapes is trained."""
    shapes = {name: [p.shape for p in m.parameters()] for name, m in q.models.items()}
    trained = {p for h in q.holders if h.steps for p in h.leaves}
    for name in filter(AIMED.search, shapes):
        others = [m for k, m in q.models.items() if shapes[k] == shapes[name] and any(p in trained for p in m.parameters())]
        if others and any(p is q.tensor for p in q.models[name].parameters()):
            return name
    return None


def _is_judge(q: Question) -> bool:
    """Is it in evaluation mode as a whole, beside a model that trains? It is a fixed network that judges the other."""
    trains = {m.training for m in q.models.values()}
    own = [part.training for m in q.models.values() if any(p is q.tensor for p in m.parameters()) for part in m.modules()]
    return bool(own) and not any(own) and trains == {True, False}


def modules_of(q: Question) -> list[Any]:
    """The modules among the user's variables, and their parts."""
    return [part for m in q.models.values() for part in m.modules()]


@check("AV403", "never-stepped", {"rate_zero": ASKED, **RATES})
def never_stepped(q: Question) -> Iterator[Cause]:
    """Passes have run, and the optimizer never moves the parameter, or no longer does; or steps, and no pass."""
    steps = [s for h in q.optimizers for s in h.steps]
    is_fed = q.passes or not q.history.is_recorded or q.grad is not None or q.events("set", "cleared")
    if len(steps) >= PLENTY and not is_fed:
        got = q.history.passes[-1] if q.history.passes else None
        of, is_known = next(h.kind for h in q.optimizers if h.steps), any(h.kind in KNOWN for h in q.optimizers)
        is_seen = q.history.is_whole or not q.history.is_recorded  # a pass inside of a model is not, if that is one op
        if is_seen and (got is None or is_known):  # else it may compute gradients itself
            yield cause_of("no_backward" if got is None else "grads_unused", got or steps[-1], optimizer=of)
    waiting = [s.mode for s in _schedules(q, "ReduceLROnPlateau")]
    least = FALLEN if _schedules(q, *FALLING) else GONE  # a schedule that ends with training ends at 0
    for h in q.optimizers:
        if h.steps and h.began and 0 < (h.rate or 0.0) <= least * h.began:
            kind, mode = "rate_stopped" if waiting else "rate_gone", "".join(waiting[:1])
            yield cause_of(kind, h.steps[-1], first=h.began, rate=h.rate or 0.0, optimizer=h.kind, mode=mode)
    yield from _schedules_wrongly(q, steps)
    is_of_model = any(p is q.tensor for m in modules_of(q) for p in m._parameters.values())  # else the new one is the next leaf
    is_moved = q.holders or len(q.passes) < PLENTY or not is_of_model
    is_moved = is_moved or any(e.number > q.passes[0].number for e in q.events("written"))
    used = None if is_moved else q.history.used(q.tensor)
    named = None if used is None or used.source is None else REBOUND.match(used.source.text)
    if used is not None and named is not None and q.last is not None and used.number > q.last.number:
        yield cause_of("rebound", used, variable=named[1])
    is_at_end = any(s.last_epoch <= getattr(s, length) for kind, length in ENDING.items() for s in _schedules(q, kind))
    is_at_end |= any(map(_ends_now, _schedules(q, "LambdaLR")))
    is_idle = len(q.passes) > 1 and bool(q.optimizers) and not any(h.steps for h in q.optimizers)
    if q.optimizers and all(h.rate == 0 for h in q.optimizers) and not (is_at_end or is_idle):
        is_always = len(steps) > SETTLED and any(map(_is_always_zero, _schedules(q, "LambdaLR")))
        yield cause_of("rate_always_zero" if is_always else "rate_zero", optimizer=q.optimizers[0].kind, count=len(steps))
    elif is_idle:
        yield cause_of("no_step", q.last, optimizer=q.optimizers[0].kind)


def _schedules_wrongly(q: Question, steps: list[Any]) -> Iterator[Cause]:
    """A schedule of another optimizer, or one that runs once per batch and counts epochs, or the other way round."""
    other = next((v for v in q.names.values() if _is_idle(v, q)), None)
    if other is not None and len(steps) >= SETTLED:
        yield cause_of("schedules_other", steps[-1], schedule=type(other).__name__, optimizer=type(other.optimizer).__name__)
    for schedule in _schedules(q, "CosineAnnealingLR"):
        if len(steps) >= schedule.last_epoch >= TURNS * schedule.T_max > 0:
            yield cause_of("rate_rises", steps[-1], count=str(schedule.last_epoch), most=str(schedule.T_max))
    for schedule in filter(_gives_rates, _schedules(q, "LambdaLR") if steps else []):
        groups = schedule.optimizer.param_groups
        base = next(b for b, g in zip(schedule.base_lrs, groups, strict=True) if any(p is q.tensor for p in g["params"]))
        yield cause_of("rate_as_factor", steps[-1], first=base, rate=base * base)
    for schedule in _schedules(q, *FALLING[:-1]) if steps else []:
        if schedule.gamma == 0 and all(g["lr"] == 0 for g in schedule.optimizer.param_groups):
            yield cause_of("rate_times_zero", steps[-1], schedule=type(schedule).__name__)
    for schedule in _schedules(q, "OneCycleLR"):
        file = "" if q.last is None or q.last.source is None else q.last.source.file
        is_of_batches = any("steps_per_epoch" in line for line in linecache.getlines(file))
        if len(steps) >= schedule.total_steps > schedule.last_epoch * PLENTY and is_of_batches:
            yield cause_of("rate_rests", steps[-1], count=schedule.last_epoch, most=schedule.total_steps, steps=len(steps))


def _schedules(q: Question, *kinds: str) -> list[Any]:
    """The user's schedules of these kinds for the tensor's learning rate."""
    there = [v for v in q.names.values() if type(v).__name__ in kinds]
    return [v for v in there if any(p is q.tensor for g in v.optimizer.param_groups for p in g["params"])]


def _is_idle(schedule: Any, q: Question) -> bool:
    """Is it a schedule that has run, for an optimizer that has the tensor, and has never stepped?"""
    if not type(schedule).__module__.endswith("lr_scheduler") or not getattr(schedule, "last_epoch", 0):
        return False
    optimizer = schedule.optimizer
    is_noted = hasattr(optimizer.step, "_wrapped_by_lr_sched") and not getattr(optimizer, "_opt_called", False)
    return is_noted and any(p is q.tensor for g in optimizer.param_groups for p in g["params"])


def _gives_rates(schedule: Any) -> bool:
    """Is the largest number that its functions have given the first rate itself, a small one? They are multiplied."""
    with suppress(Exception):  # of the user's code
        times = range(schedule.last_epoch + 1)
        given = [[float(function(k)) for k in times] for function in schedule.lr_lambdas]
        has_risen = len(times) > SETTLED and all(max(numbers[:-1]) >= numbers[-1] for numbers in given)
        pairs = zip(given, schedule.base_lrs, strict=True)
        return has_risen and all(base < NEAR and math.isclose(max(numbers), base, rel_tol=CLOSE) for numbers, base in pairs)
    return False


def _is_always_zero(schedule: Any) -> bool:
    """Has its function, which runs again, given 0 in all steps so far?"""
    with suppress(Exception):  # of the user's code
        return not any(rate(k) for rate in schedule.lr_lambdas for k in range(schedule.last_epoch + 1))
    return False


def _ends_now(schedule: Any) -> bool:
    """Has its function, which runs again, given more than 0 for the last step?"""
    with suppress(Exception):  # of the user's code
        return any(rate(schedule.last_epoch - 1) for rate in schedule.lr_lambdas)
    return False


@check("AV404", "step-before-backward", {"step_first": MAY, "stepped_twice": MAY, "stepped_by_two": MAY, "skipped": ASKED})
def step_order(q: Question) -> Iterator[Cause]:
    """step() in the wrong place: before the pass of its iteration, or twice after it; or skipped by a scaler."""
    last = q.last
    steps = sorted((s for h in q.optimizers for s in h.steps), key=lambda s: s.number)
    if last is None or not q.optimizers:
        return
    checks = [e for e in q.history.scalers if not steps or e.number > steps[-1].number]
    if checks and checks[-1].detail is not None and float(checks[-1].detail.sum()) > 0:  # it found an inf
        yield cause_of("skipped", checks[-1])
    elif steps and steps[-1].number < last.number and len(steps) == len(q.passes) and steps[0].number < q.passes[0].number:
        yield from [] if q.events("set") else [cause_of("step_first", steps[-1], **{"pass": last.source})]
    twins = [h for h in q.optimizers if len(h.steps) >= SETTLED and {*h.leaves} == {*q.optimizers[0].leaves}]
    if len(twins) > 1 and all(h.steps[-1].number > last.number for h in twins):
        yield cause_of("stepped_by_two", twins[-1].steps[-1], first=twins[0].kind, second=twins[1].kind)
    reach = [p.number for p in q.passes if p.root is None or q.is_reached_from(p.root)][-PLENTY - 1 :]
    for holder in q.optimizers if len(reach) > PLENTY else ():
        rounds = [sum(a < s.number < b for s in holder.steps) for a, b in pairwise(reach)]
        if min(rounds) > 1 and holder.kind != "LBFGS" and not q.events("set"):
            yield cause_of("stepped_twice", holder.steps[-1], optimizer=holder.kind, count=min(rounds))


@check("AV405", "not-cleared", ACCUMULATED_KINDS)
def accumulated(q: Question) -> Iterator[Cause]:
    """Several passes have accumulated, and nothing cleared the gradient; or each is divided by their number twice."""
    passes = added(q)
    yield from _divided_twice(q)
    is_tool = not q.optimizers and (q.holders or not any(e.number > passes[0].number for e in q.events("written") if passes))
    is_parameter = type(q.tensor).__name__ == "Parameter"
    is_unstepped = len(passes) >= MANY and bool(q.optimizers) and not any(h.steps for h in q.optimizers)  # that tells it all
    if len(passes) <= 1 or is_unstepped or (is_tool and (q.holders or is_parameter)):  # a model, or an input, not trained here
        return
    lines = list(dict.fromkeys(s for p in passes if (s := p.source) is not None))
    steps = [s for h in q.optimizers for s in h.steps]
    is_meant = bool(steps) and not any(passes[0].number < s.number < passes[-1].number for s in steps)
    kind = "accumulating" if is_meant else "several" if len(lines) <= 1 else "several_lines"
    root, before = passes[-1].root, passes[-2].root
    is_apart = before is None or q.ops_behind(root).isdisjoint(q.ops_behind(before))  # else they are losses of one batch
    if kind == "accumulating" and len(lines) == 1 and root is not None and root.name in MEANS and is_apart:
        kind = "accumulated_whole"
    own = sorted((s for s in steps if s.number > passes[0].number), key=lambda s: s.number)
    is_stale = len(own) > 1 and any(own[0].number < p.number < own[-1].number for p in passes)
    if kind == "several_lines" and is_stale and not q.events("set"):
        yield cause_of("kept_over_step", own[0], count=len(passes), optimizer=q.optimizers[0].kind)
        return
    if kind == "several_lines" and _is_cleared_in_turn(q, passes, steps):
        return
    cause = cause_of(kind, count=len(passes), other=lines[-2] if len(lines) > 1 else None)
    yield replace(cause, source=lines[-1] if lines else None)


def _is_cleared_in_turn(q: Question, passes: list[PassEvent], steps: list[Event]) -> bool:
    """Did its step use the first pass alone, and does each round clear what the passes of other losses add after that?"""
    first, last = passes[0].number, q.passes[-1].number
    began = [s.number for s in steps if s.number < first]
    used = [s.number for s in steps if first < s.number]
    cleared = [c.number for c in q.history.clearings(q.tensor)]
    is_alone = len(used) == 1 and used[0] < last and not any(first < p.number < used[0] for p in passes)
    return is_alone and bool(began) and any(began[-1] < c < first for c in cleared)


def _divided_twice(q: Question) -> Iterator[Cause]:
    """A loss that is divided by the number of passes of a step, and that again."""
    op = q.last_root
    before = None if op is None or not op.given else op.given[0]
    numbers = [_divisor(o, q) for o in (op, before) if o is not None and is_op(o)]
    steps = sorted(s.number for h in q.optimizers for s in h.steps)
    rounds = [sum(a < p.number < b for p in q.passes if not p.error) for a, b in pairwise(steps[-PLENTY - 1 :])]
    if len(numbers) == PLENTY and numbers[0] == numbers[1] and rounds and {*rounds} == {numbers[0]} != {1}:
        yield cause_of("divided_twice", op, other=source_of(before), count=numbers[0])


def _divisor(op: Op, q: Question) -> int | None:
    """The whole number by which an op divides, if it stands there, or its variable does."""
    with suppress(SyntaxError):
        found = ast.parse("" if op.source is None else op.source.expression).body
        by = found[0].value if found and isinstance(found[0], ast.Expr | ast.AugAssign) else None
        by = by.right if isinstance(by, ast.BinOp) and isinstance(by.op, ast.Div) else by
        value = by.value if isinstance(by, ast.Constant) else q.names.get(by.id) if isinstance(by, ast.Name) else None
        return value if type(value) is int and op.name.strip("_") in DIVIDING else None
    return None


@check("AV406", "moved-without-gradient", {"moved_anyway": SO, "moved_unreached": MAY})
def moved_anyway(q: Question) -> Iterator[Cause]:
    """A parameter that gets no gradient any more, and that its optimizer still moves, as zero is a gradient too."""
    on = max((e.number for e in q.events("switched_on")), default=None)
    off = [e for e in q.events("switched_off") if (on is None or e.number > on) and not q.tensor.requires_grad]
    since = next(iter(off), q.last if q.is_left_over else None) if q.state == "zero" else None
    for holder in q.optimizers:
        if since is not None and holder.momentum and holder.rate and any(s.number > since.number for s in holder.steps):
            yield cause_of("moved_anyway" if off else "moved_unreached", since, optimizer=holder.kind)


@check("AV407", "clip-before-unscale", {"clipped_scaled": SO})
def clip_before_unscale(q: Question) -> Iterator[Cause]:
    """Gradients of a scaled loss were clipped before the scaler had divided them: their norm is that of the scale."""
    last = q.last
    if last is None or not q.is_scaled:
        return
    for cause in last_write(q):
        clip = next((e.number for e in q.history.events_of(q.grad, "written")[::-1] if e.source == cause.source), None)
        divided = [e for e in q.history.scalers if clip is not None and last.number < e.number < clip]
        if cause.kind == "clipped" and not divided:
            yield Cause("clipped_scaled", source=cause.source, said={**cause.said, "pass": last.source})


def step_of(holder: Holder, grad: float, count: int) -> float:
    """About by how much a step moves a tensor of so many elements, whose gradient has this norm; 0 if that is not known."""
    size = min(math.sqrt(count), grad / holder.eps) if holder.eps else math.sqrt(count)  # far below eps it moves nothing
    return {"SGD": grad, "Adam": size, "AdamW": size}.get(holder.kind, 0.0) * (holder.rate or 0.0)


@check("AV408", "step-too-large", {"step_too_large": MAY})
def step_too_large(q: Question) -> Iterator[Cause]:
    """A learning rate at which each step moves the weights by as much as they are."""
    for holder in q.optimizers if q.tensor.ndim > 1 else ():
        own, grad = q.norms
        grad /= max(len(added(q)), 1)  # a sum of passes is a fault of its own
        step = step_of(holder, grad, q.tensor.numel())
        rate, size = holder.rate or 0.0, math.sqrt(math.prod(q.tensor.shape[1:]))
        is_huge = holder.kind.startswith("Adam") and rate * size >= HUGE_RATE and rate >= LARGE_RATE and len(holder.leaves) > 2
        if len(holder.steps) >= SETTLED and (0 < own <= step < math.inf or (is_huge and 0 < step < math.inf)):
            yield cause_of("step_too_large", holder.steps[-1], optimizer=holder.kind, rate=rate, step=step, own=own)


@check("AV409", "outgrown", {"outgrown": MAY})
def outgrown(q: Question) -> Iterator[Cause]:
    """Weights that are very large after steps, and an op that overflowed, or nearly: behind it is the learning rate."""
    own, grad = q.norms
    for holder in q.optimizers:
        rate, count = holder.rate or 0.0, len(holder.steps)
        sizes = [q.history.norms(p)[0] / math.sqrt(p.numel()) for p in holder.leaves if p.ndim > 1 and p.numel()]
        size = max((s for s in sizes if s < math.inf), default=0.0)
        is_near = rate * count >= size if holder.kind.startswith("Adam") else not rate * grad < NEAR * own  # true of nan
        if count > 1 and size >= LARGE and is_near:
            yield cause_of("outgrown", holder.steps[-1], optimizer=holder.kind, count=count, rate=rate, size=size)


@check("AV410", "clip-in-vain", {"clipped_cleared": MAY, "clipped_late": MAY, "clipped_none": MAY})
def clip_in_vain(q: Question) -> Iterator[Cause]:
    """The gradients are clipped between zero_grad() and backward(), or after step(): no step uses what it clipped."""
    history = q.history
    steps = [s for h in q.holders for s in h.steps]
    events = {"clip": history.clips, "cleared": history.clearings(q.tensor), "pass": history.passes, "step": steps}
    if not history.clips or not q.optimizers:
        return
    order = sorted(((e.number, kind) for kind, found in events.items() for e in found), key=lambda at: at[0])
    kinds = [kind for kind, _ in groupby(kind for _, kind in order)]
    around = [(kinds[k - 1] if k else "", *kinds[k + 1 : k + 2]) for k, kind in enumerate(kinds) if kind == "clip"]
    is_always = all(after == ("cleared", "pass") for after in around[1:]) and around[0] in (("cleared", "pass"), ("", "pass"))
    by, grads = f"{history.clips[-1].name}()", [g for h in q.holders for p in h.leaves if (g := history.grad_of(p)) is not None]
    is_clipped = any(e.name.startswith("clip_") for g in grads for e in history.events_of(g, "written"))
    is_late = len(around) >= PLENTY and all(a[0] == "step" and a[1:] in (("cleared",), ()) for a in around)
    if (is_always and len(around) >= PLENTY and kinds[-1] == "step") or is_late:
        said = {"pass": source_of(q.last), "step": source_of(steps[-1])}
        yield cause_of("clipped_late" if is_late else "clipped_cleared", history.clips[-1], by=by, **said)
    elif q.last is not None and q.last.number < history.clips[-1].number and q.grad is not None and not is_clipped:
        is_kept = any(e.number > history.clips[-1].number for e in q.events("set"))  # clipped one by one, and summed
        yield from () if is_kept else [cause_of("clipped_none", history.clips[-1], by=by)]


@check("AV419", "rounded-away", {"rounded_away": MAY, "average_rounded": MAY})
def rounded_away(q: Question) -> Iterator[Cause]:
    """Steps of weights, or of their average, in bfloat16 or float16 that are smaller than the distance to the next number."""
    dtype = str(q.tensor.dtype).rpartition(".")[2]
    own, grad = q.norms
    for holder in q.optimizers if dtype in SPACING and q.tensor.ndim > 1 else ():
        step = step_of(holder, grad, q.tensor.numel())
        if len(holder.steps) >= SETTLED and 0 < step < SPACING[dtype] * own:
            yield cause_of("rounded_away", holder.steps[-1], optimizer=holder.kind, step=step, own=own, dtype=dtype)
        elif len(holder.steps) >= SETTLED and (kept := _averaged(q, holder, 2 * SPACING[dtype])) is not None:
            name, event, part = kept
            yield cause_of("average_rounded", event, average=name, part=part, dtype=dtype)


def _averaged(q: Question, holder: Holder, least: float) -> tuple[str, Event, float] | None:
    """A model that follows the tensor's by less than this part of their difference a step: its name, the line, the part."""
    nets = {name: dict(m.named_parameters()) for name, m in q.models.items()}
    path = next((path for own in nets.values() for path, p in own.items() if p is q.tensor), "")
    for name, copies in nets.items():
        t = copies.get(path)
        if t is None or t is q.tensor or any(t is p for h in q.holders for p in h.leaves):
            continue
        written = q.history.events_of(t, "written")
        is_kept = t.shape == q.tensor.shape and t.dtype == q.tensor.dtype and bool((t != q.tensor).any())
        if is_kept and written and written[-1].number > holder.steps[-1].number:
            parts = [part for n in _numbers_in(written[-1], q) for part in (n, 1 - n) if 0 < part < least]
            if parts:
                return name, written[-1], parts[0]
    return None


def _numbers_in(event: Event, q: Question) -> Iterator[float]:
    """The numbers of the line of an event, and those of its variables."""
    with suppress(SyntaxError):  # a part of a statement
        for node in ast.walk(parsed("" if event.source is None else event.source.text.strip())):
            named = q.names.get(node.id) if isinstance(node, ast.Name) else None
            value = node.value if isinstance(node, ast.Constant) else named
            if isinstance(value, float):
                yield value


@check("AV411", "step-too-small", {"step_too_small": MAY, "clipped_away": MAY})
def step_too_small(q: Question) -> Iterator[Cause]:
    """A learning rate, or a clipped gradient, so small that steps do not change the weights."""
    own, grad = q.norms
    for holder in q.optimizers if q.tensor.ndim > 1 else ():
        rate, step = holder.rate or 0.0, step_of(holder, grad, q.tensor.numel())
        is_scheduled = holder.began is not None and rate < holder.began  # at the end of its schedule
        is_small = len(holder.steps) >= SETTLED and 0 < step < NOTHING * own and not (is_scheduled or q.is_scaled)
        clips = [c for c in last_write(q) if c.kind == "clipped"]
        if is_small and (clips or rate < SMALL_RATE):
            kind, at = ("clipped_away", clips[0]) if clips else ("step_too_small", holder.steps[-1])
            yield cause_of(kind, at, optimizer=holder.kind, rate=rate, step=step, own=own)
