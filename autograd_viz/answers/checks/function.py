"""Checks of the Functions that users write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..causes.cause import Cause
from ..causes.facts import Facts
from .check import MAY, check

MOST, FEW = 8, 64  # Functions, and numbers of the inputs of one


@check("AV701", "wrong-backward", {"wrong_backward": MAY}, of_run=True)
def wrong_backward(numbers: Facts, ways: Iterable[str], runs_code: bool) -> Iterator[Cause]:
    """The backward of a Function differs from finite differences, on the inputs that it really had, in float64."""
    f = numbers
    functions = {f.live.written_at(node): node for node in ways if f.nodes[node].rule == "user"}
    for source, node in [*functions.items()][:MOST]:
        given = [t.value for t in f.inputs(node)]
        if sum(len(v.numbers) for v in given) <= FEW and f.live.disagrees(node, given):
            yield Cause("wrong_backward", (), (node,), source, {"op": f.called(node).removesuffix("Backward")})
