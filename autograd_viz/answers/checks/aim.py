"""Checks of what a loss aims at: its sign, and targets and weights that must not learn with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ..causes.cause import Cause, cause_of
from ..causes.check import MAY, check
from ..causes.code import called_at, spelling
from ..causes.facts import Facts
from ..causes.history import Op
from ..causes.numbers import bounds
from ..causes.ops import cause_at, numbers_of, op_of, plain_name
from ..causes.paths import is_op, with_history
from ..causes.question import Question
from .loop import MEANS
from .loss import LOSSES, SHAPED

NONNEGATIVE = (*MEANS[1:], "huber_loss", "kl_div", "binary_cross_entropy")
LAYERS = ("Addmm", "Mm")
PICKED = (*SHAPED, "Max", "Amax", "Min", "Amin", "Gather", "Minimum")  # values of a layer, or some of them
SIGNED = (*SHAPED, "Neg", "Sub", "Add", "Mul", "Div", "Mean", "Sum", "Stack", "Cat", "Rsub")
RANGES = {"Sigmoid": (0.0, 1.0), "Softmax": (0.0, 1.0), "Tanh": (-1.0, 1.0)}  # of results
COSTS = ("cost", "penalt", "regret", "risk", "loss(", "losses", "error", "energy")  # names of what is to become less
WEIGHING = ("mul", "__mul__", "__rmul__")
LESS, THROUGH = (
    ("sub", "__sub__", "rsub", "__rsub__"),
    ("squeeze", "view", "reshape", "div", "__truediv__", "sum", "neg", "exp"),
)
MOST, FAR = 64, 8  # terms of a loss; ops that are followed
OUTSIDE = 0.5  # beyond a range, by which a target is out of reach


@check("AV204", "trained-target", {"target_trained": MAY, "weight_trained": MAY}, of_run=True)
def trained_target(numbers: Facts, ways: Iterable[str], question: Question) -> Iterator[Cause]:
    """A target, or the weight of a log_prob(), that the model itself computed, and through which the loss trains it, too."""
    f = numbers
    for node in ways:
        edges = _ways_on(f, node)
        if op_of(f, node) not in (*LOSSES, "Rsub") or len(edges) != 2:
            continue
        for value, target in (edges, edges[::-1]):
            if (
                op_of(f, _behind(f, value, PICKED)) in LAYERS
                and (added := _bootstrapped(f, target)) is not None
                and _shares(f, value, target)
            ):
                yield cause_at(f, "target_trained", added)
                return
    root = None if question.last is None else question.last.root
    for op in with_history([root]) if root is not None else ():
        given = [g for g in op.given if is_op(g) and not g.cut]
        if op.name in WEIGHING and len(given) == 2:
            for log, weight in (given, given[::-1]):
                if _is_log_prob(log) and not _is_log_prob(weight) and (less := _difference(weight)) is not None:
                    yield cause_of("weight_trained", op, weight=spelling(less))
                    return


def _behind(f: Facts, node: str, ops: tuple[str, ...]) -> str:
    """The first node behind it, or itself, that is none of these ops, or has several ways on."""
    for _ in range(FAR):
        after = _ways_on(f, node)
        if op_of(f, node) not in ops or len(after) != 1:
            break
        node = after[0]
    return node


def _ways_on(f: Facts, node: str) -> list[str]:
    return [a.node for a in f.nodes[node].next_functions if a.node is not None]


def _bootstrapped(f: Facts, node: str) -> str | None:
    """The sum of data and what a layer gave, times a number: `reward + gamma * model(following)`."""
    added = _behind(f, node, SHAPED)
    edges = _ways_on(f, added) if op_of(f, added) == "Add" else []
    is_scaled = len(edges) == 1 and op_of(f, edges[0]) == "Mul"
    return added if is_scaled and op_of(f, _behind(f, edges[0], ("Mul", *PICKED))) in LAYERS else None


def _shares(f: Facts, a: str, b: str) -> bool:
    """Do both come from one parameter?"""
    leaves = [{v for n in f.downstream([node]) if (v := f.nodes[n].variable) is not None} for node in (a, b)]
    return not leaves[0].isdisjoint(leaves[1])


def _is_log_prob(op: Op) -> bool:
    """Is it log_prob() of a distribution, or made of it element by element?"""
    for _ in range(FAR):
        if called_at(op.source) == "log_prob":
            return True
        first = next(iter(op.given), None)
        if op.name.strip("_") not in (*THROUGH, "sub") or first is None or not is_op(first) or len(op.given) > 1:
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


@check("AV205", "wrong-sign", {"minus_loss": MAY, "loss_maximized": MAY, "plus_log_prob": MAY}, of_run=True)
def wrong_sign(question: Question) -> Iterator[Cause]:
    """The optimizer makes a loss larger: its sign is wrong, or the optimizer maximizes."""
    q, root = question, None if question.last is None else question.last.root
    if root is None or len({p.source for p in q.passes}) > 1:  # in turns with another loss: an adversary
        return
    leaves = q.leaves_of(root)
    users = [h for h in q.holders if h.steps and any(p is leaf for p in h.leaves for leaf in leaves)]
    given = [op for op in root.given if is_op(op)]
    is_minus = root.name.strip("_") == "neg" and len(given) == 1 and given[0].name in NONNEGATIVE
    for holder in users[:1]:
        if holder.maximizes != is_minus and (is_minus or root.name in NONNEGATIVE):
            said = {"loss": (given[0] if is_minus else root).name, "optimizer": holder.kind}
            yield cause_of("minus_loss" if is_minus else "loss_maximized", root, **said)
    if users and not users[0].maximizes:
        yield from _log_probs_with_plus(q.facts)


def signed(f: Facts, is_end: Callable[[str], bool]) -> Iterator[tuple[str, int, bool]]:
    """What a loss is a sum of: each last node, its sign, and whether data weigh it."""
    todo = [(node, 1, False) for node, _ in f.starts]
    for _ in range(MOST):
        if not todo:
            break
        node, sign, is_weighted = todo.pop()
        op = op_of(f, node)
        if is_end(node) or op not in SIGNED:
            yield node, sign, is_weighted
            continue
        for i, after in enumerate(f.nodes[node].next_functions):
            if after.node is not None:
                data = [t.value for t in f.others(node, i) if not t.requires_grad]
                numbers = [n for n in numbers_of(f, node) if n is not None]
                least = [*numbers, *((bounds(v) or (1.0, 0.0))[1] for v in data)]  # data without an element above 0
                is_minus = (
                    op == "Neg" or (op == "Sub" and i == 1) or (op == "Rsub") or (op == "Mul" and any(n < 0 for n in least))
                )
                todo.append((after.node, -sign if is_minus else sign, is_weighted or (op == "Mul" and bool(data))))


def _log_probs_with_plus(f: Facts) -> Iterator[Cause]:
    """Each log_prob() is weighed by numbers that nothing trains, and enters the loss with a plus."""

    def is_log_prob(node: str) -> bool:
        return called_at(f.source(node)) == "log_prob"

    found = [end for end in signed(f, is_log_prob) if is_log_prob(end[0])]
    weighted = [(node, sign) for node, sign, is_weighted in found if is_weighted]
    is_cost = any(c in s.text.lower() for node, _ in weighted if (s := f.source(node)) is not None for c in COSTS)
    if weighted and len(weighted) == len(found) and not is_cost and all(sign > 0 for _, sign in weighted):
        yield cause_at(f, "plus_log_prob", weighted[0][0])


@check("AV206", "target-out-of-reach", {"out_of_reach": MAY}, of_run=True)
def out_of_reach(numbers: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """Targets outside the range of the function that makes the predictions: a sigmoid cannot give 7, nor a relu -7."""
    f = numbers
    for node in ways:
        after = _ways_on(f, node)
        made = op_of(f, after[0]) if len(after) == 1 and op_of(f, node) in LOSSES else ""
        least, most = RANGES.get(made, (0.0, float("inf")))
        given = [t.value for t in f.inputs(node) if not t.requires_grad and t.value.shape] if made in (*RANGES, "Relu") else []
        found = bounds(given[0]) if len(given) == 1 else None
        if found is not None and (
            found[1] > most + OUTSIDE or (found[0] < least - OUTSIDE and (made != "Relu" or found[1] <= 0))
        ):
            low, high = f"{found[0]:.3g}", f"{found[1]:.3g}"
            yield cause_at(f, "out_of_reach", node, least=low, most=high, made=plain_name(made))
            return
