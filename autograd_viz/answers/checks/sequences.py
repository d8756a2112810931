"""Checks of shapes and sequences: rows that a view mixes, models that see what they are to predict, masks, positions."""

from __future__ import annotations

import ast
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from ...graph.text import shape_text
from ..causes.cause import Cause, cause_of
from ..causes.check import MAY, check
from ..causes.code import called_at, expression_at
from ..causes.facts import Facts
from ..causes.history import Op
from ..causes.ops import cause_at, op_of
from ..causes.paths import is_op
from ..causes.question import Question
from .loop import PLENTY

RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")
LAYERS, TAKERS = ("LSTM", "GRU", "RNN"), ("Addmm", "Mm", "Mul", "NativeDropout", "Relu", "Tanh", "NativeLayerNorm")
PLAIN = (
    "cross_entropy", "nll_loss", "log_softmax", "view", "reshape", "flatten", "transpose", "permute", "linear", "dropout",
    "layer_norm", "contiguous", "mul", "div", "truediv",
)  # fmt: skip
LENGTH = 3  # tokens of a sequence
CHANCE = 0.5  # the part of tokens that may be equal in two texts
FAR = 16  # ops that are followed
SOFTMAX, MASKS = ("Softmax", "SafeSoftmax"), ("attn_mask", "attn_bias")
DROPPED, TURNED = ("Mul", "NativeDropout", "NativeLayerNorm"), ("transpose", "permute", "swapaxes", "movedim")
OWNERS = ("MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer")
FEW = 3  # ops between a sum and what takes it
VIEWS = ("View", "UnsafeView", "ReshapeAlias")
CALLS = ("view", "reshape", "resize", "view_as", "reshape_as")  # what a program calls so
TAKES = ("Select", "Mean", "Max", "Sum", "Amax")  # they take one of a dimension, or reduce it
ROUTES = ("Clone", "Mul", "Tanh", "Relu")  # dropout is a product
ROWS = 3  # dimensions of a batch of sequences
Shape = tuple[int, ...]


