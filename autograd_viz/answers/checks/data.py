"""Checks of data: noise that is drawn again, rows that are shuffled apart, numbers that mean something else."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator
from itertools import chain
from math import prod
from typing import Any

import numpy as np

from ...graph.op_names import plain_name
from ...graph.surroundings import Source
from ...graph.text import shape_text
from ..causes.cause import Cause, cause_of
from ..causes.check import MAY, check
from ..causes.code import expression_at, line_of, mentions, spelling, tree_of
from ..causes.facts import Facts
from ..causes.history import Event
from ..causes.numbers import bounds, count_zeros
from ..causes.ops import cause_at, op_of
from ..causes.question import Question
from .loss import RAW, REGRESSIONS, SHAPED
from .signs import LOSSES

NORMAL = ("randn", "normal")  # how names of functions that draw it begin
MIXED = ("add", "__add__", "__radd__", "cat", "concat", "concatenate")  # how noise gets into an input
TAKERS = {"Addmm": "mat1", "Mm": "self", "Convolution": "input"}
CHANCE = 3.0  # standard deviations of the correlation of independent numbers
CALLED = ("cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
REVERSED, REWARDED = re.compile(r"reverse|\[::-1\]|flip|insert\(|appendleft"), re.compile(r"reward|log_prob|\bgamma\b")
FEW, INSIDE = 3, 8  # rows; nodes of one loss of labels with signs
PAIRS = ("cosine_embedding_loss", "hinge_embedding_loss")
HINGES = ("clamp", "clamp_min", "relu", "clip")
SIGNED = (*PAIRS, "margin_ranking_loss", "soft_margin_loss")
FILLS = ("copy_", "fill_", "zero_")
LEVELING = {"sub": 0, "softmax": 1, "layer_norm": 0}  # the number that they make of one element
PAIRED = re.compile(r"None\]|None,|unsqueeze\(")  # who writes a column beside a row wants all pairs
MOST_LEFT = {"cast_to_zero": 0.0, "scaled_twice": 1.01 / 255}
LOST = ("wrapped", "floored", "cast_to_zero", "argmax_of_one", "constant_input", "scaled_twice", "channels_viewed")


@check("AV216", "other-noise", {"other_noise": MAY}, of_run=True, first=True)
def other_noise(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """A model that is to predict the noise of its input, and whose targets are noise that was drawn once more."""
    began = max((p.number for p in q.passes[:-1]), default=0)
    ran = min((op.number for op in q.ops_behind(q.last_root)), default=0)
    for node in nodes if ran else ():
        made = f.live.data_made(node, "target") if op_of(f, node) in REGRESSIONS else None
        if made is None or not made.name.startswith(NORMAL) or made.number < began:
            continue
        draws = [d for d in q.history.draws if d.name.startswith(NORMAL) and d.detail == made.detail and began < d.number < ran]
        others = [d for d in draws if d.number != made.number]
        inputs = [(n, saved) for n in nodes if (saved := TAKERS.get(op_of(f, n))) and (takes_data(f, n) or _joins_data(f, n))]
        made_by = {at: f.live.data_made(*at) for at in inputs}
        mixed = [at for at, by in made_by.items() if _joins_data(f, at[0]) or (by is not None and by.name in MIXED)]
        is_apart = made.number > ran or (others and others[-1].number > made.number and _has_none(f, mixed, node))
        if others and mixed and is_apart:
            yield cause_at(f, "other_noise", node, drawn=made.name, made=made.source, other=others[-1].source)


def takes_data(f: Facts, node: str) -> bool:
    """Is the input of a layer data?"""
    sides, index = f.sides(node), 1 if op_of(f, node) == "Addmm" else 0
    return op_of(f, node) == "Embedding" or sides[index : index + 1] == [None]


def _joins_data(f: Facts, node: str) -> bool:
    """Is its input made by cat() of data and what is trained, as the embedding of a time?"""
    sides, index = f.sides(node), 1 if op_of(f, node) == "Addmm" else 0
    made = sides[index] if len(sides) > index else None
    return made is not None and op_of(f, made) == "Cat" and None in f.sides(made)


def _has_none(f: Facts, inputs: list[tuple[str, str]], loss: str) -> bool:
    """Is the target of a loss in none of these inputs? It correlates with none, where its columns may be."""
    target = f.live.kept(loss, "target")
    found = [f.live.kept(*at) for at in inputs]
    if target is None or not found or any(x is None or x.shape[0] != target.shape[0] for x in found):
        return False
    limit = CHANCE / prod(target.shape) ** 0.5
    return all(abs(r) < limit for r in chain.from_iterable(_correlations(x, target) for x in found))


def _correlations(x: Any, target: Any) -> Iterator[float]:
    """With each block of columns, or channels, of the size of the target."""
    if x.ndim != target.ndim or x.shape[2:] != target.shape[2:]:
        x, target = x.reshape(len(x), -1), target.reshape(len(target), -1)
    width = target.shape[1] if target.ndim > 1 else 1
    for at in range(x.shape[1] - width + 1 if x.ndim > 1 else 0):
        yield float(np.corrcoef(x[:, at : at + width].ravel(), target.ravel())[0, 1])


@check("AV228", "shuffled-apart", {"shuffled_apart": MAY}, of_run=True, first=True)
def shuffled_apart(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """The rows of the input were put in a random order, and the targets were not, or in another one."""
    takers = {**TAKERS, "Embedding": "indices"}
    given = [(n, saved) for n in nodes if (saved := takers.get(op_of(f, n))) is not None and takes_data(f, n)]
    orders = {f.live.ordered(*at) for at in given}
    order = orders.pop() if len(orders) == 1 else None
    rows = {len(kept) if (kept := f.live.kept(*at)) is not None and kept.ndim else 0 for at in given}
    for node in nodes if order is not None and order[0] else ():
        its, targets = _targets(f, q, node)
        is_known = its is not None and targets is not None and {len(targets)} == rows and len(targets) >= FEW
        if order is not None and is_known and _is_other(order, its) and _is_of_samples(targets):
            called = f.live.called_as(node)
            loss = called if called in CALLED else plain_name(op_of(f, node))
            yield cause_at(f, "shuffled_apart", node, shuffled=order[2], loss=loss)
    yield from _apart_in_dataset(q)


def _is_other(order: Any, its: Any) -> bool:
    """Have rows been put in an order after others were there, which are in another one?"""
    return bool(order[0] and its[0] != order[0] and its[1] < order[0])


def _apart_in_dataset(q: Question) -> Iterator[Cause]:
    """The same of the tensors of a dataset, whose rows a loader picks one by one."""
    loaded = [getattr(v, "dataset", v) for v in q.names.values()]
    for tensors in (t for d in loaded if isinstance(t := getattr(getattr(d, "dataset", d), "tensors", None), tuple)):
        if len(tensors) != 2 or not all(map(q.is_of_library, tensors)) or not _is_of_samples(tensors[1]):
            continue
        if tensors[0].shape == tensors[1].shape:  # pairs of the same things
            continue
        order, its = map(q.history.ordered, tensors)
        if order is not None and its is not None and _is_other(order, its):
            yield Cause("shuffled_apart", source=its[2] or order[2], said={"shuffled": order[2], "loss": "TensorDataset"})


def _targets(f: Facts, q: Question, node: str) -> tuple[Any, Any]:
    """The order of what a loss compares with, and its elements; of a difference by hand, by the name that stands there."""
    op = op_of(f, node)
    if op in LOSSES:
        return f.live.ordered(node, "target"), f.live.kept(node, "target")
    found = expression_at(f.source(node)) if op in ("Sub", "Rsub") else None
    sides = [found.left, found.right] if isinstance(found, ast.BinOp) else []
    named = [q.names[s.id] for s in sides if isinstance(s, ast.Name) and s.id in q.names]
    data = [t for t in named if hasattr(type(t), "grad_fn") and not t.requires_grad and t.ndim]
    return (q.history.ordered(data[0]), data[0]) if len(data) == 1 else (None, None)


def _is_of_samples(targets: Any) -> bool:
    """Do they differ from row to row, and not count the rows?"""
    is_even = bool((targets == targets[:1]).all())
    return not is_even and not (targets.ndim == 1 and bool((targets[1:] - targets[:-1] == 1).all()))


@check("AV238", "returns-backwards", {"returns_backwards": MAY}, of_run=True, first=True)
def returns_backwards(q: Question) -> Iterator[Cause]:
    """Returns that a loop from the last reward to the first appends to a list, and that nobody puts in order again."""
    source = None if q.last is None else q.last.source
    if source is None or not (mentions(source, "reversed(") or mentions(source, "[::-1]")):
        return
    tree = tree_of(source.file)
    text = ast.unparse(tree)  # without comments
    if len(REVERSED.findall(text)) != 1 or not REWARDED.search(text):
        return
    for loop in (n for n in ast.walk(tree) if isinstance(n, ast.For)):
        appended = _sums_in(loop) if REVERSED.search(ast.unparse(loop.iter)) else None
        if appended is not None and not re.search(rf"\b{appended}(\.pop\(|\[-|\[len\()|sort|, -1\)", text):
            yield Cause("returns_backwards", source=line_of(source.file, loop), said={"returns": appended})


def _sums_in(loop: ast.For) -> str | None:
    """The list to which a loop appends what it goes on adding up: `R = r + gamma * R`."""
    sums = dict[str, str]()
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            sums[node.targets[0].id] = ast.unparse(node.value)
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[ast.Name(id=value)]):
                if re.search(rf"\b{value}\b", sums.get(value, "")):
                    return name
    return None


@check("AV234", "predictions-compared-wrongly", {"compared_in_pairs": MAY, "largest_of_one": MAY}, of_run=True)
def compared_wrongly(q: Question) -> Iterator[Cause]:
    """An accuracy that compares every prediction with every label, or looks for the largest of one column: it is always 0."""
    for kind in ("compared_in_pairs", "largest_of_one"):
        found = [e for e in q.history.layers if e.kind == kind and not PAIRED.search(getattr(e.source, "expression", ""))]
        for e in found[-1:]:
            yield cause_of(kind, e, op=spelling(e), shape=shape_text(e.detail[0]), other=shape_text(e.detail[-1]))


@check("AV235", "numbers-across-rows", {"row_across": MAY}, of_run=True)
def numbers_across(q: Question) -> Iterator[Cause]:
    """Numbers that were picked one for each row of a square batch, and multiply its columns: they need a dimension more."""
    began = max((p.number for p in q.passes[:-1]), default=0)
    for e in [e for e in q.history.layers if e.kind == "row_across" and e.number > began][-1:]:
        yield cause_of("row_across", e, op=spelling(e), shape=shape_text(e.detail[0]), other=shape_text(e.detail[1]))


@check("AV239", "repeated-rows", {"rows_repeated": MAY}, of_run=True, first=True)
def rows_repeated(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """`x[index] += y` with an index that repeats rows: each gets one of its values, and not their sum."""
    for node in nodes:
        added = f.sides(node)[-1] if op_of(f, node) == "IndexPut" and f.plain(node, "accumulate") == "False" else None
        source = f.source(node)
        index = f.live.kept(node, "indices") if added is not None and source is not None and "] +=" in source.text else None
        made = None if added is None else f.source(added)
        if index is None or index.dtype == bool or source is None or made is None or made.line != source.line:
            continue
        count = index.size - len(np.unique(index))
        if count:
            yield cause_at(f, "rows_repeated", node, op=source.text.strip(), count=count, size=index.size)


@check("AV236", "dataset-written", {"sample_written": MAY}, of_run=True)
def dataset_written(q: Question) -> Iterator[Cause]:
    """An in-place op in __getitem__() writes into the memory of the dataset, so each epoch changes a sample once more."""
    for e in [e for e in q.history.layers if e.kind == "sample_written" and not _is_filled(e.source)][-1:]:
        yield cause_of("sample_written", e, op=spelling(e) if e.name.startswith("__") else f"{e.name}()")


def _is_filled(source: Source | None) -> bool:
    """Does __getitem__() write all of the same buffer, as with copy_()?"""
    if source is None:
        return False
    own = [
        n
        for n in ast.walk(tree_of(source.file))
        if isinstance(n, ast.FunctionDef) and n.lineno <= source.line <= (n.end_lineno or 0)
    ]
    calls = [c for n in own[-1:] for c in ast.walk(n) if isinstance(c, ast.Call)]
    base = re.match(r"\s*(\w+)", source.text)
    name = "" if base is None else base[1]
    fills = [c.func.value for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr in FILLS]
    fills += [k.value for c in calls for k in c.keywords if k.arg == "out"]
    return any(ast.unparse(of).partition(".")[0] == name for of in fills)


@check("AV213", "labels-not-signs", {"not_signs": MAY}, of_run=True, first=True)
def not_signs(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """A loss that takes the labels 1 and -1, and got 0 and 1: it does not count the zeros, or takes them for both."""
    for node in nodes:
        loss = f.live.called_as(node)
        is_zero_wrong = loss in SIGNED and not _has_ties(f.source(node)) and _has_zeros(f, node, loss)
        if is_zero_wrong or (loss in HINGES and _is_hinge(f, node)):
            yield cause_at(f, "not_signs", node, loss=loss if loss in SIGNED else f"{loss}(1 - y * x)")


def _has_ties(source: Source | None) -> bool:
    """Are its labels, the last argument, made by sign()? That is 0 where two are equal."""
    call = expression_at(source)
    given = [*call.args, *(k.value for k in call.keywords if k.arg in ("target", "y"))] if isinstance(call, ast.Call) else []
    if not given:
        return False
    name = given[-1].id if isinstance(given[-1], ast.Name) else None
    lines = linecache.getlines(source.file) if source is not None and name is not None else [ast.unparse(given[-1])]
    made = re.compile(rf"\b{name}\s*=[^=].*\bsign\(" if name is not None else r"\bsign\(")
    return any(made.search(line) for line in lines)


def _is_hinge(f: Facts, node: str) -> bool:
    """Is it the part above 0 of a number minus labels times the result of a layer, with labels of 0 and 1?"""
    if not {op_of(f, n) for n in f.takers(node)} <= {"Mean", "Sum", "Pow"}:
        return False
    less = f.first(node)
    product = f.first(less) if less is not None and op_of(f, less) == "Rsub" else None
    made = None if product is None or op_of(f, product) != "Mul" else next(iter(f.ways_on(product)), None)
    while made is not None and op_of(f, made) in SHAPED:
        made = next(iter(f.ways_on(made)), None)
    if product is None or made is None or op_of(f, made) not in RAW or None not in f.sides(product):
        return False
    labels = f.live.kept(product, "self" if f.sides(product)[0] is None else "other")
    return labels is not None and labels.size > 1 and {*np.unique(labels).tolist()} == {0.0, 1.0}


def _has_zeros(f: Facts, node: str, loss: str) -> bool:
    """Do its labels contain 0, and only one of 1 and -1? What it has saved tells."""
    inside, todo = list[str](), [node]
    while todo and len(inside) < INSIDE:  # the distance of the pairs comes after these
        n = todo.pop(0)
        inside.append(n)
        same = [a.node for a in f.nodes[n].next_functions if a.node is not None and f.source(a.node) == f.source(node)]
        todo += [a for a in same if not f.live.called_as(a) and a not in inside]
    if loss in PAIRS:  # `target == 1` and `target == -1`, or `target != 1` and `target != -1`
        asked = [v for n in inside if op_of(f, n) == "Where" and (v := f.saved(n, "condition")) is not None]
        counts = [prod(v.shape) - count_zeros(v) for v in asked]
        is_sum = len(asked) == 2 and sum(counts) != prod(asked[0].shape)
        return is_sum and (max(counts) == prod(asked[0].shape) if loss == PAIRS[1] else 0 in counts)
    saved = ("target",) if loss == "soft_margin_loss" else ("self", "other")
    given = [v for n in inside if op_of(f, n) in ("Mul", "SoftMarginLoss") and (v := f.saved(n, *saved)) is not None]
    found = bounds(given[0]) if given else None  # zeros, and else only 1, or only -1
    return found is not None and count_zeros(given[0]) > 0 and {*found} in ({0.0, 1.0}, {-1.0, 0.0})


@check("AV219", "whole-numbers-lost", dict.fromkeys(LOST, MAY), of_run=True, first=True)
def whole_numbers_lost(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """Data that lost what they say: uint8 wraps around, 100 - 128 is 228; a whole division, a cast or a mean may make all 0."""
    for node in nodes:
        for saved in f.nodes[node].saved:
            is_float = saved.state == "kept" and saved.value is not None and "float" in saved.value.dtype
            is_target = saved.state == "kept" and saved.name == "target"
            lost = f.live.lost(node, saved.name) if is_float or is_target else None
            most = None if lost is None else MOST_LEFT.get(lost.kind)
            if lost is not None and (most is None or _is_within(f, node, saved.name, most)):
                yield cause_of(lost.kind, lost, op=spelling(lost))
        made = f.live.data_made(node, "target") if op_of(f, node) in ("NllLoss", "NllLoss2D") else None
        targets = f.live.kept(node, "target") if made is not None and made.name == "argmax" else None
        if made is not None and targets is not None and targets.size == prod(made.detail) > 1:
            yield cause_of("argmax_of_one", made, op=made.name)
        if (made := _constant_input(f, node)) is not None:
            yield cause_of("constant_input", made, op=spelling(made))


def _is_within(f: Facts, node: str, saved: str, most: float) -> bool:
    """Is what arrived at the op still so small? Sums may have made something else of it."""
    kept = f.live.kept(node, saved)
    return kept is not None and kept.size > 1 and float(abs(kept).max()) <= most


def _constant_input(f: Facts, node: str) -> Event | None:
    """What made one number of all elements that a first layer gets: `x - x.mean(1)` of one column, or a softmax of one."""
    saved = TAKERS.get(op_of(f, node))
    made = f.live.data_made(node, saved) if saved is not None else None
    level = LEVELING.get(made.name.strip("_")) if made is not None else None
    kept = f.live.kept(node, saved) if saved is not None and level is not None else None
    return made if kept is not None and kept.size > 1 and bool((kept == level).all()) else None
