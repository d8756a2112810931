"""What a check is: a page with its number and name, when it speaks, the program that has the fault, and innocent twins.

Its words are those of its kinds: `CAUSE_<KIND>`, and what to do: `DO_<KIND>`. Its facts are the attributes of a `Question` that
its `when` names. Where one is None, it is not asked.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ..causes.cause import Cause
from ..causes.question import Question

SO, MAY, ASKED = "so", "may", "asked"  # it is a fault; it may be one; it answers a question, and is no fault
LAYERS = "net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))\n"
NET = LAYERS + "x, y = torch.randn(6, 4), torch.randn(6)\n"
OPT = NET + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
LOSS = "loss = (net(x).squeeze(1) - y).pow(2).mean()\n"
STEP = f"    opt.zero_grad()\n    {LOSS}    loss.backward()\n    opt.step()\n"
LOOP = f"for _ in range(3):\n{STEP}"


@dataclass(frozen=True)
class Check:
    """A check.

    Attributes:
        code: the number by which it is searched and silenced: "AV203".
        name: "broadcast-in-loss".
        when: facts -> causes.
        kinds: the kinds of its causes, and how certain each is: `SO`, `MAY` or `ASKED`.
        sick: a program with the fault.
        innocent: programs without it, as near to the sick one as can be. Its sentences were once false about some of them.
        of_run: it is about a whole run, and is asked once.
    """

    code: str
    name: str
    when: Callable[..., Iterable[Cause]]
    kinds: Mapping[str, str]
    sick: str
    innocent: tuple[str, ...]
    of_run: bool = False
    needs: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        if not self.sick or not self.innocent:
            raise ValueError(f"{self.code} {self.name}: a check has a sick program and an innocent twin")
        object.__setattr__(self, "needs", tuple(inspect.signature(self.when).parameters))

    def ask(self, q: Question) -> list[Cause]:
        """What it has to say."""
        facts = [getattr(q, need) for need in self.needs]
        return [] if any(fact is None for fact in facts) else [*self.when(*facts)]
