"""Runs an open region: the compiled pass as it is, and its backward graph op by op beside it.

# Note [Interpreted and compiled]
The region's own node runs the compiled pass. The nodes in the region run the ops of its backward graph one after the other, on
what the real pass has saved. So gradients inside are interpreted. What leaves the region is the compiled result, as in
``backward()``, and the difference is told. If the user has edited a gradient inside, the interpreted one leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import torch

from ..reading import compiled
from ..reading.hooks import HookRunner
from ..reading.nodes import outputs_of
from ..reading.region_op import RegionOp
from ..reading.regions import Region
from ..reading.values import equal, is_plain
from .user_function import call_function


class Interpreted:
    """One pass through one region.

    Attributes:
        gap: of the node that ran last, the largest difference between what was interpreted and the compiled result that left
            the region instead; 0.0 if they are equal to the bit; nan if nothing left, or an interpreted gradient did.
    """

    def __init__(self, region: Region) -> None:
        self._region, self._graph = region, torch.fx.Interpreter(region.module, garbage_collect_values=False)
        self._compiled: tuple[Any, ...] = ()  # what the compiled pass sends, by edge of the region's own node
        self._edited: set[Any] = set()  # values behind a gradient that the user has edited
        self.gap = math.nan

    def enter(self, grads: list[Any], hooks: HookRunner) -> tuple[Any, ...]:
        """Run the compiled pass, and send what arrived to the nodes inside. RuntimeError: as ``backward()`` would."""
        node = self._region.node
        self._compiled = call_function(node, list(grads), hooks)
        looks = zip(grads, outputs_of(node), strict=True)
        given = [torch.zeros(m.shape, dtype=m.dtype, device=m.device) if g is None else g for g, m in looks]
        places = (n for n in self._region.module.graph.nodes if n.op == "placeholder")
        self._graph.env = dict(zip(places, compiled.arguments(node, given), strict=True))
        self._edited = set()
        self._run(self._region.again)
        return self._sent(self._region, True)

    def call(self, op: RegionOp, grads: Sequence[Any]) -> tuple[Any, ...]:
        """Run one node inside on the gradients that arrived."""
        if any(g is None for g in grads):
            self.gap = math.nan
            return (None,) * len(op.results)
        env, is_own = self._graph.env, all(self._is_own(op, a, g) for a, g in zip(op.arrivals, grads, strict=True))
        made = [*op.ops, *(a for a in op.arrivals if compiled.is_sum(a))]
        before = {a: env[a] for a in op.arrivals if a in env and a not in made}
        env.update(zip(op.arrivals, grads, strict=True))
        self._run([*op.again, *op.ops])
        sent = self._sent(op, is_own)
        env.update(before)
        own = {*op.again, *op.ops}
        for n in own.difference(op.results):
            if own.issuperset(n.users):  # nobody else reads it: its memory is free
                del env[n]
        (self._edited.difference_update if is_own else self._edited.update)(made)
        return sent

    def _run(self, ops: Iterable[Any]) -> None:
        with torch.no_grad(), compiled.as_compiled():
            for n in ops:
                self._graph.env[n] = self._graph.run_node(n)

    def _is_own(self, op: RegionOp, value: Any, grad: Any) -> bool:
        """Is a gradient that arrived what the nodes inside have sent?"""
        parts = self._region.parts(op, value)
        if not self._edited.isdisjoint(parts):
            return False
        known = [self._graph.env[p] for p in parts]
        return grad is known[0] if len(known) == 1 else equal(grad, reduce(torch.add, known))

    def _sent(self, end: Region | RegionOp, is_own: bool) -> tuple[Any, ...]:
        sent = [self._graph.env[r] for r in end.results]
        gaps = []
        for k, place in end.leaves.items() if is_own else ():
            gaps.append(_gap(sent[k], self._compiled[place]))
            sent[k] = self._compiled[place]
        self.gap = max(gaps, default=math.nan)
        return tuple(sent)


def _gap(a: Any, b: Any) -> float:
    """The largest difference; 0.0 if all bits are equal."""
    if a is None or b is None or equal(a, b) or not (is_plain(a) and is_plain(b)):
        return 0.0
    wide = torch.complex128 if a.is_complex() else torch.float32 if a.device.type == "mps" else torch.float64
    return float((a.detach().to(wide) - b.detach().to(wide)).abs().max())
