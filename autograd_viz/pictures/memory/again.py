"""What checkpoints compute again in the backward pass, as far as the graph tells.

A saved tensor that a checkpoint promises is a result of its op if it is called so ("result", "result1"), else it is among the
operands. Results that are no tensors of the document are not counted: the mask of a dropout, the indices of a pooling.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .facts import Facts, bytes_of

_RESULT = re.compile(r"(?:result|output)(\d*)$")


def computed_again(facts: Facts) -> Iterator[tuple[int, int, int]]:
    """For each tensor: its bytes, the call at which it is there again, and the last call that uses it."""
    place = {id: i for i, id in enumerate(facts.calls)}
    for checkpoint in facts.again:
        last: dict[str, int] = {}
        calls = [place[node] for node, _ in checkpoint.saved if node in place]
        for node, name in checkpoint.saved:
            for tensor in _tensors(facts, node, name) if node in place else ():
                last[tensor] = max(last.get(tensor, 0), place[node])
        yield from ((bytes_of(facts.tensors[t].value), min(calls), end) for t, end in last.items())


def _tensors(facts: Facts, node: str, name: str) -> Iterator[str]:
    """The tensors that a saved value may be, if nothing else holds them."""
    op = facts.ops.get(facts.nodes[node].op or "")
    if op is None:
        return
    result = _RESULT.match(name)
    at = int(result[1] or 0) if result is not None else 0
    found = op.outputs[at : at + 1] if result is not None else [o.tensor for o in op.inputs]
    for tensor in found:
        source = None if tensor is None else facts.viewed(tensor)
        if source in facts.makers and source not in facts.held:
            yield source
