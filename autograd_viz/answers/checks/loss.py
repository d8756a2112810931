"""Checks of what a loss, and the layers before it, are given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...graph.text import shape_text
from ..causes.cause import Cause, cause_of
from ..causes.check import MAY, SO, check
from ..causes.facts import Facts
from ..causes.ops import cause_at, op_of
from ..causes.paths import is_op, with_history
from ..causes.question import Question
from ..causes.sizes import NORMS

INSIDE = {
    "LogSoftmax": ("Softmax", "softmax_twice"),
    "BinaryCrossEntropyWithLogits": ("Sigmoid", "sigmoid_twice"),
    "NllLoss": ("Softmax", "softmax_for_log"),
}
LOSSES = ("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "Sub")  # functional losses expand their inputs first
PAIRED = ("Mul", "Div", "Add", "Maximum", "Minimum", "Pow", "Where")
POINTWISE = (  # each element of the result is made of one element
    *PAIRED, "Sub", "Rsub", "Neg", "Log", "Log1P", "LogSigmoid", "Exp", "Sqrt", "Abs", "Clamp", "ClampMin", "ClampMax",
    "Softplus", "Relu", "Sigmoid", "Tanh",
)  # fmt: skip
SHAPED = (  # they give the same numbers, or some of them
    "View", "UnsafeView", "ReshapeAlias", "Squeeze", "Unsqueeze", "Permute", "Transpose", "T", "Clone", "Alias", "Expand",
    "Select", "Slice", "Index", "IndexSelect", "Narrow", "Split", "Unbind", "Unfold", "Movedim", "ToCopy", "Flatten",
)  # fmt: skip
LAYERS = ("Addmm", "Mm", "Sigmoid", "Tanh", "Relu", "Softplus", "Gather")  # `x[:, None] - y` or a mean of columns is meant so
MOST_SHAPED = 8  # ops that shape a tensor, one after the other
WEIGHT = 1  # among the inputs of the node


@check("AV201", "squashed-twice", {"softmax_twice": SO, "sigmoid_twice": SO, "softmax_for_log": MAY}, of_run=True)
def squashed_twice(numbers: Facts, ways: Iterable[str], question: Question) -> Iterator[Cause]:
    """Probabilities in place of logits: a loss that has a softmax or a sigmoid inside got the result of another."""
    for node in ways:
        squasher, kind = INSIDE.get(op_of(numbers, node), ("", ""))
        before = _before(numbers, node) if squasher else None
        if before is not None and op_of(numbers, before) == squasher:
            yield cause_at(numbers, kind, before, loss="nll_loss")
    last = question.last
    for op in with_history([last.root]) if last is not None and last.root is not None else ():
        given = [g for g in op.given if is_op(g)]
        if op.name == "kl_div" and given and given[0].name == "softmax" and not given[0].cut:
            yield cause_of("softmax_for_log", given[0], op="softmax", loss="kl_div")


def _before(f: Facts, node: str) -> str | None:
    """The node that made its first input, before ops that only shape it."""
    for _ in range(MOST_SHAPED):
        first = f.nodes[node].next_functions[:1]
        if not first or first[0].node is None or op_of(f, first[0].node) not in SHAPED:
            return first[0].node if first else None
        node = first[0].node
    return None


@check("AV202", "softmax-over-batch", {"softmax_over_batch": SO}, of_run=True)
def softmax_over_batch(numbers: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """A softmax over the batch: the classes of a row, which nll_loss compares, do not sum to 1."""
    for node in ways:
        after = [a.node for a in numbers.nodes[node].next_functions[:1] if op_of(numbers, node) == "NllLoss"]
        if after and after[0] is not None and op_of(numbers, after[0]) in ("LogSoftmax", "Softmax"):
            shape = next((t.value.shape for t in numbers.results(after[0])), ())
            is_square = shape[0] == shape[1] if len(shape) > 1 else True  # rows against columns may be meant
            if not is_square and numbers.plain(after[0], "dim") in ("0", str(-len(shape))):
                yield cause_at(numbers, "softmax_over_batch", after[0])


@check("AV203", "broadcast-in-loss", {"every_pair": SO, "every_pair_apart": MAY}, of_run=True)
def broadcast_in_loss(numbers: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """A layer's (n, 1) that targets of shape (n,) made (n, n), in a difference or another op on elements."""
    f, seen = numbers, set[tuple[str, int]]()  # a line is told once
    for node in ways:
        op, results, shapes = op_of(f, node), [t.value.shape for t in f.results(node)], {t.value.shape for t in f.inputs(node)}
        before = {op_of(f, a.node) for a in f.nodes[node].next_functions if a.node is not None}
        after = [s for e in f.edges_at(node) for s, _ in f.senders.get(e, ()) if op == "Expand" and op_of(f, s) in LOSSES]
        n, is_weighted = (results or [(0,)])[0][:1], op in PAIRED and _has_targets(f, node)
        is_difference = (op == "Sub" or after) and before & {*LAYERS}
        is_pair = n >= (2,) and results == [n * 2] and shapes in ({(*n, 1)}, {(*n, 1), n})
        if is_pair and (is_difference or (is_weighted and _is_of_layer(f, node) and _is_averaged(f, node))):
            kind = "every_pair" if after and op_of(f, after[0]) != "Sub" else "every_pair_apart"  # a difference may be meant so
            cause = cause_at(f, kind, (after or [node])[0], result=shape_text((*n, 1)), shape=shape_text(n * 2))
            at = None if cause.source is None else (cause.source.file, cause.source.line)
            yield from () if at in seen else (cause,)
            seen |= set() if at is None else {at}


