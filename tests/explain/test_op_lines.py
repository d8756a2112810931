"""explain finds the lines of PyTorch's ops after the fact, where the code leaves no doubt."""

from __future__ import annotations

import pytest

from .explained import kinds, lines
from .test_torch import asked

pytestmark = pytest.mark.torch
X = "x = torch.tensor([-1.0, -2.0], requires_grad=True)\n"
END = "\nloss.backward()"

CASES = {  # program, kind, line; None where it may be another
    "called once": (X + "y = torch.relu(x)\nloss = (y * 3).sum()", "zero_relu", 2),
    "in a function": ("def act(t):\n    return t.relu() * 1\n" + X + "loss = act(x).sum()", "zero_relu", 2),
    "a division with a name": (X + "q = x / 0\nloss = q.sum()", "forward_constant", 2),
    "a root whose result has a name": (
        "x = torch.zeros(3, requires_grad=True)\nn = torch.sqrt((x ** 2).sum())\nloss = n * 1", "born_sqrt", 2,
    ),
    "called twice": (X + "loss = torch.round(torch.round(x) * 3).sum()", "zero_flat", 2),
    "called in a loop": (X + "y = x\nfor _ in range(1):\n    y = torch.round(y) * 2\nloss = (y * 1).sum()", "zero_flat", 4),
    "called behind a branch that calls it": (
        X + "z = x * 1\nif x.dim() > 3:\n    z = torch.round(z)\nloss = (torch.round(z) * 1).sum()", "zero_flat", None,
    ),
    "called in a branch": (
        X + "if x.dim() > 3:\n    y = torch.round(x) * 1\nelse:\n    y = getattr(x, 'round')() * 1\nloss = (y * 1).sum()",
        "zero_flat", None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_line_of_an_op_that_nobody_has_seen(case: str) -> None:
    program, kind, line = CASES[case]
    answer = asked(program + END)
    assert (kinds(answer)[0], lines(answer)[0]) == (kind, line), answer
    assert kind != "born_sqrt" or "reaches 0 (0.0;" in str(answer), answer
