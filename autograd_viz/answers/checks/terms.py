"""Checks of the terms of a loss: a sum beside a mean, an action that nobody took, spreads, margins."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from math import prod

import numpy as np

from ...graph.text import shape_text
from ..causes.cause import Cause, cause_of
from ..causes.check import MAY, check
from ..causes.code import called_at, expression_at
from ..causes.facts import Edge, Facts
from ..causes.numbers import bounds
from ..causes.ops import cause_at, numbers_of, op_of
from ..causes.paths import is_op
from ..causes.question import Question
from .aim import WEIGHING, best_action
from .loss import REGRESSIONS, SHAPED
from .signs import SIGNED, End, signed

MEANS = (*REGRESSIONS, "BinaryCrossEntropy", "BinaryCrossEntropyWithLogits", "NllLoss")
MEAN = "1"  # the number of reduction="mean"
LEAST, MANY = 0.1, 32  # a factor that seems to balance nothing; elements by which a sum is larger than a mean
SAMPLED = re.compile(r"\.log_prob\(\s*[\w.]+\.sample\(")
NAMED, NORMS = re.compile(r"\s*\(?([A-Za-z_]\w*)"), ("Norm", "LinalgVectorNorm")
MOST = 16  # terms
SIGNS = {("Neg", 0): -1, ("Rsub", 0): -1, ("Sub", 1): -1}
SPREADS = ("spread_is_variance", "spread_is_log", "log_of_scale", "log_as_spread")
NOISE = "rand"  # in names of functions that draw it
MOST_OPS, FEW = 256, 6  # ops of a linear sum; of a square
BOUNDED, MOST_STEPS = ("Relu", "Clamp", "ClampMin"), 12
LENGTHS, PAIRED = (*NORMS, "Pow", "Abs"), ("Cdist", "EuclideanDist", "PairwiseDistance", "Dist")
MEASURED = (*LENGTHS, *SHAPED, "Sum", "Mean", "Sqrt", "Add", "Clamp", "ClampMin", "Mul")  # how a difference becomes a distance
NEGATIVE, POSITIVE = re.compile(r"neg|(?:\b|_|d)a?n\b"), re.compile(r"pos|(?:\b|_|d)a?p\b")
MARGINS = ("margin_subtracted", "margin_pulls", "hinge_reversed", "negative_pulled", "positive_sunk", "same_pair")


@check("AV223", "sum-beside-mean", {"sum_beside_mean": MAY, "sum_in_each": MAY}, of_run=True, first=True)
def sum_beside_mean(f: Facts) -> Iterator[Cause]:
    """A loss that adds a mean over a batch, and a sum over all elements of the batch, which counts many times more."""
    terms = [*_terms(f)]
    means = {node: rows for node, _ in terms if (rows := _mean_of(f, node))}
    for node, factor in terms:
        shape = next((t.value.shape for t in f.inputs(node)), ()) if op_of(f, node) == "Sum" else ()
        is_whole = all(t.value.shape == () for t in f.results(node)) and len(shape) > 1
        of_rows = [n for n, rows in means.items() if is_whole and rows == shape[0]]
        if of_rows and prod(shape) >= MANY and factor >= LEAST and _share(f, node, of_rows):
            yield cause_at(f, "sum_beside_mean", node, shape=shape_text(shape), count=prod(shape))
    for node in dict.fromkeys(n for n, _ in linear(f) if op_of(f, n) in ("Add", "Sub", "Rsub")):
        shape, ways = f.shape(node), f.ways_on(node)
        is_pair = len(shape) == 1 < shape[0] and len(ways) == 2
        for way, other in (ways, ways[::-1]) if is_pair else ():
            if _adds_rows(f, way, shape[0]) and f.shape(other) == shape and _share(f, way, [other]):
                yield cause_at(f, "sum_in_each", way, op="sum", count=shape[0])


def _adds_rows(f: Facts, node: str | None, count: int) -> bool:
    """Is a number the sum of so many rows: by sum(), or by Python's own, which adds one after the other?"""
    while node is not None and op_of(f, node) == "Neg":
        node = f.first(node)
    if node is None or f.shape(node) != ():
        return False
    shape = next((t.value.shape for t in f.inputs(node)), ()) if op_of(f, node) == "Sum" else ()
    added = 0
    while node is not None and op_of(f, node) == "Add" and added < count:
        node, added = f.first(node), added + 1
    is_by_python = added >= count - 1 and node is not None and op_of(f, node) == "Unbind"
    return shape[:1] == (count,) or (is_by_python and len(f.edges_at(node or "")) == count)


