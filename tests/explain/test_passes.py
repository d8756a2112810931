"""explain: a pass that did not begin at what the variables hold, and lines behind a break, a continue or an error."""

from __future__ import annotations

from typing import Any

import pytest

from .explained import kinds, lines, told
from .test_torch import asked

BEYOND = {
    "relu": "x = torch.ones(2, requires_grad=True)\nout = x * -3\ntorch.relu(out).sum().backward()\n",
    "sqrt": "x = torch.zeros(2, requires_grad=True)\nout = x * 3\nout.sqrt().sum().backward()\n",
    "a factor": "x = torch.ones(1, requires_grad=True)\nout = x * 3\n(out * 1e6).sum().backward()\n",
    "a number since": (
        "x = torch.ones(1, requires_grad=True)\nout = x * 3\nloss = (out * 0).sum()\nloss.backward()\nloss = loss.item()\n"
    ),
}
OTHER = {
    "zero": "x = torch.ones(1, requires_grad=True)\nloss = (x * 0).sum()\nloss.backward()\nloss = torch.relu(-x).sum()\n",
    "inf": "x = torch.zeros(1, requires_grad=True)\nloss = x.sqrt().sum()\nloss.backward()\nloss = (1 / x).sum()\n",
}
SAME = {
    "a scaled loss": "x = torch.ones(2, requires_grad=True)\nloss = torch.relu(x * -3)\n(loss.mean() / 4).backward()\n",
    "a loop": "x = -torch.ones(2)\nx.requires_grad_()\nfor i in range(2):\n    loss = x.relu().sum()\n    loss.backward()\n",
    "a sum of losses": (
        "x = -torch.ones(2)\nx.requires_grad_()\na = x.relu().sum()\nb = x.relu().mean()\n(a + 2 * b).backward()\n"
    ),
    "a loss after it": (
        "x = -torch.ones(2)\nx.requires_grad_()\nloss = x.relu().sum()\nloss.backward()\ntest_loss = (x * 0).sum()\n"
    ),
}
ASK = [told, pytest.param(asked, marks=pytest.mark.torch)]


@pytest.mark.parametrize("answer", ASK)
@pytest.mark.parametrize("program", BEYOND.values(), ids=BEYOND)
def test_a_root_that_no_variable_holds(answer: Any, program: str) -> None:
    found = answer(program)
    assert kinds(found)[0] == "beyond" and "grew" not in kinds(found), found
    assert "began beyond out" in str(found) and ".backward())" in str(found)


@pytest.mark.parametrize("answer", ASK)
@pytest.mark.parametrize("program", OTHER.values(), ids=OTHER)
def test_a_loss_that_was_made_after_the_pass(answer: Any, program: str) -> None:
    found = answer(program)
    assert kinds(found) == ["other_pass"], found


@pytest.mark.parametrize("answer", ASK)
@pytest.mark.parametrize("program", SAME.values(), ids=SAME)
def test_the_loss_of_the_pass(answer: Any, program: str) -> None:
    assert {*kinds(answer(program))} == {"zero_relu"}


PAIR = "x = torch.ones(2, requires_grad=True)\nw = torch.ones(2, requires_grad=True)\n"
LEFT = {
    "a break before zeroing": (
        "x = -torch.ones(2)\nx.requires_grad_()\nfor i in range(3):\n    loss = x.relu().sum()\n    loss.backward()\n"
        "    if i == 0:\n        break\n    x.grad.zero_()\n",
        8,
    ),
    "a break before a cut": (
        PAIR + "h = torch.zeros(2)\nfor i in range(3):\n    if i == 0:\n        break\n    h = x.detach()\n"
        "loss = (h * w).sum()\nloss.backward()\n",
        7,
    ),
    "a continue before a switch": (
        "for i in range(2):\n    if i < 5: continue\n    torch.set_grad_enabled(False)\nx = torch.ones(2) * 2\n",
        3,
    ),
    "an assignment behind a continue": (
        "a = torch.ones(2)\nx = a * 2\nfor i in range(2):\n    continue\n    x = a.detach()\n",
        5,
    ),
}


@pytest.mark.parametrize("answer", ASK)
@pytest.mark.parametrize("case", LEFT)
def test_a_line_that_may_have_been_left_out_is_not_blamed_for_sure(answer: Any, case: str) -> None:
    program, line = LEFT[case]
    found = answer(program)
    sure = [c for c in found.causes if c.source is not None and c.source.line == line]
    assert not any("if this line ran" not in str(found) for _ in sure), found


SWALLOWED = PAIR + "k = 1.0\ntry:\n    open('/no/such/file')\n    k = x.sum().item()\nexcept OSError:\n    pass\n"


@pytest.mark.parametrize("answer", ASK)
def test_a_line_behind_one_that_may_have_failed_is_not_blamed_for_sure(answer: Any) -> None:
    assert "if this line ran" in str(answer(SWALLOWED + "loss = (w * k).sum()\nloss.backward()\n"))


@pytest.mark.parametrize("answer", ASK)
def test_a_line_behind_a_break_ran_if_the_question_stands_behind_it_too(answer: Any) -> None:
    inside = "for i in range(3):\n    if i == 2:\n        break\n    loss = (x.detach() * w).sum()\n    loss.backward()\n"
    found = answer(PAIR + inside)
    assert kinds(found)[0].startswith("cut_"), found


@pytest.mark.torch
def test_what_is_infinite_where_its_input_is_not_known_has_not_overflowed() -> None:
    pytest.importorskip("torch")
    found = asked(
        "x = torch.tensor([[1.0, 200.0]], requires_grad=True)\nloss = -torch.softmax(x, 1).log()[0, 0]\nloss.backward()\n"
    )
    assert kinds(found)[0] == "forward_born", found


