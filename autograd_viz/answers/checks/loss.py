"""Checks of what a loss, and the layers before it, are given."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from ...graph.model import NOT_TOLD
from ...graph.op_names import plain_name
from ...graph.surroundings import Source
from ...graph.text import shape_text
from ..causes.cause import Cause, cause_of
from ..causes.check import MAY, SO, check
from ..causes.code import ASSIGNED, expression_at
from ..causes.facts import Facts
from ..causes.history import Op
from ..causes.ops import cause_at, op_of
from ..causes.paths import is_op
from ..causes.question import Question

INSIDE = {"LogSoftmax": ("Softmax", "softmax_twice"), "BinaryCrossEntropyWithLogits": ("Sigmoid", "sigmoid_twice")}
OF_LOGS = {"NllLoss": "nll_loss", "NllLoss2D": "nll_loss", "CtcLoss": "ctc_loss"}
SQUASHED_FOR_LOG = ("Softmax", "Relu", "Sigmoid", "Tanh")
RAW = {"Addmm": "linear", "Mm": "linear", "Convolution": "convolution"}
NARROW = {"LogSoftmax": ("Relu", "Sigmoid"), "BinaryCrossEntropyWithLogits": ("Relu",)}  # they take values from the logits
REGRESSIONS = ("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss")
LOSSES = (*REGRESSIONS, "Sub")  # functional losses expand their inputs first
PAIRED = ("Mul", "Div", "Add", "Maximum", "Minimum", "Pow", "Where")
POINTWISE = (  # each element of the result is made of one element
    *PAIRED, "Sub", "Rsub", "Neg", "Log", "Log1P", "LogSigmoid", "Exp", "Sqrt", "Abs", "Clamp", "ClampMin", "ClampMax",
    "Softplus", "Relu", "Sigmoid", "Tanh",
)  # fmt: skip
KEEPING = ("Neg", "Minimum", "Maximum")  # behind them, a product of every row with every other has no use
SHAPED = (  # they give the same numbers, or some of them
    "View", "UnsafeView", "ReshapeAlias", "Squeeze", "Unsqueeze", "Permute", "Transpose", "T", "Clone", "Alias", "Expand",
    "Select", "Slice", "Index", "IndexSelect", "Narrow", "Split", "Unbind", "Unfold", "Movedim", "ToCopy", "Flatten",
)  # fmt: skip
LAYERS = ("Addmm", "Mm", "Sigmoid", "Tanh", "Relu", "Softplus", "Gather")  # `x[:, None] - y` or a mean of columns is meant so
AFFINE, MEANS = ("Add", "Sub", "Mul", "Div"), ("Mean", "Sum", "LinalgVectorNorm")
ERRORS = (*AFFINE, *SHAPED, "Pow", "Abs", "Sqrt", "Neg", "Where", "Maximum", "Square")  # how a difference becomes an error
COMPARED = {*LOSSES, "Log", "BinaryCrossEntropy", "Add", "Clamp", "ClampMin", "KlDiv"}  # what a softmax of classes goes into
PLENTY = 1.5  # labels of one sample, on average
COLUMNS, CLOSE = 2, 1e-3  # dimensions of a batch of scores; a sum that is 1
HEADS = 4  # dimensions of weights of attention with heads
MOST_SHAPED = 8  # ops that shape a tensor, one after the other
TWICE, OTHER = ("softmax_twice", "sigmoid_twice", "log_twice"), ("softmax_for_log", "logits_for_log", "logits_narrowed")
NOT_CLASSES = ("softmax_of_others", "softmax_of_rows", "softmax_not_summed", "softmax_not_last", "softmax_of_column")


@check("AV201", "squashed-twice", {**dict.fromkeys(TWICE, SO), **dict.fromkeys(OTHER, MAY)}, of_run=True)
def squashed_twice(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """Probabilities in place of logits, or logits in place of log-probabilities: not what the loss takes."""
    for node in nodes:
        op = op_of(f, node)
        before = _before(f, node) if op in (*INSIDE, *OF_LOGS) else None
        made = "" if before is None else op_of(f, before)
        if before is None:
            continue
        if op == "NllLoss" and made == "Log" and op_of(f, _before(f, before) or before) == "LogSoftmax":
            yield cause_at(f, "log_twice", before)
        elif op in INSIDE and made == INSIDE[op][0]:
            yield cause_at(f, INSIDE[op][1], before)
        elif op in OF_LOGS and made in SQUASHED_FOR_LOG:
            yield cause_at(f, "softmax_for_log", before, loss=OF_LOGS[op])
        elif op in OF_LOGS and made in RAW:
            yield cause_at(f, "logits_for_log", node, loss=OF_LOGS[op], made=RAW[made])
        elif made in NARROW.get(op, ()) and (op != "LogSoftmax" or "NllLoss" in _after(f, node)):
            yield cause_at(f, "logits_narrowed", before, loss="cross_entropy" if op == "LogSoftmax" else plain_name(op))
    for ran in q.ops_behind(q.last_root):
        given = [g for g in ran.given if is_op(g)]
        maker = given[0] if ran.name == "kl_div" and given and not given[0].cut and _is_first(ran, given[0]) else None
        if maker is not None and maker.name == "softmax":
            yield cause_of("softmax_for_log", maker, op="softmax", loss="kl_div")
        elif maker is not None and maker.name == "linear":
            yield cause_of("logits_for_log", ran, made="linear", loss="kl_div")


def _is_first(ran: Op, made: Op) -> bool:
    """Is a result the first argument of a call, and not the second, by its name or by the call that stands there?"""
    call = expression_at(ran.source)
    args = [ast.unparse(a) for a in call.args] if isinstance(call, ast.Call) else []
    name = ASSIGNED.match("" if made.source is None else made.source.text)
    second = args[1] if len(args) > 1 else ""
    return bool(args) and not (second == name[1] if name is not None else made.name in second)


def _after(f: Facts, node: str) -> set[str]:
    """The ops that take its results."""
    return {op_of(f, s) for s in f.takers(node)}


def _before(f: Facts, node: str) -> str | None:
    """The node that made its first input, before ops that only shape it, or keep it from 0 and 1."""
    for _ in range(MOST_SHAPED):
        first = f.nodes[node].next_functions[:1]
        if not first or first[0].node is None or op_of(f, first[0].node) not in (*SHAPED, "Clamp", "ClampMin", "ClampMax"):
            return first[0].node if first else None
        node = first[0].node
    return None


@check("AV202", "softmax-over-batch", {"softmax_over_batch": SO, **dict.fromkeys(NOT_CLASSES, MAY)}, of_run=True)
def softmax_over_batch(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """A softmax over the batch: the classes of a row, which the loss compares, do not sum to 1."""
    for node in nodes:
        after = [a.node for a in f.nodes[node].next_functions[:1] if op_of(f, node) == "NllLoss"]
        if after and after[0] is not None and op_of(f, after[0]) in ("LogSoftmax", "Softmax"):
            shape = f.shape(after[0])
            is_square = shape[0] == shape[1] if len(shape) > 1 else True  # rows against columns may be meant
            if not is_square and f.plain(after[0], "dim") in ("0", str(-len(shape))):
                yield cause_at(f, "softmax_over_batch", after[0])
        is_softmax = op_of(f, node) in ("Softmax", "LogSoftmax")
        shape = f.shape(node) if is_softmax else ()
        if len(shape) == 2 and shape[0] != shape[1] > 1 and f.plain(node, "dim") in ("0", "-2"):
            before = _before(f, node)
            if before is not None and op_of(f, before) in ("Addmm", "Mm") and _after(f, node) <= COMPARED:
                yield cause_at(f, "softmax_of_rows", node)
        if op_of(f, node) == "Bmm":
            yield from _not_summed(f, node)
        if is_softmax and len(shape) > COLUMNS and (summed := _summed_over(f, node)) is not None:
            yield cause_at(f, "softmax_of_others", node, dim=f.plain(node, "dim"), other=summed)
        if len(shape) == 1 and (size := _labels_of_column(f, node)):
            yield cause_at(f, "softmax_of_column", node, count=size)
        made = f.first(node) if op_of(f, node) in ("CtcLoss", "Gather") else None
        if made is not None and op_of(f, made) == "LogSoftmax" and f.plain(made, "dim") in ("0", "1", "-2", "-3"):
            taker = "ctc_loss" if op_of(f, node) == "CtcLoss" else "gather" if f.plain(node, "dim") in ("2", "-1") else ""
            taker = (
                "" if any(op_of(f, n) == "Gather" for n in f.leading((node, 0)) if n != node) else taker
            )  # as of transitions
            if taker and len(f.shape(made)) == HEADS - 1:
                yield cause_at(f, "softmax_not_last", made, dim=f.plain(made, "dim"), taker=taker)


def _summed_over(f: Facts, node: str) -> int | None:
    """Another dimension, over which the loss sums targets times this: they sum to 1 there, and not along the softmax's own."""
    shape, own, of = f.shape(node), int(f.plain(node, "dim") or -1), f.nodes[node].next_functions
    if any(n != node and "Softmax" in op_of(f, n) and f.nodes[n].next_functions == of for n in f.pass_nodes):  # one over each
        return None
    for product in (n for n in f.takers(node) if op_of(f, n) == "Mul"):
        targets = next((kept for name in ("other", "self") if (kept := f.live.kept(product, name)) is not None), None)
        dims = [int(d) for n in f.takers(product) if op_of(f, n) == "Sum" for d in re.findall(r"-?\d+", f.plain(n, "dim"))]
        if targets is None or targets.shape != shape or len(dims) != 1 or (dims[0] - own) % len(shape) == 0:
            continue
        if abs(targets.sum(dims[0]) - 1).max() < CLOSE < abs(targets.sum(own) - 1).max():
            return dims[0] % len(shape)
    return None


