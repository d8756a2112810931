"""Checks of what a loss aims at: targets and weights that must not learn with it, and targets out of reach."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import permutations, product
from typing import Any

import numpy as np

from ... import words
from ...graph.model import Value
from ...graph.op_names import plain_name
from ..causes.cause import Cause, cause_of
from ..causes.check import MAY, check
from ..causes.code import called_at, expression_at, mentions, spelling
from ..causes.facts import Facts
from ..causes.history import Op
from ..causes.numbers import bounds, count_zeros
from ..causes.ops import cause_at, op_of
from ..causes.paths import is_op, with_history
from ..causes.question import Question
from .loss import LOSSES, SHAPED

LAYERS = ("Addmm", "Mm")
NO_STUDENT = re.compile(r"(?:^|_)(?:target|teacher|ema|source|src)(?:_|$)")  # source and target are two languages or domains
AIMED = re.compile(r"(?:^|_)(?:target|teacher|ema)(?:_|$)")
PICKED = (*SHAPED, "Max", "Amax", "Min", "Amin", "Gather", "Minimum")  # values of a layer, or some of them
RANGES = {"Sigmoid": (0.0, 1.0), "Softmax": (0.0, 1.0), "Tanh": (-1.0, 1.0)}  # of results
WEIGHING = ("mul", "__mul__", "__rmul__")
LESS, THROUGH = (
    ("sub", "__sub__", "rsub", "__rsub__"),
    ("squeeze", "view", "reshape", "div", "__truediv__", "sum", "neg", "exp"),
)
REGRESSIONS, LARGEST = ("mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss"), ("max", "amax")
PREDICTING = ("linear", "addmm", "mm", "matmul")
SHAPING = ("squeeze", "unsqueeze", "view", "reshape", "flatten", "__getitem__", "getitem", "values")
COMPARING = (*REGRESSIONS, "kl_div", "cosine_similarity", "cosine_embedding_loss", "cross_entropy", "nll_loss")
CUTTING = ("detach", "data", "float", "to")
MASKING = re.compile(r"mask|pack_padded|ignore_index|[!=]= *(?:0|\w*pad\w*)\b|\.(?:ne|eq)\(", re.IGNORECASE)  # of padding
FAR = 8  # ops that are followed
MANY = 0.2  # the part of targets that are negative
PLENTY = 1.5  # labels of a row, on average
TRAINED = ("target_trained", "weight_trained", "target_held", "ratio_trained", "temperature_trains")
REACHED = ("out_of_reach", "no_probability", "several_labels", "labels_of_softmax", "logits_as_target")
OUTSIDE = 0.5  # beyond a range, by which a target is out of reach


@check("AV204", "trained-target", dict.fromkeys(TRAINED, MAY), of_run=True, first=True)
def trained_target(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """A target, or the weight of a log_prob(), that the model itself computed, and through which the loss trains it, too."""
    for node in nodes:
        edges = f.ways_on(node)
        is_unknown = op_of(f, node) == "Exp" and f.live.kept(node, "result") is None  # else its gradients tell
        if is_unknown and _is_of_two_alike(f, edges[0] if edges else node):
            yield cause_at(f, "ratio_trained", node)
        if op_of(f, node) not in (*LOSSES, "Rsub") or len(edges) != 2:
            continue
        for value, target in (edges, edges[::-1]):
            added = _bootstrapped(f, target) if op_of(f, _behind(f, value, PICKED)) in LAYERS else None
            leaves = ({f.nodes[n].variable for n in f.downstream([side])} for side in (value, target))
            if added is not None and set.intersection(*leaves) - {None}:  # both come from one parameter
                yield cause_at(f, "target_trained", added)
    root = q.last_root
    for op in q.ops_behind(root):
        given = [g for g in op.given if is_op(g) and not g.cut]
        if op.name in WEIGHING and len(given) == 2:
            for log, weight in (given, given[::-1]):
                if _is_log_prob(log) and not _is_log_prob(weight) and (less := _difference(weight)) is not None:
                    yield cause_of("weight_trained", op, weight=spelling(less))
        if op.name in WEIGHING and (number := _temperature(q, op)) is not None:
            yield cause_of("temperature_trains", op, temperature=q.name_of(number) or words.THE_TENSOR)
    yield from _held(q, root)


def _temperature(q: Question, product: Op) -> Any:
    """A number that learns, if it weighs log_prob() and an aim, and the same pass has that log_prob() elsewhere."""
    for factor, aim in permutations(product.given, 2) if len(product.given) == 2 else ():
        number, is_shifted = factor, is_op(aim) and aim.name in (*LESS, "add", "__add__", "__radd__") and len(aim.given) == 1
        while is_op(number) and number.name in ("exp", "neg", "__neg__") and len(number.given) == 1:
            number = number.given[0]
        log: Any = aim.given[0] if is_shifted else None
        if is_op(number) or number.numel() != 1 or not is_op(log) or log.cut or not _is_log_prob(log):
            continue
        if any(op is not aim and log in op.given for op in q.ops_behind(q.last_root)):
            return number
    return None


def _is_of_two_alike(f: Facts, node: str) -> bool:
    """Is it a difference whose sides the same code made of one result of a layer at two places, as two log_prob() of a pass?"""
    sides = f.ways_on(node) if op_of(f, node) == "Sub" else []
    behind = [f.downstream([s]) for s in sides]
    ops = [Counter(f.called(n) for n in b) for b in behind]
    layers = [{n for n in b if op_of(f, n) in LAYERS} for b in behind]
    places = [s for side in sides if (s := f.source(side)) is not None and s.expression]
    is_same_code = len(places) == 2 and places[0].expression == places[1].expression and places[0] != places[1]
    return is_same_code and ops[0] == ops[1] and layers[0] == layers[1] != set()


def _held(q: Question, root: Op | None) -> Iterator[Cause]:
    """A model with the name of a target or a teacher, that the optimizer of its student has, too."""
    leaves = q.leaves_of(root) if root is not None else set()
    nets = {name: [*m.named_parameters()] for name, m in q.models.items()}
    for target, student in product(filter(AIMED.search, nets), nets):
        own, its = ({p for _, p in nets[name]} for name in (target, student))
        is_pair = bool(own and its) and own.isdisjoint(its) and not NO_STUDENT.search(student)  # one with two names is AV414
        holder = next((h for h in q.holders if h.steps and own | its <= {*h.leaves} & leaves), None) if is_pair else None
        is_alike = [(n, p.shape) for n, p in nets[student]] == [(n, p.shape) for n, p in nets[target]]
        if holder is not None and ((is_alike and not _is_taught(q, root, own)) or its <= _compared(q, root, own)):
            yield cause_of("target_held", holder.made, target=target, student=student, optimizer=holder.kind)
            return


def _is_taught(q: Question, root: Op | None, own: set[Any]) -> bool:
    """Does a loss compare what these give with labels? Then two models learn together."""
    losses = (op for op in q.ops_behind(root) if op.name in COMPARING and len([*filter(is_op, op.given)]) == 1)
    return any(own <= q.leaves_of(op) for op in losses)


def _compared(q: Question, root: Op | None, own: set[Any]) -> set[Any]:
    """The leaves that a loss compares with these, if no other part of the loss trains these: no labels do."""
    found = set[Any]()
    for op in q.ops_behind(root):
        sides = [q.leaves_of(g) for g in op.given if is_op(g)] if op.name in COMPARING else []
        reached = [side for side in sides if own <= side]
        if len(sides) > 1 and reached and len(reached) < len(sides):
            found |= set[Any]().union(*(side for side in sides if own.isdisjoint(side)))
        elif op.name in COMPARING and reached:
            return set()
    return found


def _behind(f: Facts, node: str, ops: tuple[str, ...]) -> str:
    """The first node behind it, or itself, that is none of these ops, or has several ways on."""
    for _ in range(FAR):
        after = f.ways_on(node)
        if op_of(f, node) not in ops or len(after) != 1:
            break
        node = after[0]
    return node


def _bootstrapped(f: Facts, node: str) -> str | None:
    """The sum of data and what a layer gave, times a number: `reward + gamma * model(following)`."""
    added = _behind(f, node, SHAPED)
    edges = f.ways_on(added) if op_of(f, added) == "Add" else []
    is_scaled = len(edges) == 1 and op_of(f, edges[0]) == "Mul"
    return added if is_scaled and op_of(f, _behind(f, edges[0], ("Mul", *PICKED))) in LAYERS else None


def _is_log_prob(op: Op) -> bool:
    """Is it log_prob() of a distribution, or made of it element by element?"""
    for _ in range(FAR):
        if called_at(op.source) == "log_prob":
            return True
        first, is_alone = next(iter(op.given), None), len(op.given) == 1 or op.name in (*LESS, "stack", "cat")
        if op.name.strip("_") not in (*THROUGH, "sub", "stack", "cat") or first is None or not is_op(first) or not is_alone:
            return False
        op = first
    return False


def _difference(op: Op) -> Op | None:
    """The difference that it is, or is a multiple of, if a layer made a part of it: `returns - values`."""
    for _ in range(FAR):
        given = [g for g in op.given if is_op(g) and not g.cut]
        if op.name in LESS and len(given) == 1:
            return op if any(o.name == "linear" for o in with_history([op])) else None
        if op.name not in (*THROUGH, *LESS, *WEIGHING) or not given:
            return None
        op = given[0]
    return None


def best_action(ops: Iterable[Op]) -> Iterator[Cause]:
    """In a regression towards rewards and later values: the largest value; or, in its target, where the largest is."""
    for op in sorted(ops, key=lambda op: op.number):
        given = [*filter(is_op, op.given)] if op.name in (*REGRESSIONS, *LESS) else []
        for value, target in permutations(given, 2) if len(given) == 2 else ():
            made, parts = _unshaped(value), [*_summed(target)] if target.cut and not value.cut else []
            where = next((p for p, is_scaled in parts if p.name == "argmax" and is_scaled), None)
            is_later = any(p.name in LARGEST and is_scaled for p, is_scaled in parts)
            if where is not None:
                yield cause_of("position_as_value", where, op=spelling(where))
                return
            if made.name in LARGEST and is_later and any(g.name in PREDICTING for g in made.given if is_op(g)):
                yield cause_of("best_action", made, op=spelling(made), other=target.source)
                return


def _unshaped(op: Op) -> Op:
    """The op that made its values, before they were shaped anew."""
    while op.name in SHAPING and len(op.given) == 1 and is_op(op.given[0]):
        op = op.given[0]
    return op


def _summed(op: Op) -> Iterator[tuple[Op, bool]]:
    """What a target is the sum of, without detach() and shapes, and whether a factor multiplies it, and data is added to it."""
    todo = [(op, False, False)]
    while todo:
        op, is_scaled, is_added = todo.pop()
        given = [g for g in op.given if is_op(g)]
        if op.name in (*SHAPING, *CUTTING) and given:
            todo += [(g, is_scaled, is_added) for g in (filter(is_op, op.given[:1]) if "getitem" in op.name else given)]
        elif op.name.strip("_").removeprefix("i") in ("add", "radd", "sub", "rsub"):
            found = expression_at(op.source)  # a sum of which no side is a number has data
            sides = [found.left, found.right] if isinstance(found, ast.BinOp) else []
            is_added |= bool(sides) and not any(isinstance(side, ast.Constant) for side in sides)
            todo += [(g, is_scaled, is_added) for g in given]
        elif op.name in WEIGHING and len(given) == 1:
            todo.append((given[0], True, is_added))
        else:
            yield op, is_scaled and is_added


@check("AV206", "target-out-of-reach", dict.fromkeys(REACHED, MAY), of_run=True, first=True)
def out_of_reach(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """Targets outside the range of the function that makes the predictions: a sigmoid cannot give 7, nor a relu -7."""
    for node in nodes:
        yield from _no_distribution(f, node)
        after = f.ways_on(node)
        made = op_of(f, _behind(f, after[0], PICKED)) if len(after) == 1 and op_of(f, node) in LOSSES else ""
        least, most = RANGES.get(made, (0.0, float("inf")))
        given = [t.value for t in f.inputs(node) if not t.requires_grad and t.value.shape] if made in (*RANGES, "Relu") else []
        low, high = (bounds(given[0]) if len(given) == 1 else None) or (least, most)
        targets = f.live.kept(node, "target") if made == "Relu" and low < least - OUTSIDE else None
        are_many = targets is not None and bool((targets < -OUTSIDE).mean() > MANY)  # a few may be noise, or mark something
        is_below = low < least - OUTSIDE and (made != "Relu" or high <= 0 or are_many)
        if high > most + OUTSIDE or is_below:
            yield cause_at(f, "out_of_reach", node, least=f"{low:.3g}", most=f"{high:.3g}", made=plain_name(made))


def _no_distribution(f: Facts, node: str) -> list[Cause]:
    """Targets of a cross entropy that are no probabilities, or whose rows do not sum to 1."""
    data = [t.value for t in f.inputs(node) if not t.requires_grad and t.value.shape]
    found, op = bounds(data[0]) if data else None, op_of(f, node)
    if op == "BinaryCrossEntropyWithLogits" and found is not None and (found[0] < -OUTSIDE or found[1] > 1 + OUTSIDE):
        return [cause_at(f, "no_probability", node, least=f"{found[0]:.3g}", most=f"{found[1]:.3g}")]
    before, total = f.ways_on(node), _total(data[0]) if data else 0.0
    made = _behind(f, before[0], SHAPED) if op == "BinaryCrossEntropy" and before and found and found[0] >= 0 else node
    if made != node and op_of(f, made) == "Softmax" and total >= PLENTY:
        return [cause_at(f, "labels_of_softmax", made, total=f"{total:.3g}")]
    whole = next((n for n in f.leading((node, 0)) if f.live.called_as(n)), None) if op == "Mul" else None
    if whole is not None and f.live.called_as(whole) == "kl_div" and (kept := f.live.kept(node, "self")) is not None:
        low, high = float(kept.min()), float(kept.max())
        is_raw = low < 0 and not any(op_of(f, n) == "Exp" for n in before)
        return [cause_at(f, "logits_as_target", whole, least=f"{low:.3g}", most=f"{high:.3g}")] if is_raw else []
    if op != "Mul" or found is None or found[0] < 0 or len(before) != 1 or op_of(f, before[0]) != "LogSoftmax":
        return []
    is_one = whole is None or f.live.called_as(whole) != "cross_entropy" or total < PLENTY
    return [] if is_one else [cause_at(f, "several_labels", whole or node, total=f"{total:.3g}")]


def _total(v: Value) -> float:
    """The mean sum of the rows of a matrix; 0 of another value."""
    mean = v.summary.mean if v.summary is not None else sum(n.real for n in v.numbers) / max(len(v.numbers), 1)
    return mean * v.shape[-1] if len(v.shape) == 2 else 0.0


@check("AV212", "padding-counted", {"padding_counted": MAY}, of_run=True, first=True)
def padding_counted(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """Targets that contain the padding of the inputs, in a mean over all targets."""
    tables = [n for n in nodes if op_of(f, n) == "Embedding" and int(f.plain(n, "padding_idx") or -1) >= 0]
    for node in nodes if tables and not [*padding_is_item.when(f, nodes, q)] else ():
        shape = next((t.value.shape for t in f.inputs(node)), ())
        classes = {"NllLoss": shape[-1:], "NllLoss2D": shape[1:2]}.get(op_of(f, node), ())
        targets = f.saved(node, "target") if f.plain(node, "reduction") == "1" else None
        for table in tables:
            pad, rows = int(f.plain(table, "padding_idx")), int(f.plain(table, "weight_sym_argsize_0") or 0)
            is_left_out = f.plain(node, "ignore_index") == str(pad)
            is_language = classes == (rows,) and _contains(targets, pad) and _contains(f.saved(table, "indices"), pad)
            if not is_left_out and (is_language or _is_label_of_padding(f, node, table, pad)):
                yield cause_at(f, "padding_counted", node, pad=pad)


def _is_label_of_padding(f: Facts, node: str, table: str, pad: int) -> bool:
    """Is one label that of all padding, and of nothing else? Of the steps of a sequence, a fifth or more."""
    inputs, targets = f.live.kept(table, "indices"), f.live.kept(node, "target")
    if inputs is None or targets is None or inputs.size != targets.size or inputs.ndim < 2:
        return False
    is_padding, labels = (inputs == pad).reshape(-1), targets.reshape(-1)
    label = labels[is_padding][:1]
    is_same = label.size == 1 and bool(((labels == label) == is_padding).all())
    return is_same and int(label[0]) == pad and 5 * int(is_padding.sum()) >= labels.size


@check("AV218", "padding-is-an-item", {"padding_is_item": MAY}, of_run=True, first=True)
def padding_is_item(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """The padding_idx of an embedding stands between real items in its input: that item has a vector that does not learn."""
    if q.last is not None and mentions(q.last.source, MASKING):
        return
    used = Counter(f"{f.ways_on(n)}" for n in nodes if op_of(f, n) == "Embedding")
    for node in nodes:
        pad = int(f.plain(node, "padding_idx") or -1) if op_of(f, node) == "Embedding" else -1
        rows = f.live.kept(node, "indices") if pad >= 0 and used[f"{f.ways_on(node)}"] == 1 else None
        if rows is None or rows.ndim not in (1, 2) or not (rows != pad).any():
            continue
        among = 0 if _ends_columns(rows, pad) else _between(rows, pad) if rows.ndim == 2 else _apart(rows, pad)
        if among:
            yield cause_at(f, "padding_is_item", node, pad=pad, count=among, size=rows.size)


def _ends_columns(rows: Any, pad: int) -> bool:
    """Does it stand at the end of each column, and nowhere else, as where time comes first?"""
    return bool(rows.ndim == 2 and (np.diff((rows == pad).astype(int), axis=0) >= 0).all())


def _between(rows: Any, pad: int) -> int:
    """How many stand between other items of a row, if that is most of them."""
    real = rows != pad
    inside = np.logical_or.accumulate(real, 1) & np.logical_or.accumulate(real[:, ::-1], 1)[:, ::-1] & ~real
    return int(inside.sum()) if inside.sum() > (~real).sum() / 2 else 0


def _apart(row: Any, pad: int) -> int:
    """How many there are, if each item of the batch is one of many, and they are about as frequent as the others."""
    count, kinds = int((row == pad).sum()), len({*row.tolist()})
    is_run = bool(((row[1:] == pad) & (row[:-1] == pad)).sum() * 2 > count)
    return count if count > 1 and len(row) < 2 * count * kinds < 6 * len(row) and kinds > 2 and not is_run else 0


def _contains(value: Value | None, number: int) -> bool:
    """Is it known that it does?"""
    return value is not None and (number in value.numbers or (number == 0 and count_zeros(value) > 0))
