"""A map as data and as a Mermaid flowchart: what its cards and arrows say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...graph.text import norm_of
from ..files.dot import quoted
from .arrows import SUM
from .cards import Card
from .drawing import MapDrawing
from .flow import ENTRANCE, EXIT, Flow
from .numbers import Place, norm_text
from .plan import Plan


def map_json(drawing: MapDrawing) -> str:
    """Every card and every arrow, whatever is open: an object with `result`, `parameters`, `nodes`, `cards` and `arrows`. Cards
    are in the order of the program: id, the card `above`, kind, path, title, class, how many equal calls, ops, nodes, bytes
    kept, badges; of an innermost card the parameters, with shape and the norms of data and grad. Arrows have the cards at both
    ends (the card around for its entrance and exit), shape, norm of the gradient; `is_sum`: its tensors have uses besides, and
    the gradient is that of all uses. A norm is null where it is not known; nan and inf are words.
    """
    plan, known = drawing.plan, drawing.at_start()
    cards = [_card(plan, card, known) for card in plan.cards.values() if card.kind != "root"]
    arrows = [_arrow(plan, plan.cards[id], flow, known) for id, frame in plan.places.frames.items() for flow in frame.flows]
    whole = {"result": plan.result, "parameters": plan.labels.count(plan.root), "nodes": len(plan.document.nodes)}
    return json.dumps({**whole, "cards": cards, "arrows": arrows}, allow_nan=False) + "\n"


def _card(plan: Plan, card: Card, known: Mapping[Place, float]) -> dict[str, Any]:
    labels = plan.labels
    parameters = [
        {"name": line.name, "shape": plan.index.tensors[line.id].value.shape, "trains": line.trains,
         "norm": _number(norm_of(plan.index.tensors[line.id].value)), "grad_norm": _number(known.get((line.id, "grad", 0)))}
        for line in (labels.all_lines(card) if not card.items else ())
    ]  # fmt: skip
    module = labels.modules.get(card.name)
    kind = module.name if module is not None and card.kind in ("module", "stack") else ""
    named = {"kind": card.kind, "path": card.name, "title": card.title, "class": kind, "count": card.count}
    counts = {"ops": card.last - card.first, "nodes": len(plan.members.get(card.id, ())), "kept_bytes": labels.kept(card)}
    told = {"badges": labels.badges(card), "parameters": parameters}
    return {"id": card.id, "above": plan.above.get(card.id), **named, **counts, **told}


def _arrow(plan: Plan, card: Card, flow: Flow, known: Mapping[Place, float]) -> dict[str, Any]:
    source, target = _ends(plan, card, flow)
    return {"source": source, "target": target, "shape": flow.shape, "rearranged": flow.rearranged,
            "grad_norm": _number(flow.gradient(known)), "is_sum": flow.is_sum}  # fmt: skip


def _ends(plan: Plan, card: Card, flow: Flow) -> tuple[str, str]:
    parts = plan.places.frames[card.id].parts
    source = card.id if flow.source == ENTRANCE else parts[flow.source].id
    return source, card.id if flow.target == EXIT else parts[flow.target].id


def _number(norm: float | None) -> float | str | None:
    return norm if norm is None or abs(norm) < float("inf") else str(norm)


def map_mermaid(drawing: MapDrawing) -> str:
    """A flowchart of what is open: a subgraph for each open card, on each arrow the norm of the gradient."""
    plan, known = drawing.plan, drawing.at_start()
    lines, todo = ["flowchart TD"], [("open", plan.root.id)]
    while todo:
        what, id = todo.pop()
        if what == "end":
            lines.append("    end")
        elif id in drawing.opened:
            card = plan.cards[id]
            if card is not plan.root:
                lines.append(f'    subgraph {id}["{quoted(_title(plan, card))}"]')
                todo.append(("end", id))
            todo += [("open", part.id) for part in reversed(plan.places.parts(card))]
        else:
            lines.append(f'    {id}["{quoted(_title(plan, plan.cards[id]))}"]')
    for id in drawing.opened:
        for flow in plan.places.frames[id].flows:
            source, target = _ends(plan, plan.cards[id], flow)
            if id not in (source, target):  # an edge from a subgraph to what is in it would be a circle
                norm, sum = flow.gradient(known), f"{SUM} " if flow.is_sum else ""
                label = f'|"{quoted(sum + norm_text(norm))}"|' if norm is not None else ""
                lines.append(f"    {source} -->{label} {target}")
    return "\n".join(lines) + "\n"


def _title(plan: Plan, card: Card) -> str:
    return " · ".join(filter(None, (plan.titled(card), plan.labels.kind_of(card))))