def _terms(f: Facts) -> Iterator[tuple[str, float]]:
    """What a loss is a sum of, with the number that multiplies each. A quotient is a term: it may be a mean."""
    todo = [(node, 1.0) for node, _ in f.starts]
    for _ in range(MOST):
        if not todo:
            return
        node, factor = todo.pop()
        op, after = op_of(f, node), f.ways_on(node)
        known = [abs(n) for n in numbers_of(f, node) if n is not None]
        is_data = any(not t.requires_grad for t in f.inputs(node))
        if op in ("Add", "Sub", "Neg", "Rsub") and not is_data:
            todo += [(n, factor) for n in after]
        elif op == "Mul" and len(after) == 1 and known:
            todo.append((after[0], factor * known[0]))
        else:
            yield node, factor


def _share(f: Facts, node: str, others: list[str]) -> bool:
    """Does an op lie behind a term and behind others? A penalty of weights shares their leaves alone, and is of no batch."""
    own, its = (f.downstream(way for n in nodes for way in f.ways_on(n)) for nodes in ([node], others))
    return any(f.nodes[n].variable is None for n in own.keys() & its.keys())


def _mean_of(f: Facts, node: str) -> int:
    """The rows of what a term is the mean of; 0 if it is none."""
    op = op_of(f, node)
    is_mean = (op == "Mean" and f.plain(node, "dim") == "") or (op in MEANS and f.plain(node, "reduction") == MEAN)
    shape: tuple[int, ...] = next((t.value.shape for t in f.inputs(node)), ()) if is_mean else ()
    return shape[0] if len(shape) > 1 else 0


@check("AV221", "other-action", {"other_action": MAY, "best_action": MAY, "position_as_value": MAY}, of_run=True)
def other_action(q: Question) -> Iterator[Cause]:
    """What is trained by rewards is not of the action that was taken: a log_prob() of a new sample, or the largest value."""
    root = q.last_root
    there = q.ops_behind(root)
    logs = [op for op in there if op.source is not None and called_at(op.source) == "log_prob"]
    drawn = [op for op in logs if op.source is not None and SAMPLED.search(op.source.expression)]
    if drawn and any(op.name in WEIGHING and len([g for g in op.given if is_op(g)]) == 1 for op in there - {*drawn}):
        yield cause_of("other_action", max(drawn, key=lambda op: op.number))
    yield from best_action(there)