def _has_targets(f: Facts, node: str) -> bool:
    """Is one of its inputs a row of numbers that nothing trains?"""
    return any(len(t.value.shape) == 1 and not t.requires_grad for t in f.inputs(node))


def _is_of_layer(f: Facts, node: str) -> bool:
    """Is its other input the result of a layer, or made of one element by element?"""
    for _ in range(MOST_SHAPED):
        before = [a.node for a in f.nodes[node].next_functions if a.node is not None]
        ops = {op_of(f, b) for b in before}
        if ops & {*LAYERS} or not before or not ops <= {*POINTWISE}:
            return bool(ops & {*LAYERS})
        node = before[0]
    return False


def _is_averaged(f: Facts, node: str) -> bool:
    """Does its result only go element by element into the mean or the sum of all?"""
    todo, seen = [node], set[str]()
    while todo:
        for after in {s for e in f.edges_at(todo.pop()) for s, _ in f.senders.get(e, ())} - seen:
            seen.add(after)
            is_whole = all(t.value.shape == () for t in f.results(after))
            if op_of(f, after) not in POINTWISE and not (op_of(f, after) in ("Mean", "Sum") and is_whole):
                return False
            todo += [after] if op_of(f, after) in POINTWISE and not is_whole else []
    return True


@check("AV501", "trained-in-eval-mode", {"evaluating": MAY}, of_run=True)
def evaluating(numbers: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """A batch norm whose weight is trained, and that ran in evaluation mode: with statistics that do not learn."""
    for node in ways:
        after = numbers.nodes[node].next_functions[WEIGHT : WEIGHT + 1]
        is_trained = bool(after) and after[0].node is not None and numbers.nodes[after[0].node].variable is not None
        if numbers.called(node).startswith(NORMS) and numbers.plain(node, "training") == "False" and is_trained:
            yield cause_at(numbers, "evaluating", node)
            return


@check("AV502", "dropout-off", {"dropout_off": MAY}, of_run=True)
def dropout_off(question: Question) -> Iterator[Cause]:
    """Dropout did nothing in a pass after which the optimizer stepped: its module was in evaluation mode."""
    q, last = question, question.last
    before = max((p.number for p in q.history.passes if last is not None and p.number < last.number), default=0)
    off = [e for e in q.history.layers if e.kind == "off" and last is not None and before < e.number < last.number]
    trained = [p for h in q.holders if last is not None and any(s.number > last.number for s in h.steps) for p in h.leaves]
    models = [m for m in q.names.values() if hasattr(type(m), "named_parameters")]
    is_frozen = any(not p.requires_grad for m in models for _, p in m.named_parameters())  # then its dropout may be off, too
    if off and not is_frozen and any(type(p).__name__ == "Parameter" for p in trained):
        yield cause_of("dropout_off", off[-1], op=off[-1].name)


@check("AV503", "evaluated-in-training-mode", {"training_on": MAY}, of_run=True)
def training_on(question: Question) -> Iterator[Cause]:
    """Dropout or batch norm ran in training mode under no_grad(), after the last step: in what seems an evaluation."""
    q = question
    done = max((s.number for h in q.holders for s in h.steps), default=None)
    on = [e for e in q.history.layers if e.kind == "on" and done is not None and e.number > done]
    trained = [{*h.leaves} for h in q.holders if h.steps]
    is_of_two = len(trained) > 1 and not set.intersection(*trained)  # a GAN draws samples so, to look at them
    if not on or is_of_two or q.last is None or on[-1].number < q.last.number:
        return
    if "update_bn" not in getattr(on[-1].source, "text", ""):
        yield cause_of("training_on", on[-1], op=on[-1].name)
