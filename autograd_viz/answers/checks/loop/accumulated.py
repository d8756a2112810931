"""Several passes have accumulated, and nothing cleared the gradient in between."""

from __future__ import annotations

from collections.abc import Iterator

from ...causes.cause import Cause, Said
from ...causes.present import added
from ...causes.question import Question
from ..check import ASKED, LOOP, LOSS, MAY, OPT, Check

MEANS = ("mean", "mse_loss", "l1_loss", "smooth_l1_loss", "cross_entropy", "nll_loss", "binary_cross_entropy_with_logits")


def when(question: Question) -> Iterator[Cause]:
    """It is meant if the optimizer has stepped, and not in between."""
    passes = added(question)
    if len(passes) <= 1:
        return
    lines = list(dict.fromkeys(s for p in passes if (s := p.source) is not None))
    steps = [s for h in question.optimizers for s in h.steps]
    is_meant = bool(steps) and not any(passes[0].number < s.number < passes[-1].number for s in steps)
    kind = "accumulating" if is_meant else "several" if len(lines) <= 1 else "several_lines"
    root = passes[-1].root
    if kind == "accumulating" and len(lines) == 1 and root is not None and root.name in MEANS:
        kind = "accumulated_whole"
    said: dict[str, Said] = {"count": str(len(passes)), "other": lines[-2] if len(lines) > 1 else None}
    yield Cause(kind, source=lines[-1] if lines else None, said=said)


CHECK = Check(
    code="AV405",
    name="not-cleared",
    when=when,
    kinds={"several": MAY, "accumulated_whole": MAY, "several_lines": ASKED, "accumulating": ASKED},
    sick=OPT + f"for _ in range(3):\n    {LOSS}    loss.backward()\n    opt.step()",
    innocent=(
        OPT + LOOP,
        OPT + f"for _ in range(2):\n    for _ in range(3):\n        {LOSS}        (loss / 3).backward()\n"
        f"    opt.step()\n    opt.zero_grad()\n{LOSS}(loss / 3).backward()\n{LOSS}(loss / 3).backward()",
    ),
)
