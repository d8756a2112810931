"""The check of two models that should play against each other, and have the same aim."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import permutations
from typing import Any

from ...graph.passes import Holder
from ..causes.cause import Cause, cause_of
from ..causes.check import MAY, check
from ..causes.code import expression_at, mentions
from ..causes.history import Op, PassEvent
from ..causes.paths import behind, is_op, with_history
from ..causes.question import Question
from .signs import LEFT, LESS

LAYERS = ("linear", "conv2d", "conv1d", "conv3d", "addmm", "matmul", "mm", "conv_transpose2d", "conv_transpose1d")
RISING = (
    "mean", "sum", "relu", "softplus", "log", "exp", "sigmoid", "logsigmoid", "log_sigmoid", "tanh", "clamp", "clamp_min",
    "leaky_relu", "view", "reshape", "squeeze", "flatten", "add", "sub", "div", "mul", "truediv", "batch_norm", "dropout",
)  # fmt: skip
FALLING = ("neg", "rsub")
WITH_TARGET = ("binary_cross_entropy", "binary_cross_entropy_with_logits", "mse_loss")
REGRESSIONS = ("mse_loss", "smooth_l1_loss", "huber_loss")
FILLED = {"zeros": 0.0, "zeros_like": 0.0, "ones": 1.0, "ones_like": 1.0}
HALF, MOST = 0.5, 64
End = tuple[Op, int, Op]  # the score, the sign with which it enters the loss, and the op that the loss takes it with


@check(
    "AV217",
    "same-aim",
    dict.fromkeys(("same_aim", "told_alike", "pulled_by_other", "left_by_other", "score_sunk"), MAY),
    of_run=True,
    first=True,
)
def same_aim(q: Question) -> Iterator[Cause]:
    """Two models that play, and of which one gets the other's aim: its labels, its sign, or its gradient."""
    steps = [h for h in q.holders if h.steps and not h.maximizes]
    for of_g, of_d in permutations(steps, 2):
        g, d = {*of_g.leaves}, {*of_d.leaves} - {*of_g.leaves}
        roots = [r for p in {p.source: p for p in q.passes[-MOST:]}.values() if (r := p.root) is not None and not p.error]
        mine = [r for r in roots if not g.isdisjoint(q.leaves_of(r))][-1:]
        theirs = [r for r in roots if g.isdisjoint(q.leaves_of(r)) and not d.isdisjoint(q.leaves_of(r))]
        ends = [end for root in theirs for end in ends_of(root, q)]
        fakes, reals = [e for e in ends if _comes_from(g, [e[0]])], [e for e in ends if not _comes_from(g, [e[0]])]
        own = [e for root in mine for e in ends_of(root, q) if _is_trained(g, e[0])]
        signs, wanted = {s for _, s, _ in fakes}, {s for _, s, _ in own}
        if len(signs) == 1 and signs == wanted and 0 not in signs and reals and signs.isdisjoint(s for _, s, _ in reals):
            said = {"generator": _name(q, g), "discriminator": _name(q, d), "other": fakes[-1][2].source}
            yield cause_of("same_aim", own[-1][2], **said)
        if len(signs) == 1 and 0 not in signs and own and {s for _, s, _ in reals} == signs:
            yield cause_of("told_alike", fakes[-1][2], generator=_name(q, g), discriminator=_name(q, d))
        if (pulled := _pulled(q, of_g, of_d)) is not None:
            yield cause_of("pulled_by_other", pulled, generator=_name(q, g), discriminator=_name(q, d))
        if (left := _left(q, of_g, of_d)) is not None:
            yield cause_of("left_by_other", left, actor=_name(q, g), critic=_name(q, d))
        is_value = bool(theirs) and all(r.name in REGRESSIONS for r in theirs)
        lines = [*(LEFT.sub("", _text(r)) for r in theirs), *map(_text, mine)]  # the name of a critic's own loss says nothing
        is_value &= not any(word in line.lower() for word in LESS for line in lines)
        if is_value and len(own) == 1 and not d.isdisjoint(own[0][0].given) and wanted == {1} and mine[0].name == "mean":
            yield cause_of("score_sunk", mine[0], actor=_name(q, g), critic=_name(q, d))


def _text(op: Op) -> str:
    return getattr(op.source, "text", "")


def _pulled(q: Question, of_g: Holder, of_d: Holder) -> PassEvent | None:
    """The pass of the other's loss whose gradient is added to that of the generator, and that pulls the other way."""
    g, step = {*of_g.leaves}, of_g.steps[-1].number
    since = max((c.number for c in q.history.clearings(of_g.leaves[0]) if c.number < step), default=step)
    passes = [p for p in q.passes[-MOST:] if since < p.number < step and not g.isdisjoint(q.leaves_of(p.root))]
    signs = [{s for op, s, _ in ends_of(p.root, q) if _is_trained(g, op)} for p in passes if p.root is not None]
    is_of_two = len(passes) == 2 and any(passes[0].number < s.number < passes[1].number for s in of_d.steps)
    return passes[0] if is_of_two and signs in ([{1}, {-1}], [{-1}, {1}]) else None