LOOKS = {
    "a shape": "n = x.detach().shape[0]\n",
    "a length": "n = len(x.tolist())\n",
    "zeros of its type": "n = x.data.new_zeros(2)\n",
    "what is made like it": "n = torch.zeros_like(x.detach())\n",
    "a dtype": "n = torch.ones(2, dtype=x.data.dtype)\n",
    "whether it is there": "n = 1.0 if x.detach() is None else 2.0\n",
    "through a name": "v = x.data\nn = v.new_zeros(2)\n",
}


@pytest.mark.parametrize("answer", ASK)
@pytest.mark.parametrize("line", LOOKS.values(), ids=LOOKS)
def test_what_is_read_for_its_look_is_not_cut_off(answer: Any, line: str) -> None:
    found = answer(PAIR + line + "loss = (w * n).sum()\nloss.backward()\n")
    assert not any(k.startswith("cut_") for k in kinds(found)), found


@pytest.mark.parametrize("answer", ASK)
@pytest.mark.parametrize("line", ["n = x.detach().sum()\n", "n = torch.ones(2) * x.data\n", "n = float(x.sum())\n"])
def test_what_is_read_for_its_numbers_is(answer: Any, line: str) -> None:
    assert kinds(answer(PAIR + line + "loss = (w * n).sum()\nloss.backward()\n"))[0].startswith("cut_")


@pytest.mark.torch
def test_zero_after_several_passes_may_be_their_sum() -> None:
    pytest.importorskip("torch")
    loop = "x = torch.ones(2, requires_grad=True)\nfor s in (1.0, -1.0):\n    loss = (x * s).sum()\n    loss.backward()\n"
    assert "several passes, if what they bring cancels" in str(asked(loop))
    cleared = loop.replace("    loss =", "    x.grad = None\n    loss =")
    assert "several passes" not in str(asked(cleared))
    given = "x = torch.ones(2, requires_grad=True)\ny = x * 3\ny.backward(torch.zeros(2))\n"
    assert "the gradient that was given to backward()" in str(asked(given))


@pytest.mark.torch
def test_a_clip_that_made_nan_of_inf_is_told_beside_what_made_inf() -> None:
    pytest.importorskip("torch")
    found = asked(
        "x = torch.tensor([0.0, 2.0], requires_grad=True)\nloss = x.sqrt().sum()\nloss.backward()\n"
        "torch.nn.utils.clip_grad_norm_([x], 1.0)\n"
    )
    assert [k for k in kinds(found) if k == "clipped"] and lines(found)[-1] == 4, found


@pytest.mark.parametrize("answer", ASK)
def test_indices_cut_although_an_index_is_no_operand(answer: Any) -> None:
    found = answer(PAIR + "_, i = x.topk(1)\nloss = w[i].sum()\nloss.backward()\n")
    assert kinds(found) == ["cut_integer"] and lines(found) == [3]


@pytest.mark.parametrize("answer", ASK)
@pytest.mark.parametrize("op", ["x.log()", "x * 0", "x * 3"])
def test_a_pass_in_one_line_leaves_no_graph_and_the_line_is_told(answer: Any, op: str) -> None:
    found = answer(f"x = torch.zeros(2, requires_grad=True)\n({op}).sum().backward()\n")
    assert kinds(found) == ["no_graph_of"] and lines(found) == [2], found


TWO_BRANCHES = (
    "def f(x, w, stop=False):\n    if not stop:\n        return w * x.sum().item()\n    return w * x.detach()\n"
    + PAIR
    + "loss = f(x, w).sum()\nloss.backward()\n"
)


@pytest.mark.parametrize("answer", ASK)
def test_of_two_branches_both_are_named(answer: Any) -> None:
    found = answer(TWO_BRANCHES)
    assert {3, 4} <= {*lines(found)} or kinds(found)[0].startswith("cut_"), found
    assert ".item()" in str(found), found


def test_a_padded_row_is_told_as_one() -> None:
    found = told(
        "net = torch.nn.Embedding(3, 2, padding_idx=0)\nout = net(torch.tensor([0, 0]))\nloss = out.sum()\nloss.backward()\n",
        "net.weight",
    )
    assert kinds(found) == ["zero_padding"], found


SQUARE = "x = torch.ones(3, requires_grad=True)\ny = (x * x).sum()\n"
AGAIN = "try:\n    y.backward()\nexcept RuntimeError as e:\n    error = e\n"
FREED = {
    "by the pass before one that was left out": (
        SQUARE + "y.backward()\nfor i in range(1):\n    continue\n    y.backward()\n" + AGAIN, 3,
    ),
    "in a function, before another graph's pass": (
        SQUARE + "z = (x * 2).sum()\ndef go(): y.backward()\ngo()\nz.backward()\n" + AGAIN, 4,
    ),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("case", FREED)
def test_the_call_that_freed_a_graph(case: str) -> None:
    """Of PyTorch's graphs, which do not remember."""
    pytest.importorskip("torch")
    program, line = FREED[case]
    found = asked(program, "error")
    assert (kinds(found), lines(found)) == (["freed"], [line]), found


@pytest.mark.torch
def test_the_line_that_changed_a_saved_tensor_is_none_behind_a_break() -> None:
    pytest.importorskip("torch")
    changed = "x = torch.ones(3, requires_grad=True)\ny = x.exp()\ny.mul_(2)\nfor i in range(2):\n    break\n    y += 1\n"
    found = asked(changed + AGAIN.replace("y.backward()", "y.sum().backward()"), "error")
    assert kinds(found) == ["modified"] and lines(found) == [3], found
