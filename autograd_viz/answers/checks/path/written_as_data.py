"""A tensor that an op had saved was changed through .data: autograd did not see it, and backward() used the new values."""

from __future__ import annotations

from collections.abc import Iterator

from .... import words
from ...causes.cause import Cause, cause_of, source_of
from ...causes.code import spelling
from ...causes.history import Op
from ...causes.paths import has_graph, is_op
from ...causes.question import Question
from ..check import SO, Check

SAVES_NOT = ("add", "sub", "neg", "sum", "mean", "view", "reshape", "cat", "stack", "getitem", "transpose", "permute", "expand")
W = "w = torch.tensor([1.0, 2.0], requires_grad=True)\n"


def when(question: Question) -> Iterator[Cause]:
    """A write between an op that saves it and the pass, which did not refuse it."""
    q, last = question, question.last
    if last is None or last.error or not q.history.knows_uses:
        return
    named = [(name, t) for name, t in q.names.items() if has_graph(t)]
    for name, tensor in ((q.name_of(q.tensor) or words.THE_TENSOR, q.tensor), *named):
        thing = q.subject if tensor is q.tensor else q.history.op_of(tensor)
        if tensor is not q.tensor and thing not in q.ops:
            continue
        users = [op for op in q.ops if op.name.strip("_").removeprefix("r") not in SAVES_NOT and _uses(op, thing)]
        for write in q.history.events_of(tensor, "written"):
            savers = [op for op in users if op.number < write.number < last.number]
            if savers:
                yield cause_of("written_as_data", write, written=name, op=spelling(savers[0]), saved=source_of(savers[0]))
                return


def _uses(op: Op, thing: object) -> bool:
    return any(given is thing or (is_op(given) and given == thing) for given in op.given)


CHECK = Check(
    code="AV103",
    name="written-as-data",
    when=when,
    kinds={"written_as_data": SO},
    sick=W + "loss = (w * w).sum()\nw.data.mul_(2)\nloss.backward()",
    innocent=(
        W + "w.data.mul_(2)\nloss = (w * w).sum()\nloss.backward()",
        W + "loss = (w * w).sum()\nloss.backward()\nw.data.clamp_(-1, 1)",
        W + "loss = (w + 1).sum()\nw.data.mul_(2)\nloss.backward()",
        W + "seen = torch.zeros(2)\nloss = (w * w).sum()\nseen += w.detach()\nloss.backward()",
    ),
)