def _labels_of_column(f: Facts, node: str) -> int:
    """How many labels cross_entropy() got for scores without a dimension of classes; 0 if they choose one of these."""
    users = [s for s in f.takers(node) if op_of(f, s) == "Mul"]
    whole = next((n for n in f.leading((node, 0)) if f.live.called_as(n)), None)
    labels = f.live.kept(users[0], "other") if users and whole and f.live.called_as(whole) == "cross_entropy" else None
    return labels.size if labels is not None and labels.ndim == 1 and float(labels.sum()) >= PLENTY else 0


def _not_summed(f: Facts, node: str) -> Iterator[Cause]:
    """The first factor is a softmax over its rows, and the product sums over its columns."""
    before: str | None = node
    for _ in range(MOST_SHAPED):
        before = None if before is None else f.nodes[before].next_functions[0].node
        is_shaped = before is not None and op_of(f, before) in ("View", "UnsafeView", "ReshapeAlias", "Expand", "Clone")
        if before is None or not (is_shaped or f.live.called_as(before) == "dropout"):
            break
    if before is None or op_of(f, before) != "Softmax":
        return
    shape, given = (next((t.value.shape for t in of), ()) for of in (f.results(before), f.inputs(node)))
    dim = f.plain(before, "dim")
    inner: tuple[str, ...] = ("1", "2", "-2", "-3") if len(shape) == HEADS else ("-2", str(len(shape) - 2))
    if len(shape) == HEADS - 1 and _is_without_dim(f.source(before)):
        inner = ("0",)  # what F.softmax() takes then; one that is asked for may be that of kinds, which are summed
    is_divided = any(op_of(f, n) == "Div" for taker in (node, *f.takers(node)) for n in f.takers(taker))
    if shape[-2:] == given[-2:] and 1 not in shape[-2:] and dim in inner and not is_divided:
        yield cause_at(f, "softmax_not_summed", before, dim=dim)