@check("AV232", "penalty-of-batch", {"penalty_of_batch": MAY, "penalty_of_pixels": MAY}, of_run=True, first=True)
def penalty_of_batch(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """A gradient penalty that compares the norm of a whole batch with 1, or that of each pixel, and not that of each row."""
    grads = [p for p in q.history.passes if p.name == "grad" and p.source is not None]
    made = {m[1] for p in grads if p.source is not None and (m := NAMED.match(p.source.text)) is not None}
    weights = {tuple(p.shape) for m in q.models.values() for p in m.parameters()}  # those have one norm each
    for node in nodes if made else ():
        source = f.source(node)
        users = f.takers(node)
        shape = next((t.value.shape for t in f.inputs(node)), ()) if op_of(f, node) in NORMS else ()
        dims = [int(n) for n in re.findall(r"-?\d+", f.plain(node, "dim"))]
        is_whole, is_of_pixels = f.plain(node, "dim") == "", len(dims) == 1 < len(shape) - 1 and dims[0] % len(shape) == 1
        is_of_pixels &= any(op_of(f, n) in ("Addmm", "Mm") for n in nodes)  # a field has a number for each pixel
        name = NAMED.match(source.expression) if source is not None else None
        is_of_rows = len(shape) > 1 and shape[0] > 1 and name is not None and name[1] in made and shape not in weights
        kind = "penalty_of_batch" if is_whole else "penalty_of_pixels" if is_of_pixels else ""
        if kind and is_of_rows and any(op_of(f, u) == "Sub" and _takes_one(f, u) for u in users):
            yield cause_at(f, kind, node, shape=shape_text(shape))


def _takes_one(f: Facts, node: str) -> bool:
    found = expression_at(f.source(node))
    right = found.right if isinstance(found, ast.BinOp) else None
    return isinstance(right, ast.Constant) and right.value == 1


@check("AV227", "log-of-spread", dict.fromkeys(SPREADS, MAY), of_run=True)
def log_of_spread(f: Facts, q: Question) -> Iterator[Cause]:
    """The logarithm of a variance that is taken for that of a standard deviation; or that of a scale with the wrong sign."""
    if not q.minimizes:
        return
    met, exps = linear(f), dict[Edge, list[str]]()
    for node in f.pass_nodes:
        edge = _edge(f, node, 0) if op_of(f, node) == "Exp" else None
        if edge is not None:
            exps.setdefault(edge, []).append(node)
    for log in (n for n in f.pass_nodes if op_of(f, n) == "Log" and -1 in met.get((n, 0), ())):
        square, edge = _squared(f, log)
        if square is not None and 1 in met.get((square, 0), ()) and op_of(f, edge[0]) != "Exp":
            noises = [n for n in f.pass_nodes if _exp_of(f, n) == edge]
            yield from [cause_at(f, "log_as_spread", square, noise=f.source(n)) for n in noises[:1]]
    for edge, nodes in exps.items():
        if met.get(edge) == {-1} and any(met.get((n, 0)) == {1} for n in nodes):
            # exp(v) - v, as in the divergence of a normal distribution whose variance is exp(v), which noise is multiplied by
            noises = [n for n in f.pass_nodes if _read_as(f, n, edge) and _is_noise(f, n)]
            yield from [cause_at(f, _read_as(f, n, edge), n) for n in noises[:1]]
        elif met.get(edge) == {1}:
            yield from [cause_at(f, "log_of_scale", n) for n in nodes if _scales(f, n, met)][:1]


def _squared(f: Facts, node: str | None) -> tuple[str | None, Edge]:
    """The square that a logarithm is taken of, perhaps with a small number added, and what is squared there."""
    for _ in range(FEW):
        node = None if node is None else f.first(node)
        edge = None if node is None or not _is_square(f, node) else _edge(f, node, 0)
        if node is not None and edge is not None:
            return node, edge
    return None, ("", 0)


def _exp_of(f: Facts, node: str) -> Edge | None:
    """What noise is multiplied by the exp() of, or by that of its half."""
    given = next((e for i in (0, 1) if (e := _edge(f, node, i)) is not None), None) if op_of(f, node) == "Mul" else None
    if given is None or op_of(f, given[0]) != "Exp" or not _is_noise(f, node):
        return None
    edge = _edge(f, given[0], 0)
    is_half = edge is not None and op_of(f, edge[0]) in ("Mul", "Div") and any(n is not None for n in numbers_of(f, edge[0]))
    return _edge(f, edge[0], 0) if edge is not None and is_half else edge


def _edge(f: Facts, node: str, index: int) -> Edge | None:
    """What an op got at an index."""
    edges = f.nodes[node].next_functions
    after = edges[index] if index < len(edges) else None
    return None if after is None or after.node is None else _first(f, (after.node, after.index))


def _first(f: Facts, edge: Edge) -> Edge:
    """The edge itself; of `v[0]`, that of the first `v[0]` of the pass."""
    if op_of(f, edge[0]) != "Select":
        return edge
    of = f.nodes[edge[0]].next_functions, f.plain(edge[0], "dim"), f.plain(edge[0], "index")
    same = (n for n in f.pass_nodes if op_of(f, n) == "Select")
    return next(((n, 0) for n in same if (f.nodes[n].next_functions, f.plain(n, "dim"), f.plain(n, "index")) == of), edge)


def linear(f: Facts) -> dict[Edge, set[int]]:
    """What a loss is a linear sum of, at each op on the way, with the signs that it has there; 0: that is not known."""
    met, todo = dict[Edge, set[int]](), [(edge, 1) for edge in f.starts]
    for _ in range(MOST_OPS):
        if not todo:
            break
        edge, sign = todo.pop()
        if sign in met.setdefault(edge, set()):
            continue
        met[edge].add(sign)
        node, op = edge[0], op_of(f, edge[0])
        for i, after in enumerate(f.nodes[node].next_functions if op in SIGNED else ()):
            if after.node is not None:
                todo.append((_first(f, (after.node, after.index)), sign * SIGNS.get((op, i), 1) * _factor(f, node, i)))
    return met


def _factor(f: Facts, node: str, index: int) -> int:
    """The sign of what a product or a quotient multiplies by; 0 if it is not a known number."""
    if op_of(f, node) not in ("Mul", "Div"):
        return 1
    known = [n for n in numbers_of(f, node) if n is not None]
    if op_of(f, node) == "Div" and index == 0 and not known:
        return 0 if any(t.requires_grad for t in f.others(node, 0)) else 1
    return (1 if known[0] > 0 else -1) if known and known[0] else 0


def _read_as(f: Facts, node: str, log: Edge) -> str:
    """What stands beside the other factor of a product: the exp() of the logarithm, or the logarithm itself, or half of it."""
    if op_of(f, node) != "Mul" or len(f.nodes[node].next_functions) != 2:
        return ""
    given = next((e for i in (0, 1) if (e := _edge(f, node, i)) is not None), None)
    if given is None or None not in (_edge(f, node, 0), _edge(f, node, 1)):
        return ""
    if op_of(f, given[0]) == "Exp":
        return "spread_is_variance" if _edge(f, given[0], 0) == log else ""
    is_part = op_of(f, given[0]) in ("Mul", "Div") and len([n for n in numbers_of(f, given[0]) if n is not None]) == 1
    return "spread_is_log" if given == log or (is_part and _edge(f, given[0], 0) == log) else ""


def _is_noise(f: Facts, node: str) -> bool:
    """Is the other factor a tensor of data, drawn at random in the line or before? Of a core graph: any data of that shape."""
    index = next(i for i in (0, 1) if _edge(f, node, i) is not None)
    made = f.live.data_made(node, "other" if index == 0 else "self")
    source = f.source(node)
    if any(n is not None for n in numbers_of(f, node)):
        return False
    return (source is not None and NOISE in source.text) or (made is not None and NOISE in made.name)


def _scales(f: Facts, exp: str, met: dict[Edge, set[int]]) -> bool:
    """Does it multiply a square in the loss, or what a square is taken of, and do these enter the loss with a plus?"""
    if met.get((exp, 0), {0}) != {0}:
        return False  # it is a term itself
    users = f.takers(exp)
    if not users or any(op_of(f, u) != "Mul" for u in users):
        return False
    if any(met.get((u, 0)) == {1} and any(_is_square(f, a.node) for a in f.nodes[u].next_functions) for u in users):
        return True
    squares = [n for (n, _), signs in met.items() if signs == {1} and _is_square(f, n)]
    return any(exp in f.downstream([n]) for n in squares)


def _is_square(f: Facts, node: str | None) -> bool:
    """Is it a square, or a loss made of squares, or a multiple of one?"""
    for _ in range(FEW):
        edges = () if node is None else f.nodes[node].next_functions
        op = "" if node is None else op_of(f, node)
        is_power = node is not None and op == "Pow" and f.plain(node, "exponent") in ("2", "2.0")
        if is_power or op in REGRESSIONS or (op == "Mul" and len(edges) == 2 and len({*edges}) == 1):
            return True
        ways = [a.node for a in edges if a.node is not None]
        if op == "Stack" and any(op_of(f, n) in REGRESSIONS for n in ways):
            return True
        if op not in ("Mul", "Sum", "Mean", *SHAPED) or len(ways) != 1:
            return False
        node = ways[0]
    return False


@check("AV226", "margin-inside-out", dict.fromkeys(MARGINS, MAY), of_run=True)
def margin_inside_out(f: Facts, q: Question) -> Iterator[Cause]:
    """A loss with a margin that is inside out: it pulls what it should push apart, or is 0 before the margin is kept."""
    if q.minimizes:
        yield from _of_scores(f)
    ends = [end for end in signed(f, lambda node: op_of(f, node) in (*BOUNDED, "Pow")) if end[1] > 0]
    for end in ends if q.minimizes else ():
        hinge = _hinge(f, end[0])
        taken = None if hinge is None else f.first(hinge)
        if taken is not None and _is_of_one_pair(f, taken):
            yield cause_at(f, "same_pair", taken)
            return
        sign = 0 if taken is None else _constant(f, q, taken)
        inner = f.first(taken) if taken is not None and sign else taken
        if hinge is None or inner is None:
            continue
        sides = f.sides(inner) if op_of(f, inner) == "Sub" else []
        if len(sides) == 2 and all(s is not None and _distance(f, s) for s in sides):
            yield from _of_two(f, hinge, inner, sign)
        elif sign < 0 and _is_signed_score(f, inner):
            yield cause_at(f, "hinge_reversed", hinge)
        elif sign < 0 and _distance(f, inner) and any(_pulls(f, inner, end, other) for other in ends):
            yield cause_at(f, "margin_pulls", hinge)


def _is_of_one_pair(f: Facts, node: str) -> bool:
    """Is it the difference of two distances that are equal in every row?"""
    sides = f.ways_on(node) if op_of(f, node) == "Sub" else []
    under = [f.first(side) if op_of(f, side) == "Add" else side for side in sides]
    kept = [f.live.kept(n, "result") for n in under if n is not None and op_of(f, n) in NORMS]
    one, other = kept if len(kept) == 2 else (None, None)
    return one is not None and other is not None and one.size > 1 and np.array_equal(one, other)


def _hinge(f: Facts, node: str) -> str | None:
    """The op that is 0 below 0, itself or under a power."""
    for _ in range(2):
        op = op_of(f, node)
        if op in BOUNDED:
            is_floor = op == "Relu" or (f.plain(node, "min") in ("0", "0.0") and not f.plain(node, "max"))
            return node if is_floor else None
        before = f.first(node) if op == "Pow" else None
        if before is None:
            break
        node = before
    return None


def _constant(f: Facts, q: Question, node: str) -> int:
    """The sign of a positive number, or of a name that holds one, that a sum or a difference adds to what is trained."""
    edges, op = f.nodes[node].next_functions, op_of(f, node)
    if op not in ("Add", "Sub") or not edges or edges[0].node is None or any(a.node is not None for a in edges[1:]):
        return 0
    found = expression_at(f.source(node))
    right = found.right if isinstance(found, ast.BinOp) else None
    value = right.value if isinstance(right, ast.Constant) else q.names.get(right.id) if isinstance(right, ast.Name) else None
    is_margin = isinstance(right, ast.Name | ast.Attribute) and "margin" in ast.unparse(right)
    is_positive = isinstance(value, int | float) and value > 0
    return (1 if op == "Add" else -1) if is_positive or (value is None and is_margin) else 0


def _distance(f: Facts, node: str | None) -> bool:
    """Is it the length of a difference of two results, or its square?"""
    is_measured = False
    for _ in range(MOST_STEPS):
        if node is None:
            return False
        op, edges = op_of(f, node), f.nodes[node].next_functions
        if op in PAIRED or (op == "Sub" and is_measured and len(edges) == 2 and all(a.node is not None for a in edges)):
            return True
        if op not in MEASURED or (op == "Mul" and len({*edges}) > 1):
            return False
        is_measured |= op in LENGTHS or op == "Mul"
        node = f.first(node)
    return False


def _of_scores(f: Facts) -> Iterator[Cause]:
    """`-logsigmoid(negative - positive)` of products of rows: what is called negative gets the larger score."""
    for node, sign, _ in signed(f, lambda node: op_of(f, node) in ("LogSigmoid", "Softplus")):
        difference = f.first(node) if sign == (-1 if op_of(f, node) == "LogSigmoid" else 1) else None
        sides = f.sides(difference) if difference and op_of(f, difference) == "Sub" else []
        if difference is None or len(sides) != 2 or not all(s is not None and _is_product(f, s) for s in sides):
            continue
        first = (True, False) if op_of(f, node) == "LogSigmoid" else (False, True)
        if _called(expression_at(f.source(difference))) == [first, first[::-1]]:
            yield cause_at(f, "positive_sunk", node)
            return


def _is_product(f: Facts, node: str) -> bool:
    """Is it a sum over the products of two results, row by row?"""
    before = f.first(node) if op_of(f, node) == "Sum" else None
    edges = f.nodes[before].next_functions if before is not None and op_of(f, before) == "Mul" else ()
    return len({*edges}) == 2 and all(a.node is not None for a in edges)


def _called(found: ast.expr | None) -> list[tuple[bool, bool]]:
    """Of both sides of a difference: is it called negative, is it called positive?"""
    texts = [ast.unparse(side) for side in (found.left, found.right)] if isinstance(found, ast.BinOp) else []
    return [(bool(NEGATIVE.search(t)), bool(POSITIVE.search(t))) for t in texts]


def _of_two(f: Facts, hinge: str, difference: str, sign: int) -> Iterator[Cause]:
    """The margin is taken away from a difference of distances; or what is called negative stands first in it."""
    if sign < 0:
        yield cause_at(f, "margin_subtracted", hinge)
        return
    found = expression_at(f.source(difference))
    called = _called(found)
    if isinstance(found, ast.Call) and f.live.called_as(hinge) in ("", "triplet_margin_loss") and len(found.args) > 2:
        called = _called(ast.BinOp(found.args[1], ast.Sub(), found.args[2]))
    if called == [(True, False), (False, True)]:
        yield cause_at(f, "negative_pulled", hinge)


def _is_signed_score(f: Facts, node: str) -> bool:
    """Is it a product of a result with labels, 1 and -1?"""
    ways = f.sides(node) if op_of(f, node) == "Mul" else []
    if len(ways) != 2 or None not in ways:
        return False
    kept = f.live.kept(node, "self" if ways[0] is None else "other")
    data = next((t.value for t in f.inputs(node) if not t.requires_grad), None)
    found = bounds(data) if kept is None else (float(kept.min()), float(kept.max()))
    return found == (-1.0, 1.0) and (kept is None or bool((np.abs(kept) == 1).all()))


def _pulls(f: Facts, distance: str, end: End, other: End) -> bool:
    """Does another term with other weights, which are 1 where those are 0, count the same distance?"""
    if other[0] == end[0] or not end[2] or not other[2] or distance not in f.downstream([other[0]]):
        return False
    weights = [f.live.kept(n, "self" if f.first(n) is None else "other") for n in (end[2], other[2])]
    is_other = end[2] != other[2] and _hinge(f, other[0]) is None
    return is_other and (any(w is None for w in weights) or bool((weights[0] + weights[1] == 1).all()))
