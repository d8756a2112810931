"""The check of logarithms of a spread: what a VAE and a flow learn in place of a spread, and read in two ways."""

from __future__ import annotations

from collections.abc import Iterator

from ..causes.cause import Cause
from ..causes.check import MAY, check
from ..causes.facts import Edge, Facts
from ..causes.ops import cause_at, numbers_of, op_of
from ..causes.question import Question
from .loss import REGRESSIONS, SHAPED
from .signs import SIGNED

SIGNS = {("Neg", 0): -1, ("Rsub", 0): -1, ("Sub", 1): -1}
NOISE = "rand"  # in names of functions that draw it
MOST, FEW = 256, 6


@check("AV227", "log-of-spread", {"spread_is_variance": MAY, "spread_is_log": MAY, "log_of_scale": MAY}, of_run=True)
def log_of_spread(f: Facts, q: Question) -> Iterator[Cause]:
    """The logarithm of a variance that is taken for that of a standard deviation; or that of a scale with the wrong sign."""
    if not q.minimizes:
        return
    met, exps = _linear(f), dict[Edge, list[str]]()
    for node in f.pass_nodes:
        edge = _edge(f, node, 0) if op_of(f, node) == "Exp" else None
        if edge is not None:
            exps.setdefault(edge, []).append(node)
    for edge, nodes in exps.items():
        if met.get(edge) == {-1} and any(met.get((n, 0)) == {1} for n in nodes):
            # exp(v) - v, as in the divergence of a normal distribution whose variance is exp(v), which noise is multiplied by
            noises = [n for n in f.pass_nodes if _read_as(f, n, edge) and _is_noise(f, n)]
            yield from [cause_at(f, _read_as(f, n, edge), n) for n in noises[:1]]
        elif met.get(edge) == {1}:
            yield from [cause_at(f, "log_of_scale", n) for n in nodes if _scales(f, n, met)][:1]


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


def _linear(f: Facts) -> dict[Edge, set[int]]:
    """What a loss is a linear sum of, at each op on the way, with the signs that it has there; 0: that is not known."""
    met, todo = dict[Edge, set[int]](), [(edge, 1) for edge in f.starts]
    for _ in range(MOST):
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