@check("AV215", "sees-its-target", {"target_is_input": MAY, "looks_ahead": MAY, "target_behind": MAY}, of_run=True, first=True)
def sees_target(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """A language model whose targets are its input, not shifted by one; or that has no causal mask, and sees the next token."""
    tables = [n for n in nodes if op_of(f, n) == "Embedding"]
    if (copied := _copied_step(f, nodes, tables)) is not None:
        yield cause_at(f, "target_is_input", copied, op=f.live.called_as(copied) or "nll_loss")
    for node in nodes if tables else ():
        targets = f.live.kept(node, "target") if op_of(f, node) in ("NllLoss", "NllLoss2D") else None
        shape = next((t.value.shape for t in f.inputs(node)), ())
        given = {t: f.live.kept(t, "indices") for t in tables if shape[1:2] == (int(f.plain(t, "weight_sym_argsize_0") or 0),)}
        given = _of_decoder(given, targets)
        if targets is None or not given or any(g is None or g.ndim != 2 or g.size != targets.size for g in given.values()):
            continue
        if any(_is_task(q, g, targets) for g in given.values()) or any(_is_hidden(f, t) for t in given):
            continue
        looks = [_looks_ahead(f, n) for n in nodes if not {*tables}.isdisjoint(f.downstream([n]))]
        seen = {look for look in looks if look is not None}
        if all(_is_same(g, targets) for g in given.values()) and (False in seen or _is_recurrent(q)):
            yield cause_at(f, "target_is_input", node, op=f.live.called_as(node) or "nll_loss")
        elif (False in seen or _is_recurrent(q)) and all(_is_before(g, targets) for g in given.values()):
            yield cause_at(f, "target_behind", node, op=f.live.called_as(node) or "nll_loss")
        elif seen == {True} and all(_is_next(g, targets) for g in given.values()):
            yield cause_at(f, "looks_ahead", next(n for n in nodes if _looks_ahead(f, n)))


@check("AV225", "last-step", {"reverse_unseen": MAY, "last_is_padding": MAY, "last_of_padded": MAY}, of_run=True)
def last_step(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """The last step of a recurrent layer: there the reverse direction has read one step, and padded rows end."""
    parts = [p for m in q.models.values() for p in m.modules() if type(p).__name__ in LAYERS]
    for node in nodes:
        before = f.first(node) if op_of(f, node) == "Select" else None
        if before is not None and f.plain(node, "index") == "-1" and _is_padded_output(f, before, f.plain(node, "dim")):
            yield cause_at(f, "last_of_padded", node)
        if before is None or f.live.called_as(before) not in RECURRENT or f.plain(node, "index") != "-1":
            continue
        is_batch_first = op_of(f, before) == "Transpose"
        width, dim = next((t.value.shape[-1] for t in f.results(node)), 0), f.plain(node, "dim")
        users = {op_of(f, s) for s in f.takers(node)}
        if dim != ("1" if is_batch_first else "0") or not users <= {*TAKERS}:
            continue
        sizes = re.findall(r"\d+", f.plain(node, "self_sym_sizes"))
        padded = [c for n in nodes if op_of(f, n) == "Embedding" and (c := _padded(f, n, is_batch_first, sizes[:2]))]
        own = _nearest_leaf(f, before)
        of_own = [p for p in parts if own is None or any(f.live.id_of(w) == own for w in p.parameters())]
        if any(p.bidirectional and 2 * p.hidden_size == width for p in of_own):
            yield cause_at(f, "reverse_unseen", node)
        elif padded:
            yield cause_at(f, "last_is_padding", node, count=padded[0])


def _nearest_leaf(f: Facts, node: str) -> str | None:
    """The leaf that is the fewest nodes away: of what a layer gives, a weight of its own, not of one below it."""
    todo, met = deque([node]), {node}
    while todo:
        n = todo.popleft()
        if f.nodes[n].variable is not None:
            return f.nodes[n].variable
        new = [w for w in f.ways_on(n) if w not in met]
        met.update(new)
        todo += new
    return None


def _is_padded_output(f: Facts, node: str, dim: str) -> bool:
    """Is it the result of pad_packed_sequence() for rows of several lengths, and the dimension that of time?"""
    is_batch_first = False
    while op_of(f, node) in ("IndexSelect", "Transpose") and f.first(node) is not None:
        is_batch_first |= op_of(f, node) == "Transpose"
        node = f.first(node) or node
    is_of_lengths = op_of(f, node) == "CopySlices" and any(op_of(f, n) == "CopySlices" for n in f.ways_on(node))
    is_of_time = dim == ("1" if is_batch_first else "0")
    return is_of_lengths and is_of_time and any(f.live.called_as(n) == "_pad_packed_sequence" for n in (node, *f.takers(node)))


def _padded(f: Facts, table: str, is_batch_first: bool, sizes: list[str]) -> int:
    """How many rows of its indices, which have these sizes, end with padding, and begin with something else."""
    pad, rows = int(f.plain(table, "padding_idx") or -1), f.live.kept(table, "indices")
    if rows is None or [*map(str, rows.shape)] != sizes or pad < 0:
        return 0
    rows = rows if is_batch_first else rows.T
    is_padding = (rows[:, -1] == pad) & (rows[:, 0] != pad)
    is_end = bool(is_padding.all()) and not bool((rows[:, :-1] == pad).any())  # one in each row: a token that ends it
    return 0 if is_end else int(is_padding.sum())


def _copied_step(f: Facts, nodes: tuple[str, ...], tables: list[str]) -> str | None:
    """The first loss of a loop over steps, if in each step its targets are the tokens that the step got, and no earlier had."""
    losses = [n for n in nodes if op_of(f, n) == "NllLoss"] if len(tables) >= LENGTH else []
    behind = {n: {*tables} & {*f.downstream([n])} for n in losses}
    losses.sort(key=lambda n: len(behind[n]))
    if len(losses) < LENGTH:
        return None
    for before, node in zip([None, *losses], losses, strict=False):
        new = behind[node] - (behind[before] if before is not None else set())
        its: Any = f.live.kept(new.pop(), "indices") if len(new) == 1 else None
        targets = f.live.kept(node, "target")
        if its is None or targets is None or its.size != targets.size or bool((its.ravel() != targets.ravel()).any()):
            return None
    return losses[0]


def _of_decoder(given: dict[str, Any], targets: Any) -> dict[str, Any]:
    """Without the tokens of an encoder: others than the targets, shifted or not."""
    known = {t: g for t, g in given.items() if g is not None and g.ndim == 2 and targets is not None}
    same = {t: g for t, g in known.items() if g.size == targets.size and _is_same(g, targets)}
    is_apart = bool(same) and known.keys() == given.keys()
    rows = next(iter(same.values()), None)
    return same if is_apart and all(_is_other(g, rows) for t, g in known.items() if t not in same) else given


def _is_other(given: Any, rows: Any) -> bool:
    """Are they other tokens than these, which does not hold of what is shifted by one?"""
    width = min(given.shape[1], rows.shape[1])
    pairs = ((a[:, i:width], b[:, : width - i]) for a, b in ((given, rows), (rows, given)) for i in (0, 1))
    return len(given) == len(rows) and width >= LENGTH and all(bool((a == b).mean() < CHANCE) for a, b in pairs)


def _is_same(given: Any, targets: Any) -> bool:
    """Are these the same tokens, and others than those that follow them?"""
    is_same = bool((given.ravel() == targets.ravel()).all())
    return is_same and bool((given[:, 1:] != given[:, :-1]).any()) and not _is_next(given, targets)


def _is_task(q: Question, given: Any, targets: Any) -> bool:
    """Are they a task of copying or shifting? Rows are rolled; or each batch is drawn, and its targets have a name."""
    rows = targets.reshape(given.shape)
    pairs = ((given, rows), (given.T, rows.T))
    if any(a.shape[1] >= LENGTH and bool((b == np.roll(a, -1, 1)).all()) for a, b in pairs):
        return True
    draws = Counter((e.source, e.detail) for e in q.history.draws)
    is_drawn = any(count >= PLENTY and shape == given.shape for (_, shape), count in draws.items())
    alike = [v for v in q.names.values() if getattr(v, "shape", None) == given.shape and hasattr(type(v), "requires_grad")]
    return is_drawn and sum(v.tolist() == given.tolist() for v in alike) > 1


def _is_hidden(f: Facts, table: str) -> bool:
    """Is what a table gives for some of the tokens set to zero, so that the others tell them?"""
    products = [n for n in f.takers(table) if op_of(f, n) == "Mul" and None in f.sides(n)]
    masks = [f.live.kept(n, "self" if f.sides(n)[0] is None else "other") for n in products]
    tokens = f.live.kept(table, "indices")
    zeros = [(m == 0)[..., 0] for m in masks if m is not None and m.shape[-1:] == (1,)]
    return any(tokens is not None and z.shape == tokens.shape and np.unique(tokens[z]).size > 1 for z in zeros)  # 1: of padding


def _is_next(given: Any, targets: Any) -> bool:
    """Is each target the token that follows, along one of the dimensions?"""
    rows = targets.reshape(given.shape)
    return any(
        a.shape[1] >= LENGTH and bool((a[:, 1:] == b[:, :-1]).all()) and bool((a[:, 1:] != a[:, :-1]).any())
        for a, b in ((given, rows), (given.T, rows.T))
    )


def _is_before(given: Any, targets: Any) -> bool:
    """Is each target the token that the model got one step before, and not the one that follows?"""
    return not _is_next(given, targets) and _is_next(targets.reshape(given.shape), given)


def _looks_ahead(f: Facts, node: str) -> bool | None:
    """Does attention of a sequence to itself reach later elements? None if the node is none, or that is not known."""
    op = op_of(f, node)
    if op in SOFTMAX:
        weights = f.live.kept(node, "result")
        is_square = weights is not None and weights.ndim > 2 and weights.shape[-1] == weights.shape[-2] >= LENGTH
        return bool(np.triu(weights, 1).any()) if is_square else None
    if not op.startswith("ScaledDotProduct"):
        return None
    query, key = (next((s.value for s in f.nodes[node].saved if s.name == name), None) for name in ("query", "key"))
    if query is None or key is None or query.shape[-2] != key.shape[-2] or query.shape[-2] < LENGTH:
        return None
    mask = f.live.kept(node, "attn_mask")
    mask = f.live.kept(node, "attn_bias") if mask is None else mask
    if mask is not None:
        return None if mask.dtype == bool else bool((np.triu(np.exp(mask.astype(float)), 1)[..., :-1, 1:] > 0).any())
    return f.plain(node, "is_causal") == "False"


def _is_recurrent(q: Question) -> bool:
    """Does the loss come from a recurrent layer, step by step, and that from an embedding?"""
    op, has_met = q.last_root, False
    for _ in range(FAR):
        before: list[Op] = [] if op is None else [g for g in op.given if is_op(g) and not g.cut]
        if op is None or op.name.strip("_") not in (*PLAIN, *RECURRENT):
            break
        has_met |= op.name in RECURRENT
        op = next((g for g in before if g.name != op.name or g.name in PLAIN), None)
    return has_met and op is not None and op.name == "embedding"


@check("AV229", "mask-inverted", {"mask_inverted": MAY}, of_run=True, first=True)
def mask_inverted(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """A mask of attention that hides the real tokens of each row, and leaves its padding."""
    tables = [n for n in nodes if op_of(f, n) == "Embedding" and int(f.plain(n, "padding_idx") or -1) >= 0]
    for node in nodes if tables else ():
        weights = _weights(f, node)
        behind = f.downstream([node]) if weights is not None else {}
        for table in (t for t in tables if t in behind):
            tokens = f.live.kept(table, "indices")
            if tokens is not None and _shows_padding(weights, tokens != int(f.plain(table, "padding_idx"))):
                yield cause_at(f, "mask_inverted", node, op="attention")


def _weights(f: Facts, node: str) -> Any:
    """What attention gives to each key, or by which its mask multiplies that; None if the node is none, or has no mask."""
    op = op_of(f, node)
    if op in SOFTMAX:
        return f.live.kept(node, "result")
    kept = (f.live.kept(node, name) for name in MASKS if op.startswith("ScaledDotProduct"))
    mask = next((m for m in kept if m is not None), None)
    return mask if mask is None or mask.dtype == bool else np.exp(mask.astype(float))


def _shows_padding(weights: Any, real: Any) -> bool:
    """Of the rows that have both: are all weights of real tokens 0, and some of the padding not?"""
    if real.ndim != 2 or weights.ndim < 3 or weights.shape[-1] != real.shape[1] or weights.size % (real.size or 1):
        return False
    rows = weights.reshape(len(real), -1, real.shape[1])
    mixed = real.any(1) & ~real.all(1)
    is_hidden = (rows * real[:, None]).max(1).max(1) == 0
    is_shown = (rows * ~real[:, None]).max(1).max(1) > 0
    return bool(mixed.any()) and bool((is_hidden & is_shown)[mixed].all())


@check("AV230", "positions-of-batch", {"positions_of_batch": MAY}, of_run=True, first=True)
def positions_of_batch(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """Positions that are cut to the size of dimension 0, which is the batch for attention with batch_first=True."""
    layers = [p for m in q.models.values() for p in m.modules() if type(p).__name__ in OWNERS]
    if not all(getattr(getattr(p, "self_attn", p), "batch_first", False) for p in layers):
        return
    for node in nodes:
        shape = next((t.value.shape for t in f.results(node)), (0, 0, 0)) if op_of(f, node) == "Add" else ()
        if len(shape) == 3 and _is_cut_to_batch(expression_at(f.source(node))) and _turns(f, node) == {False}:
            yield cause_at(f, "positions_of_batch", node)


def _is_cut_to_batch(found: ast.expr | None) -> bool:
    """Is it `x + pe[:x.size(0)]`, or with `x.shape[0]` or `len(x)`?"""
    cut = found.right if isinstance(found, ast.BinOp) and isinstance(found.op, ast.Add) else None
    if not isinstance(found, ast.BinOp) or not isinstance(cut, ast.Subscript):
        return False
    first = cut.slice.elts[0] if isinstance(cut.slice, ast.Tuple) and cut.slice.elts else cut.slice
    upper = first.upper if isinstance(first, ast.Slice) and first.lower is None else None
    x = ast.unparse(found.left)
    return upper is not None and ast.unparse(upper) in (f"{x}.size(0)", f"{x}.shape[0]", f"len({x})", f"{x}.size(dim=0)")


def _turns(f: Facts, node: str) -> set[bool]:
    """Are its first two dimensions exchanged before attention: by the program (True), or by a layer with batch_first?"""
    found = set[bool]()
    for _ in range(FEW):
        users = f.takers(node)
        found |= {called_at(f.source(u)) in TURNED for u in users if op_of(f, u) in ("Transpose", "Permute")}
        node = next((u for u in users if op_of(f, u) in DROPPED), "")
        if not node:
            break
    return found


@check("AV208", "rows-mixed", {"rows_mixed": MAY}, of_run=True, first=True)
def rows_mixed(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """A view that exchanges dimensions: it keeps the order of elements, so rows of different samples are mixed."""
    for node in nodes:
        for cause, before, after in _views(f, node):
            if _exchanges(before, after) or _is_of_classes(f, node, before, after):
                yield replace(cause, said={**cause.said, "before": shape_text(before), "after": shape_text(after)})


def _views(f: Facts, node: str) -> Iterator[tuple[Cause, Shape, Shape]]:
    """The view that a node is, and those that made the data that it has saved, with the shapes before and after."""
    results, called = f.results(node), f.live.called_as(node)
    if op_of(f, node) in VIEWS and called in CALLS and results:
        yield cause_at(f, "rows_mixed", node, op=called), _shape(f.plain(node, "self_sym_sizes")), results[0].value.shape
    for saved in f.nodes[node].saved:
        made = f.live.data_made(node, saved.name) if saved.state == "kept" else None
        if made is not None and saved.value is not None and made.name in CALLS:
            yield cause_of("rows_mixed", made, op=made.name), made.detail, saved.value.shape


def _is_of_classes(f: Facts, node: str, before: Shape, after: Shape) -> bool:
    """Is it `view(-1, classes)` before a softmax, of what a convolution gave: (batch, classes, places)?"""
    users = {op_of(f, s) for s in f.takers(node)}
    made = f.first(node)
    is_made = made is not None and op_of(f, made) == "Convolution"
    is_flat = len(before) > 2 == len(after) and after[1] == before[1] != before[-1]
    return is_made and is_flat and bool(users & {"LogSoftmax", "Softmax"})


def _shape(text: str) -> Shape:
    return tuple(map(int, re.findall(r"\d+", text)))


def _exchanges(before: Shape, after: Shape) -> bool:
    """Does a view give dimensions in another order? A skew, (n, n + 1) to (n + 1, n), and parts of the first are meant."""
    for own, its in _groups(before, after):
        is_skew = len(own) == len(its) == 2 and abs(own[0] - own[1]) <= 1
        is_turned = sorted(own) == sorted(its) and own != its and not is_skew
        is_led = len(own) > len(its) > 1 and its[0] in own[1:] and own[0] % its[0] != 0
        if 1 not in own and (is_turned or is_led):
            return True
    return False


def _groups(before: Shape, after: Shape) -> Iterator[tuple[Shape, Shape]]:
    """The smallest parts of two shapes that have equally many elements, without dimensions of size 1."""
    sides: list[list[int]] = [[n for n in s if n != 1] for s in (before, after)]
    if 0 in before or prod(before) != prod(after):
        return
    while all(sides):
        parts: list[list[int]] = [[side.pop(0)] for side in sides]
        while prod(parts[0]) != prod(parts[1]):
            k = int(prod(parts[0]) > prod(parts[1]))
            parts[k].append(sides[k].pop(0))
        yield tuple(parts[0]), tuple(parts[1])


@check("AV209", "targets-in-other-order", {"other_order": MAY}, of_run=True, first=True)
def other_order(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """Scores (time, batch, classes) and targets (batch, time), each made flat: they are compared in different orders."""
    for node in nodes:
        made = f.live.data_made(node, "target") if op_of(f, node) == "NllLoss" else None
        rows = made.detail if made is not None and made.name in (*CALLS, "flatten") else ()
        flat = f.first(f.first(node)) if len(rows) == 2 else None
        shape = _shape(f.plain(flat, "self_sym_sizes")) if flat is not None and op_of(f, flat) in VIEWS else ()
        if len(shape) == ROWS and shape[:2] == rows[::-1] != rows and 1 not in rows:
            yield cause_at(f, "other_order", node, scores=shape_text(shape), targets=shape_text(rows))


@check("AV210", "batch-not-first", {"batch_not_first": MAY, "time_not_first": MAY}, of_run=True, first=True)
def batch_not_first(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """One step of dimension 1, or its mean, of a layer without batch_first; or ctc_loss() of a layer that has it."""
    for node in nodes:
        made = _before_ctc(f, node) if op_of(f, node) == "CtcLoss" else None
        if made is not None:
            yield cause_at(f, "time_not_first", made, op=f.live.called_as(made))
    layers = _layers(q.names.values())
    owners = {f.live.id_of(p): kind for kind, part in layers for p in part.parameters()}
    recurrent = next((kind for kind, _ in layers if kind in LAYERS), "")
    for node in nodes if layers else ():
        shape, dim = _shape(f.plain(node, "self_sym_sizes")), f.plain(node, "dim").strip("(,)")
        if op_of(f, node) not in TAKES or len(shape) != ROWS or shape[1] == 1 or dim not in ("1", "-2"):
            continue
        before = f.first(node)
        while before is not None and op_of(f, before) in ROUTES and len(f.takers(before)) == 1:
            before = f.first(before)
        if before is None or op_of(f, before) == "Transpose" or len(f.takers(before)) != 1:
            continue
        leaves = [f.nodes[n].variable for n in f.ways_on(before)]
        layer = recurrent if f.live.called_as(before) in RECURRENT else next((owners[v] for v in leaves if v in owners), "")
        if layer:
            yield cause_at(f, "batch_not_first", node, layer=layer, count=shape[1])


def _before_ctc(f: Facts, node: str) -> str | None:
    """The recurrent layer with batch_first whose dimensions, which nothing exchanged on the way, are those of ctc_loss()."""
    for _ in range(FAR):
        after = next((n for n in f.ways_on(node) if f.nodes[n].variable is None), None)  # the bias of a layer comes before
        if after is None or op_of(f, after) not in (*VIEWS, "LogSoftmax", "Addmm", "Mm", "Add", "Clone", "Transpose"):
            return None
        if op_of(f, after) == "Transpose":
            return after if f.live.called_as(after) in RECURRENT else None
        node = after
    return None


def _layers(values: Iterable[Any]) -> list[tuple[str, Any]]:
    """The sequence layers by class, if none of them has batch_first."""
    models = [m for m in values if hasattr(type(m), "modules")]
    parts = [(type(p).__name__, p) for m in models for p in m.modules() if type(p).__name__ in (*LAYERS, *OWNERS)]
    return [] if any(getattr(getattr(p, "self_attn", p), "batch_first", True) for _, p in parts) else parts
