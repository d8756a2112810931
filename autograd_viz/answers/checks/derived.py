"""Checks of how a loss is reduced and differentiated: a mean before its weights, a second derivative that is none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from math import prod
from typing import Any

from ...graph.surroundings import Source
from ..causes.cause import Cause, cause_of
from ..causes.check import MAY, check
from ..causes.code import expression_at, line_of, mentions, statement_at, tree_of
from ..causes.facts import Edge, Facts
from ..causes.numbers import is_constant
from ..causes.ops import cause_at, numbers_of, op_of
from ..causes.question import Question
from .terms import MEAN, linear

OF_SAMPLES = ("NllLoss", "NllLoss2D", "BinaryCrossEntropy", "BinaryCrossEntropyWithLogits", "MseLoss")
MOST_SCALED = 6  # multiples of a number, one after the other
FEW = 3  # elements that may be weights of as many terms
RANDOM = re.compile(r"rand|bernoulli|normal")


@check("AV241", "reduced-too-early", {"reduced_first": MAY, "weighed_by_mean": MAY}, of_run=True, first=True)
def reduced_too_early(f: Facts) -> Iterator[Cause]:
    """A mean or sum over all samples that is then multiplied by a weight of each: all weigh the same one number."""
    for product, _ in linear(f):
        if op_of(f, product) == "Mul" and (found := _one_number(f, product)) is not None:
            made, count, weights = found
            yield cause_at(f, "reduced_first", made, count=count, weights=weights, product=f.source(product))
    weighed = [*_weighed_losses(f)]  # of several, each may be a task
    for loss, at, count in weighed if len(weighed) == 1 else ():
        yield cause_at(f, "weighed_by_mean", loss, count=count, product=f.source(at))


def _weighed_losses(f: Facts) -> Iterator[tuple[str, str, int]]:
    """Means over samples that are multiplied by what exp() makes of them, the exp(), and the number of samples."""
    for node in f.pass_nodes:
        negated = f.first(node) if op_of(f, node) == "Exp" else None
        loss = f.first(negated) if negated is not None and op_of(f, negated) in ("Neg", "Mul") else None
        is_mean = loss is not None and op_of(f, loss) in OF_SAMPLES and f.plain(loss, "reduction") == MEAN
        shape = next((t.value.shape for t in f.inputs(loss)), ()) if loss is not None and is_mean else ()
        is_weighed = any(op_of(f, n) == "Mul" and loss in f.sides(n) for n in f.leading((node, 0)))
        if loss is not None and len(shape) > 1 and shape[0] > 1 and is_weighed:
            yield loss, node, shape[0]


def _one_number(f: Facts, product: str) -> tuple[str, int, str] | None:
    """The reduction that made one factor of a product, how many elements it took, and the text of the other, data of many."""
    edges: list[Edge] = [(a.node, a.index) for a in f.nodes[product].next_functions if a.node is not None]
    data = next((t.value for t in f.inputs(product) if not t.requires_grad), None)
    if len(edges) != 1 or data is None or prod(data.shape) <= FEW or is_constant(data):
        return None
    made: str | None = edges[0][0]
    for _ in range(MOST_SCALED):
        is_one = made is not None and all(t.value.shape == () for t in f.results(made))
        if made is None or not is_one:
            return None
        is_mean = op_of(f, made) in OF_SAMPLES and f.plain(made, "reduction") == MEAN
        if is_mean or op_of(f, made) in ("Sum", "Mean"):
            break
        is_multiple = op_of(f, made) == "Neg" or (op_of(f, made) in ("Mul", "Div") and numbers_of(f, made))
        made = f.first(made) if is_multiple else None
    shape = next((t.value.shape for t in f.inputs(made)), ()) if made is not None else ()
    # the sum of logarithms is that of the whole: only a dimension that was forgotten tells of a sum
    is_of_elements = shape[: len(data.shape)] == data.shape and (shape != data.shape or op_of(f, made or "") != "Sum")
    count = prod(shape) if is_of_elements else 0
    found = expression_at(f.source(product))
    sides = [found.left, found.right] if isinstance(found, ast.BinOp) else []
    named = [ast.unparse(side) for side in sides if isinstance(side, ast.Name | ast.Attribute | ast.Subscript)]
    return (made, count, named[-1]) if made is not None and count > FEW and named else None


@check("AV242", "same-derivative", {"same_derivative": MAY}, of_run=True, first=True)
def same_derivative(q: Question) -> Iterator[Cause]:
    """Two calls of autograd.grad() with the same arguments: what should be the second derivative is the first one again."""
    calls = dict[Any, tuple[str, Source]]()
    since = q.passes[-2].number if len(q.passes) > 1 else None
    for p in [p for p in q.history.passes if p.name == "grad" and p.keeps and (since is None or p.number > since)]:
        (statement, _), call = statement_at(p.source) or (None, []), expression_at(p.source)
        if not isinstance(statement, ast.Assign) or p.root is None or p.source is None or call is None:
            continue
        if len(statement.targets) != 1 or RANDOM.search(ast.unparse(call)):
            continue
        name = ast.unparse(statement.targets[0]).strip("(),")  # of `(g,) = …`
        # `u.sum()` is another op each time
        of = p.root.name, tuple(p.root.given), ast.unparse(statement.value), p.source.function
        first, at = calls.setdefault(of, (name, p.source))
        if at != p.source and first != name and not _is_renewed(call, at, p.source):
            yield cause_of("same_derivative", p, second=name, first=first, earlier=at)


def _is_renewed(call: ast.expr, first: Source, then: Source) -> bool:
    """Has a line between two places given another value to a name that the call uses?"""
    used = {n.id for n in ast.walk(call) if isinstance(n, ast.Name)}
    set_there = [n for n in ast.walk(tree_of(then.file)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return any(n.id in used and first.end_line < n.lineno < then.line for n in set_there)


@check("AV240", "derivatives-summed", {"derivatives_summed": MAY}, of_run=True, first=True)
def derivatives_summed(q: Question) -> Iterator[Cause]:
    """A second derivative of a whole gradient, of which a column is taken: it has the mixed derivatives in it, too."""
    if q.last is None or q.last.source is None or not mentions(q.last.source, "grad("):
        return
    first, tree = dict[str, str](), tree_of(q.last.source.file)
    for node in (n for n in ast.walk(tree) if isinstance(n, ast.Assign)):
        call = next((n for n in ast.walk(node.value) if isinstance(n, ast.Call) and ast.unparse(n.func).endswith("grad")), None)
        name = re.match(r"\(?(\w+)", ast.unparse(node.targets[0]))
        args = [ast.unparse(a) for a in call.args[:2]] if call is not None else []
        if call is None or name is None or len(args) != 2:
            continue
        along = " ".join(map(ast.unparse, [*call.args[2:3], *(k.value for k in call.keywords if k.arg == "grad_outputs")]))
        columns = {*re.findall(rf"\b{name[1]}\[:, \[?(-?\w+)", ast.unparse(tree))}
        count = getattr(q.names.get(args[1]), "shape", (len(columns),))[-1:]  # the input may be local to a function
        is_second = first.get(args[0]) == args[1] and count > (1,) and "ones" in along  # else it is along a direction
        if is_second and columns:
            said = {"second": name[1], "first": args[0], "inputs": args[1]}
            yield Cause("derivatives_summed", source=line_of(q.last.source.file, node), said=said)
        first[name[1]] = args[1]
