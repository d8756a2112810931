"""Gradients of a scaled loss were clipped before the scaler had divided them: their norm is that of the scale."""

from __future__ import annotations

from collections.abc import Iterator

from ...causes.cause import Cause
from ...causes.present import last_write
from ...causes.question import Question
from ..check import NET, SO, Check

SCALED = f"{NET}opt, scaler = torch.optim.SGD(net.parameters(), lr=0.1), torch.amp.GradScaler('cpu')\n"
TURN = "for _ in range(2):\n    opt.zero_grad()\n    scaler.scale(net(x).pow(2).mean()).backward()\n"
CLIP = "    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n"
STEP = "    scaler.step(opt)\n    scaler.update()\n"


def when(question: Question) -> Iterator[Cause]:
    """No unscale_() between the pass and the clipping."""
    q, root, last = question, question.root_op, question.last
    is_scaled = root is not None and "mul" in root.name and root.source is not None and ".scale(" in root.source.text
    if last is None or not is_scaled:
        return
    for cause in last_write(q):
        clip = next((e.number for e in q.history.events_of(q.grad, "written")[::-1] if e.source == cause.source), None)
        divided = [e for e in q.history.scalers if clip is not None and last.number < e.number < clip]
        if cause.kind == "clipped" and not divided:
            yield Cause("clipped_scaled", source=cause.source, said={**cause.said, "pass": last.source})


CHECK = Check(
    code="AV407",
    name="clip-before-unscale",
    when=when,
    kinds={"clipped_scaled": SO},
    sick=SCALED + TURN + CLIP + STEP,
    innocent=(
        SCALED + TURN + "    scaler.unscale_(opt)\n" + CLIP + STEP,
        SCALED.replace("'cpu'", "'cpu', enabled=False") + TURN + CLIP + STEP,
        SCALED + TURN.replace("scaler.scale(net(x).pow(2).mean())", "net(x).pow(2).mean()") + CLIP + "    opt.step()\n",
    ),
)
