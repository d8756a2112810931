"""explain, about what layers and losses do by their nature: biases that nothing can learn, margins, padding, ties."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from .explained import kinds  # noqa: E402
from .test_torch import PASS, asked  # noqa: E402

pytestmark = pytest.mark.torch

NORMED = (
    "torch.manual_seed(0)\nnet = torch.nn.Sequential({layer}, torch.nn.{norm}, torch.nn.Flatten(), torch.nn.LazyLinear(1))\n"
    "loss = (net(torch.randn({shape})) ** 2).mean()\nloss.backward()"
)
ATTENDED = (
    "torch.manual_seed(0)\nq, k, v = (torch.nn.Linear(4, 4) for _ in range(3))\nx = torch.randn(2, 5, 4)\n"
    "h = F.scaled_dot_product_attention(*(m(x).unsqueeze(1) for m in (q, k, v)))\nloss = (h ** 2).mean()\nloss.backward()"
)
X = "x = torch.tensor([[3.0, 4.0, 9.0]], requires_grad=True)\n"
ROWS = "e = torch.nn.Embedding(4, 2, padding_idx=0)\nwith av.record():\n    loss = e(torch.tensor([{rows}])).sum()\n"
CASES = {  # program, what is asked, kind of the first cause
    "a bias before a batch norm": (
        NORMED.format(layer="torch.nn.Linear(3, 4)", norm="BatchNorm1d(4)", shape="8, 3"), "net[0].bias", "zero_normed",
    ),
    "the weight beside it": (
        NORMED.format(layer="torch.nn.Linear(3, 4)", norm="BatchNorm1d(4)", shape="8, 3"), "net[0].weight", "came_from",
    ),
    "of a convolution": (
        NORMED.format(layer="torch.nn.Conv2d(3, 4, 3)", norm="BatchNorm2d(4)", shape="8, 3, 5, 5"), "net[0].bias",
        "zero_normed",
    ),
    "before statistics that are fixed": (
        NORMED.format(layer="torch.nn.Linear(3, 4)", norm="BatchNorm1d(4).eval()", shape="8, 3"), "net[0].bias", "came_from",
    ),
    "before a layer norm": (
        NORMED.format(layer="torch.nn.Linear(3, 4)", norm="LayerNorm(4)", shape="8, 3"), "net[0].bias", "came_from",
    ),
    "a loss that adds up a layer norm": (
        "torch.manual_seed(0)\nnet = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LayerNorm(4))\n"
        "loss = net(torch.randn(8, 3)).sum()\nloss.backward()", "net[0].weight", "zero_level",
    ),
    "that norm's own bias": (
        "torch.manual_seed(0)\nnet = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LayerNorm(4))\n"
        "loss = net(torch.randn(8, 3)).sum()\nloss.backward()", "net[1].bias", "came_from",
    ),
    "the keys' bias": (ATTENDED, "k.bias", "zero_shifted"),
    "the values' bias": (ATTENDED, "v.bias", "came_from"),
    "nothing within the margin": (X + "loss = F.multi_margin_loss(x, torch.tensor([2]))\n" + PASS, "x", "zero_margin"),
    "a hinge that is met": (X + "loss = torch.relu(1 - x).mean()\n" + PASS, "x", "zero_hinge"),
    "a relu, and more in the loss": (X + "loss = torch.relu(1 - x).mean() + 1\n" + PASS, "x", "zero_only"),
    "a relu of unknown sign behind it": (X + "loss = -torch.relu(1 - x).mean()\n" + PASS, "x", "zero_only"),
    "the padding alone": (ROWS.format(rows="0, 0") + PASS, "e.weight", "zero_padding"),
    "equal singular values": (
        "x = torch.eye(3, requires_grad=True)\nu = torch.linalg.svd(x)[0]\nloss = u[0, 1] + u[1, 0]\n"
        "av.step(loss).finish()",
        "x", "born_equal",
    ),
    "a parameter made of it": (
        "x = torch.ones(3, requires_grad=True)\np = torch.nn.Parameter(x * 2)\nloss = p.sum()\n" + PASS, "x", "cut_parameter",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_a_layer_does_to_a_gradient_is_told(case: str) -> None:
    program, ask, kind = CASES[case]
    answer = asked(f"import autograd_viz as av\n{program}", f"{ask}, loss")
    assert kinds(answer)[0] == kind, answer


def test_a_weight_that_is_computed_is_told_with_its_leaves() -> None:
    answer = asked(
        "m = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 2))\nloss = m(torch.ones(1, 3)).sum()\n" + PASS,
        "m.weight, loss",
    )
    assert kinds(answer) == ["not_leaf_fresh", "made_of_leaves"]
    assert "m.parametrizations.weight.original0" in str(answer), answer
