"""explain, where a gradient is very large or very small: where on its way it grew or shrank most."""

from __future__ import annotations

import pytest

from .explained import LIBRARIES, X, blamed, kinds, lines, stepped, told

SIZES = {  # statements on lines 3 and 4: kind, op, line, words
    "h = x * 1e-9": ("shrank", "Mul", 3, "to 1e-09 of its size"),
    "h = 1 / (x * 1e-4)": ("grew", "Reciprocal", 3, "it grew most at reciprocal"),
    "h = x\n    for _ in range(20): h = h * 3.0": ("grew_steadily", "Mul", 4, "at 21 ops, 20 of them mul"),
    "h = x\n    for _ in range(15): h = torch.sigmoid(h)": ("shrank_steadily", "Sigmoid", 4, "15 of them sigmoid"),
}


@LIBRARIES
@pytest.mark.parametrize("statement", SIZES)
def test_where_a_gradient_grew_or_shrank_most(statement: str, library: str) -> None:
    kind, op, line, words = SIZES[statement]
    answer = stepped(f"{X}with record():\n    {statement}\n    loss = h.sum()", library)
    assert (kinds(answer)[0], blamed(answer)[0], lines(answer)[0]) == (kind, op, line), answer
    assert words in str(answer) and "its norm is" in str(answer)


def test_a_huge_gradient_whose_way_is_not_known() -> None:
    answer = told("x = torch.ones(200, requires_grad=True)\nloss = (x * 1e6).sum()\nloss.backward()")
    assert kinds(answer)[0] == "huge" and "its norm is 1.41421e+07" in str(answer)


LAYERS = """
torch.manual_seed(0)
model = torch.nn.Sequential(*[m for _ in range(8) for m in (torch.nn.Linear(12, 12), torch.nn.Sigmoid())])
with torch.no_grad():
    model[6].weight.mul_(1e-4)
loss = model(torch.randn(16, 12)).sum()
loss.backward()
"""


def test_in_a_deep_net_the_layers_say_where_it_shrank() -> None:
    answer = told(LAYERS, "model[0].weight")
    assert kinds(answer)[0] == "shrank_between" and "shrank most from model.6.weight (" in str(answer)