def _left(q: Question, of_g: Holder, of_d: Holder) -> PassEvent | None:
    """The pass of one's loss, which is what the other gives for it, whose gradient the other's step uses, too."""
    g, d, step = {*of_g.leaves}, {*of_d.leaves} - {*of_g.leaves}, of_d.steps[-1].number
    since = max((c.number for leaf in of_d.leaves[:1] for c in q.history.clearings(leaf) if c.number < step), default=step)
    passes = [p for p in q.passes[-MOST:] if since < p.number < step and not d.isdisjoint(q.leaves_of(p.root))]
    grads = [p.grad for p in d if p.grad is not None]
    if not grads and q.last is not None and mentions(q.last.source, ".grad"):
        return None
    if any(since < e.number < step for t in grads[:1] for e in q.history.events_of(t, "written")):  # cleared by hand
        return None
    if len(passes) != 2 or passes[0].root is None or passes[0].wanted or not g.isdisjoint(q.leaves_of(passes[1].root)):
        return None
    scores = [op for op, sign, _ in ends_of(passes[0].root, q) if sign and not d.isdisjoint(op.given)]
    is_stepped = any(passes[0].number < s.number < passes[1].number for s in of_g.steps)
    return passes[0] if is_stepped and scores and all(_is_trained(g, op) for op in scores) else None


def _comes_from(leaves: set[Any], ops: list[Op]) -> bool:
    """Do they come from the leaves, detached or not?"""
    return any(g in leaves for op in behind(ops) for g in op.given if not is_op(g))


def _is_trained(leaves: set[Any], op: Op) -> bool:
    return any(g in leaves for o in with_history([op]) for g in o.given if not is_op(g))


def _name(q: Question, leaves: set[Any]) -> str:
    """The module that has them."""
    return next((name for name, m in q.models.items() if any(p in leaves for p in m.parameters())), "the model")


def ends_of(root: Op, q: Question) -> Iterator[End]:
    """The scores that a loss is made of: the results of layers, and whether the loss rises with each. 0: not known."""
    todo = [(root, 1, root)]
    for _ in range(MOST):
        if not todo:
            return
        op, sign, by = todo.pop()
        name = op.name.strip("_").removeprefix("i")
        given = [g for g in op.given if is_op(g) and not g.cut]
        if op.name in LAYERS:
            yield op, sign, by
        elif name in WITH_TARGET:
            target = _target(q, op)
            to = 0 if target is None or target == HALF else 1 if target < HALF else -1
            todo += [(g, sign * to, op) for g in given]
        elif name in (*RISING, *FALLING):
            for k, g in enumerate(given):
                turned = -1 if name in FALLING or (name == "sub" and k == 1) else 1
                todo.append((g, sign * turned * _factor(op, len(given)), by if g.name not in LAYERS else op))


def _factor(op: Op, count: int) -> int:
    """The sign of the number by which it multiplies or divides; 0 if that is not written there."""
    if op.name.strip("_").removeprefix("i") not in ("mul", "div", "truediv"):
        return 1
    found = expression_at(op.source)
    sides = [found.left, found.right] if isinstance(found, ast.BinOp) and count == 1 else []
    for side in sides:
        sign = -1 if isinstance(side, ast.UnaryOp) and isinstance(side.op, ast.USub) else 1
        value = side.operand if isinstance(side, ast.UnaryOp) else side
        if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
            return sign * (1 if value.value > 0 else 0)
    return 0


def _target(q: Question, op: Op) -> float | None:
    """The target of a loss, if all its elements are on one side of 1/2, and were so when the op ran."""
    found = expression_at(op.source)
    given = [*found.args[1:2], *(k.value for k in found.keywords if k.arg == "target")] if isinstance(found, ast.Call) else []
    if not given:
        return None
    of = given[0]
    if isinstance(of, ast.Call):
        called = of.func.attr if isinstance(of.func, ast.Attribute) else of.func.id if isinstance(of.func, ast.Name) else ""
        return FILLED.get(called)
    value = q.names.get(of.id) if isinstance(of, ast.Name) else None
    if not hasattr(type(value), "requires_grad") or value is None or not value.numel():
        return None
    if any(e.number > op.number for e in q.events_of(value, "written")):
        return None
    least, most = float(value.detach().min()), float(value.detach().max())
    return least if (least < HALF) == (most < HALF) else None
