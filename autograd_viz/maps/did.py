"""What a card did in a backward pass, in words: what arrived, what left, which parameters have a gradient now."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import words
from ..graph.text import norm_of
from ..graph.trace import Step
from .numbers import norm_text
from .plan import Plan


def what_it_did(plan: Plan, card: str, steps: Sequence[Step]) -> str:
    """One sentence about the steps that ran in a card.

    The norm of what arrived is that of all gradients that came from outside, as one vector; the norm of what left likewise.
    """
    index, inside = plan.index, frozenset(plan.members.get(card, ()))
    steps = [s for s in steps if s.node in inside]
    came = [norm_of(g) for s in steps for k, g in enumerate(s.grad_outputs) if not _is_sent(plan, s.node, k, inside)]
    ends = ((g, index.nodes[s.node].next_functions[k].node) for s in steps for k, g in enumerate(s.grad_inputs))
    left = [norm_of(g) for g, end in ends if end not in inside]
    grads = sum(s.accumulation is not None for s in steps)
    told = {"title": plan.titled(plan.cards[card]), "came": _norm(came), "left": _norm(left), "grads": grads}
    return words.MAP_DID.format(calls=len(steps), **told)


def _is_sent(plan: Plan, node: str, output: int, inside: frozenset[str]) -> bool:
    """Does a node of the card send it?"""
    return any(sender in inside for sender, _ in plan.index.edges[node, output])


def _norm(norms: Sequence[float | None]) -> str:
    known = [n for n in norms if n is not None]
    return norm_text(math.hypot(*known)) if known else "–"
