"""Checks of the Functions that users write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ... import words
from ..causes.cause import Cause
from ..causes.check import MAY, check
from ..causes.facts import Facts
from ..causes.question import Question

MOST = 8  # Functions


@check("AV701", "wrong-backward", {"wrong_backward": MAY, "nothing_sent": MAY}, of_run=True)
def wrong_backward(f: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """The backward of a Function differs from finite differences of its forward, in float64; or it returns None for a leaf."""
    functions = {f.live.written_at(node): node for node in ways if f.nodes[node].rule == "user"}
    for source, node in [*functions.items()][:MOST]:
        if f.live.disagrees(node, [t.id for t in f.inputs(node)]):
            yield Cause("wrong_backward", (), (node,), source, {"op": f.called(node).removesuffix("Backward")})


@check("AV702", "kept-on-ctx", {"kept_on_ctx": MAY}, of_run=True, first=True)
def kept_on_ctx(f: Facts, ways: Iterable[str], q: Question) -> Iterator[Cause]:
    """A Function that is differentiated twice uses a tensor kept on ctx, which has no history."""
    is_twice = any(p.keeps for p in [*q.history.passes][:-1])
    for node in ways if is_twice else ():
        if f.nodes[node].rule == "user" and (names := f.live.kept_on_ctx(node)):
            said = {"op": f.called(node).removesuffix("Backward"), "kept": words.COMMA.join(f"ctx.{n}" for n in names)}
            yield Cause("kept_on_ctx", (), (node,), f.live.written_at(node), said)
