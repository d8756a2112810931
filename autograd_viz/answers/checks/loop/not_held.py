"""No optimizer has the parameter: it got only the graph's other parameters, or was made before its module changed."""

from __future__ import annotations

from collections.abc import Iterator

from ...causes.cause import Cause, cause_of, source_of
from ...causes.present import added
from ...causes.question import Question
from ..check import ASKED, MAY, NET, OPT, STEP, Check


def when(question: Question) -> Iterator[Cause]:
    """There are optimizers, and none has it."""
    q, holders = question, question.holders
    if not holders or q.optimizers:
        return
    if type(q.tensor).__name__ != "Parameter":
        if len(passes := added(q)) > 1:
            yield cause_of("left_alone", passes[-1], count=str(len(passes)))
        return
    near = [h for h in holders if any(map(q.facts.live.has, h.leaves))]
    last = (near or holders)[-1]
    new = [p for p in q.events("placed", "made") if last.made is not None and p.number > last.made.number]
    if near or any(p.kind == "placed" for p in new):
        placed = source_of(new[-1]) if new else None
        yield cause_of("not_held_new" if new else "not_held", last.made, optimizer=last.kind, placed=placed)


CHECK = Check(
    code="AV402",
    name="not-in-optimizer",
    when=when,
    kinds={"not_held": ASKED, "not_held_new": MAY, "left_alone": ASKED},
    sick=OPT + "net[2] = torch.nn.Linear(8, 1)\nfor _ in range(3):\n" + STEP,
    innocent=(
        NET + "net[2] = torch.nn.Linear(8, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor _ in range(3):\n" + STEP,
        NET
        + "opt = torch.optim.SGD(net[2].parameters(), lr=0.1)\nfor _ in range(3):\n"
        + STEP,  # the others are kept as they are
    ),
)
