"""explain, where inf or nan was put into the forward pass: by a mask, a constant, a number that is written in the code."""

from __future__ import annotations

import pytest

from .explained import X, kinds, told
from .test_torch import asked

MASK = "m = torch.tensor([False, True, False])\n"
ROW = "m = torch.tensor([True, True, True])\n"
PASS = "loss.backward()\n"
CORE = {  # program, kinds of the causes but for what is said of the gradient, the line of the last
    "a mask that is filled in and meets the loss": (
        X + MASK + "s = x.masked_fill(m, float('-inf'))\nloss = -F.log_softmax(s, -1).mean()\n", ["forward_put"], 3,
    ),
    "a row that is masked throughout": (
        X + ROW + "s = x.masked_fill(m, float('-inf'))\nloss = torch.softmax(s, -1).sum()\n", ["nan_of_inf", "forward_put"], 3,
    ),
    "a mask that is added": (
        X + "mask = torch.zeros(3)\nmask[1] = float('-inf')\ns = x + mask\nloss = -F.log_softmax(s, -1).mean()\n", ["given"], 3,
    ),
    "a full row that is added": (
        X + "b = torch.full((3,), float('-inf'))\nloss = torch.softmax(x + b, -1).sum()\n", ["nan_of_inf", "given"], 2,
    ),
    "an inf in a constant": (X + "c = torch.tensor([1.0, float('inf'), 1.0])\nloss = (x + c).sum()\n", ["given"], 2),
    "a number": (X + "loss = (x + float('-inf')).sum()\n", ["forward_written"], 2),
    "0 times a masked log": (
        X + MASK + "s = x.masked_fill(m, float('-inf'))\nlp = F.log_softmax(s, -1)\nloss = (lp.exp() * lp).sum()\n",
        ["nan_of_inf", "forward_put"], 3,
    ),
    "a log of what was masked, which is not the mask's fault": (
        X + MASK + "p = torch.softmax(x.masked_fill(m, float('-inf')), -1)\nloss = (p * p.log()).sum()\n", ["forward_born"], 4,
    ),
    "the mean of nothing": (X + "loss = x[x > 9].mean()\n", ["forward_empty"], 2),
}  # fmt: skip


@pytest.mark.parametrize("case", CORE)
def test_the_origin_is_where_the_infinite_number_was_put(case: str) -> None:
    program, expected, line = CORE[case]
    answer = told(program + PASS)
    forward = [c for c in answer.causes if c.kind.startswith(("forward", "nan_of", "given"))]
    assert [c.kind for c in forward] == expected, answer
    assert forward[-1].source is not None and forward[-1].source.line == line, answer


TORCH = {  # program, kinds among those that are told, words
    "a mask that is filled in and meets the loss": (
        X + MASK + "s = x.masked_fill(m, float('-inf'))\nloss = -F.log_softmax(s, -1).mean()\n",
        ["forward_put"],
        "line 3: s = x.masked_fill(",
    ),
    "a mask of which no variable is left": (
        X + MASK + "loss = F.cross_entropy(x.masked_fill(m, float('-inf'))[None], torch.tensor([1]))\n",
        ["loss_bad", "written"], "written on the way to it: line 3",
    ),
    "a mask that is added": (
        X + "mask = torch.zeros(3)\nmask[1] = float('-inf')\ns = x + mask\nloss = -F.log_softmax(s, -1).mean()\n",
        ["forward_constant", "written_there"], "written on the way to it: line 3",
    ),
    "a constant": (
        X + "c = torch.tensor([1.0, float('nan'), 1.0])\nloss = (x * c).sum()\n", ["forward_constant", "written_there"],
        "It came in at Mul",
    ),
    "0 times a masked log": (
        X + MASK + "s = x.masked_fill(m, float('-inf'))\nlp = F.log_softmax(s, -1)\nloss = (lp.exp() * lp).sum()\n",
        ["nan_of_inf", "forward_put"], "Mul made nan of the inf",
    ),
    "classes of weight 0": (
        X + "loss = F.cross_entropy(x[None], torch.tensor([1]), weight=torch.zeros(3))\n", ["forward_weightless"],
        "classes of weight 0",
    ),
    "classes of weight 0, behind a layer": (
        "lin = torch.nn.Linear(2, 3)\nx = lin.weight\n"
        "loss = F.cross_entropy(lin(torch.ones(1, 2)), torch.tensor([1]), weight=torch.zeros(3))\n", ["loss_bad"],
        "can make it: NllLossBackward0",
    ),
    "a product of 0 and -inf": (
        X + "h = x * 2\nt = torch.tensor([0.0, 1.0, 0.0])\nm = t < 1\n"
        "loss = (t * F.log_softmax(h.masked_fill(m, float('-inf')), -1)).sum()\n", ["loss_bad", "written"], "MulBackward0",
    ),
    "a target that is too long": (
        "x = torch.randn(3, 1, 4, requires_grad=True)\nlp = x.log_softmax(-1)\n"
        "loss = F.ctc_loss(lp, torch.tensor([[1, 1, 2, 2]]), torch.tensor([3]), torch.tensor([4]))\n", ["loss_bad"],
        "CtcLossBackward0",
    ),
    "data behind a layer": (
        "lin = torch.nn.Linear(2, 1)\nx = lin.weight\nout = lin(torch.tensor([[1.0, 0.0]]).log() * 0)\nloss = out.sum()\n",
        ["forward_constant"], "It came in at Addmm",
    ),
    "the mean of nothing": (X + "loss = x[x > 9].mean()\n", ["forward_empty"], "Mean was given no elements"),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("case", TORCH)
def test_after_the_fact_the_code_says_where_it_is_written(case: str) -> None:
    program, expected, words = TORCH[case]
    answer = asked(program + PASS)
    assert [k for k in kinds(answer) if k.startswith(("forward", "nan_of", "loss_bad", "written"))] == expected, answer
    assert words in str(answer)


@pytest.mark.torch
def test_what_a_number_is_compared_with_is_not_written_into_it() -> None:
    answer = asked(
        X
        + "h = torch.where(x == float('inf'), x, x * 2)\nloss = (h - 3).sum().log()\nloss = loss * 0 + h.sum().neg().log()\n"
        + PASS
    )
    assert "written" not in kinds(answer), answer


@pytest.mark.torch
def test_a_suspect_that_is_known_not_to_have_made_it_is_not_named() -> None:
    answer = asked(X + "p = torch.softmax(x, -1)\nloss = (p * 2).sum().sub(9).log() * 3\n" + PASS)
    named = str(answer).partition("can make it: ")[2]
    assert "LogBackward0" in named and "SoftmaxBackward0" not in named, answer


@pytest.mark.torch
def test_a_nan_that_a_leaf_was_made_with_is_no_earlier_step_s() -> None:
    answer = asked("x = torch.tensor([1.0, float('nan')], requires_grad=True)\nloss = (x * x).sum()\n" + PASS)
    assert kinds(answer) == ["given", "written_there"] and "earlier step" not in str(answer), answer