def _is_without_dim(source: Source | None) -> bool:
    """Is it a call of F.softmax() that leaves the dimension to PyTorch? A tensor's softmax() has to be given one."""
    call = expression_at(source)
    if not isinstance(call, ast.Call) or ast.unparse(call.func) not in ("F.softmax", "softmax", "nn.functional.softmax"):
        return False
    return len(call.args) == 1 and not any(k.arg == "dim" for k in call.keywords)


@check("AV203", "broadcast-in-loss", {"every_pair": SO, "every_pair_apart": MAY, "every_product": MAY}, of_run=True)
def broadcast_in_loss(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """A layer's (n, 1) that targets of shape (n,) made (n, n), in a difference or another op on elements."""
    seen = set[tuple[str, int]]()  # a line is told once
    for node in () if any(_is_of_itself(f, n) for n in nodes) else nodes:
        op, results, shapes = op_of(f, node), [t.value.shape for t in f.results(node)], _known_shapes(f, q, node)
        after = [s for s in f.takers(node) if op == "Expand" and op_of(f, s) in LOSSES]
        n, rows = (results or [(0,)])[0][:1], [t for t in f.inputs(node) if len(t.value.shape) == 1 and not t.requires_grad]
        columns = [s for s in after if op_of(f, s) in REGRESSIONS and f.live.repeated(s, "target") == (1,)]  # expanded, too
        result, shape = shape_text((*n, 1)), shape_text(n * 2)
        kind = "every_pair" if after and op_of(f, after[0]) != "Sub" else "every_pair_apart"  # a difference may be meant so
        is_pair = n >= (2,) and results == [n * 2] and shapes in ({(*n, 1)}, {(*n, 1), n})
        is_difference = is_pair and (op == "Sub" or after) and any(_is_linear(f, b) for b in f.ways_on(node))
        is_error = is_difference and (kind == "every_pair" or _is_error(f, (after or [node])[0]))
        if is_error or (is_pair and op in PAIRED and rows and _is_of_layer(f, node) and _is_averaged(f, node)):
            cause = cause_at(f, kind, (after or [node])[0], result=result, shape=shape)
            at = None if cause.source is None else (cause.source.file, cause.source.line)
            yield from () if at in seen else (cause,)
            seen |= set() if at is None else {at}
        elif op == "Expand" and results == [n * 2] and shapes == {n} and columns:
            yield cause_at(f, "every_product", columns[0], other=shape_text(n), result=result, shape=shape)
            return
        elif results == [n * 2] and _pairs_rows(f, q, node, n):
            yield cause_at(f, "every_product", node, other=shape_text(n), result=result, shape=shape)
            return


def _known_shapes(f: Facts, q: Question, node: str) -> set[tuple[int, ...]]:
    """The shapes of its inputs; of one that nothing has kept, that of a matrix of data that its line names."""
    given, n = f.inputs(node), next((t.value.shape[:1] for t in f.results(node)), ())
    is_lost = any(t.value.dtype == NOT_TOLD for t in given)
    named = {tuple(v.shape) for v in _named_data(f, q, node)} if is_lost else set()
    return {t.value.shape for t in given if t.value.dtype != NOT_TOLD} | {s for s in named if s[1:] == n}


def _is_of_itself(f: Facts, node: str) -> bool:
    """Is it the difference of each element of a tensor with each of the same? Then all pairs are meant, here and elsewhere."""
    before, shape = f.ways_on(node), f.shape(node)
    if op_of(f, node) != "Sub" or len(before) != 2 or len(shape) != 2 or shape[0] != shape[1]:
        return False
    return len({b if op_of(f, b) not in SHAPED else _before(f, b) for b in before}) == 1


def _is_linear(f: Facts, node: str) -> bool:
    """Is it the result of a layer, or that with a bias or a factor, or `w * x`?"""
    for _ in range(MOST_SHAPED):
        before = f.ways_on(node)
        made = [b for b in before if f.nodes[b].variable is None]
        if op_of(f, node) in LAYERS or (op_of(f, node) == "Mul" and before and not made):
            return True
        if op_of(f, node) not in AFFINE or len(made) != 1:
            return False
        node = made[0]
    return False


def _is_error(f: Facts, difference: str) -> bool:
    """Is the loss a mean or a sum of its squares, or the like, without a weight for each pair?"""
    todo, seen, shape = [difference], set[str](), f.shape(difference)
    while todo:
        node = todo.pop()
        for after in {*f.takers(node)} - seen:
            seen.add(after)
            op, is_weighing = op_of(f, after), op_of(f, after) in ("Mul", "Div")
            is_weighed = is_weighing and any(t.value.shape == shape and not t.requires_grad for t in f.inputs(after))
            if is_weighed or op not in (*ERRORS, *MEANS) or (op in MEANS and node == difference):
                return False
            todo += [after] if op in ERRORS else []
    return bool(seen)


def _pairs_rows(f: Facts, q: Question, node: str, n: tuple[int, ...]) -> bool:
    """Is it a difference of a layer's row and a column of data, or a product of a trained and another, and then averaged?"""
    if op_of(f, node) == "Sub":
        has_column = f.live.called_as(node) in ("l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss")
        has_column = has_column or any(tuple(v.shape) == (*n, 1) for v in _named_data(f, q, node))
        return has_column and _is_row_of_layer(f, node, n) and _is_averaged(f, node)
    given = [t for t in f.inputs(node) if t.value.dtype != NOT_TOLD]
    trained, data = ([t.value.shape for t in given if t.requires_grad is is_it] for is_it in (True, False))
    data = data or [tuple(v.shape) for v in _named_data(f, q, node)]  # of a pass that has been freed
    is_pair = len(trained) == 1 and {*trained, *data} == {(*n, 1), n}
    return op_of(f, node) == "Mul" and n >= (2,) and is_pair and _is_averaged(f, node, KEEPING)


def _is_row_of_layer(f: Facts, node: str, n: tuple[int, ...]) -> bool:
    """Is it of the row that a layer's column was squeezed to, and of what is no tensor of the graph?"""
    before = f.ways_on(node)
    before = [a.node or "" for a in f.nodes[before[0]].next_functions] if before and op_of(f, before[0]) == "Expand" else before
    row, layer = (before[0], _before(f, before[0])) if len(before) == 1 else (None, None)
    is_row = row is not None and [t.value.shape for t in f.results(row)] == [n] and op_of(f, row) in SHAPED
    return is_row and layer is not None and op_of(f, layer) in LAYERS


def _named_data(f: Facts, q: Question, node: str) -> list[Any]:
    """The tensors of data that its expression names."""
    source = f.source(node)
    named = [q.names.get(w) for w in re.findall(r"[A-Za-z_]\w*", "" if source is None else source.expression)]
    return [v for v in named if v is not None and hasattr(type(v), "grad_fn") and not v.requires_grad]


def _is_of_layer(f: Facts, node: str) -> bool:
    """Is its other input the result of a layer, or made of one element by element?"""
    for _ in range(MOST_SHAPED):
        before = f.ways_on(node)
        ops = {op_of(f, b) for b in before}
        if ops & {*LAYERS} or not before or not ops <= {*POINTWISE}:
            return bool(ops & {*LAYERS})
        node = before[0]
    return False


def _is_averaged(f: Facts, node: str, through: tuple[str, ...] = POINTWISE) -> bool:
    """Does its result only go element by element, by these ops, into the mean or the sum of all?"""
    todo, seen, shape = [node], set[str](), f.results(node)[0].value.shape
    while todo:
        for after in {*f.takers(todo.pop())} - seen:
            seen.add(after)
            op, given, is_whole = op_of(f, after), f.inputs(after), all(t.value.shape == () for t in f.results(after))
            is_like = len(given) < 2 or any(t.value.shape == shape for t in given if not t.requires_grad)
            if None in f.sides(after) and not is_whole and is_like:
                return False  # data beside it has that shape, or may have: it is meant so
            if op not in through and not (op in ("Mean", "Sum") and is_whole):
                return False
            todo += [after] if op in through and not is_whole else []
    return True
